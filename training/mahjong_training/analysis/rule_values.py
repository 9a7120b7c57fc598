"""Rule values: the same deals are played by two sets of rules, and every difference gets its interval.

`compare` is the library; ``mahjong-env rule-values`` (`mahjong_training.analysis.rule_report`) prints and draws what it
finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.base import games_at_once
from mahjong_agents.shared_chance import pair
from mahjong_env import Rules
from mahjong_env.basics.errors import RulesError
from mahjong_env.ruleset.knobs import read_rules
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.rows import Row
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, ratio
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.matches import deal, play_out

MOST_GAMES: Final = 4096
"""Deals that are played at once, so that memory stays small."""


@dataclass(frozen=True)
class Measure:
    """A number that is measured of some rules.

    Attributes:
        words: what it is.
        more, less: what a change does that raises or lowers it.
        unit: behind its numbers.
        heading: its column on the terminal; "": it has none.
    """

    words: str
    more: str
    less: str
    unit: str = ""
    heading: str = ""


MEASURES: Final[Mapping[str, Measure]] = {
    "dealer_points": Measure(
        "points a hand of the dealer", "the dealer gains more a hand,", "the dealer gains less a hand,", "", "dealer"
    ),
    "dealer_wins": Measure(
        "hands that the dealer wins", "the dealer wins more hands,", "the dealer wins fewer hands,", " %"
    ),
    "first_dealer_points": Measure(
        "points a hand of who deals first in the match",
        *("who deals first gains more a hand,", "who deals first gains less a hand,", "", "first dealer"),
    ),
    "win_points": Measure(
        "points that a win brings", "a win brings more,", "a win brings less,", heading="a win brings"
    ),
    "drawn": Measure("hands that nobody wins", "more hands are drawn,", "fewer hands are drawn,", " %", "drawn, %"),
    "self_drawn": Measure("wins by self-draw", "more wins are self-drawn,", "fewer wins are self-drawn,", " %"),
    "discards": Measure("discards in a hand", "hands take longer,", "hands are shorter,", " discards", "discards"),
    "kongs": Measure("kongs in a hand", "there are more kongs,", "there are fewer kongs,"),
    "hands": Measure("hands in a match", "matches are longer,", "matches are shorter,", " hands", "hands"),
    "sigma": Measure("standard deviation of a seat's points in a hand", "sigma rises", "sigma falls", heading="sigma"),
    "match_sigma": Measure(
        "standard deviation of a person's points in a match",
        *("the spread of a match rises", "the spread of a match falls", "", "sigma"),
    ),
}
"""The measures by name: of single hands, of matches (`first_dealer_points`, `hands`, `match_sigma`), or of both.
``seat_1_points`` and so on are the points a hand of the seats after the (first) dealer."""
_KONGS: Final = ("exposed_kongs", "added_kongs", "concealed_kongs")


@dataclass(frozen=True)
class Influence:
    """A number, and how much each deal has moved it: what intervals of it, and of differences, follow from.

    Attributes:
        value: the number.
        of_deal: [n] how far each deal pulls it from the mean of all; their mean is 0.
    """

    value: float
    of_deal: NDArray[np.float64]

    def estimate(self) -> Estimate:
        """Return the number with its 95 % interval."""
        return _moved(ratio(self.of_deal, np.ones(len(self.of_deal))), self.value)

    def less(self, other: Influence) -> Estimate:
        """Return how much greater it is than the same number by other rules on the same deals."""
        difference = self.of_deal - other.of_deal
        return _moved(ratio(difference, np.ones(len(difference))), self.value - other.value)


def _moved(spread: Estimate, value: float) -> Estimate:
    return Estimate(value, value + spread.low, value + spread.high)


@dataclass(frozen=True)
class Measures:
    """The measures of n deals by some rules.

    Attributes:
        rules: the rules.
        points: [n, P] points by seats counted from the dealer (by persons from the first dealer, where people sit out
            or several hands are played).
        numbers: what was measured, by name; see `MEASURES`.
        rows: for each row that was scored, by name: how many of 100 wins score it, and the share of all points of
            wins that are paid for hands with it, in %; of single hands alone.
    """

    rules: Rules
    points: NDArray[np.int64]
    numbers: Mapping[str, Influence]
    rows: Mapping[str, tuple[Influence, Influence]]


@dataclass(frozen=True)
class Block:
    """Some deals that are played together by one set of rules; what happens there depends on no other block.

    Attributes:
        rules: which set of rules, by its number.
        number: of the block.
        first, last: its deals, ``last`` not among them.
    """

    rules: int
    number: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of its file in the cache."""
        return f"{self.rules}_{self.number}_{self.first}-{self.last}"


