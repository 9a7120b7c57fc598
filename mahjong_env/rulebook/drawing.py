"""Hands of the rule pages, drawn as tiles, with what they score and who pays: computed by `score`, never written down.

A block holds the arguments of `mahjong_env.score` as TOML. The winner sits at seat 0 and is "you"; other seats are
named by where they sit: ``dealer = "right"``, ``from_seat = "left"``, ``melds = ["chow 123s@left"]``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mahjong_env.basics.errors import HandError
from mahjong_env.basics.notation import MeldType, format_tiles, parse_kind, parse_meld, parse_tiles
from mahjong_env.basics.tiles import GLYPHS, RED
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.arithmetic import Told
from mahjong_env.scoring.described import HandScore, score
from mahjong_env.scoring.receipt import rows_text

_BACK: Final = "\U0001f02b"
_AS_TEXT: Final = "\ufe0e"
"""Asks for the plain sign of a tile that is an emoji too (the Red Dragon)."""
_WINDS: Final = {"1z": "East", "2z": "South", "3z": "West", "4z": "North"}
_SIDES: Final = {"right": "the player on the right", "across": "the player opposite", "left": "the player on the left"}
_MELDS: Final = {
    MeldType.CHOW: "chow",
    MeldType.PUNG: "pung",
    MeldType.EXPOSED_KONG: "exposed kong",
    MeldType.ADDED_KONG: "added kong",
    MeldType.CONCEALED_KONG: "concealed kong",
}
_SITUATION: Final[Mapping[str, str]] = {
    "last_tile": "no tile is left to draw",
    "first_draw": "your first draw; nobody has claimed a tile or declared a kong",
    "robbing_gold": "before the first turn, with the tile that was turned up",
    "discarded_wild": "you have discarded a wild tile in this hand",
    "flower_draw": "the winning tile replaced a flower",
}
"""The meanings at the table of arguments of `score` that are True."""
_COUNTED: Final[Mapping[str, str]] = {
    "kong_draws": "kongs in a row just before the winning tile",
    "red_discards": "Red Dragons that you have discarded",
    "gambits": "wild tiles that you have just discarded in a row",
    "dealer_streak": "hands for which the dealer has already kept the deal",
}
"""The things that arguments of `score` count."""


def read_block(rules: Rules, block: str) -> dict[str, Any]:
    """The arguments of `score` that a block describes, sides of the table turned into seats.

    Raises:
        KeyError: nobody sits on that side.
    """
    seats = _seats(rules)
    arguments = tomllib.loads(block)
    for name in ("dealer", "from_seat"):
        if name in arguments:
            arguments[name] = seats[arguments[name]]
    if "melds" in arguments:
        arguments["melds"] = [_with_seat(meld, seats) for meld in arguments["melds"]]
    if "other_melds" in arguments:
        others = arguments["other_melds"].items()
        arguments["other_melds"] = {seats[side]: [_with_seat(meld, seats) for meld in melds] for side, melds in others}
    return arguments


def draw_hand(rules: Rules, block: str) -> str:
    """A hand as tiles and notation, its situation, its rows, what it is worth and who pays.

    A hand that cannot come about with these rules (a fifth seat, another wild tile) says so instead of its score.
    """
    try:
        arguments = read_block(rules, block)
        scored = score(rules, **arguments)
    except (HandError, KeyError):
        rules = type(rules)()
        drawing = _Drawing(rules, read_block(rules, block))
        return drawing.text([("result", "with these house rules this hand does not come about")])
    drawing = _Drawing(rules, arguments)
    return drawing.text(drawing.result(scored))


def situation_of(rules: Rules, arguments: Mapping[str, Any]) -> list[str]:
    """What a hand's score depends on beside its tiles, in words: a line each."""
    drawing = _Drawing(rules, arguments)
    wins_on = [f"the winning tile: {drawing.origin()}"] if "winning_tile" in arguments else []
    return [*wins_on, *(f"{label}: {text}" for label, text in drawing.situation() if label != "wild")]


def show_tiles(kinds: Iterable[int]) -> str:
    """Tiles as Unicode signs."""
    return "".join(GLYPHS[kind] + (_AS_TEXT if kind == RED else "") for kind in kinds)


