"""A long run in one process: random and greedy play over all variants and random knobs; memory stays flat.

    make soak MINUTES=60

Prints decisions, hands and memory once in a while. The exit status is 1 if memory has grown; whatever is raised ends
the run. Every step is checked: payments sum to zero, and points are those paid.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.testing import random_actions
from proof.batches import random_knobs

GAMES = 256
WARM_UP = 0.25
"""Share of the run in which tables are loaded and the allocator finds its size."""
MAY_GROW_MIB = 8.0
"""Between the median of the first third after the warm-up and that of the last third."""


def memory_mib() -> float:
    """What this process holds now, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Soak:
    """The run so far.

    Attributes:
        steps: of one engine, before another takes its place.
        decisions: actions played.
        hands: hands that ended.
        engines: engines made.
        samples: (seconds since the start, MiB) after each engine.
    """

    steps: int = 300
    decisions: int = 0
    hands: int = 0
    engines: int = 0
    samples: list[tuple[float, float]] = field(default_factory=list)

    def run(self, seconds: float, seed: int = 0, report_every: float = 30.0, games: int = GAMES) -> None:
        """Play until the time is up."""
        start = told = time.monotonic()
        while time.monotonic() - start < seconds:
            self.play_one(seed + self.engines, games)
            now = time.monotonic()
            self.samples.append((now - start, memory_mib()))
            if now - told > report_every:
                told = now
                print(self.line(), flush=True)
        print(self.line(), flush=True)

    def play_one(self, seed: int, games: int) -> None:
        """One engine of a variant with knobs drawn at random, played for a while."""
        rng = np.random.default_rng(seed)
        variants = sorted(mahjong_env.VARIANTS)
        variant = variants[self.engines % len(variants)]
        greedy = make_agent("greedy") if (self.engines // len(variants)) % 2 else None
        self.engines += 1
        engine = mahjong_env.make_engine(
            variant,
            games,
            seed=seed,
            num_hands=int(rng.integers(1, 9)),
            auto_reset=True,
            start=str(rng.choice(["first", "random"])),
            **random_knobs(variant, rng),
        )
        points = engine.points.astype(np.int64)
        for _ in range(self.steps):
            actions = random_actions(engine.action_mask, rng) if greedy is None else greedy.act(engine.view(), rng)
            result = engine.step(actions)
            self.check(engine, result, points)
            self.decisions += games
            self.hands += len(result.outcome)

    @staticmethod
    def check(engine: mahjong_env.Engine, result: Any, points: Any) -> None:
        """Payments sum to zero, everybody's points are those paid, and every game waits for an action."""
        if result.rewards.sum(axis=1).any():
            raise AssertionError(f"payments do not sum to zero: {engine.rules}")
        points += result.rewards
        points[result.done] = engine.points[result.done]  # a new match has begun
        if not np.array_equal(points, engine.points):
            raise AssertionError(f"points are not those paid: {engine.rules}")
        if not engine.action_mask.any(axis=1).all():
            raise AssertionError(f"a game waits for nothing: {engine.rules}")

    def line(self) -> str:
        """Where the run stands."""
        seconds, memory = self.samples[-1]
        return (
            f"{seconds / 60:7.1f} min  {self.decisions:>12,} decisions  {self.hands:>10,} hands  "
            f"{self.engines:>6,} engines  {memory:8.1f} MiB"
        )

    def growth(self) -> float:
        """MiB by which the last third after the warm-up lies above the first third."""
        after = [memory for seconds, memory in self.samples if seconds > WARM_UP * self.samples[-1][0]]
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
    gc.collect()
    soak = Soak()
    soak.run(arguments.minutes * 60, arguments.seed)
    growth = soak.growth()
    print(f"memory after the warm-up: {growth:+.1f} MiB (at most {MAY_GROW_MIB:+.1f} is flat)")
    return int(growth > MAY_GROW_MIB)


if __name__ == "__main__":
    sys.exit(main())