@dataclass(frozen=True)
class PlayedBlock:
    """The outcome of the n deals of a block.

    Attributes:
        played: what happened.
        dealer: [n] intp who dealt first.
    """

    played: Played
    dealer: NDArray[np.intp]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays by name, for a file."""
        return self.played.arrays() | {"dealer": self.dealer}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> PlayedBlock:
        """Return what `arrays` has given; a `KeyError` if something is missing."""
        rest = dict(arrays)
        dealer = rest.pop("dealer")
        return cls(Played.of_arrays(rest), dealer)


def blocks_of(rules: int, deals: int, agents: Sequence[Agent]) -> list[Block]:
    """Return the blocks of deals that are played together by one set of rules, given by its number."""
    size = min(MOST_GAMES, games_at_once(agents))
    return [Block(rules, number, first, min(first + size, deals)) for number, first in enumerate(range(0, deals, size))]


def play_block(rules: Rules, agents: Sequence[Agent], block: Block, seed: int, hands: int = 1) -> PlayedBlock:
    """Play the deals of a block; deal i has the same cards by all rules with the same tiles.

    Args:
        rules: what is played.
        agents: one for all seats, or one for each person.
        block: the deals.
        seed: of the deals and of the agents' chance, which belongs to the deals: where the rules make no difference,
            agents do the same.
        hands: of each deal; the match that they are may end before.
    """
    numbers = np.arange(block.first, block.last)
    engine = deal(rules, numbers, seed, hands)
    dealer = engine.dealer.astype(np.intp)
    seats = np.arange(rules.people) if len(agents) > 1 else np.zeros(rules.people, np.intp)
    own = int(np.random.SeedSequence([seed, block.number]).generate_state(1)[0])
    paired = pair(engine, agents, np.arange(len(numbers)), own)
    played = play_out(engine, paired, np.tile(seats, (len(numbers), 1)), np.random.default_rng(seed))
    return PlayedBlock(played, dealer)


def measures_of(rules: Rules, blocks: Sequence[PlayedBlock], hands: int = 1) -> Measures:
    """Return the measures of some rules from all blocks, in order; ``hands`` are those of a deal."""
    played = Played.joined([block.played for block in blocks])
    dealer = np.concatenate([block.dealer for block in blocks])
    every, people = np.arange(len(dealer)), played.points.shape[1]
    points = played.points[every[:, None], (dealer[:, None] + np.arange(people)) % people]
    number, wins, paid = played.hands, played.wins.sum(axis=1), played.counts["win_points"].sum(axis=1)
    numbers = {
        "dealer_points" if hands == 1 else "first_dealer_points": _mean(points[:, 0], number),
        **{f"seat_{offset}_points": _mean(points[:, offset], number) for offset in range(1, people)},
        "drawn": _mean(100 * played.draws, number),
        "self_drawn": _mean(100 * played.self_draws.sum(axis=1), wins),
        "win_points": _mean(paid, wins),
        "discards": _mean(played.counts["discards"].sum(axis=1), number),
    }
    if hands == 1:
        numbers |= {"dealer_wins": _mean(100 * played.wins[every, dealer], number), "sigma": _spread(points)}
        kongs = [played.counts[name] for name in _KONGS if name in played.counts]
        if kongs:
            numbers["kongs"] = _mean(np.sum(kongs, axis=0).sum(axis=1), number)
    else:
        numbers |= {"hands": _mean(number, np.ones(len(number))), "match_sigma": _spread(points)}
    return Measures(rules, points, numbers, _rows_of(rules, played) if hands == 1 else {})


def _rows_of(rules: Rules, played: Played) -> dict[str, tuple[Influence, Influence]]:
    scored, wins, paid = played.rows > 0, played.wins.sum(axis=1), played.counts["win_points"].sum(axis=1)
    return {
        row.name: (_mean(100 * scored[:, number], wins), _mean(100 * scored[:, number] * paid, paid))
        for number, row in enumerate(rules.rows)
        if scored[:, number].any()
    }


def _mean(totals: NDArray[np.generic], counts: NDArray[np.generic]) -> Influence:
    """Return a total per count; where nothing was counted, 0."""
    of_deal, by = np.asarray(totals, np.float64), np.asarray(counts, np.float64)
    if not by.sum():
        return Influence(0.0, np.zeros(len(by)))
    value = float(of_deal.sum() / by.sum())
    return Influence(value, (of_deal - value * by) / by.mean())


def _spread(points: NDArray[np.int64]) -> Influence:
    """Return the standard deviation of a seat's points, whose mean over seats is 0."""
    squares = (points.astype(np.float64) ** 2).mean(axis=1)
    value = float(np.sqrt(squares.mean()))
    return Influence(value, (squares - value**2) / (2 * value) if value else np.zeros(len(points)))


