"""Hash what the packages compute, to check that a change of the code changes no results.

Run ``python -m tools.fingerprints --save FILE`` before a change and ``--compare FILE`` after it, on the same machine.
There is a line ``name digest`` for each of: whole games, an evaluation, a data set and small training runs.
``--compare`` prints only the lines that differ, and exits with 1 if there are any. The checkout in which this file lies
is what is run.
"""
# ruff: noqa: E402

import os
import sys
from pathlib import Path

# These are set before numpy and the packages are imported, and hold for the commands that are started here, too.
PACKAGES = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("", "agents", "training", "benchmarks")]
sys.path[:0] = PACKAGES
os.environ |= {"PYTHONPATH": os.pathsep.join(PACKAGES), "CUDA_VISIBLE_DEVICES": ""}
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import hashlib
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from mahjong_agents import make_agent
from mahjong_env import VARIANTS, make_engine, rules
from mahjong_training import measure, one_against_copies

AGENTS = ("random", "greedy", "closed-greedy", "value", "plan-value", "policy")
TABLE = {"shows_drawn": False}
"""The house rules of the games; older versions knew no others, so that their digests stay comparable."""
COMMANDS = {
    "data-set": "record --hands 64 --shard-games 32 --agents greedy random --observations",
    "train": "train --hands 256 --tables 128 --critic-hands 64 --evaluations 1 --evaluation-deals 8 --gate-deals 8",
    "train-sb3": "train-sb3 --total-steps 1024 --tables 32 --warm-start-steps 1000 --warm-start-epochs 1 --width 32 "
    "--evaluations 1 --evaluation-deals 4 --evaluation-agents random",
}


def pieces(value: Any) -> Iterator[bytes]:
    """Yield the bytes that are hashed of a value: names and contents, floats to their last digit."""
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} ".encode() + value.tobytes()
    elif isinstance(value, list | tuple):
        yield f"{len(value)} of ".encode()
        for one in value:
            yield from pieces(one)
    else:
        yield repr(value.item() if isinstance(value, np.generic) else value).encode() + b" "


def games(variant: str, agent: str, number: int) -> Iterator[Any]:
    """Yield every step of games in which one agent has all seats."""
    engine, player, rng = (
        make_engine(variant, number, seed=5, num_hands=1, **TABLE),
        make_agent(agent),
        np.random.default_rng(5),
    )
    while (playing := np.flatnonzero(engine.seat_to_act >= 0)).size:
        yield playing, engine.seat_to_act, engine.observe(), engine.action_mask
        actions = player.act(engine.view(playing), rng)
        result = engine.step(actions, playing)
        yield np.asarray(actions, np.int64), result.rewards, result.hand_over, result.done, result.truncated
    yield engine.points


def evaluation(variant: str) -> Iterator[Any]:
    """Yield the result of an evaluation of one agent against copies of another."""
    agents = [make_agent("greedy"), make_agent("random")]
    yield asdict(measure(rules(variant), agents, one_against_copies(0, 1, rules(variant).people), deals=100, seed=7))


def command(variant: str, words: str) -> Iterator[Any]:
    """Yield the tables, the records and the weights that a command leaves in its folder."""
    line = [sys.executable, "-m", "mahjong_env", *words.split(), "--variant", variant, "--out", "out"]
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8")
    found = sorted(path for kind in ("*.npy", "*.jsonl", "best.zip", "last.zip") for path in Path("out").glob(kind))
    if done.returncode or not found:
        raise SystemExit(f"{words} ended with {done.returncode} and left {found}:\n{done.stdout}{done.stderr}")
    for path in found:
        yield path.name
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, np.load(archive.open("weights.npz")) as arrays:
                yield dict(arrays)
        else:
            yield np.load(path) if path.suffix == ".npy" else path.read_text(encoding="utf-8")


PARTS: dict[str, Callable[[], Iterator[Any]]] = {
    **{f"games.{variant}.{agent}": partial(games, variant, agent, 64) for variant in VARIANTS for agent in AGENTS},
    # With few games the engine takes other paths than with many.
    **{f"few-games.{variant}.greedy": partial(games, variant, "greedy", 4) for variant in VARIANTS},
    "few-games.hebei.search?rollouts=8": partial(games, "hebei", "search?rollouts=8", 2),
    "evaluation.hebei": partial(evaluation, "hebei"),
    **{f"{name}.hebei": partial(command, "hebei", words) for name, words in COMMANDS.items()},
}


def fingerprint(part: Callable[[], Iterator[Any]]) -> str:
    """Run a part in a folder of its own, and hash what it yields."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return hashlib.sha256(b"".join(pieces(list(part())))).hexdigest()[:16]


def main() -> int:
    """Print, save or compare the digests, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="PREFIX", help="parts whose names begin with this")
    parser.add_argument("--save", type=Path, metavar="FILE", help="also write the lines to a file")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="print only what differs from a file")
    options = parser.parse_args()
    text = options.compare.read_text(encoding="utf-8") if options.compare else ""
    before = {name: digest for name, digest in map(str.split, text.splitlines()) if name.startswith(options.only)}
    found: dict[str, str] = {}
    for name in [*PARTS, *(before.keys() - PARTS.keys())]:
        if name.startswith(options.only):
            found[name] = fingerprint(PARTS[name]) if name in PARTS else "gone"
            if not options.compare or found[name] != before.get(name):
                print(name, found[name], *(["before:", before.get(name, "new")] if options.compare else []), flush=True)
    if options.save:
        options.save.write_text("".join(f"{name} {digest}\n" for name, digest in found.items()), encoding="utf-8")
    return int(bool(options.compare) and before != found)


if __name__ == "__main__":
    raise SystemExit(main())
