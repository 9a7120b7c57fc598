"""The memory of an engine and the time until a first game, measured in processes of their own."""

from __future__ import annotations

import functools
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

import mahjong_env
from mahjong_benchmarks.timing import aligned, spread
from mahjong_env.basics.errors import MahjongError
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

_STEPS: Final = 150  # longer than any hand, so that every table has been used
_CONTAINERS: Final = (dict, list, tuple, set, frozenset, MappingProxyType, type(functools.cache(lambda: None)))


@dataclass(frozen=True)
class Memory:
    """The memory of one engine, in bytes.

    Attributes:
        variant: the variant that is played.
        batch: the number of games played at once.
        array_bytes: the size of the arrays that the engine holds.
        table_bytes: the size of all other arrays that the package holds after some hands: tables of hands, rules and
            actions.
    """

    variant: str
    batch: int
    array_bytes: int
    table_bytes: int


@dataclass(frozen=True)
class Start:
    """The time until the first game of a process, in seconds of elapsed time, without the interpreter's own start.

    Attributes:
        variant: the variant that is played.
        import_seconds: the time to import the package with numpy, gymnasium and pettingzoo, for each process.
        env_seconds: the time of ``env()`` and its first ``reset``, for each process.
    """

    variant: str
    import_seconds: list[float]
    env_seconds: list[float]


def measure_memory(played: Rules, batch: int) -> Memory:
    """Make and play an engine in a new process, and measure its memory."""
    code = f"from {__name__} import show_memory; show_memory(*json.loads(sys.argv[1]))"
    return Memory(played.name, batch, *_in_new_process(code, [played.name, played.knobs, batch]))


def show_memory(variant: str, knobs: dict[str, Any], batch: int) -> None:
    """Print the two sizes of a `Memory` as JSON; call it in a process that has done nothing else."""
    engine = Engine(rules(variant, **knobs), batch, seed=0, auto_reset=True)
    rng = np.random.default_rng(0)
    for _ in range(_STEPS):
        engine.step(choose_at_random(engine.action_mask, rng))
        engine.observe()
    own = held_arrays([engine])
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.partition(".")[0] == "mahjong_env"]
    tables = {key: size for key, size in held_arrays(modules).items() if key not in own}
    print(json.dumps([sum(own.values()), sum(tables.values())]))


def held_arrays(roots: Iterable[Any]) -> dict[int, int]:
    """Return, by id, the size in bytes of all arrays that some objects hold.

    Arrays are found in containers, caches of functions and objects of mahjong_env. A view counts as the array whose
    memory it shows, and each array counts once.
    """
    arrays: dict[int, int] = {}
    waiting, seen = list(roots), set()
    while waiting:
        held = waiting.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        if isinstance(held, np.ndarray):
            while isinstance(held.base, np.ndarray):
                held = held.base
            arrays[id(held)] = held.nbytes
            continue
        kind = held if isinstance(held, type) else type(held)
        if isinstance(held, _CONTAINERS) or str(kind.__module__).partition(".")[0] == "mahjong_env":
            waiting.extend(gc.get_referents(held))
    return arrays


_START: Final = """
from time import perf_counter
variant, knobs = json.loads(sys.argv[1])
began = perf_counter()
from mahjong_env.environments.aec import make_env
imported = perf_counter()
make_env(variant, **knobs).reset(seed=0)
print(json.dumps([imported - began, perf_counter() - imported]))
"""


def measure_start(played: Rules, times: int = 5) -> Start:
    """Measure importing the package and making a first environment, in several new processes."""
    measured = [_in_new_process(_START, [played.name, played.knobs]) for _ in range(times)]
    return Start(played.name, [one[0] for one in measured], [one[1] for one in measured])


def _in_new_process(code: str, arguments: Sequence[Any]) -> list[Any]:
    """Run code in a new interpreter that finds the same package, and return what it prints as JSON."""
    home = str(Path(mahjong_env.__file__).parents[1])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}", json.dumps(arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
        raise MahjongError(f"a process of the benchmark failed: {said[-1]}")
    return list(json.loads(done.stdout))


def footprint_text(memory: Sequence[Memory], start: Sequence[Start]) -> str:
    """Return two tables: the memory in MB, and the seconds until a first game."""
    lines: list[tuple[str, ...]] = [("MB", "arrays", "tables", "both", "")]
    for one in memory:
        sizes = (one.array_bytes, one.table_bytes, one.array_bytes + one.table_bytes)
        lines.append((f"{one.variant}: {one.batch} games", *(f"{size / 1e6:.1f}" for size in sizes), ""))
    starts: list[tuple[str, ...]] = [("s", "import", "first env()", "both", "")]
    for new in start:
        both = [sum(parts) for parts in zip(new.import_seconds, new.env_seconds, strict=True)]
        times = (new.import_seconds, new.env_seconds, both)
        starts.append((f"{new.variant}: a new process", *(spread(each, ".3f") for each in times), ""))
    return f"{aligned(lines)}\n\n{aligned(starts)}"
