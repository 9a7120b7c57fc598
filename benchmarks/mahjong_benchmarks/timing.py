"""Timing of contenders, which take turns in several runs; the medians over the runs count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import Any, Final

TURNS: Final = 5
"""The number of turns that each contender of a group has in a run."""


class Clock:
    """A stopwatch of processor time: put ``with clock:`` around what is timed, and read `seconds`."""

    def __init__(self) -> None:
        self.seconds = self._began = 0.0

    def __enter__(self) -> None:
        self._began = process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += process_time() - self._began


Play = Callable[[int, AbstractContextManager[Any]], tuple[int, int]]
"""A function that plays on for at least a number of decisions, choosing actions inside the context manager.

It returns the numbers of decisions played and of hands ended.
"""


@dataclass(frozen=True)
class Contender:
    """Something whose speed is measured.

    Attributes:
        name: the name in the report, which must be unique.
        start: a function that begins games from a seed, which is not timed.
        decisions: the number of decisions to ask for between two looks at the clock.
        peers: the names of the contenders that do the same work.
        compared: "rate" or "with_choosing": which value of a `Reading` is compared with that of the peers.
        counts_choosing: whether the rate includes the time for choosing actions.
        facts: further data for the JSON report.
    """

    name: str
    start: Callable[[int], Play]
    decisions: int
    peers: tuple[str, ...] = ()
    compared: str = "rate"
    counts_choosing: bool = False
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """The measurement of one contender in one run: medians of its turns.

    Attributes:
        rate: decisions per second.
        with_choosing: decisions per second if the time for choosing counts as well.
        hands: hands that ended in a thousand decisions.
    """

    rate: float
    with_choosing: float
    hands: float


@dataclass(frozen=True)
class Result:
    """All readings of a contender, and for each peer how many times as fast it was in each run."""

    contender: Contender
    readings: list[Reading] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)


def measure(
    groups: Sequence[Sequence[Contender]], seconds: float, runs: int, tell: Callable[[str], object] = lambda _: None
) -> list[Result]:
    """Measure all contenders several times.

    The contenders of a group take turns, and are compared only with each other, so that a slow minute of the machine
    affects all of them. A contender, such as a peer, may be in several groups.

    Args:
        groups: the groups of contenders. All games of a group are in memory at once.
        seconds: the timed seconds of each contender in each run and group.
        runs: the number of runs. Every run plays other games, so that the spread includes the chance of the cards.
        tell: called with a line that says what begins.
    """
    results = {contender.name: Result(contender) for group in groups for contender in group}
    for run in range(runs):
        for group in groups:
            readings = _play_by_turns(group, run, seconds, lambda name: tell(f"run {run + 1} of {runs}: {name}"))  # noqa: B023
            for contender in group:
                result, reading = results[contender.name], readings[contender.name]
                result.readings.append(reading)
                for peer in contender.peers:
                    if peer in readings:
                        own, other = (getattr(one, contender.compared) for one in (reading, readings[peer]))
                        result.times.setdefault(peer, []).append(own / other)
    return list(results.values())


def _play_by_turns(
    group: Sequence[Contender], seed: int, seconds: float, tell: Callable[[str], object]
) -> dict[str, Reading]:
    plays = {contender.name: contender.start(seed) for contender in group}
    turns: dict[str, list[Reading]] = {contender.name: [] for contender in group}
    for contender in group:
        _turn(plays[contender.name], contender, seconds / 4)  # a warm-up, which does not count
    for _ in range(TURNS):
        for contender in group:
            tell(contender.name)
            turns[contender.name].append(_turn(plays[contender.name], contender, seconds / TURNS))
    return {
        name: Reading(*(median(getattr(turn, field) for turn in each) for field in ("rate", "with_choosing", "hands")))
        for name, each in turns.items()
    }


def _turn(play: Play, contender: Contender, seconds: float) -> Reading:
    choosing = Clock()
    decisions = hands = 0
    began, timed = process_time(), 0.0
    while timed < seconds:
        # Looking at the clock twice for each decision would take a tenth of the time of the fastest loops.
        played, ended = play(contender.decisions, nullcontext() if contender.counts_choosing else choosing)
        decisions, hands = decisions + played, hands + ended
        timed = process_time() - began - choosing.seconds
    return Reading(decisions / timed, decisions / (timed + choosing.seconds), 1000 * hands / decisions)


def spread(values: Sequence[float], form: str) -> str:
    """Return the median as text, and for several values also the least and the greatest: ``4 [3, 5]``."""
    middle = format(median(values), form)
    if len(values) == 1:
        return middle
    return f"{middle} [{format(min(values), form)}, {format(max(values), form)}]"


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return lines as columns; the first and the last are aligned at the left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = []
    for first, *others, last in lines:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:-1], strict=True)]
        shown.append("  ".join([*cells, last]).rstrip())
    return "\n".join(shown)