# --- Rules against rules --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """Rules that differ from the ones that they are compared with.

    Attributes:
        name: what differs, such as "cap=8" or "without Closed Hand".
        rules: the changed rules.
    """

    name: str
    rules: Rules


@dataclass(frozen=True)
class Comparison:
    """The result of a change.

    Attributes:
        change: the change.
        measures: what was measured by the changed rules.
        differences: for each number that both have: how much greater it is by the changed rules.
        deals_that_differ: share of the deals in which payments differ.
    """

    change: Change
    measures: Measures
    differences: dict[str, Estimate]
    deals_that_differ: float


@dataclass(frozen=True)
class Study:
    """The same deals by several sets of rules.

    Attributes:
        rules: the sets of rules; the first is the one that the others are compared with.
        agents: one for all seats, or one for each person; they are the same by all rules.
        deals: how many.
        seed: of the deals and the agents' chance.
        hands: of each deal.
    """

    rules: tuple[Rules, ...]
    agents: tuple[Agent, ...]
    deals: int
    seed: int
    hands: int = 1

    def __post_init__(self) -> None:
        """Check that there are as many agents as can be, and that single hands are hands.

        Raises:
            TrainingError: as many agents as neither 1 nor persons; single hands by rules of matches without a number of
                hands.
        """
        for one in self.rules:
            if self.hands == 1 and not one.ends_by_hands:
                raise TrainingError(
                    "--hands 1: by some of these rules a match ends when somebody's points do, not after one hand; "
                    "--hands 8 compares matches of 8 hands with it"
                )
            if len(self.agents) not in (1, one.people):
                raise TrainingError(
                    f"--agents names one agent, or {one.people} (one for each person), not {len(self.agents)}"
                )

    @property
    def blocks(self) -> list[Block]:
        """All that is played, by every set of rules in turn."""
        return [block for number in range(len(self.rules)) for block in blocks_of(number, self.deals, self.agents)]


def play_of(study: Study, block: Block) -> PlayedBlock:
    """Play one block of a study."""
    return play_block(study.rules[block.rules], study.agents, block, study.seed, study.hands)


def compare(
    rules: Rules,
    changes: Sequence[Change],
    *,
    agents: Sequence[str | Agent] = ("greedy",),
    deals: int = 4000,
    seed: int = 40_000,
    hands: int = 1,
    play: Callable[[Study], Mapping[Block, PlayedBlock]] | None = None,
) -> tuple[Measures, list[Comparison]]:
    """Play the same deals by some rules and by each of several changes of them.

    Args:
        rules: the rules that the others are compared with.
        changes: the changed rules.
        agents: one for all seats, or one for each person; they are the same by all rules.
        deals: how many.
        seed: of the deals and the agents' chance.
        hands: of each deal: 1, or as many as a match has (or fewer, where somebody's points run out before).
        play: plays all blocks of a study with `play_of`, wherever it is; None: here.

    Returns:
        What was measured by the rules, and what each change came to.

    Raises:
        TrainingError: see `Study`.
    """
    made = tuple(make_agent(agent) for agent in agents)
    study = Study((rules, *(change.rules for change in changes)), made, deals, seed, hands)
    played = play(study) if play else {block: play_of(study, block) for block in study.blocks}
    base, *changed = (
        measures_of(one, [played[block] for block in study.blocks if block.rules == number], hands)
        for number, one in enumerate(study.rules)
    )
    found = []
    for change, measures in zip(changes, changed, strict=True):
        differences = {
            name: value.less(base.numbers[name]) for name, value in measures.numbers.items() if name in base.numbers
        }
        found.append(Comparison(change, measures, differences, _share_that_differs(base, measures)))
    return base, found


def _share_that_differs(one: Measures, other: Measures) -> float:
    if one.points.shape != other.points.shape:
        return 1.0
    return float((one.points != other.points).any(axis=1).mean())


def changes_of(
    rules: Rules, knobs: Sequence[str] = (), rows: Sequence[str] = (), *, together: bool = False
) -> list[Change]:
    """Return changed rules.

    Args:
        rules: what is changed.
        knobs: each ``NAME=VALUE`` is a change by itself.
        rows: names of rows; each is struck out of the scoring table by itself.
        together: make one change of all of them.

    Raises:
        RulesError: no such knob, value or row.
    """
    if not together:
        changed = [Change(knob, read_rules(rules, [knob])) for knob in knobs]
        return changed + [Change(f"without {_row(rules, row).name}", without_row(rules, row)) for row in rows]
    both = read_rules(rules, knobs)
    for row in rows:
        both = without_row(both, row)
    return [Change(", ".join([*knobs, *(f"without {row}" for row in rows)]), both)]


def every_knob(rules: Rules, hands: int = 1) -> tuple[list[str], list[str]]:
    """Return every other value of every knob as ``NAME=VALUE``, and the knobs for which a value has to be named.

    A knob that is any number is tried at half and at twice its value and, where it can be, without a limit (none).
    Rules that know no single hands are left out where single hands are played.
    """
    tried, unknown = [], []
    for item in fields(rules):
        value = getattr(rules, item.name)
        others = [choice for choice in item.metadata["choices"] or () if choice != value]
        if not item.metadata["choices"] and value is not None:
            others = [*dict.fromkeys((value // 2, value * 2)), *([None] if item.metadata["none"] else [])]
            others = [other for other in others if other != value]
        if others:
            tried += [
                f"{item.name}={_text(choice)}" for choice in others if _is_possible(rules, item.name, choice, hands)
            ]
        else:
            unknown.append(item.name)
    return tried, unknown


def _text(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _is_possible(rules: Rules, name: str, value: Any, hands: int) -> bool:
    try:
        changed = replace(rules, **{name: value})
    except RulesError:
        return False
    return hands > 1 or changed.ends_by_hands


@cache
def without_row(rules: Rules, name: str) -> Rules:
    """Return the same rules with one row that no hand ever has.

    It is then neither paid, nor does it lift what bars a hand from winning, nor does it take the place of other rows.

    Args:
        rules: the rules.
        name: of the row; capital letters make no difference.

    Raises:
        RulesError: there is no such row, or the variant's scoring is no table.
    """
    struck = _row(rules, name)
    if not isinstance(rules, ScoredRules):
        raise RulesError(f"{rules.name}: the scoring is no table that a row could be struck out of")
    rows = tuple(_never(row) if row is struck else _apart_from(row, struck) for row in rules.rows)
    base = type(rules)

    def reduced(self: Rules) -> tuple[Any, ...]:
        """Pickled is how they are made: copies of rows and shapes would no longer be those that the engine knows."""
        return without_row, (base(**self.knobs), name)

    changed: type[Rules] = type(base.__name__, (base,), {"rows": rows, "__module__": __name__, "__reduce__": reduced})
    return changed(**rules.knobs)


def _row(rules: Rules, name: str) -> Row:
    for row in rules.rows:
        if row.name.lower() == name.strip().lower():
            return row
    raise RulesError(f"{rules.name} has no row {name!r}; there are {', '.join(row.name for row in rules.rows)}")


def _never(row: Row) -> Row:
    """Return the row as one that never holds, asked in the same way."""
    never: dict[str, Any] = {}
    if row.in_some_reading is not None:
        never["in_some_reading"] = _no_hand
    if row.per_reading is not None or row.shape is not None:
        never["per_reading"] = lambda reading: False
    else:
        never["per_hand"] = _no_hand
    return replace(row, **never, unless=(), comes_with=None)


def _no_hand(wins: Any) -> Any:
    return np.zeros(len(wins), np.bool_)


def _apart_from(row: Row, struck: Row) -> Row:
    """Return a row that no longer comes with the one that was struck out."""
    return replace(row, comes_with=None) if row.comes_with == struck.name else row
