"""Hands of the rule pages, drawn as tiles; `score` works out what they score and who pays, so no page states it itself.

A block holds the arguments of `mahjong_env.score` as TOML. The winner sits at seat 0 and is "you"; other seats are
named by where they sit: ``dealer = "right"``, ``from_seat = "left"``, ``melds = ["chow 123s@left"]``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mahjong_env.basics.errors import HandError
from mahjong_env.basics.notation import MeldType, format_tiles, parse_kind, parse_meld, parse_tiles
from mahjong_env.basics.tiles import GLYPHS, RED
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.arithmetic import Told
from mahjong_env.scoring.described import HandScore, score
from mahjong_env.scoring.receipt import rows_text

Lines: TypeAlias = "list[tuple[Told, str]]"
"""Lines of an example: the label in both languages, and the text."""
_BACK: Final = "\U0001f02b"
_AS_TEXT: Final = "\ufe0e"
"""The character that asks for the plain sign of a tile that is an emoji too (the Red Dragon)."""
LANGUAGES: Final = ("en", "zh")
"""The languages in which pages are written; texts are pairs in this order."""
_WINDS: Final[Mapping[str, Told]] = {
    "1z": ("East", "东"),
    "2z": ("South", "南"),
    "3z": ("West", "西"),
    "4z": ("North", "北"),
}
_YOU: Final = ("you", "你")
_SIDES: Final[Mapping[str, Told]] = {
    "right": ("the player on the right", "下家"),
    "across": ("the player opposite", "对家"),
    "left": ("the player on the left", "上家"),
}
_MELDS: Final[Mapping[MeldType, Told]] = {
    MeldType.CHOW: ("chow", "吃"),
    MeldType.PUNG: ("pung", "碰"),
    MeldType.EXPOSED_KONG: ("exposed kong", "明杠"),
    MeldType.ADDED_KONG: ("added kong", "加杠"),
    MeldType.CONCEALED_KONG: ("concealed kong", "暗杠"),
}
_SITUATION: Final[Mapping[str, Told]] = {
    "last_tile": ("no tile is left to draw", "牌墙里已经没有可摸的牌"),
    "fourth_tile": ("the other three tiles of its kind lie open", "这种牌的另外三张都已亮在桌上"),
    "first_draw": (
        "your first draw; nobody has claimed a tile or declared a kong",
        "你第一次摸牌，还没有人吃碰杠",
    ),
    "robbing_gold": ("before the first turn, with the tile that was turned up", "第一轮之前，用翻开的那张金牌"),
    "discarded_wild": ("you have discarded a wild tile in this hand", "这一局你打出过赖子"),
    "flower_draw": ("the winning tile replaced a flower", "和的那张是补花摸到的"),
}
"""The meanings at the table of arguments of `score` that are True."""
_COUNTED: Final[Mapping[str, Told]] = {
    "kong_draws": ("kongs in a row just before the winning tile", "和牌之前连着开的杠"),
    "red_discards": ("Red Dragons that you have discarded", "你打出的红中"),
    "gambits": ("wild tiles that you have just discarded in a row", "你刚刚接连打出的财神"),
    "dealer_streak": ("hands for which the dealer has already kept the deal", "庄家已经连庄的局数"),
}
"""The things that arguments of `score` count."""


def read_block(rules: Rules, block: str) -> dict[str, Any]:
    """Return the arguments of `score` that a block describes, with sides of the table turned into seats.

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


def draw_hand(rules: Rules, block: str, language: str = "en") -> str:
    """Return a hand as tiles and notation, with its situation, its rows, what it is worth and who pays.

    For a hand that cannot come about with these rules (a fifth seat, another wild tile), the text says so instead of
    giving its score.
    """
    number = LANGUAGES.index(language)
    try:
        arguments = read_block(rules, block)
        scored = score(rules, **arguments)
    except (HandError, KeyError):
        rules = type(rules)()
        drawing = _Drawing(rules, read_block(rules, block), number)
        never = ("with these house rules this hand does not come about", "这一桌的规则下不会有这手牌")
        return drawing.text([(("result", "结果"), never[number])])
    drawing = _Drawing(rules, arguments, number)
    return drawing.text(drawing.result(scored))


