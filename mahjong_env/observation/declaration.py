"""Declarations of an observation: pieces, facts, and the layout that follows from them.

A piece is declared together with the function that writes it, and knows nothing of its neighbours. Its place follows
from the order of declaration, and so do the tables of the documentation, the ranges that the conformance kit checks and
the scales of networks. The same holds for a fact, which is one number, or one for each slot, in the piece "facts".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import Int8Array

SLOTS: Final = 4

Writer = Callable[[Any, Int8Array], None]
Numbers = float | tuple[float, ...]
"""One number for a whole piece, or one for each plane, repeated until all planes have one."""


@dataclass(frozen=True)
class Piece:
    """One piece of the observation.

    Attributes:
        name: the name of the piece.
        planes: the number of planes that it takes.
        meaning: what its numbers mean.
        write: the function that writes it: ``write(seen, out)``, where ``seen`` is what n seats see
            (`visibility.VisibleState`), and ``out`` is [n, planes, 34] int8, every number of which must be written.
        low: the smallest possible number.
        high: the greatest possible number.
        scale: the typical size of its numbers; networks divide by it.
        is_code: whether its numbers are names of things (kinds, seats) rather than amounts.
    """

    name: str
    planes: int
    meaning: str
    write: Writer = field(repr=False)
    low: Numbers = 0
    high: Numbers = 1
    scale: Numbers = 1
    is_code: bool = False

    def spread(self, numbers: Numbers) -> NDArray[np.float64]:
        """Return [planes, 34] the numbers of ``low``, ``high`` or ``scale``, one for each place."""
        some = np.atleast_1d(np.asarray(numbers, np.float64))
        if some.size == self.planes * NUM_KINDS:
            return some.reshape(self.planes, NUM_KINDS)
        return np.repeat(np.tile(some, self.planes // some.size), NUM_KINDS).reshape(self.planes, NUM_KINDS)


def declared_in(pieces: list[Piece], name: str, planes: int = 1, **about: Any) -> Callable[[Writer], Writer]:
    """Declare the function below it as the writer of the next of these pieces; for other arguments see `Piece`."""

    def declare(write: Writer) -> Writer:
        pieces.append(Piece(name, planes, write=write, **about))
        return write

    return declare


@dataclass(frozen=True)
class Fact:
    """One number in the piece "facts", or one for each slot.

    Attributes:
        name: the name of the fact.
        meaning: what the number means.
        read: reads it from what is seen: [n], or [n, 4] with ``by_slot``; None means that it is 0 in this variant.
        low: the smallest possible number.
        high: the greatest possible number.
        scale: the typical size of the number; networks divide by it.
        by_slot: whether it takes a place for each slot.
        is_open_ended: whether numbers above ``high`` (and below ``low``, if that is negative) can occur; they are shown
            as the limit.
    """

    name: str
    meaning: str
    read: Callable[[Any], Any] = field(repr=False)
    low: int = 0
    high: int = 1
    scale: float = 1
    by_slot: bool = False
    is_open_ended: bool = False

    @property
    def places(self) -> int:
        """The number of places that the fact takes."""
        return SLOTS if self.by_slot else 1


class Layout:
    """The places of pieces in an observation; it writes observations.

    Attributes:
        pieces: the pieces, in order.
        shape: (C, 34).
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        """Lay the pieces out one after another.

        Raises:
            ValueError: two pieces have the same name.
        """
        self.pieces = tuple(pieces)
        self._planes: dict[str, slice] = {}
        start = 0
        for piece in self.pieces:
            if piece.name in self._planes:
                raise ValueError(f"two pieces of the observation are called {piece.name!r}")
            self._planes[piece.name] = slice(start, start + piece.planes)
            start += piece.planes
        self.shape = (start, NUM_KINDS)
        self._writers = [(piece.write, self._planes[piece.name]) for piece in self.pieces]

    def planes(self, name: str) -> slice:
        """Return the planes of a piece; raise `KeyError` if there is no such piece."""
        if name not in self._planes:
            raise KeyError(f"no piece of the observation is called {name!r}; valid are {', '.join(self._planes)}")
        return self._planes[name]

    def write(self, seen: Any, number: int, out: Int8Array | None = None) -> Int8Array:
        """Write the observations of ``number`` seats into ``out`` or a fresh array: [number, C, 34] int8."""
        if out is None:
            out = np.empty((number, *self.shape), np.int8)  # not zeros: every piece writes all of its places, once
        for write, planes in self._writers:
            write(seen, out[:, planes])
        return out

    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return two arrays [C, 34]: the smallest and the greatest possible number of each place."""
        low, high = ([piece.spread(getattr(piece, side)) for piece in self.pieces] for side in ("low", "high"))
        return np.concatenate(low), np.concatenate(high)


# --- Writing ----------------------------------------------------------------------------------------------------------
# numpy copies an item in one go, but walks along an array of numbers; large numbers of rows are copied as items.

_item: Final = cache(lambda width: np.dtype((np.void, width)))
_nothing: Final = cache(lambda width: np.zeros((), _item(width)))
_limit: Final = cache(lambda number: np.array(number, np.int16))
_PLANE: Final = np.dtype((np.void, NUM_KINDS))
_FOUR: Final = np.dtype(np.int32)
# Row k has a 1 at kind k; the last row, reached by the index -1, has none.
_ONE_HOT: Final = np.eye(NUM_KINDS + 1, NUM_KINDS, dtype=np.int8).view(_PLANE)[:, 0]


def put(out: Int8Array, rows: Int8Array) -> None:
    """Copy ``rows`` to the same shape in ``out`` (both [n, ..., width] int8; a row is contiguous in each)."""
    item = _item(out.shape[-1])
    out.view(item)[...] = rows.view(item)


def put_one_hot(out: Int8Array, kinds: Int8Array) -> None:
    """Write a plane [n, 1, 34] for each of [n] kinds: 1 at the kind, and no 1 for -1."""
    out.view(_PLANE)[:, 0, 0] = _ONE_HOT.take(kinds)


def put_slots(out: Int8Array, numbers: Int8Array) -> None:
    """Write [n, 4] numbers into four places [n, 4]."""
    if numbers.dtype != np.int8 or not numbers.flags.c_contiguous:
        numbers = np.ascontiguousarray(numbers, np.int8)
    out.view(_FOUR)[...] = numbers.view(_FOUR)


def clear(out: Int8Array) -> None:
    """Set all numbers of [n, ..., width] to 0."""
    width = out.shape[-1]
    out.view(_item(width))[...] = _nothing(width)


def lay_out_facts(facts: Iterable[Fact], meaning: str) -> tuple[Piece, dict[str, slice]]:
    """Make the piece "facts" of these facts, in order; return it and the places [of planes * 34] that each fact takes.

    Raises:
        ValueError: two facts have the same name.
    """
    facts, places, end = tuple(facts), {}, 0
    for fact in facts:
        if fact.name in places:
            raise ValueError(f"two facts of the observation are called {fact.name!r}")
        places[fact.name] = slice(end, end + fact.places)
        end += fact.places
    planes = -(-end // NUM_KINDS)
    rest = planes * NUM_KINDS - end

    columns = [(fact, places[fact.name], places[fact.name].start) for fact in facts]

    def write(seen: Any, out: Int8Array) -> None:
        # Written apart from the observations, in memory that stays in the processor's cache, and then copied at once.
        rows = np.zeros((len(out), planes * NUM_KINDS), np.int8)
        for fact, place, start in columns:
            numbers = fact.read(seen)
            if numbers is None:
                continue
            if fact.is_open_ended:
                numbers = np.minimum(numbers, _limit(fact.high))
                if fact.low < 0:
                    numbers = np.maximum(numbers, _limit(fact.low))
            if fact.by_slot:
                put_slots(rows[:, place], numbers)
            else:
                rows[:, start] = numbers
        put(out.reshape(rows.shape), rows)

    def spread(numbers: list[Any], other: float) -> tuple[float, ...]:
        return tuple(
            np.concatenate([np.repeat(numbers, [f.places for f in facts]), np.full(rest, other)]).astype(float).tolist()
        )

    piece = Piece(
        "facts",
        planes,
        meaning,
        write,
        low=spread([fact.low for fact in facts], 0),
        high=spread([fact.high for fact in facts], 0),
        scale=spread([fact.scale for fact in facts], 1),
    )
    return piece, places
