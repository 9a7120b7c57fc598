"""The measuring itself: contenders play by turns, in several runs, and medians over the runs count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np

TIMES: Final[Mapping[str, Callable[[], float]]] = {"cpu": process_time, "wall": perf_counter}
"""What can be measured: the processor's time of this process (all threads), or the time that passes."""

TURNS: Final = 5
"""Turns in which the contenders of a group share a run."""


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


class Player(ABC):
    """Games in progress."""

    @abstractmethod
    def play(self, decisions: int, meter: Meter) -> None:
        """Play on for at least some decisions; all that is played is counted and timed."""

    def dealing_share(self, meter: Meter) -> float | None:
        """Return the share of the environment's time that dealing took, from 0 to 1; None where it cannot be measured.

        Args:
            meter: what has been measured of this player.
        """
        return None


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
        rate: decisions per second of the environment's time, the median of the turns.
        hands: hands that ended in a thousand decisions.
        agent: seconds of the agent for one decision, its view included.
        with_choosing: decisions per second if the agent's time is counted too.
        dealing: share of the environment's time that dealing took, None where it cannot be measured.
    """

    rate: float
    hands: float
    agent: float
    with_choosing: float
    dealing: float | None


@dataclass(frozen=True)
class Result:
    """What was measured.

    Attributes:
        contender: of whom.
        runs: one reading for each run.
        times: by peer, how many times faster than the peer, in each run.
    """

    contender: Contender
    runs: tuple[Reading, ...]
    times: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def rates(self) -> tuple[float, ...]:
        """Decisions per second in each run."""
        return tuple(reading.rate for reading in self.runs)

    @property
    def rate(self) -> float:
        """The median of the runs: decisions per second."""
        return median(self.rates)


Watch = Callable[[int, int, str], object]
"""Told what begins: its number, of how many, and what it is."""


def measure(
    groups: Sequence[Sequence[Contender]],
    seconds: float,
    runs: int,
    time: Callable[[], float] = process_time,
    watch: Watch = lambda *_: None,
) -> list[Result]:
    """Measure everything, several times over.

    The contenders of a group play by turns, each for a short while, and are compared with each other only: a slow
    minute of the machine meets all of them. A contender may be in several groups, as peers are; its rate is that of
    all of them together.

    Args:
        groups: who. All games of a group are in memory at once.
        seconds: timed seconds of each in each run and group.
        runs: how often. Every run plays other games, so that the spread contains the chance of the cards too.
        time: one of `TIMES`.
        watch: told what begins.
    """
    contenders = {contender.name: contender for group in groups for contender in group}
    readings: dict[str, list[Reading]] = {name: [] for name in contenders}
    times: dict[str, dict[str, list[float]]] = {name: {} for name in contenders}
    total = runs * TURNS * sum(map(len, groups))
    counter, run = iter(range(1, total + 1)), 0

    def say(name: str) -> None:
        watch(next(counter), total, f"run {run + 1} of {runs}: {name}")

    for run in range(runs):
        measured: dict[str, list[Reading]] = {name: [] for name in contenders}
        for group in groups:
            told = play_by_turns(group, run, seconds, time, say)
            for contender in group:
                measured[contender.name].append(told[contender.name])
                for peer in contender.compared_with:
                    if peer in told:
                        faster = told[contender.name].rate / told[peer].rate
                        times[contender.name].setdefault(peer, []).append(faster)
        for name, each in measured.items():
            readings[name].append(together(each))
    return [
        Result(contender, tuple(readings[name]), {peer: tuple(each) for peer, each in times[name].items()})
        for name, contender in contenders.items()
    ]


def play_by_turns(
    group: Sequence[Contender],
    seed: int,
    seconds: float,
    time: Callable[[], float],
    watch: Callable[[str], object] = lambda _: None,
) -> dict[str, Reading]:
    """One run of a group: every contender is timed for at least some seconds, after a quarter that does not count.

    The median of the turns counts: other work on the machine comes in bursts.
    """
    players = {contender.name: contender.start(seed) for contender in group}
    meters = {contender.name: Meter(time) for contender in group}
    rates: dict[str, list[float]] = {contender.name: [] for contender in group}
    for contender in group:
        _play(players[contender.name], contender, seconds / 4, Meter(time))
    for _ in range(TURNS):
        for contender in group:
            watch(contender.name)
            meter = meters[contender.name]
            played, spent = meter.decisions, meter.environment.seconds
            _play(players[contender.name], contender, spent + seconds / TURNS, meter)
            rates[contender.name].append((meter.decisions - played) / (meter.environment.seconds - spent))
    return {name: _read(players[name], meter, rates[name]) for name, meter in meters.items()}


def _play(player: Player, contender: Contender, seconds: float, meter: Meter) -> None:
    while meter.environment.seconds < seconds:
        player.play(contender.decisions, meter)


def _read(player: Player, meter: Meter, rates: Sequence[float]) -> Reading:
    rate, agent = median(rates), meter.agent.seconds / meter.decisions
    return Reading(
        rate=rate,
        hands=1000 * meter.hands / meter.decisions,
        agent=agent,
        with_choosing=1 / (1 / rate + agent),
        dealing=player.dealing_share(meter),
    )


def together(readings: Sequence[Reading]) -> Reading:
    """The same contender in several groups, equally long in each."""
    dealing = [reading.dealing for reading in readings if reading.dealing is not None]
    return Reading(
        rate=fmean(reading.rate for reading in readings),
        hands=fmean(reading.hands for reading in readings),
        agent=fmean(reading.agent for reading in readings),
        with_choosing=fmean(reading.with_choosing for reading in readings),
        dealing=fmean(dealing) if dealing else None,
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
