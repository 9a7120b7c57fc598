"""From rows to points, from points to shares: declared once, priced in batches and written out for one win.

What prices wins and what explains them is the same declaration: `Arithmetic.worth` and `Arithmetic.told`, `Share.owed`
and `Share.told`. Texts are pairs, in English and Chinese.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from mahjong_env.basics.types import Int8Array, Int64Array
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.rows import ByKnob, OfHands, Row
from mahjong_env.scoring.wins import Wins

Told: TypeAlias = tuple[str, str]
"""A text in English and Chinese."""


EVERY_ROW: Final = None
"""All rows of the table, those that a subclass adds among them."""


@dataclass(frozen=True)
class Term:
    """A part of what a hand is worth: the sum of some rows, times the product of others, times a number.

    Attributes:
        added: rows whose entries are added up; empty: their place is taken by 1. They stand together in the table.
        multiplied: rows whose entries are multiplied; likewise.
        times: the number.
    """

    added: tuple[Row, ...] | None = ()
    multiplied: tuple[Row, ...] | None = ()
    times: int = 1


@dataclass(frozen=True)
class Arithmetic:
    """The way from the rows of a hand to its points.

    Attributes:
        terms: what is added up, and rounded up if it is not whole.
        at_most: the knob of a cap, which may be None.
        times: the base point, which multiplies all of it, or its knob.
    """

    terms: tuple[Term, ...] = (Term(added=EVERY_ROW),)
    at_most: ByKnob | None = None
    times: ByKnob | int = 1

    def columns(self, table: tuple[Row, ...]) -> list[tuple[slice, slice, int]]:
        """The terms by their columns in a table of rows."""
        return [(_together(table, term.added), _together(table, term.multiplied), term.times) for term in self.terms]

    def points(self, rules: Rules, worth: Int64Array) -> Int64Array:
        """[n] the points of hands whose rows are worth so much."""
        cap = number(rules, self.at_most)
        return number(rules, self.times) * (worth if cap is None else np.minimum(worth, cap))

    def told(self, rules: Any, count: Int8Array, value: Any) -> Told:
        """The calculation for one win: ``"(5 + 15 + 1) × 2 = 42"``; "" where there is nothing to calculate.

        Args:
            rules: of this table.
            count: [rows] entries of each row.
            value: [rows] what one entry is worth.
        """
        parts, table = [], rules.rows
        for added, multiplied, times in self.columns(table):
            sums = [_plain(count[row] * value[row]) for row in range(len(table))[added] if count[row]]
            if sums or added == _NO_ROWS:
                factors = [_plain(value[row]) for row in range(len(table))[multiplied] for _ in range(count[row])]
                parts.append(_product(" + ".join(sums), *factors, *([str(times)] if times != 1 else [])))
        exact = float(_total(self.columns(table), count[None], np.asarray(value)[None])[0])
        worth, cap, base = int(np.ceil(exact)), number(rules, self.at_most), number(rules, self.times)
        text = _equals(" + ".join(parts) or "0", exact)
        english, chinese = text, text
        if worth != exact:
            english, chinese = f"{english}, rounded up to {worth}", f"{chinese}，进位得 {worth}"
        if cap is not None and worth > cap:
            english, chinese = f"{english}, at most {cap}", f"{chinese}，封顶 {cap}"
            worth = cap
        if base != 1:
            english, chinese = (f"{english}, times the base point {base} = {base * worth}",
                                f"{chinese}，乘底分 {base} = {base * worth}")  # fmt: skip
        return (english, chinese) if english != str(worth) else ("", "")


_NO_ROWS = slice(0, 0)


def _together(table: tuple[Row, ...], rows: tuple[Row, ...] | None) -> slice:
    """The columns of rows that stand together in a table, whatever stands in their places by now."""
    if rows is EVERY_ROW:
        return slice(0, len(table))
    names = [row.name for row in table]
    return slice(names.index(rows[0].name), names.index(rows[-1].name) + 1) if rows else _NO_ROWS


def _total(columns: list[tuple[slice, slice, int]], counts: Int8Array, values: Any) -> Any:
    """[m] the terms added up, before rounding."""
    total: Any = 0
    for added, multiplied, times in columns:
        part: Any = times
        if added != _NO_ROWS:
            part = part * (counts[:, added] * values[:, added]).sum(axis=1)
        if multiplied != _NO_ROWS:
            part = part * product_of_rows(counts[:, multiplied], values[:, multiplied])
        total = total + part
    return total


def worth_of(columns: list[tuple[slice, slice, int]], counts: Int8Array, values: Any) -> Int64Array:
    """[m] what the rows of readings are worth.

    Args:
        columns: `Arithmetic.columns`.
        counts: [m, rows] entries of each row.
        values: [m, rows] what one entry is worth, or [1, rows]. Multiples of a half, far below 2**52: floats are exact.
    """
    total = _total(columns, counts, values)
    return (np.ceil(total) if total.dtype.kind == "f" else total).astype(np.int64, copy=False)


def product_of_rows(counts: Int8Array, values: Any) -> Any:
    """[m] the values of all entries multiplied (`ScoredRules.worth`); floats where values are."""
    wide = values if values.dtype.kind == "f" else values.astype(np.int64)
    return (wide**counts).prod(axis=1)


@dataclass(frozen=True)
class Share:
    """The share that each other player owes: base + unit × (points + more) × factor, and at most a cap.

    Attributes:
        base: owed whatever the hand is worth.
        unit: what a point of the hand is worth.
        at_most: the knob of a cap, which may be None.
        more: [n, S] points that a seat owes beside those of the hand.
        factor: [n, S] what multiplies the points for a seat.
    """

    base: ByKnob | int = 0
    unit: ByKnob | int = 1
    at_most: ByKnob | None = None
    more: OfHands | None = None
    factor: OfHands | None = None

    def owed(self, wins: Wins, points: Int64Array) -> Any:
        """[n] or [n, S] the shares for hands of these points, were all to pay."""
        if self == _THE_POINTS:
            return points
        shares: Any = points[:, None]
        shares = shares if self.more is None else shares + self.more(wins)
        shares = shares if self.factor is None else shares * self.factor(wins)
        shares = number(wins.rules, self.base) + number(wins.rules, self.unit) * shares
        cap = number(wins.rules, self.at_most)
        return shares if cap is None else np.minimum(shares, cap)

    def told(self, wins: Wins, points: int, seat: int) -> Told:
        """The calculation of a seat's share of one win: ``"3 + 2 × (4 + 1) = 13"``; "" where it is the points."""
        more, factor = (0 if ask is None else int(ask(wins)[0, seat]) for ask in (self.more, self.factor))
        factor = 1 if self.factor is None else factor
        base, unit, cap = (number(wins.rules, each) for each in (self.base, self.unit, self.at_most))
        inner = f"{points} + {more}" if more else str(points)
        text = _product(inner, *([str(factor)] if factor != 1 else []), *([str(unit)] if unit != 1 else []))
        exact = base + unit * (points + more) * factor
        text = _equals(f"{base} + {text}" if base else text, exact) if factor else str(base)
        is_cut = cap is not None and exact > cap
        if text == str(points) and not is_cut:
            return "", ""
        return (f"{text}, at most {cap}", f"{text}，封顶 {cap}") if is_cut else (text, text)


_THE_POINTS = Share()


@dataclass(frozen=True)
class Limit:
    """Something that changes what seats owe, after everything else.

    Attributes:
        name: in English and Chinese.
        apply: what each seat owes then, from the wins and what each owes [n, S].
    """

    name: Told
    apply: Callable[[Wins, Int64Array], Int64Array]


def number(rules: Rules, said: Any) -> Any:
    """A number, or what a knob has it be."""
    return said.of(rules) if isinstance(said, ByKnob) else said


def _plain(value: Any) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if value == int(value) else str(float(value))


def _product(first: str, *factors: str) -> str:
    """Factors with signs between them; the first may be a sum, or "" for none."""
    first = f"({first})" if " + " in first and factors else first
    return " × ".join(filter(None, (first, *factors)))


def _equals(text: str, value: Any) -> str:
    return f"{text} = {_plain(value)}" if text != _plain(value) else text
