"""Shapes of complete hands, and the ways to read hands in them, on which rows are evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mahjong_env.basics.lazy import Answers, lazy
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array, UInt32Array
from mahjong_env.hands.reading import Sets, read_with_wilds, readings
from mahjong_env.hands.summaries import (
    doubled_orphans,
    doubled_orphans_of_one,
    orphan_kinds,
    orphan_kinds_of_one,
    pairs,
    pairs_of_one,
    short_of_sets_and_pair,
    suit_summaries,
    sum_summaries,
)
from mahjong_env.scoring.patterns import SuitRows, count_melds, suit_rows, suits_present
from mahjong_env.scoring.wins import Wins

_UP_TO_A_RUN = np.arange(3, dtype=np.int8)[:, None]
# Kept as arrays: numpy would convert a plain number in every call.
_NONE, _SEVEN, _NEARLY_ALL, _IMPOSSIBLE = (np.array(number, np.int8) for number in (0, 7, 12, 99))


@dataclass
class Concealed(Answers):
    """Concealed tiles, in the form in which shapes are asked about them."""

    codes: Int32Array  # [..., 4] of the tiles without wild ones
    summaries: UInt32Array  # [..., 4] `suit_summaries` of the codes
    total: UInt32Array  # [...] their sum
    wilds: Any  # [...] wild tiles held
    melds: Any  # [...] melds of the seat

    @classmethod
    def of(cls, codes: Int32Array, wilds: Any, melds: Any) -> Concealed:
        """Look up what is known of the codes."""
        summaries = suit_summaries(codes)
        return cls(codes, summaries, sum_summaries(summaries), wilds, melds)


ShortOf = Callable[[Concealed], Int8Array]
"""A function that returns [...] the tiles that a shape lacks, with wild ones counted as lacking."""

ShortOfOne = Callable[[tuple[int, int, int, int], int, int, int], int]
"""The same for one hand in plain numbers: its codes, the two numbers of `sum_of_one`, and the wild tiles held."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape that complete hands may have.

    Attributes:
        name: the name in words.
        short_of: the fewest tiles that are lacking (see `Rules.tiles_short`).
        read: returns every reading of some hands ([k] indices) in this shape, in parts that keep the readings of a hand
            together; None for one reading of each hand that has the shape, where no row asks how the tiles are read.
        concealed: whether nothing may be melded.
        short_of_one: the same as ``short_of`` for one hand in plain numbers, which has no melds if the shape is
            concealed; if it is None, small batches are played like large ones.
        alone: whether a hand with this shape can have no other shape, except one that is ``alone`` too.
    """

    name: str
    short_of: ShortOf
    read: Callable[[Shape, Wins, Games], list[Readings]] | None = None
    concealed: bool = False
    short_of_one: ShortOfOne | None = None
    alone: bool = False

    def readings(self, wins: Wins, which: Games) -> list[Readings]:
        """Return the readings of some hands ([k] indices of wins) in this shape; none for those that do not have it."""
        if self.read is not None:
            return self.read(self, wins, which)
        tiles = Concealed(wins.codes, wins.suit_summaries, wins.sum_of_summaries, wins.jokers, wins.own_melds)
        return [Readings(wins, self, which.compress((self.short_of(tiles) <= wins.jokers).take(which)))]


class Readings(Answers):
    """m ways to read hands; those of one hand in one shape lie side by side.

    Attributes:
        wins: the hands.
        owner: [m] which hand is read.
        shapes: the shapes in which hands are read, each once; `in_shape` says which of the readings are in which.
        has_sets: [m] whether a reading has sets and a pair, or one answer for all.
    """

    price: Callable[[Readings], tuple[Int8Array, Int64Array]]
    """The function that counts the rows of these readings and says what they are worth."""

    def __init__(
        self, wins: Wins, shape: Shape, owner: Games, sets: Sets | None = None, suits: SuitRows | None = None
    ) -> None:
        self.wins, self.owner = wins, owner
        self.shapes: tuple[Shape, ...] = (shape,)
        self._sets, self._suits = sets, suits
        self._shape: Any = 0  # [m] place in `shapes`, or one for all
        self.has_sets: Any = sets is not None

    @classmethod
    def join(cls, parts: list[Readings]) -> Readings:
        """Return all readings of several parts, each in one shape, one after the other."""
        if len(parts) == 1:
            return parts[0]
        first, sizes = parts[0], [len(part) for part in parts]
        joined = cls(first.wins, first.shapes[0], np.concatenate([part.owner for part in parts]))
        joined.shapes = tuple(dict.fromkeys(part.shapes[0] for part in parts))
        joined._shape = np.repeat([joined.shapes.index(part.shapes[0]) for part in parts], sizes)
        joined.has_sets = np.repeat([part.has_sets for part in parts], sizes)
        if any(part.has_sets for part in parts):
            joined._sets = Sets(*map(np.concatenate, zip(*(part.sets for part in parts), strict=True)))
        if any(part._suits is not None for part in parts):
            joined._suits = SuitRows(*map(np.concatenate, zip(*(part.suits for part in parts), strict=True)))
        return joined

    def __len__(self) -> int:
        """The number of readings."""
        return len(self.owner)

    def in_shape(self, shape: Shape) -> Any:
        """Return [m] whether readings are in a shape, or one answer for all."""
        if shape not in self.shapes:
            return False
        return len(self.shapes) == 1 or self._shape == self.shapes.index(shape)

    def shape_of(self, reading: int) -> Shape:
        """Return the shape of one reading."""
        return self.shapes[0] if len(self.shapes) == 1 else self.shapes[self._shape[reading]]

    def of(self, per_hand: Any) -> Any:
        """Return [m, ...] values of hands [n, ...], repeated for each of their readings."""
        return per_hand.take(self.owner, axis=0)

    @lazy
    def priced(self) -> tuple[Int8Array, Int64Array]:
        """[m, rows] entries of each row, and [m] what they are worth."""
        return self.price(self)

    counts = property(lambda self: self.priced[0])
    worth = property(lambda self: self.priced[1])

    @lazy
    def sets(self) -> Sets:
        """The sets and the pair of the concealed tiles; none in other shapes, where wild tiles stand for themselves."""
        if self._sets is not None:
            return self._sets
        none = np.zeros((len(self), NUM_KINDS), np.int8)
        return Sets(none[:, 0] - np.int8(1), none, none, self.of(self.wins.counts), none)

    pair = property(lambda self: self.sets.pair)  # [m] its kind, -1 for none
    hidden_triplets = property(lambda self: self.sets.triplets)  # [m, T] concealed triplets of each kind
    hidden_runs = property(lambda self: self.sets.runs)  # [m, T] concealed runs by their lowest tile
    wild_as = property(lambda self: self.sets.wild_as)  # [m, T] wild tiles that stand for each kind

    @lazy
    def triplets(self) -> Int8Array:
        """[m, T] triplets and kongs of each kind, melds included."""
        return self.sets.triplets if self._sets is None else self.sets.triplets + self.of(self.wins.melded.triplets)

    @lazy
    def runs(self) -> Int8Array:
        """[m, T] runs by their lowest tile, melds included."""
        return self.sets.runs if self._sets is None else self.sets.runs + self.of(self.wins.melded.chows)

    @property
    def all_pungs(self) -> BoolArray:
        """[m] whether every set is a triplet or kong."""
        return np.asarray(~np.logical_or.reduce(self.runs, axis=1) & self.has_sets)

    @property
    def all_runs(self) -> BoolArray:
        """[m] whether every set is a run."""
        return np.asarray(~np.logical_or.reduce(self.triplets, axis=1) & self.has_sets)

    @lazy
    def runs_with_winning_tile(self) -> Int8Array:
        """[3, m] concealed runs in which the winning tile stands in the third, the second, the first place."""
        runs = np.zeros((2 + NUM_KINDS, len(self)), np.int8)  # runs that begin at kind k stand at k + 2
        runs[2:] = self.hidden_runs.T
        return runs[self.of(self.wins.winning_tile) + _UP_TO_A_RUN, np.arange(len(self))]

    @lazy
    def concealed_pungs(self) -> Int8Array:
        """[m] triplets and concealed kongs that no other player's tile has completed.

        If the winning tile of another player also fits a concealed run of the reading, it completes that run, and the
        triplet of its kind counts as concealed.
        """
        wins = self.wins
        index = np.arange(len(self)) * NUM_KINDS + self.of(wins.winning_tile)
        exposed = self.of(~wins.drawn) & (self.hidden_triplets.reshape(-1).take(index) > 0)
        if exposed.any():
            exposed &= ~self.runs_with_winning_tile.any(axis=0)
        kongs = self.of(count_melds(wins, MeldType.CONCEALED_KONG))
        return self.hidden_triplets.sum(axis=1, dtype=np.int8) + kongs - exposed

    @lazy
    def tiles(self) -> Int8Array:
        """[m, T] concealed and melded tiles, kongs counted as three, wild tiles as what they stand for."""
        return self.sets.tiles + self.of(self.wins.melded.tiles)

    @lazy
    def suits(self) -> SuitRows:
        """Which readings are of one suit, or of honours only; [m] each."""
        return suit_rows(suits_present(self.tiles)) if self._suits is None else self._suits

    @property
    def wilds_are_themselves(self) -> BoolArray:
        """[m] whether no wild tile stands for another kind."""
        wilds, wild = self.of(self.wins.wilds), self.of(self.wins.wild)
        if self._sets is None:
            return np.ones(len(self), np.bool_)
        themselves = np.where(wilds > 0, self.wild_as[np.arange(len(self)), wild], 0) == wilds
        return np.asarray(themselves | ~np.asarray(self.has_sets))


# --- The shapes -------------------------------------------------------------------------------------------------------


def read_sets_and_pair(shape: Shape, wins: Wins, which: Games) -> list[Readings]:
    """Return every reading as sets and a pair, for everything that wild tiles may stand for.

    Hands of the same tiles that follow each other, such as the same win by a draw and on a discard, are read once.
    """
    has_wild = wins.rules.has_wild
    natural = (wins.natural if has_wild else wins.counts).take(which, axis=0)
    is_new = np.ones(len(which), np.bool_)
    np.logical_or.reduce(natural[1:] != natural[:-1], axis=1, out=is_new[1:])
    if has_wild:
        jokers = wins.jokers.take(which)
        is_new[1:] |= jokers[1:] != jokers[:-1]
    every = is_new.nonzero()[0]
    if len(every) < len(which):
        natural = natural.take(every, axis=0)
    if has_wild:
        owner, sets = read_with_wilds(natural, jokers.take(every), ~wins.rules.flower_kinds[:NUM_KINDS])
    else:
        owner, sets = readings(natural)
    if len(every) == len(which):
        owner = which.take(owner)
    else:
        number = np.bincount(owner, minlength=len(every))
        same_as = is_new.cumsum() - 1
        ways = number.take(same_as)
        owner = which.repeat(ways)
        first: Any = (number.cumsum() - number).take(same_as) - (ways.cumsum() - ways)
        place = np.arange(len(owner)) + first.repeat(ways)
        sets = Sets(*(array.take(place, axis=0) for array in sets))
    if has_wild and (opening := wins.opening.take(owner)).any():
        # A wild tile that was turned up and won with stands for itself.
        sets.wild_as[np.flatnonzero(opening), wins.wild.take(owner.compress(opening))] += 1
    return [Readings(wins, shape, owner, sets)]


def _short_of_thirteen_orphans(tiles: Concealed) -> Int8Array:
    """Return the tiles lacking; a hand that lacks more than two beside its wild ones counts as impossible."""
    kinds = orphan_kinds(tiles.summaries, tiles.total)
    near = (kinds >= _NEARLY_ALL - tiles.wilds) & (tiles.melds == _NONE)
    if not np.count_nonzero(near):
        return np.full(near.shape, _IMPOSSIBLE)
    lacking = 13 - kinds + (doubled_orphans(tiles.summaries, tiles.total) == 0)
    return np.where(near, lacking, _IMPOSSIBLE).astype(np.int8)


def _thirteen_orphans_of_one(codes: tuple[int, int, int, int], total: int, with_pair: int, wilds: int) -> int:
    kinds = orphan_kinds_of_one(total)
    if kinds < _NEARLY_ALL - wilds:
        return int(_IMPOSSIBLE)
    return 13 - kinds + (doubled_orphans_of_one(total) == 0)


SETS_AND_PAIR = Shape(
    "sets and a pair",
    lambda tiles: short_of_sets_and_pair(tiles.summaries, tiles.total),
    read_sets_and_pair,
    short_of_one=lambda codes, total, with_pair, wilds: with_pair,
)
SETS_AND_PAIR_AS_ONE = replace(SETS_AND_PAIR, read=None)
"""For variants that ask nothing about the sets: one reading stands for all."""
SEVEN_PAIRS = Shape(
    "seven pairs",  # four alike are two pairs
    lambda tiles: np.where(tiles.melds == _NONE, _SEVEN - pairs(tiles.summaries, tiles.total), _IMPOSSIBLE),
    concealed=True,
    short_of_one=lambda codes, total, with_pair, wilds: 7 - pairs_of_one(total),
)
THIRTEEN_ORPHANS = Shape(
    "thirteen orphans", _short_of_thirteen_orphans, concealed=True, short_of_one=_thirteen_orphans_of_one
)


def best_readings(owner: Games, value: Int64Array | Int32Array, n: int) -> Games:
    """Return [n] for each hand the reading of the highest value, the first of equals; -1 where a hand has none.

    ``owner`` [m] are the hands that readings belong to, ``value`` [m] what they are worth.
    """
    best = np.full(n, -1, np.intp)
    # Where an owner is written several times, the last one written stays: the greatest value, in its first reading.
    order = len(owner) - 1 - np.argsort(value[::-1], kind="stable")
    best[owner.take(order)] = order
    return best
