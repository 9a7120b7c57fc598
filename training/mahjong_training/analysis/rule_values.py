"""Rule values: the same deals played under different rules, and every difference with its interval.

`compare` is the function to call from Python; ``mahjong-env rule-values`` (`mahjong_training.analysis.rule_report`)
prints its results and writes them to files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.base import games_at_once
from mahjong_agents.shared_chance import pair
from mahjong_env import Rules
from mahjong_env.basics.errors import RulesError
from mahjong_env.basics.types import is_integer
from mahjong_env.ruleset.knobs import read_rules
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.rows import Row
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import FEWEST, Estimate, mean, share
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.matches import deal, play_out
from mahjong_training.runtime.limits import check_counts, check_seed

_MOST_GAMES: Final = 4096
"""The most deals that are played at once, which keeps memory small."""
_KONGS: Final = ("exposed_kongs", "added_kongs", "concealed_kongs")


class Measure(NamedTuple):
    """A number that is measured: its name in words, its unit, and its column heading on the terminal ("" for none)."""

    words: str
    unit: str = ""
    heading: str = ""


MEASURES: Final[Mapping[str, Measure]] = {
    "dealer_points": Measure("points a hand of the dealer", heading="dealer"),
    "dealer_wins": Measure("hands that the dealer wins", " %"),
    "first_dealer_points": Measure("points a hand of who deals first in the match", heading="first dealer"),
    "win_points": Measure("points that a win brings", heading="a win brings"),
    "drawn": Measure("hands that nobody wins", " %", "drawn, %"),
    "self_drawn": Measure("wins by self-draw", " %"),
    "discards": Measure("discards in a hand", heading="discards"),
    "kongs": Measure("kongs in a hand"),
    "hands": Measure("hands in a match", heading="hands"),
    "sigma": Measure("standard deviation of a seat's points in a hand", heading="sigma"),
    "match_sigma": Measure("standard deviation of a person's points in a match", heading="sigma"),
}
"""The measures by name: of single hands, of matches (`first_dealer_points`, `hands`, `match_sigma`), or of both.

