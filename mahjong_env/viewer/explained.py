"""Explanations of described hands as text, pictures or pages: tiles, scoring rows, who pays what and why."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahjong_env.basics.notation import parse_kind, parse_meld, parse_tiles
from mahjong_env.drawing.picture import hand_svg
from mahjong_env.drawing.table import HIDDEN, ShownMeld, shown_meld
from mahjong_env.drawing.text import chinese_names, columns, groups_text, padded, tiles_text
from mahjong_env.drawing.tiles import HEIGHT, WIDTH, tile_name, tile_svg
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.described import HandScore
from mahjong_env.scoring.receipt import folded
from mahjong_env.viewer.page import document_html
from mahjong_env.viewer.story import reason_in_words, reasons_of_a_win

_SOURCES = {
    "draw": "drawn",
    "discard": "discarded by seat {}",
    "kong": "robbed from the kong of seat {}",
    "flowers": "by flowers",
}


@dataclass(frozen=True)
class Explained:
    """The explanation of a hand that `mahjong_env.score` has scored.

    Attributes:
        rules: the rules by which it was scored.
        scored: the result of `score`.
        described: the arguments of `score`, by name.
    """

    rules: Rules
    scored: HandScore
    described: dict[str, Any]

    def text(self) -> str:
        """Return the explanation as a table of text."""
        lines = [f"hand      {self._hand_text()}"]
        receipt = self.scored.receipt
        if receipt is None:
            return "\n".join([*lines, f"may not win: {self.scored.reason}"])
        rows = [*self._rows(), ("the hand is worth", self._worth())]
        width = max(columns(name) for name, _ in rows)
        lines += [f"sets      {groups_text(receipt.groups)}", "", f"{padded('row', width)}  value"]
        lines += [f"{'-' * width}  -----", *(f"{padded(name, width)}  {value}" for name, value in rows), ""]
        return "\n".join([*lines, *self._paid()])

    def svg(self, theme: str = "light") -> str:
        """Return an SVG picture of the hand, with its rows and payments in English."""
        lines = [f"May not win: {self.scored.reason}."]
        if self.scored.legal:
            rows = [f"{name}  {value}" for name, value in self._rows({})]
            lines = [*rows, f"The hand is worth {self._worth()}.", *self._paid()]
        tiles, winning, flowers = self._tiles()
        melds = [self._meld(text) for text in self.described.get("melds") or ()]
        groups: list[Sequence[int] | ShownMeld] = [tiles, winning, *melds, flowers]
        return hand_svg([group for group in groups if group], wild=self._wild(), lines=lines, theme=theme)

    def page(self) -> str:
        """Return a self-contained page in English and Chinese: the hand drawn by its sets, its rows, the payments."""
        title, receipt = f"{self.rules.title} {self.rules.chinese}", self.scored.receipt
        tiles, winning, flowers = self._tiles()
        if receipt is not None:
            groups = [(group.kinds, group.winning) for group in receipt.groups]
            in_chinese = zip(self._payments(), self._payments(1), strict=True)
            paid = [
                (f"seat {seat}{' (the winner)' if seat == self._seat else ''}", f"{amount:+d}", f"{why} {other}")
                for (seat, amount, why), (_, _, other) in in_chinese
            ]
            rows = [*self._rows(), ("The hand is worth 这手牌值", self._worth())]
            body = _table(("row 番种", "value 值"), rows) + _table(("who 谁", "points 分", "why 原因"), paid)
        else:
            melds = [parse_meld(text).tiles for text in self.described.get("melds") or ()]
            groups = [(tuple(kinds), -1) for kinds in (tiles, winning, *melds)]
            body = f"<p>May not win: {html.escape(self.scored.reason)}.</p>"
        drawn = "".join(self._drawn(kinds, place) for kinds, place in [*groups, (flowers, -1)] if kinds)
        hand = f'<p>{html.escape(self._hand_text())}</p><div class="tiles groups">{drawn}</div>'
        return document_html(title, f"<h1>{html.escape(title)}</h1>{hand}<section>{body}</section>")

    # --- parts -----------------------------------------------------------------------------------------------------
    def _drawn(self, kinds: Sequence[int], winning: int) -> str:
        """Return tiles side by side as HTML, with a frame around the winning one."""
        wild = self._wild()
        tiles = [
            f'<span class="tile{" winning" if place == winning else ""}" role="img" aria-label="{tile_name(kind)}">'
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}">{tile_svg(kind, is_wild=kind == wild)}</svg></span>'
            for place, kind in enumerate(kinds)
        ]
        return f'<span class="group">{"".join(tiles)}</span>'

    @property
    def _seat(self) -> int:
        return int(self.described.get("seat", 0))

    def _worth(self) -> str:
        receipt = self.scored.receipt
        return (receipt and receipt.formula[0]) or str(self.scored.points)

    def _rows(self, chinese: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
        """Return the names of the rows, in English and Chinese, with their values; equal rows are counted together."""
        others = chinese_names(self.rules) if chinese is None else chinese
        return [
            (f"{name} {others.get(name, '')}".rstrip(), f"{value} × {times}" if times > 1 else str(value))
            for name, value, times in folded(self.scored.rows)
        ]

    def _payments(self, language: int = 0) -> list[tuple[int, int, str]]:
        """Return (seat, amount, reason with calculation) of all whose points change, in English (0) or Chinese (1)."""
        given = self.described.get("running_points")
        points = [0] * self.rules.seats if given is None else list(given)
        receipt = self.scored.receipt
        giver = self.described.get("from_seat")  # None, as for `score`, stands for nobody
        reasons = reasons_of_a_win(
            self.scored.payments,
            self._seat,
            str(self.described["source"]),
            -1 if giver is None else int(giver),
            int(self.described.get("dealer", 0)),
            dict(enumerate(points)),
            receipt.for_others if receipt is not None else (),
        )
        shares = receipt.shares if receipt is not None else ()
        told = [f" ({share[language]})" if share[language] else "" for share in shares] or [""] * self.rules.seats
        return [
            (seat, amount, reason_in_words(reason, language) + (told[seat] if amount < 0 else ""))
            for seat, (amount, reason) in enumerate(zip(self.scored.payments, reasons, strict=True))
            if amount
        ]

    def _paid(self) -> list[str]:
        """Return the payments in English, one line each."""
        return [
            f"seat {seat} {f'pays {-amount}' if amount < 0 else f'receives {amount}'}: {why}"
            for seat, amount, why in self._payments()
        ]

    def _hand_text(self) -> str:
        told = [" ".join(tiles_text(parse_tiles(part)) for part in re.split(r"[\s,]+", self.described["hand"]) if part)]
        if self.described.get("winning_tile"):
            how = _SOURCES.get(self.described["source"], "").format(self.described.get("from_seat"))
            told.append(f"+ {self.described['winning_tile']} {how}")
        elif self.described["source"] == "flowers":
            told.append("by flowers")
        told += list(self.described.get("melds") or [])
        told += [f"flowers {self.described['flowers']}"] if self.described.get("flowers") else []
        told += [f"wild {self.described['wild']}"] if self.described.get("wild") else []
        return ", ".join(told)

    def _tiles(self) -> tuple[list[int], list[int], list[int]]:
        """Return the concealed tiles without the winning one, the winning tile if there is one, and the flowers."""
        winning = self.described.get("winning_tile")
        hand, flowers = (sorted(parse_tiles(self.described.get(name) or "")) for name in ("hand", "flowers"))
        return hand, [parse_kind(winning)] if winning else [], flowers

    def _wild(self) -> int:
        """Return the wild kind, -1 for none."""
        wild, fixed = self.described.get("wild"), self.rules.fixed_wild if self.rules.has_wild else None
        return parse_kind(wild) if wild else -1 if fixed is None else fixed

    def _meld(self, text: str) -> ShownMeld:
        meld, seats = parse_meld(text), self.rules.seats
        steps = 0 if meld.from_seat < 0 else (meld.from_seat - self._seat) % seats
        return shown_meld(meld.type, meld.kind, meld.kind if steps else HIDDEN, steps, seats)


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(one)}</th>' for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
