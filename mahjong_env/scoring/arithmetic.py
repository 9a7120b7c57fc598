"""From rows to points and from points to shares: declared once, computed in batches, and written out for one win.

The same declaration prices wins and explains them: `Arithmetic.worth` and `Arithmetic.told`, `Share.owed` and
`Share.told`. Texts are pairs, in English and Chinese.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from mahjong_env.basics.types import Int8Array, Int64Array
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.rows import ByKnob, OfHands
from mahjong_env.scoring.wins import Wins

Told: TypeAlias = tuple[str, str]
"""A text in English and Chinese."""
EVERY_ROW: Final = slice(None)


@dataclass(frozen=True)
class Term:
    """A part of what a hand is worth: the sum of some rows, times the product of others, times a number.

    Attributes:
        added: the columns of the rows whose entries are added up; None for a factor of 1 in their place.
        multiplied: the columns of the rows whose entries are multiplied; None for a factor of 1 in their place.
        times: the number by which the rest is multiplied.
    """

    added: slice | None = None
    multiplied: slice | None = None
    times: int = 1

    def worth(self, counts: Int8Array, values: Any) -> Any:
        """Return [m] this part of what readings are worth."""
        part: Any = self.times
        if self.added is not None:
            part = part * np.einsum("mr,mr->m", counts[:, self.added], values[:, self.added])
        if self.multiplied is not None:
            part = part * product_of_rows(counts[:, self.multiplied], values[:, self.multiplied])
        return part

    def told(self, count: Int8Array, value: Any) -> str:
        """Write out this part for one win; "" where there is nothing to add up."""
        columns = range(len(count))
        sums = [_plain(count[row] * value[row]) for row in columns[self.added or slice(0)] if count[row]]
        if not sums and self.added is not None:
            return ""
        factors = [_plain(value[row]) for row in columns[self.multiplied or slice(0)] for _ in range(count[row])]
        return _product(" + ".join(sums), *factors, *([str(self.times)] if self.times != 1 else []))


@dataclass(frozen=True)
class Arithmetic:
    """The way from the rows of a hand to its points.

    Attributes:
        terms: the terms, which are added up; the sum is rounded up if it is not whole.
        at_most: the knob that holds a cap, which may be None; None for no cap.
        times: the base point, which multiplies the result, or the knob that holds it.
    """

    terms: tuple[Term, ...] = (Term(added=EVERY_ROW),)
    at_most: ByKnob | None = None
    times: ByKnob | int = 1

    def worth(self, counts: Int8Array, values: Any) -> Int64Array:
        """Return [m] what the rows of readings are worth.

        ``counts`` [m, rows] are their entries, ``values`` [m, rows] or [1, rows] what one is worth. Values are
        multiples of a half, far below 2**52, so that floats are exact.
        """
        total: Any = sum(term.worth(counts, values) for term in self.terms)
        return (np.ceil(total) if total.dtype.kind == "f" else total).astype(np.int64, copy=False)

    def points(self, rules: Rules, worth: Int64Array) -> Int64Array:
        """Return [n] the points of hands whose rows have this worth."""
        cap = number(rules, self.at_most)
        return number(rules, self.times) * (worth if cap is None else np.minimum(worth, cap))

    def told(self, rules: Rules, count: Int8Array, value: Any) -> Told:
        """Write out the calculation for one win, as ``"(5 + 15 + 1) × 2 = 42"``; "" if there is nothing to calculate.

        ``count`` [rows] are the entries of each row, ``value`` [rows] what one is worth.
        """
        parts = filter(None, (term.told(count, value) for term in self.terms))
        exact = sum(float(term.worth(count[None], np.asarray(value)[None])[0]) for term in self.terms)
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


def product_of_rows(counts: Int8Array, values: Any) -> Any:
    """Return [m] the product of the values of all entries; floats where values are."""
    wide = values if values.dtype.kind == "f" else values.astype(np.int64)
    return (wide**counts).prod(axis=1)


@dataclass(frozen=True)
class Share:
    """The share that each other player owes: base + unit × (points + more) × factor, and at most a cap.

    Attributes:
        base: what is owed whatever the hand is worth.
        unit: what a point of the hand is worth.
        at_most: the knob that holds a cap, which may be None; None for no cap.
        more: [n, S] points that a seat owes besides those of the hand.
        factor: [n, S] what multiplies the points for a seat.
    """

    base: ByKnob | int = 0
    unit: ByKnob | int = 1
    at_most: ByKnob | None = None
    more: OfHands | None = None
    factor: OfHands | None = None

    def owed(self, wins: Wins, points: Int64Array) -> Any:
        """Return [n] or [n, S] the shares for hands of these points if all pay."""
        if self == _THE_POINTS:
            return points
        shares: Any = points[:, None]
        shares = shares if self.more is None else shares + self.more(wins)
        shares = shares if self.factor is None else shares * self.factor(wins)
        shares = number(wins.rules, self.base) + number(wins.rules, self.unit) * shares
        cap = number(wins.rules, self.at_most)
        return shares if cap is None else np.minimum(shares, cap)

    def told(self, wins: Wins, points: int, seat: int) -> Told:
        """Write out a seat's share of one win, as ``"3 + 2 × (4 + 1) = 13"``; "" where it is just the points."""
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
    """A limit, which changes what seats owe after everything else.

    Attributes:
        name: its name in English and Chinese.
        apply: a function of the wins and of [n, S] what each seat owes, which returns [n, S] what each then owes.
    """

    name: Told
    apply: Callable[[Wins, Int64Array], Int64Array]


def number(rules: Rules, said: Any) -> Any:
    """Return a number, or the value of the knob that holds it."""
    return said.of(rules) if isinstance(said, ByKnob) else said


def _plain(value: Any) -> str:
    """Write a number without a needless fraction."""
    return str(int(value)) if value == int(value) else str(float(value))


def _product(first: str, *factors: str) -> str:
    """Write factors with signs between them; the first may be a sum, or "" for none."""
    first = f"({first})" if " + " in first and factors else first
    return " × ".join(filter(None, (first, *factors)))


def _equals(text: str, value: Any) -> str:
    return f"{text} = {_plain(value)}" if text != _plain(value) else text