@dataclass(frozen=True)
class _Drawing:
    """One hand with its situation: the arguments of `score`."""

    rules: Rules
    arguments: Mapping[str, Any]

    def text(self, result: list[tuple[str, str]]) -> str:
        """All lines, their labels in a column."""
        lines = [*self.tiles(), *self.situation(), *result]
        return "\n".join(f"{label:<8} {text}" for label, text in lines)

    def who(self, seat: int) -> str:
        """A seat as the winner calls it."""
        return next((_SIDES[side] for side, there in _seats(self.rules).items() if there == seat), "you")

    def tiles(self) -> list[tuple[str, str]]:
        """The concealed tiles, the melds, the flowers, the winning tile."""
        hand, flowers = self.arguments["hand"], self.arguments.get("flowers", "")
        signs = " ".join(show_tiles(parse_tiles(group)) for group in hand.split())
        lines = [("hand", f"{signs}   {hand}")]
        lines += [("meld", self.meld(text)) for text in self.arguments.get("melds", ())]
        if flowers:
            lines.append(("flowers", f"{show_tiles(parse_tiles(flowers))}   {flowers}"))
        if "winning_tile" in self.arguments:
            tile = self.arguments["winning_tile"]
            lines.append(("wins on", f"{show_tiles([parse_kind(tile)])}   {tile}, {self.origin()}"))
        for seat, melds in self.arguments.get("other_melds", {}).items():
            lines += [("others", f"{self.who(seat)}: {self.meld(text)}") for text in melds]
        return lines

    def meld(self, text: str) -> str:
        """One meld with its tiles and the player it came from; a concealed kong shows two backs."""
        meld = parse_meld(text)
        signs = show_tiles(meld.tiles)
        if meld.type is MeldType.CONCEALED_KONG:
            return f"{_BACK}{show_tiles(meld.tiles[:2])}{_BACK}   {_MELDS[meld.type]} {format_tiles(meld.tiles)}"
        origin = "you" if meld.from_seat == 0 else self.who(meld.from_seat)
        return f"{signs}   {_MELDS[meld.type]} {format_tiles(meld.tiles)}, from {origin}"

    def origin(self) -> str:
        """The origin of the winning tile."""
        source = self.arguments["source"]
        if source == "draw":
            return "turned up before the first turn" if self.arguments.get("robbing_gold") else "drawn by yourself"
        giver = self.who(self.arguments["from_seat"])
        return f"discarded by {giver}" if source == "discard" else f"robbed: {giver} was adding it to a pung"

    def situation(self) -> list[tuple[str, str]]:
        """The dealer, the wild tile, and whatever else the score depends on."""
        dealer = self.who(self.arguments.get("dealer", 0))
        lines = [("dealer", dealer)]
        wild = self.arguments.get("wild")
        if wild:
            lines.append(("wild", f"{show_tiles([parse_kind(wild)])}   {wild}"))
        for name, label in (("round_wind", "round"), ("house_wind", "your wind")):
            if name in self.arguments:
                lines.append((label, _WINDS[self.arguments[name]]))
        if self.arguments["source"] == "flowers":
            lines.append(("also", "all eight flowers are exposed; the hand itself need not be complete"))
        lines += [("also", words) for name, words in _SITUATION.items() if self.arguments.get(name)]
        counted = {name: self.arguments.get(name, 0) for name in _COUNTED}
        lines += [("also", f"{_COUNTED[name]}: {number}") for name, number in counted.items() if number]
        if "running_points" in self.arguments:
            points = self.arguments["running_points"]
            lines.append(("points", ", ".join(f"{self.who(seat)} {has}" for seat, has in enumerate(points))))
        knobs = [f"{name}={value!r}" for name, value in self.arguments.items() if name in self.rules.knobs]
        return [*lines, *([("knob", ", ".join(knobs))] if knobs else [])]

    def result(self, scored: HandScore) -> list[tuple[str, str]]:
        """The rows, what the hand is worth, and who pays; or why it may not win."""
        if not scored.legal:
            return [("result", f"no win: {scored.reason}")]
        receipt = scored.receipt
        return [
            ("scores", rows_text(scored.rows) or "no row"),
            ("worth", (receipt and receipt.formula[0]) or str(scored.points)),
            ("pays", self.payers(scored.payments, receipt.shares if receipt is not None else ())),
        ]

    def payers(self, payments: tuple[int, ...], shares: tuple[Told, ...]) -> str:
        """The payments with their calculations, seat by seat unless all pay the same."""
        told = {
            seat: f"{-paid} ({shares[seat][0]})" if shares and shares[seat][0] else str(-paid)
            for seat, paid in enumerate(payments)
            if seat and paid
        }
        if len(told) == len(payments) - 1 and len(set(told.values())) == 1:
            return f"each other player {told[1]}"
        dealer = self.arguments.get("dealer", 0)
        names = {seat: self.who(seat) + (" (the dealer)" if seat == dealer else "") for seat in told}
        return ", ".join(f"{names[seat]} {amount}" for seat, amount in told.items()) or "nobody"


def _seats(rules: Rules) -> dict[str, int]:
    """The seats around seat 0 by the side on which they sit."""
    if rules.seats == 3:
        return {"right": 1, "left": 2}
    return {"right": 1, "across": 2, "left": 3}


def _with_seat(meld: str, seats: Mapping[str, int]) -> str:
    text, at, side = meld.partition("@")
    return f"{text}{at}{seats[side] if side != 'you' else 0}" if at else meld
