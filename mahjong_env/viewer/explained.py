"""A described hand explained: its tiles, its rows, who pays what and why; as text, a picture or a page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mahjong_env.basics.notation import parse_kind, parse_meld, parse_tiles
from mahjong_env.drawing.picture import ShownHand, hand_svg
from mahjong_env.drawing.table import HIDDEN, ShownMeld, shown_meld
from mahjong_env.drawing.text import chinese_names, columns, padded, tiles_text
from mahjong_env.drawing.tiles import tile_name
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.described import HandScore
from mahjong_env.viewer.page import part
from mahjong_env.viewer.story import reason_in_words, reasons_of_a_win

_SOURCES = {
    "draw": "drawn",
    "discard": "discarded by seat {}",
    "kong": "robbed from the kong of seat {}",
    "flowers": "by flowers",
}


@dataclass(frozen=True)
class Explained:
    """A hand that `mahjong_env.score` has scored.

    Attributes:
        rules: by which.
        scored: what `score` said.
        described: the arguments that it was given, as it takes them.
    """

    rules: Rules
    scored: HandScore
    described: dict[str, Any]

    def text(self) -> str:
        """A readable table."""
        lines = [f"hand      {self._hand_text()}"]
        if not self.scored.legal:
            return "\n".join([*lines, f"may not win: {self.scored.reason}"])
        rows = self._rows()
        names = [" ".join(filter(None, (name, chinese))) for name, chinese, _ in rows]
        width = max(map(columns, [*names, "the hand is worth"]))
        lines += ["", f"{padded('row', width)}  value", f"{'-' * width}  -----"]
        lines += [f"{padded(name, width)}  {value}" for name, (_, _, value) in zip(names, rows, strict=True)]
        lines += [f"{padded('the hand is worth', width)}  {self.scored.points}", ""]
        lines += [f"seat {seat} {self._payment(amount)}{why}" for seat, amount, why in self._payments(": ")]
        return "\n".join(lines)

    def svg(self, theme: str = "light") -> str:
        """A picture of the hand with its rows and payments in English."""
        if not self.scored.legal:
            return hand_svg(self._hand(), lines=[f"May not win: {self.scored.reason}."], theme=theme)
        rows = [f"{name}  {value}" for name, _, value in self._rows()]
        paid = [f"seat {seat} {self._payment(amount)}{why}" for seat, amount, why in self._payments(": ")]
        return hand_svg(self._hand(), lines=[*rows, f"The hand is worth {self.scored.points}.", *paid], theme=theme)

    def page(self) -> str:
        """One self-contained page with the hand drawn, its rows in English and Chinese, and the payments."""
        title = html.escape(f"{self.rules.title} {self.rules.chinese}")
        kinds = sorted(parse_tiles(self.described["hand"]))
        label = html.escape(", ".join(map(tile_name, kinds)), quote=True)
        drawn = hand_svg(self._hand()).replace("<svg ", f'<svg aria-label="{label}" style="max-width:100%" ', 1)
        if self.scored.legal:
            rows = [*self._rows(), ("The hand is worth", "", self.scored.points)]
            paid = [
                (f"seat {seat}{' (the winner)' if seat == self._seat else ''}", self._payment(amount), why)
                for seat, amount, why in self._payments("")
            ]
            body = _table(("row", "", "value"), rows) + _table(("who", "pays or receives", "why"), paid)
        else:
            body = f"<p>May not win: {html.escape(self.scored.reason)}.</p>"
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            f"<title>{title}</title><style>{part('page.css')}</style></head><body><main><h1>{title}</h1>"
            f"<p>{html.escape(self._hand_text())}</p>{drawn}<section>{body}</section></main></body></html>\n"
        )

    # --- parts -----------------------------------------------------------------------------------------------------
    @property
    def _seat(self) -> int:
        return int(self.described.get("seat", 0))

    def _rows(self) -> list[tuple[str, str, Any]]:
        chinese = chinese_names(self.rules)
        return [(name, chinese.get(name, ""), value) for name, value in self.scored.rows]

    def _payments(self, before: str) -> list[tuple[int, int, str]]:
        """Seat, amount and reason of everybody whose points change; ``before`` stands before a reason."""
        points = self.described.get("running_points") or [0] * self.rules.seats
        reasons = reasons_of_a_win(
            self.scored.payments,
            self._seat,
            str(self.described["source"]),
            int(self.described.get("from_seat", -1)),
            int(self.described.get("dealer", 0)),
            dict(enumerate(points)),
        )
        return [
            (seat, amount, f"{before}{reason_in_words(reason)}")
            for seat, (amount, reason) in enumerate(zip(self.scored.payments, reasons, strict=True))
            if amount
        ]

    @staticmethod
    def _payment(amount: int) -> str:
        return f"pays {-amount}" if amount < 0 else f"receives {amount}"

    def _hand_text(self) -> str:
        told = [tiles_text(parse_tiles(self.described["hand"]))]
        if self.described.get("winning_tile"):
            how = _SOURCES.get(self.described["source"], "").format(self.described.get("from_seat"))
            told.append(f"+ {self.described['winning_tile']} {how}")
        elif self.described["source"] == "flowers":
            told.append("by flowers")
        told += list(self.described.get("melds") or [])
        told += [f"flowers {self.described['flowers']}"] if self.described.get("flowers") else []
        told += [f"wild {self.described['wild']}"] if self.described.get("wild") else []
        return ", ".join(told)

    def _hand(self) -> ShownHand:
        winning, wild = self.described.get("winning_tile"), self.described.get("wild")
        fixed = self.rules.fixed_wild if self.rules.has_wild else None
        return ShownHand(
            tiles=tuple(sorted(parse_tiles(self.described["hand"]))),
            winning_tile=parse_kind(winning) if winning else None,
            melds=tuple(self._meld(text) for text in self.described.get("melds") or ()),
            flowers=tuple(sorted(parse_tiles(self.described.get("flowers") or ""))),
            wild=parse_kind(wild) if wild else -1 if fixed is None else fixed,
        )

    def _meld(self, text: str) -> ShownMeld:
        meld, seats = parse_meld(text), self.rules.seats
        steps = 0 if meld.from_seat < 0 else (meld.from_seat - self._seat) % seats
        return shown_meld(meld.type, meld.kind, meld.kind if steps else HIDDEN, steps, seats)


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(one)}</th>' for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