In addition, ``seat_1_points`` and so on are the points a hand of the seats after the (first) dealer.
"""


@dataclass(frozen=True)
class Influence:
    """A number, and how far each deal pulls it from its value over all n deals; intervals follow from this.

    Attributes:
        value: the number.
        of_deal: [n] how far each deal pulls it.
        counted: in how many of the deals there was what is counted, such as a win; too few carry no interval.
        is_share: whether it is a share, in per cent.
    """

    value: float
    of_deal: NDArray[np.float64]
    counted: int
    is_share: bool = False

    def estimate(self) -> Estimate:
        """Return the number with its 95 % interval, by the rules of `ratio` and, for shares, of `share`."""
        if self.counted < FEWEST:
            return Estimate(self.value, -np.inf, np.inf)
        if self.is_share and self.value in (0, 100):
            return share(np.full(self.counted, self.value / 100), np.ones(self.counted)).over(0.01)
        spread = mean(self.of_deal)
        low, high = self.value + spread.low, self.value + spread.high
        if self.is_share:
            low, high = max(low, 0.0), min(high, 100.0)
        return Estimate(self.value, low, high)

    def less(self, other: Influence) -> Estimate:
        """Estimate how much greater the number is than the same number under other rules on the same deals."""
        value, of_deal = self.value - other.value, self.of_deal - other.of_deal
        differs = value or of_deal.any()  # deals that are all alike say so however little is counted in them
        return Influence(value, of_deal, min(self.counted, other.counted) if differs else len(of_deal)).estimate()


@dataclass(frozen=True)
class Measures:
    """The measures of n deals under some rules.

    Attributes:
        points: [n, P] points by seats counted from the dealer (by persons counted from the first dealer, where people
            sit out or several hands are played).
        numbers: the measures by name; see `MEASURES`.
        rows: by the name of each row that was scored, how many of 100 wins score it, and the share of all points of
            wins that are paid for hands with it, in %. Only for single hands.
    """

    points: NDArray[np.int64]
    numbers: Mapping[str, Influence]
    rows: Mapping[str, tuple[Influence, Influence]]


@dataclass(frozen=True)
class Comparison:
    """The effect of one change of the rules.

    Attributes:
        name: the change, such as "cap=8".
        rules: the changed rules.
        measures: the measures under the changed rules.
        differences: by the name of a measure, how much greater it is under the changed rules.
        deals_that_differ: the share of deals, from 0 to 1, that are paid differently.
    """

    name: str
    rules: Rules
    measures: Measures
    differences: dict[str, Estimate]
    deals_that_differ: float


@dataclass(frozen=True)
class PairedDeals:
    """The same deals under some rules and under each of several changes, in parts that are played independently.

    Attributes:
        rules: the rules that the others are compared with.
        changes: the changed rules, by name; see `changes_of`.
        agents: one agent for all seats, or one for each person; the same agents play under all rules.
        deals: the number of deals, at least two.
        seed: the seed of the deals and of the agents' choices.
        hands: hands in each deal: 1, or the number of hands of a match (which has fewer where somebody's points run
            out earlier).

    Raises:
        TrainingError: there are fewer than two deals, a number is not an integer or out of range, the number of agents
            is neither 1 nor the number of persons, or single hands are asked for under rules by which a match has no
            fixed number of hands.
    """

    rules: Rules
    changes: Mapping[str, Rules]
    agents: Sequence[str | Agent] = ("greedy",)
    deals: int = 4000
    seed: int = 40_000
    hands: int = 1

    def __post_init__(self) -> None:
        for name in ("deals", "hands", "seed"):
            if not is_integer(getattr(self, name)):
                raise TrainingError(f"--{name} is an integer, not {getattr(self, name)!r}")
        check_counts(least=2, deals=self.deals)  # an interval needs at least two
        check_counts(hands=self.hands)
        check_seed(self.seed)
        for one in self._every:
            if self.hands == 1 and not one.ends_by_hands:
                raise TrainingError(
                    "--hands 1: by some of these rules a match ends when somebody's points do, not after one hand; "
                    "--hands 8 compares matches of 8 hands with it"
                )
            if len(self.agents) not in (1, one.people):
                known = f"one agent, or {one.people} (one for each person)"
                raise TrainingError(f"--agents names {known}, not {len(self.agents)}")

    @property
    def _every(self) -> tuple[Rules, ...]:
        return self.rules, *self.changes.values()

    @cached_property
    def _players(self) -> tuple[Agent, ...]:
        return tuple(make_agent(agent) for agent in self.agents)

    @cached_property
    def tasks(self) -> list[tuple[int, int, int, int]]:
        """The parts: for each, the set of rules, the block of deals, its first deal, and one past its last deal."""
        size = min(_MOST_GAMES, games_at_once(self._players))
        return [
            (which, block, first, min(first + size, self.deals))
            for which in range(len(self._every))
            for block, first in enumerate(range(0, self.deals, size))
        ]

    def play(self, task: tuple[int, int, int, int]) -> dict[str, NDArray[Any]]:
        """Play a part; return the arrays of `Played`, and the dealers.

        The cards and the agents' randomness depend on the deal alone. Where the rules make no difference, the same
        actions are therefore played.
        """
        which, block, first, last = task
        rules, numbers = self._every[which], np.arange(first, last)
        engine = deal(rules, numbers, self.seed, self.hands)
        dealer = engine.dealer.astype(np.intp)
        seats = np.arange(rules.people) if len(self.agents) > 1 else np.zeros(rules.people, np.intp)
        chance = int(np.random.SeedSequence([self.seed, block]).generate_state(1)[0])
        paired = pair(engine, self._players, np.arange(len(numbers)), chance)
        played = play_out(engine, paired, np.tile(seats, (len(numbers), 1)), np.random.default_rng(self.seed))
        return played.arrays() | {"dealer": dealer}

    def compare(self, played: Sequence[Mapping[str, NDArray[Any]]]) -> tuple[Measures, list[Comparison]]:
        """Return the measures under the unchanged rules and the effect of each change, from all parts in order."""
        each, found = len(played) // len(self._every), []
        base = _measures_of(self.rules, played[:each], self.hands)
        for number, (name, rules) in enumerate(self.changes.items(), start=1):
            measures = _measures_of(rules, played[number * each : (number + 1) * each], self.hands)
            both = [one for one in measures.numbers if one in base.numbers]
            differences = {one: measures.numbers[one].less(base.numbers[one]) for one in both}
            differ = 1.0
            if measures.points.shape == base.points.shape:
                differ = float((measures.points != base.points).any(axis=1).mean())
            found.append(Comparison(name, rules, measures, differences, differ))
        return base, found


def compare(rules: Rules, changes: Mapping[str, Rules], **settings: Any) -> tuple[Measures, list[Comparison]]:
    """Play the same deals under some rules and under each of several changes of them.

    Args:
        rules: the rules that the others are compared with.
        changes: the changed rules, by name; see `changes_of`.
        **settings: further attributes of `PairedDeals`.

    Returns:
        The measures under the unchanged rules, and the effect of each change.
    """
    paired = PairedDeals(rules, changes, **settings)
    return paired.compare([paired.play(task) for task in paired.tasks])


def _measures_of(rules: Rules, parts: Sequence[Mapping[str, NDArray[Any]]], hands: int) -> Measures:
    played = Played.joined([Played.of_arrays(part) for part in parts])
    dealer = np.concatenate([part["dealer"] for part in parts])
    every = np.arange(len(dealer))
    people = rules.seats if hands == 1 else played.points.shape[1]  # in a single hand the last persons sit out
    points = played.points[every[:, None], (dealer[:, None] + np.arange(people)) % people]
    number, wins, paid = played.hands, played.wins.sum(axis=1), played.counts["win_points"].sum(axis=1)
    numbers = {
        "dealer_points" if hands == 1 else "first_dealer_points": _mean(points[:, 0], number),
        **{f"seat_{offset}_points": _mean(points[:, offset], number) for offset in range(1, people)},
        "drawn": _share(played.draws, number),
        "self_drawn": _share(played.self_draws.sum(axis=1), wins),
        "win_points": _mean(paid, wins),
        "discards": _mean(played.counts["discards"].sum(axis=1), number),
    }
    if hands > 1:
        numbers |= {"hands": _mean(number, np.ones(len(number))), "match_sigma": _spread(points)}
        return Measures(points, numbers, {})
    numbers |= {"dealer_wins": _share(played.wins[every, dealer], number), "sigma": _spread(points)}
    kongs = [played.counts[name] for name in _KONGS if name in played.counts]
    if kongs:
        numbers["kongs"] = _mean(np.sum(kongs, axis=0).sum(axis=1), number)
    scored = played.rows > 0
    rows = {
        row.name: (_share(scored[:, place], wins), _share(scored[:, place] * paid, paid))
        for place, row in enumerate(rules.rows)
        if scored[:, place].any()
    }
    return Measures(points, numbers, rows)


def _mean(totals: NDArray[np.generic], counts: NDArray[np.generic]) -> Influence:
    """Return a total per count, or 0 where nothing was counted."""
    of_deal, by = np.asarray(totals, np.float64), np.asarray(counts, np.float64)
    if not by.sum():
        return Influence(0.0, np.zeros(len(by)), 0)
    value = float(of_deal.sum() / by.sum())
    return Influence(value, (of_deal - value * by) / by.mean(), int(np.count_nonzero(by)))


def _share(totals: NDArray[np.generic], counts: NDArray[np.generic]) -> Influence:
    """Return a total per count, of which it is a part, in per cent."""
    return replace(_mean(100 * np.asarray(totals, np.float64), counts), is_share=True)


def _spread(points: NDArray[np.int64]) -> Influence:
    """Return the standard deviation of a seat's points; their mean over seats is 0."""
    squares = (points.astype(np.float64) ** 2).mean(axis=1)
    value = float(np.sqrt(squares.mean()))
    of_deal = (squares - value**2) / (2 * value) if value else np.zeros(len(points))
    return Influence(value, of_deal, len(points))