def situation_of(rules: Rules, arguments: Mapping[str, Any], language: str = "en") -> list[str]:
    """Return what a hand's score depends on besides its tiles, with a line for each thing."""
    number = LANGUAGES.index(language)
    drawing, colon = _Drawing(rules, arguments, number), (": ", "：")[number]
    lines = [(label[number], text) for label, text in drawing.situation() if label[0] != "wild"]
    wins_on = [(("the winning tile", "和牌张")[number], drawing.origin())] if "winning_tile" in arguments else []
    return [f"{label}{colon}{text}" for label, text in [*wins_on, *lines]]


def show_tiles(kinds: Iterable[int]) -> str:
    """Return tiles as Unicode signs."""
    return "".join(GLYPHS[kind] + (_AS_TEXT if kind == RED else "") for kind in kinds)


@dataclass(frozen=True)
class _Drawing:
    """One hand with its situation: the arguments of `score`."""

    rules: Rules
    arguments: Mapping[str, Any]
    language: int

    def text(self, result: Lines) -> str:
        """Return all lines, with their labels in a column."""
        lines = [*self.tiles(), *self.situation(), *result]
        return "\n".join(f"{self._label(label)} {text}" for label, text in lines)

    def _label(self, label: Told) -> str:
        english, chinese = label
        return f"{english:<8}" if self.language == 0 else f"{chinese:\u3000<4}"

    def _say(self, text: Told) -> str:
        return text[self.language]

    def who(self, seat: int) -> str:
        """Return a seat as the winner calls it."""
        sides = _seats(self.rules).items()
        return self._say(next((_SIDES[side] for side, there in sides if there == seat), _YOU))

    def tiles(self) -> Lines:
        """Return the lines of the concealed tiles, the melds, the flowers and the winning tile."""
        hand, flowers = self.arguments["hand"], self.arguments.get("flowers", "")
        signs = " ".join(show_tiles(parse_tiles(group)) for group in hand.split())
        lines = [(("hand", "手牌"), f"{signs}   {hand}")]
        lines += [(("meld", "副露"), self.meld(text)) for text in self.arguments.get("melds", ())]
        if flowers:
            lines.append((("flowers", "花"), f"{show_tiles(parse_tiles(flowers))}   {flowers}"))
        if "winning_tile" in self.arguments:
            tile = self.arguments["winning_tile"]
            origin = f"{show_tiles([parse_kind(tile)])}   {tile}{self._say((', ', '，'))}{self.origin()}"
            lines.append((("wins on", "和"), origin))
        for seat, melds in self.arguments.get("other_melds", {}).items():
            colon = self._say((": ", "："))
            lines += [(("others", "别家"), f"{self.who(seat)}{colon}{self.meld(text)}") for text in melds]
        return lines

    def meld(self, text: str) -> str:
        """Return one meld with its tiles and the player it came from; a concealed kong shows two backs."""
        meld = parse_meld(text)
        signs, name = show_tiles(meld.tiles), f"{self._say(_MELDS[meld.type])} {format_tiles(meld.tiles)}"
        if meld.type is MeldType.CONCEALED_KONG:
            return f"{_BACK}{show_tiles(meld.tiles[:2])}{_BACK}   {name}"
        giver = self.who(meld.from_seat)
        return self._say((f"{signs}   {name}, from {giver}", f"{signs}   {name}，{giver}打的"))

    def origin(self) -> str:
        """Return the origin of the winning tile."""
        source = self.arguments["source"]
        if source == "draw":
            is_gold = self.arguments.get("robbing_gold")
            return self._say(
                ("turned up before the first turn", "第一轮之前翻开的") if is_gold else ("drawn by yourself", "自摸")
            )
        giver = self.who(self.arguments["from_seat"])
        if source == "discard":
            return self._say((f"discarded by {giver}", f"{giver}打出"))
        return self._say((f"robbed: {giver} was adding it to a pung", f"抢杠：{giver}正要加杠"))

    def situation(self) -> Lines:
        """Return the lines of the dealer, the wild tile, and whatever else the score depends on."""
        also = "also", "另外"
        lines: Lines = [(("dealer", "庄家"), self.who(self.arguments.get("dealer", 0)))]
        wild = self.arguments.get("wild")
        if wild:
            lines.append((("wild", self.rules.wild_words[1]), f"{show_tiles([parse_kind(wild)])}   {wild}"))
        for name, label in (("round_wind", ("round", "圈风")), ("house_wind", ("your wind", "门风"))):
            if name in self.arguments:
                lines.append((label, self._say(_WINDS[self.arguments[name]])))
        if self.arguments["source"] == "flowers":
            flowers = (
                "all eight flowers are exposed; the hand itself need not be complete",
                "八张花都已亮出；牌本身不必成型",
            )
            lines.append((also, self._say(flowers)))
        lines += [(also, self._say(words)) for name, words in _SITUATION.items() if self.arguments.get(name)]
        counted = {name: self.arguments.get(name, 0) for name in _COUNTED}
        colon = self._say((": ", "："))
        lines += [(also, f"{self._say(_COUNTED[name])}{colon}{number}") for name, number in counted.items() if number]
        if "running_points" in self.arguments:
            points = [f"{self.who(seat)} {has}" for seat, has in enumerate(self.arguments["running_points"])]
            lines.append((("points", "分数"), self._say((", ", "，")).join(points)))
        knobs = [f"{name}={value!r}" for name, value in self.arguments.items() if name in self.rules.knobs]
        return [*lines, *([(("knob", "规则"), ", ".join(knobs))] if knobs else [])]

    def result(self, scored: HandScore) -> Lines:
        """Return the lines of the rows, the worth and who pays; or that the hand may not win and, in English, why."""
        if not scored.legal:
            return [(("result", "结果"), self._say((f"no win: {scored.reason}", "不能和")))]
        receipt, rows = scored.receipt, rows_text(scored.rows)
        if self.language:
            chinese = {row.name: row.chinese.partition(" ")[0] for row in self.rules.rows}
            rows = rows_text([(chinese[name], value) for name, value in scored.rows]).replace(", ", "，")
        return [
            (("scores", "番种"), rows or self._say(("no row", "无"))),
            (("worth", "分值"), (receipt and self._say(receipt.formula)) or str(scored.points)),
            (("pays", "付分"), self.payers(scored.payments, receipt.shares if receipt is not None else ())),
        ]

    def payers(self, payments: tuple[int, ...], shares: tuple[Told, ...]) -> str:
        """Return the payments with their calculations, seat by seat unless all pay the same."""
        told = {
            seat: f"{-paid} ({self._say(shares[seat])})" if shares and shares[seat][0] else str(-paid)
            for seat, paid in enumerate(payments)
            if seat and paid
        }
        if len(told) == len(payments) - 1 and len(set(told.values())) == 1:
            return self._say(("each other player", "其他每家")) + f" {told[1]}"
        dealer, mark = self.arguments.get("dealer", 0), self._say((" (the dealer)", "（庄家）"))
        names = {seat: self.who(seat) + (mark if seat == dealer else "") for seat in told}
        separator = self._say((", ", "，"))
        return separator.join(f"{names[seat]} {amount}" for seat, amount in told.items()) or self._say(
            ("nobody", "无人")
        )


def _seats(rules: Rules) -> dict[str, int]:
    """Return the seats around seat 0 by the side on which they sit."""
    if rules.seats == 3:
        return {"right": 1, "left": 2}
    return {"right": 1, "across": 2, "left": 3}


def _with_seat(meld: str, seats: Mapping[str, int]) -> str:
    text, at, side = meld.partition("@")
    return f"{text}{at}{seats[side] if side != 'you' else 0}" if at else meld
