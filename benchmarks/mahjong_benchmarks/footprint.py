"""What an engine takes beside time: memory, and seconds until a first game; measured in processes of their own."""

from __future__ import annotations

import functools
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

import mahjong_env
from mahjong_env.basics.errors import MahjongError
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

PACKAGE: Final = "mahjong_env"

_STEPS: Final = 150  # longer than any hand, so that every table has been used
_CONTAINERS: Final = (dict, list, tuple, set, frozenset, MappingProxyType, type(functools.cache(lambda: None)))


@dataclass(frozen=True)
class Memory:
    """The memory of one engine, in bytes.

    Attributes:
        variant: what is played.
        batch: games at once.
        array_bytes: the arrays that the engine holds.
        table_bytes: all other arrays that the package holds after some hands: tables of hands, of rules, of actions.
        process_bytes: how much the whole process has grown since the package was imported; None where the system
            does not tell (it is read from /proc).
        process_peak_bytes: the same at its largest moment, with what a step and an observation take and give back.
    """

    variant: str
    batch: int
    array_bytes: int
    table_bytes: int
    process_bytes: int | None
    process_peak_bytes: int | None


@dataclass(frozen=True)
class Start:
    """How long the first game of a process takes to be there, in seconds that pass, without the interpreter's start.

    Attributes:
        variant: what is played.
        import_seconds: importing the package, with numpy, gymnasium and pettingzoo; one number for each process.
        env_seconds: ``env()`` and its first ``reset``.
    """

    variant: str
    import_seconds: tuple[float, ...]
    env_seconds: tuple[float, ...]

    @property
    def both_seconds(self) -> tuple[float, ...]:
        """Import and first environment together."""
        return tuple(map(sum, zip(self.import_seconds, self.env_seconds, strict=True)))


def measure_memory(variant: str, knobs: dict[str, Any], batch: int) -> Memory:
    """Make and play an engine in a new process, and ask how much memory there is."""
    told = _in_new_process(
        f"from {__name__} import tell_memory; tell_memory(*json.loads(sys.argv[1]))", [variant, knobs, batch]
    )
    return Memory(variant, batch, *told)


def tell_memory(variant: str, knobs: dict[str, Any], batch: int) -> None:
    """Print the numbers of a `Memory` as JSON; meant for a process that has done nothing else."""
    before, _ = process_bytes()
    engine = Engine(rules(variant, **knobs), batch, seed=0, auto_reset=True)
    rng = np.random.default_rng(0)
    for _ in range(_STEPS):
        engine.step(choose_at_random(engine.action_mask, rng))
        engine.observe()
    now, peak = process_bytes()
    own = held_arrays([engine])
    named = [vars(module) for name, module in list(sys.modules.items()) if name.partition(".")[0] == PACKAGE]
    tables = {key: size for key, size in held_arrays(named).items() if key not in own}
    grown = [None if then is None or before is None else then - before for then in (now, peak)]
    print(json.dumps([sum(own.values()), sum(tables.values()), *grown]))


def process_bytes() -> tuple[int | None, int | None]:
    """The resident memory of this process, now and at most; None where there is no /proc."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None, None
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    now, peak = (int(told[key].split()[0]) * 1024 if key in told else None for key in ("VmRSS", "VmHWM"))
    return now, peak


def held_arrays(roots: Iterable[Any]) -> dict[int, int]:
    """The arrays that objects hold: directly, in containers, in caches of functions, in objects of this package.

    Views are counted as the array whose memory they show, and that once.

    Returns:
        Bytes by the id of the array.
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
        elif isinstance(held, _CONTAINERS) or _is_ours(held):
            waiting.extend(gc.get_referents(held))
    return arrays


def _is_ours(held: Any) -> bool:
    kind = held if isinstance(held, type) else type(held)
    return str(kind.__module__).partition(".")[0] == PACKAGE


_START = f"""
from time import perf_counter
variant, knobs = json.loads(sys.argv[1])
began = perf_counter()
from {PACKAGE}.environments.aec import make_env
imported = perf_counter()
make_env(variant, **knobs).reset(seed=0)
print(json.dumps([imported - began, perf_counter() - imported]))
"""


def measure_start(variant: str, knobs: dict[str, Any], times: int = 5) -> Start:
    """Import the package and make a first environment in new processes.

    Raises:
        MahjongError: there is no such variant or knob.
    """
    told = [_in_new_process(_START, [variant, knobs]) for _ in range(times)]
    return Start(variant, tuple(one[0] for one in told), tuple(one[1] for one in told))


def _in_new_process(code: str, arguments: Sequence[Any]) -> list[Any]:
    """What a piece of code prints as JSON in a fresh interpreter that finds the same package."""
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
        told = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
        raise MahjongError(f"a process of the benchmark failed: {told[-1]}")
    return list(json.loads(done.stdout))


Watch = Callable[[str], object]


def measure_footprint(
    played: Sequence[Rules], batch: int, watch: Watch = lambda _: None
) -> tuple[list[Memory], list[Start]]:
    """Memory and start of several variants.

    Args:
        played: the variants, with their house rules.
        batch: games at once.
        watch: told what begins.
    """
    memory, start = [], []
    for one in played:
        watch(f"{one.name}: memory")
        memory.append(measure_memory(one.name, one.knobs, batch))
        watch(f"{one.name}: import and first env()")
        start.append(measure_start(one.name, one.knobs))
    return memory, start
