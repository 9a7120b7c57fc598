"""A long run in one process: random and greedy play over all variants and random knobs; memory stays flat.

    make soak MINUTES=60

Prints hands and memory once in a while. The exit status is 1 if memory has grown; whatever is raised ends the run.
Every step is checked: payments sum to zero, points are those paid, and every game waits for an action.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from proof.batches import random_knobs

VARIANTS = sorted(mahjong_env.VARIANTS)
WARM_UP = 0.25
"""Share of the run in which tables are loaded and the allocator finds its size."""
MAY_GROW_MIB = 8.0
"""Between the median of the first third after the warm-up and that of the last third."""


def memory_mib() -> float:
    """What this process holds now, in MiB."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def play_one(number: int, seed: int, games: int = 256, steps: int = 300) -> int:
    """Play an engine of a variant with knobs drawn at random for a while; how many hands have ended."""
    rng, variant = np.random.default_rng([seed, number]), VARIANTS[number % len(VARIANTS)]
    agent = make_agent("greedy" if (number // len(VARIANTS)) % 2 else "random")
    engine = mahjong_env.make_engine(
        variant,
        games,
        seed=seed + number,
        num_hands=int(rng.integers(1, 9)),
        auto_reset=True,
        start=str(rng.choice(["first", "random"])),
        **random_knobs(variant, rng),
    )
    points, hands = engine.points.astype(np.int64), 0
    for _ in range(steps):
        result = engine.step(agent.act(engine.view(), rng))
        points += result.rewards
        points[result.done] = engine.points[result.done]  # a new match has begun
        assert not result.rewards.sum(axis=1).any(), f"payments do not sum to zero: {engine.rules}"
        assert np.array_equal(points, engine.points), f"points are not those paid: {engine.rules}"
        assert engine.action_mask.any(axis=1).all(), f"a game waits for nothing: {engine.rules}"
        hands += len(result.outcome)
    return hands


def growth(samples: list[float]) -> float:
    """MiB by which the last third after the warm-up lies above the first third."""
    after = samples[int(WARM_UP * len(samples)) :]
    third = len(after) // 3
    if third < 3:
        raise ValueError("too short a run to say anything about memory")
    return median(after[-third:]) - median(after[:third])


def main() -> int:
    """Run; 1 if memory has grown."""
    parser = argparse.ArgumentParser(prog="python -m soak", description="Play for a long time in one process.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    end, samples, hands = time.monotonic() + 60 * arguments.minutes, [], 0
    for number in count():
        hands += play_one(number, arguments.seed)
        samples.append(memory_mib())
        if number % 30 == 0:
            print(f"{number + 1:>6,} engines  {hands:>10,} hands  {samples[-1]:8.1f} MiB", flush=True)
        if time.monotonic() > end:
            break
    grown = growth(samples)
    print(f"memory after the warm-up: {grown:+.1f} MiB (at most {MAY_GROW_MIB:+.1f} is flat)")
    return int(grown > MAY_GROW_MIB)


if __name__ == "__main__":
    sys.exit(main())
