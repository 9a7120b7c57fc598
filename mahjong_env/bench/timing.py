"""The measuring itself: contenders take turns, and the median of their rounds counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np

TIMES: Final[Mapping[str, Callable[[], float]]] = {"cpu": process_time, "wall": perf_counter}
"""What can be measured: the processor's time of this process (all threads), or the time that passes."""


class Clock:
    """A stop watch: ``with clock:`` around what is to be timed.

    Attributes:
        seconds: the time measured so far.
    """

    def __init__(self, time: Callable[[], float] = process_time) -> None:
        self.seconds = 0.0
        self._time = time
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = self._time()

    def __exit__(self, *_: object) -> None:
        self.seconds += self._time() - self._started


@dataclass(frozen=True)
class Contender:
    """Something whose speed is measured.

    Attributes:
        name: what the report calls it.
        play: plays on for at least some decisions, timed by a clock, and says how many there were.
        decisions: decisions to ask for between two looks at the time.
        compared_with: names of the contenders that do the same work.
        facts: what the JSON report tells beside the speed.
    """

    name: str
    play: Callable[[int, Clock], int]
    decisions: int
    compared_with: tuple[str, ...] = ()
    facts: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What was measured.

    Attributes:
        contender: of whom.
        rounds: decisions per second in each round.
    """

    contender: Contender
    rounds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """The median of the rounds: decisions per second."""
        return median(self.rounds)


def measure(
    contenders: Sequence[Contender],
    seconds: float,
    rounds: int,
    time: Callable[[], float] = process_time,
    watch: Callable[[str], object] = lambda _: None,
) -> list[Result]:
    """Let the contenders play in turns, so that a slow moment of the machine meets all of them.

    Args:
        contenders: who.
        seconds: timed seconds of each in each round.
        rounds: how many rounds are counted; one more, not counted, comes first.
        time: one of `TIMES`.
        watch: told what begins.
    """
    rates: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for round_number in range(rounds + 1):
        for contender in contenders:
            watch(f"round {round_number} of {rounds}: {contender.name}")
            rate = one_round(contender, seconds if round_number else seconds / 4, time)
            if round_number:
                rates[contender.name].append(rate)
    return [Result(contender, tuple(rates[contender.name])) for contender in contenders]


def one_round(contender: Contender, seconds: float, time: Callable[[], float]) -> float:
    """Decisions per second over at least some timed seconds."""
    clock, decisions = Clock(time), 0
    while clock.seconds < seconds:
        decisions += contender.play(contender.decisions, clock)
    return decisions / clock.seconds


def play_aec(env: Any, decisions: int, clock: Clock, rng: np.random.Generator) -> int:
    """Random play in a PettingZoo environment whose observations carry an action mask; see `Contender`.

    Args:
        env: has been reset; new matches begin with seed None.
        decisions: how many.
        clock: times `last`, `step` and `reset`, the steps of agents whose game is over among them.
        rng: chooses the actions.
    """
    for _ in range(decisions):
        with clock:
            observation, _, terminated, truncated, _ = env.last()
            while terminated or truncated:
                env.step(None)
                if not env.agents:
                    env.reset()
                observation, _, terminated, truncated, _ = env.last()
        legal = observation["action_mask"].nonzero()[0]
        action = int(legal[int(rng.random() * len(legal))])
        with clock:
            env.step(action)
    return decisions
