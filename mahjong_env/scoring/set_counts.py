"""Rows that count sets of some kinds, or facts about hands: all are evaluated at once, by one product of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray
from mahjong_env.scoring.readings import Readings
from mahjong_env.scoring.rows import Counted, Facts
from mahjong_env.scoring.wins import Wins

_BASE: Final = 8
"""The base of numbers whose digits are counts; up to seven digits are exact in single precision."""


class SetCounts:
    """The rows that count sets and the pair (`Row.of_sets`).

    Attributes:
        columns: the columns of the rows in the scoring table.
    """

    def __init__(self, rows: Mapping[int, tuple[tuple[Counted, ...], ...]]) -> None:
        """Write the ways to have each row, by its column, as columns of a matrix."""
        self.columns = np.array(list(rows), np.intp)
        ways = [way for row in rows.values() for way in row]
        weights = [_weights(way) for way in ways] or [np.zeros((3, NUM_KINDS), np.float32)]
        by_kind = np.stack(weights, axis=-1)  # [3, 34, ways]
        self._others = list(dict.fromkeys(ask for way in ways for counted in way for ask in counted.others))
        others = [
            [sum(_BASE**place for place, counted in enumerate(way) if ask in counted.others) for way in ways]
            for ask in self._others
        ]
        self._sets = np.concatenate([*by_kind[:2], *np.array(others, np.float32)[:, None]])
        self._pair = np.append(by_kind[2], np.zeros_like(by_kind[2, :1]), axis=0)  # the last row is for no pair
        self._wanted = np.array([_number(way) for way in ways], np.float32)
        self._first = np.cumsum([0, *(len(row) for row in rows.values())])[:-1]

    def hold(self, reading: Readings) -> BoolArray:
        """Return [m, columns] whether readings have each row; valid only for readings with sets and a pair."""
        others = [np.asarray(reading.once(ask))[:, None] for ask in self._others]
        sets = np.concatenate([reading.triplets, reading.runs, *others], axis=1, dtype=np.float32)
        holds = sets @ self._sets + self._pair.take(reading.pair, axis=0, mode="wrap") == self._wanted
        return holds if len(self._first) == holds.shape[1] else np.logical_or.reduceat(holds, self._first, axis=1)


def _weights(way: tuple[Counted, ...]) -> NDArray[np.float32]:
    """Return [3, 34] what triplets, runs and a pair of each kind add to the number of a way."""
    weights = np.zeros((3, NUM_KINDS), np.float32)
    for place, counted in enumerate(way):
        for row, kinds in zip(weights, counted[1:4], strict=True):
            if kinds is not None:
                row += _BASE**place * kinds
    return weights


def _number(way: Sequence[Counted | Facts]) -> int:
    return sum(_BASE**place * counted.number for place, counted in enumerate(way))


class FactCounts:
    """The rows that count facts about hands (`Row.of_facts`).

    Attributes:
        columns: the columns of the rows in the scoring table.
    """

    def __init__(self, rows: Mapping[int, tuple[Facts, ...]]) -> None:
        """Write what each row counts, by its column, as a column of a matrix."""
        self.columns = np.array(list(rows), np.intp)
        facts = [part for row in rows.values() for part in row]
        groups = {kinds.tobytes(): kinds for part in facts for kinds in part.kinds}
        self._groups = np.array(list(groups.values()), np.float32).reshape(-1, NUM_KINDS).T
        self._flags = list(dict.fromkeys(flag for part in facts for flag in part.flags))
        places = {fact: place for place, fact in enumerate([*groups, *MeldType, *self._flags])}
        self._weights = np.zeros((len(places), len(rows)), np.float32)
        for column, row in enumerate(rows.values()):
            for digit, part in enumerate(row):
                for fact in (*(kinds.tobytes() for kinds in part.kinds), *part.melds, *part.flags):
                    self._weights[places[fact], column] += _BASE**digit
        self._wanted = np.array([_number(row) for row in rows.values()], np.float32)

    def hold(self, wins: Wins) -> BoolArray:
        """Return [n, columns] whether hands have each row."""
        are_there = wins.tiles.astype(np.float32) @ self._groups > 0
        flags = np.array([wins.once(flag) for flag in self._flags]).reshape(len(self._flags), len(are_there)).T
        facts = np.concatenate([are_there, wins.melded.types, flags], axis=1, dtype=np.float32)
        return np.asarray(facts @ self._weights == self._wanted)
