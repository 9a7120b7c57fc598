"""What is said of a game in words: tiles, actions, how a hand ended; for spectators, or for one person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.notation import format_tiles
from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES
from mahjong_env.drawing.table import person_name
from mahjong_env.ruleset.questions import Rules

_HOW = {
    "draw": "with {tile}, drawn",
    "discard": "with {tile}, discarded by {giver}",
    "kong": "with {tile}, robbed from {giver's} kong",
    "flowers": "by flowers",
}


@dataclass(frozen=True)
class Reader:
    """For whom a text is written.

    Attributes:
        person: who is called "you", and whose tiles alone are shown where a text hides any; None: a spectator.
        unicode: tiles as Unicode characters instead of notation ("123m").
    """

    person: int | None = None
    unicode: bool = False

    def name(self, person: int) -> str:
        """A person: "player_0", or "you"."""
        return "you" if person == self.person else person_name(person)

    def names(self, person: int) -> str:
        """Whose something is: "player_0's", or "your"."""
        return "your" if person == self.person else f"{person_name(person)}'s"

    def verb(self, person: int, verb: str) -> str:
        """What somebody does: "discards", "passes", "has"; or "discard", where it is "you" who does it."""
        return verb if person == self.person else {"have": "has", "pass": "passes"}.get(verb, f"{verb}s")

    def does(self, person: int, verb: str) -> str:
        """Somebody does something: "player_0 discards", or "you discard"."""
        return f"{self.name(person)} {self.verb(person, verb)}"

    def tiles(self, kinds: Iterable[int]) -> str:
        """Tiles in the given order; "-" for none."""
        return tiles_text(kinds, self.unicode)


def outcome_text(outcome: Mapping[str, Any], reader: Reader | None = None, rules: Rules | None = None) -> str:
    """How a hand ended: who won by what, the rows scored, payments and points.

    Args:
        outcome: see `hand_info.hand_info`.
        reader: for whom; None: for spectators.
        rules: by which it was played: rows then have their Chinese names, too.
    """
    reader = reader or Reader()
    if outcome["winner"] < 0:
        first = ["the hand is drawn: nobody wins"]
    else:
        giver = outcome["from_seat"]
        known = {"tile": reader.tiles([outcome["tile"]]), "giver": reader.name(giver), "giver's": reader.names(giver)}
        how = _HOW[outcome["source"]].format(**known)
        first = [
            f"{reader.does(outcome['winner'], 'win')} {how}: {outcome['value']}",
            f"    rows      {rows_text(outcome['rows'], rules)}",
        ]
    payments = ", ".join(f"{reader.name(person)} {paid:+d}" for person, paid in enumerate(outcome["payments"]))
    points = ", ".join(f"{reader.name(person)} {held}" for person, held in enumerate(outcome["points"]))
    return "\n".join([*first, f"    payments  {payments}", f"    points    {points}"])


def rows_text(rows: Iterable[tuple[str, int]], rules: Rules | None = None) -> str:
    """Scored rows with their values, as in "Closed Hand 2, Pure One Suit 3"; ``rules`` know their Chinese names."""
    chinese = chinese_names(rules) if rules is not None else {}
    return ", ".join(f"{name}{f' {chinese[name]}' if chinese.get(name) else ''} {value}" for name, value in rows)


def chinese_names(rules: Rules) -> dict[str, str]:
    """The Chinese name of each row of the scoring table; empty for rows that have none."""
    return {row.name: row.chinese.split(" ")[0] for row in rules.rows}


def marks_in_chinese(rules: Rules) -> dict[str, str]:
    """The Chinese words for what a variant counts for each seat (`Rules.marks`), by name."""
    return {item.name: item.chinese for item in rules.circumstances if item.is_mark and item.chinese}


def tiles_text(kinds: Iterable[int], unicode: bool = False) -> str:
    """Tiles in the given order, in notation ("123m 55z") or as Unicode characters; "-" for none, -1 is none."""
    listed = [int(kind) for kind in kinds if kind >= 0]
    if not listed:
        return "-"
    if unicode:
        return " ".join(GLYPHS[kind] for kind in listed)
    return re.sub(r"(?<=[mpsz])(?=\d)|(?<=\w)(?=[FS])", " ", format_tiles(listed))


def legal_text(numbers: Iterable[int], unicode: bool = False) -> str:
    """Legal actions in words, those with a tile gathered, as in "discard 1m 55p; concealed kong 5p; win"."""
    gathered: dict[str, list[int]] = {}
    for number in numbers:
        verb, _, kind = ACTIONS[number].rpartition(" ")
        if kind in KIND_NAMES:
            gathered.setdefault(verb, []).append(KIND_NAMES.index(kind))
        else:
            gathered[ACTIONS[number]] = []
    return "; ".join(f"{verb} {tiles_text(kinds, unicode)}" if kinds else verb for verb, kinds in gathered.items())
