"""Rows that two, three or four sets make together, and how many of them a hand scores.

The principle is that sets are accounted for once: when sets have been combined for a row, each of the others may be
combined once with one of them. So the rows that count together join the sets like the edges of a tree: no row connects
sets that other rows connect already. Of all such choices the one that is worth most counts. Among equals, it is the one
with the most different rows, then the one whose rows stand first in the table.

A set occurs at most four times, and there are few ways to choose the sets, so the answers are worked out beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.tiles import FIRST_HONOUR
from mahjong_env.basics.types import BoolArray, Int8Array, Int64Array
from mahjong_env.scoring.rows import Combination

_SETS: Final = 4
_RANKS: Final = 9
_LAST_RUN: Final = 6
_NONE: Final = -1
_BASE: Final = (_SETS + 1) ** np.arange(FIRST_HONOUR)
"""[27] the weight of each kind in the number that encodes some sets."""

Block = tuple[int, ...]
"""Sets that are combined, by their place among the four."""


class Combinations:
    """The rows that sets of suits make together, for every choice of up to four sets."""

    def __init__(self, rows: Sequence[Combination], values: Sequence[int | float]) -> None:
        """Work out what counts for every choice of up to four sets.

        Args:
            rows: the sets that make each row, all of them runs or all of them triplets, in the order of the table.
            values: what an entry of each row is worth.
        """
        starts = [kind for kind in range(FIRST_HONOUR) if rows[0].of != "runs" or kind % _RANKS <= _LAST_RUN]
        # _NONE stands for a set that is not there.
        sets = np.array(list(combinations_with_replacement([_NONE, *starts], _SETS)))
        made = {block: _rows_made(sets[:, block], rows) for block in _blocks()}
        holds = {block: entries.any(axis=1) for block, entries in made.items()}
        best, counts = np.zeros(len(sets), np.int64), np.zeros((len(sets), len(rows)), np.int8)
        for forest in _forests(list(made)):
            which = np.logical_and.reduce([holds[block] for block in forest]).nonzero()[0]
            entries = np.add.reduce([made[block][which].astype(np.int8) for block in forest])
            rank = _rank(entries, np.array(values, np.int64))
            better = rank > best[which]
            best[which[better]], counts[which[better]] = rank[better], entries[better]
        keys = np.where(sets == _NONE, 0, _BASE[sets]).sum(axis=1)
        order = keys.argsort()
        self._keys, self._counts = keys[order], counts[order]

    def count(self, sets: Int8Array) -> Int8Array:
        """Return [m, rows] the entries of each row, for sets [m, 34] by kind (runs by their lowest tile)."""
        return self._counts.take(self._keys.searchsorted(sets[:, :FIRST_HONOUR] @ _BASE), axis=0)


@cache
def combinations_of(rows: tuple[Combination, ...], values: tuple[int | float, ...]) -> Combinations:
    """Return the combinations of these rows, worked out once for all rules that have them."""
    return Combinations(rows, values)


def _blocks() -> Iterator[Block]:
    for number in range(2, _SETS + 1):
        yield from combinations(range(_SETS), number)


def _forests(blocks: list[Block]) -> Iterator[list[Block]]:
    """Yield all choices of blocks in which no block connects sets that others connect already."""

    def extend(chosen: list[Block], rest: list[Block], parts: tuple[int, ...]) -> Iterator[list[Block]]:
        if chosen:
            yield chosen
        for number, block in enumerate(rest):
            joined = {parts[place] for place in block}
            if len(joined) == len(block):
                merged = tuple(min(joined) if part in joined else part for part in parts)
                yield from extend([*chosen, block], rest[number + 1 :], merged)

    return extend([], blocks, tuple(range(_SETS)))


def _rows_made(sets: NDArray[Any], rows: Sequence[Combination]) -> BoolArray:
    """Return [n, rows] whether sets [n, k], `_NONE` where there is none, make each row."""
    suit, rank = sets // _RANKS, np.sort(sets % _RANKS, axis=1)
    are_there = (sets != _NONE).all(axis=1)
    one_suit = (suit == suit[:, :1]).all(axis=1)
    each_another = (np.diff(np.sort(suit, axis=1), axis=1) > 0).all(axis=1)
    made = np.zeros((len(sets), len(rows)), np.bool_)
    for column, row in enumerate(rows):
        for steps in row.steps:
            if len(steps) == sets.shape[1] - 1:
                follow = (np.diff(rank, axis=1) == steps).all(axis=1)
                made[:, column] |= are_there & follow & (one_suit if row.one_suit else each_another)
    return made


def _rank(entries: Int8Array, values: Int64Array) -> Int64Array:
    """Return [n] numbers that order choices of rows: by worth, different rows, first rows of the table, entries."""
    rows = np.arange(len(values))[::-1]
    has = entries > 0
    rank = (entries @ values << 8) + has.sum(axis=1)
    rank = (rank << len(values)) + (has << rows).sum(axis=1)
    return np.asarray((rank << 2 * len(values)) + (entries.astype(np.int64) << 2 * rows).sum(axis=1))
