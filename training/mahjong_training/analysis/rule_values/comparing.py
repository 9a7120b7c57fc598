"""Rules against rules on the same deals: knobs turned one by one or together, rows struck out of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from mahjong_agents import Agent, make_agent
from mahjong_env import Rules
from mahjong_env.basics.errors import RulesError
from mahjong_env.ruleset.knobs import read_rules
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.rows import Row
from mahjong_training.analysis.rule_values.measures import (
    Block,
    Measures,
    PlayedBlock,
    blocks_of,
    measures_of,
    play_block,
)
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate


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
    """What a change came to.

    Attributes:
        change: the change.
        measures: what was measured by the changed rules.
        differences: for each number that both have: how much greater it is by the changed rules.
        deals_that_differ: share of the deals in which somebody was paid something else.
    """

    change: Change
    measures: Measures
    differences: dict[str, Estimate]
    deals_that_differ: float


@dataclass(frozen=True)
class Study:
    """What is played: the same deals by several sets of rules.

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
    """Return a row that no longer comes with one that nobody has."""
    return replace(row, comes_with=None) if row.comes_with == struck.name else row


def sentences(base: Measures, found: Sequence[Comparison]) -> Iterator[str]:
    """Yield what every change came to, in words; what is not clear of zero is said to make no difference shown."""
    for one in found:
        told = []
        for name, (more, less, unit) in _WORDS.items():
            if name not in one.differences:
                continue
            difference, value = one.differences[name], one.measures.numbers[name].value
            if difference.is_clear_of_zero:
                word = more if difference.mean > 0 else less
                told.append(
                    f"{word} by {abs(difference.mean):.2f} ± {difference.half_width:.2f}{unit} (to {value:.2f}{unit})"
                )
        share = f"{100 * one.deals_that_differ:.1f} % of the deals are paid differently"
        if not one.deals_that_differ:
            yield f"{one.change.name}: not one deal is paid differently."
        elif told:
            yield f"{one.change.name}: {'; '.join(told)}. {share[0].upper()}{share[1:]}."
        else:
            yield f"{one.change.name}: no difference is clear of zero, although {share}."


_WORDS = {
    "dealer_points": ("the dealer gains more a hand,", "the dealer gains less a hand,", ""),
    "dealer_wins": ("the dealer wins more hands,", "the dealer wins fewer hands,", " %"),
    "drawn": ("more hands are drawn,", "fewer hands are drawn,", " %"),
    "self_drawn": ("more wins are self-drawn,", "fewer wins are self-drawn,", " %"),
    "win_points": ("a win brings more,", "a win brings less,", ""),
    "discards": ("hands take longer,", "hands are shorter,", " discards"),
    "kongs": ("there are more kongs,", "there are fewer kongs,", ""),
    "sigma": ("sigma rises", "sigma falls", ""),
    "first_dealer_points": ("who deals first gains more a hand,", "who deals first gains less a hand,", ""),
    "hands": ("matches are longer,", "matches are shorter,", " hands"),
    "match_sigma": ("the spread of a match rises", "the spread of a match falls", ""),
}