# --- Changes of rules -----------------------------------------------------------------------------------------------


def changes_of(
    rules: Rules, knobs: Sequence[str] = (), rows: Sequence[str] = (), *, together: bool = False
) -> dict[str, Rules]:
    """Return changed rules, by the name of the change.

    Args:
        rules: the unchanged rules.
        knobs: knobs to change, each as ``NAME=VALUE``.
        rows: names of rows to strike out of the scoring table.
        together: whether all of these make a single change; otherwise each is a change by itself.

    Raises:
        RulesError: there is no such knob, value or row.
    """
    if not together:
        turned = {knob: read_rules(rules, [knob]) for knob in knobs}
        return turned | {f"without {_row(rules, row).name}": without_row(rules, row) for row in rows}
    changed = read_rules(rules, knobs)
    for row in rows:
        changed = without_row(changed, row)
    return {", ".join([*knobs, *(f"without {row}" for row in rows)]): changed}


def every_knob(rules: Rules, hands: int = 1) -> tuple[list[str], list[str]]:
    """Return all other values of all knobs as ``NAME=VALUE``, and the knobs for which you have to name a value.

    A knob that can be any number is tried at half and at twice its value and, where possible, without a limit (none).
    When single hands are played, values by which a game cannot be a single hand are left out.
    """
    tried, unknown = [], []
    for item in fields(rules):
        value, choices = getattr(rules, item.name), item.metadata["choices"]
        if not choices and value is not None:
            choices = [*dict.fromkeys((value // 2, value * 2)), *([None] if item.metadata["none"] else [])]
        others = [choice for choice in choices or () if choice != value]
        if not others:
            unknown.append(item.name)
        for other in others:
            try:
                changed = replace(rules, **{item.name: other})
            except RulesError:
                continue
            if hands > 1 or changed.ends_by_hands:
                written = "none" if other is None else str(other).lower() if isinstance(other, bool) else other
                tried.append(f"{item.name}={written}")
    return tried, unknown


@cache
def without_row(rules: Rules, name: str) -> Rules:
    """Return the same rules without one row of the scoring table: no hand ever has it.

    The row is then neither paid, nor does it lift a restriction on winning, nor does it replace other rows.

    Args:
        rules: the unchanged rules.
        name: the name of the row, in upper or lower case.

    Raises:
        RulesError: there is no such row, or the variant's scoring is not a table.
    """
    struck = _row(rules, name)
    if not isinstance(rules, ScoredRules):
        raise RulesError(f"{rules.name}: the scoring is not a table from which a row could be struck out")
    rows = tuple(
        _never(row) if row is struck else replace(row, comes_with=None) if row.comes_with == struck.name else row
        for row in rules.rows
    )
    base = type(rules)

    def reduced(self: Rules) -> tuple[Any, ...]:
        """Pickle the call that makes the rules; copies of rows and shapes would be unknown to the engine."""
        return without_row, (base(**self.knobs), name)

    changed: type[Rules] = type(base.__name__, (base,), {"rows": rows, "__module__": __name__, "__reduce__": reduced})
    return changed(**rules.knobs)


def _row(rules: Rules, name: str) -> Row:
    rows = {row.name.lower(): row for row in rules.rows}
    if name.strip().lower() not in rows:
        raise RulesError(f"{rules.name} has no row {name!r}; there are {', '.join(row.name for row in rules.rows)}")
    return rows[name.strip().lower()]


def _never(row: Row) -> Row:
    """Return a row that never holds, but that is evaluated in the same way."""
    no_hand = lambda wins: np.zeros(len(wins), np.bool_)  # noqa: E731
    never: dict[str, Any] = {} if row.in_some_reading is None else {"in_some_reading": no_hand}
    is_of_readings = row.per_reading is not None or row.per_sets is not None or row.shape is not None
    never |= {"per_reading": lambda reading: False} if is_of_readings else {"per_hand": no_hand}
    return replace(row, of_facts=(), per_sets=None, of_sets=(), combines=None, **never, unless=(), comes_with=None)
