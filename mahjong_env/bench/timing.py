"""The measuring itself: in every run every contender plays once, and medians over the runs count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final, Protocol

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


class Meter:
    """What a player counts while it plays.

    Attributes:
        environment: runs while the environment works: this is what is measured.
        agent: runs while actions are chosen.
        decisions: actions played.
        hands: hands that ended.
        time: one of `TIMES`, for clocks of one's own.
    """

    def __init__(self, time: Callable[[], float] = process_time) -> None:
        self.environment = Clock(time)
        self.agent = Clock(time)
        self.decisions = 0
        self.hands = 0
        self.time = time


class Player(Protocol):
    """Games in progress."""

    def play(self, decisions: int, meter: Meter) -> None:
        """Play on for at least some decisions; all that is played is counted and timed."""
        ...

    def dealing_share(self, meter: Meter) -> float | None:
        """The share of the environment's time that dealing took, from 0 to 1; None where nobody can tell.

        Args:
            meter: what has been measured of this player.
        """
        ...


@dataclass(frozen=True)
class Contender:
    """Something whose speed is measured.

    Attributes:
        name: what the report calls it; no two have the same.
        start: begins games and gives them; the argument is a seed. What it does is not timed.
        decisions: decisions to ask for between two looks at the time.
        compared_with: names of the contenders that do the same work.
        facts: what the JSON report tells beside the speed.
    """

    name: str
    start: Callable[[int], Player]
    decisions: int
    compared_with: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """One run of one contender.

    Attributes:
        rate: decisions per second of the environment's time.
        hands: hands that ended in a thousand decisions.
        agent: seconds of the agent for one decision.
        dealing: share of the environment's time that dealing took, None where nobody can tell.
    """

    rate: float
    hands: float
    agent: float
    dealing: float | None


@dataclass(frozen=True)
class Result:
    """What was measured.

    Attributes:
        contender: of whom.
        runs: one reading for each run.
    """

    contender: Contender
    runs: tuple[Reading, ...]

    @property
    def rates(self) -> tuple[float, ...]:
        """Decisions per second in each run."""
        return tuple(reading.rate for reading in self.runs)

    @property
    def rate(self) -> float:
        """The median of the runs: decisions per second."""
        return median(self.rates)


def measure(
    contenders: Sequence[Contender],
    seconds: float,
    runs: int,
    time: Callable[[], float] = process_time,
    watch: Callable[[int, int, str], object] = lambda *_: None,
) -> list[Result]:
    """Measure everything, several times over: a slow moment of the machine meets one run, not all.

    Args:
        contenders: who.
        seconds: timed seconds of each in each run.
        runs: how often. Every run begins other games, so that the spread contains the chance of the cards too.
        time: one of `TIMES`.
        watch: told what begins: its number, of how many, and what it is.
    """
    readings: dict[str, list[Reading]] = {contender.name: [] for contender in contenders}
    total = runs * len(contenders)
    for run in range(runs):
        for place, contender in enumerate(contenders):
            watch(run * len(contenders) + place + 1, total, f"run {run + 1} of {runs}: {contender.name}")
            readings[contender.name].append(one_run(contender, run, seconds, time))
    return [Result(contender, tuple(readings[contender.name])) for contender in contenders]


def one_run(contender: Contender, seed: int, seconds: float, time: Callable[[], float]) -> Reading:
    """Start a contender and time it for at least some seconds, after a quarter of them that does not count."""
    player = contender.start(seed)
    for length in (seconds / 4, seconds):
        meter = Meter(time)
        while meter.environment.seconds < length:
            player.play(contender.decisions, meter)
    return Reading(
        rate=meter.decisions / meter.environment.seconds,
        hands=1000 * meter.hands / meter.decisions,
        agent=meter.agent.seconds / meter.decisions,
        dealing=player.dealing_share(meter),
    )


def play_aec(env: Any, decisions: int, meter: Meter, rng: np.random.Generator) -> None:
    """Random play in a PettingZoo environment whose observations carry an action mask; see `Player.play`.

    Args:
        env: has been reset; new matches begin with seed None.
        decisions: how many.
        meter: times `last`, `step` and `reset`, the steps of agents whose game is over among them.
        rng: chooses the actions.
    """
    for _ in range(decisions):
        with meter.environment:
            observation, _, terminated, truncated, _ = env.last()
            while terminated or truncated:
                env.step(None)
                if not env.agents:
                    env.reset()
                    meter.hands += 1
                observation, _, terminated, truncated, _ = env.last()
        with meter.agent:
            legal = observation["action_mask"].nonzero()[0]
            action = int(legal[int(rng.random() * len(legal))])
        with meter.environment:
            env.step(action)
    meter.decisions += decisions
