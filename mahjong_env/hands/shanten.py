"""Shanten: how far tiles are from the nearest shape that the rules play; kinds that help, or that can be spared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_KINDS, POWER, SUIT
from mahjong_env.hands.distance import Cheapest, cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.kind_sets import ALL_KINDS, BIT_OF_KIND, CountPlanes, KindSets, count_members

ORPHANS: Final = np.array([0, 8, 9, 17, 18, 26, *range(27, NUM_KINDS)])
"""The kinds of thirteen orphans: ones, nines and honours."""
ORPHANS.flags.writeable = False

_ORPHANS: Final = np.bitwise_or.reduce(BIT_OF_KIND[ORPHANS])
_POWER, _GROUP = POWER.astype(np.intp), SUIT.astype(np.intp)
_NONE: Final = np.uint64(0)
_OUT_OF_REACH: Final = np.int8(100)


class Shapes(NamedTuple):
    """The shapes that rules play besides sets and a pair; only hands without melds can take them."""

    seven_pairs: bool  # four of a kind count as two pairs
    orphans: bool


class Melded(NamedTuple):
    """The melds of m seats, and what can no longer be drawn: [m] uint64 each, except the last."""

    runs: KindSets  # the lowest kinds of runs
    pungs: KindSets  # the kinds of pungs and kongs
    gone: KindSets  # kinds of which no tile is left
    number: NDArray[np.intp]  # [m] number of melds; greater than the number of kinds if a run is there twice

    @classmethod
    def of(cls, types: NDArray[np.int8], kinds: NDArray[np.int8], gone: KindSets) -> Melded:
        """Return the melds with these types (`MeldType`) and kinds [m, places]."""
        bits = BIT_OF_KIND.take(np.maximum(kinds, 0))
        runs, pungs = (
            np.bitwise_or.reduce(np.where(chosen, bits, _NONE), axis=1)
            for chosen in (types == MeldType.CHOW, types > MeldType.CHOW)
        )
        return cls(runs, pungs, gone, np.count_nonzero(types > MeldType.NONE, axis=1))

    def take(self, which: NDArray[np.intp]) -> Melded:
        """Return the melds of some seats."""
        runs, pungs, gone = (kinds.take(which) for kinds in (self.runs, self.pungs, self.gone))
        return Melded(runs, pungs, gone, self.number.take(which))

    def add(self, runs: KindSets, pungs: KindSets, number: NDArray[Any]) -> Melded:
        """Return the melds with others added, ``number`` [m] of them."""
        return Melded(self.runs | runs, self.pungs | pungs, self.gone, self.number + number)

    def kinds(self) -> KindSets:
        """Return [m] the kinds of their tiles."""
        return self.pungs | self.runs | self.runs << np.uint64(1) | self.runs << np.uint64(2)


@dataclass(frozen=True)
class Hands:
    """The concealed tiles of m seats."""

    codes: NDArray[np.intp]  # [4, m] codes of the groups, without wild tiles
    wilds: NDArray[np.int8]  # [m]
    sets: NDArray[np.intp]  # [m] sets that are still wanted
    closed: NDArray[np.bool_]  # [m] whether there are no melds
    counts: CountPlanes | None  # the tiles of `codes` by kind; None if the rules play no shape that needs them
    melds: Melded | None = None  # where the rules declare aims

    def take(self, which: NDArray[np.intp]) -> Hands:
        """Return some of the hands; ``which`` are indices."""
        return Hands(
            self.codes.take(which, axis=1),
            self.wilds.take(which),
            self.sets.take(which),
            self.closed.take(which),
            None if self.counts is None else self.counts.take(which),
            None if self.melds is None else self.melds.take(which),
        )

    def without(self, kind: NDArray[np.intp], is_wild: NDArray[np.bool_] | None) -> Hands:
        """Return the hands without a tile of ``kind`` [m]; ``is_wild`` [m] says where that is wild, None nowhere."""
        codes = self.codes.copy()
        steps, tile, wilds = _POWER.take(kind), BIT_OF_KIND.take(kind), self.wilds
        if is_wild is not None:
            steps, tile, wilds = steps * ~is_wild, tile * ~is_wild, wilds - is_wild
        place = _GROUP.take(kind) * len(kind)
        place += np.arange(len(kind))
        codes.reshape(-1)[place] -= steps
        counts = None if self.counts is None else self.counts.without(tile)
        return Hands(codes, wilds, self.sets, self.closed, counts, self.melds)


class Shanten:
    """The shanten of m hands: their distances from the nearest shape, with the kinds that help and can be spared.

    Attributes:
        distance: [m] int8 tiles short of the nearest shape, 0 for a complete one.
    """

    distance: NDArray[np.int8]

    def __init__(self, hands: Hands, shapes: Shapes) -> None:
        self._cheapest: Cheapest = cheapest_hands(hands.codes, hands.sets)
        self._to_sets = np.maximum(self._cheapest.short - hands.wilds, np.int8(0))
        self._hands, self._shapes, self._wilds, self._counts = hands, shapes, hands.wilds, hands.counts
        self._to_pairs = self._to_orphans = None
        self.distance = self._to_sets
        if self._counts is not None and shapes.seven_pairs:
            self._to_pairs = np.where(hands.closed, distance_to_pairs(self._counts, hands.wilds), _OUT_OF_REACH)
            self.distance = np.minimum(self.distance, self._to_pairs)
        if self._counts is not None and shapes.orphans:
            self._to_orphans = np.where(hands.closed, distance_to_orphans(self._counts), _OUT_OF_REACH)
            self.distance = np.minimum(self.distance, self._to_orphans)

    @property
    def short_of_sets(self) -> NDArray[np.int8]:
        """[m] tiles short of sets and a pair, wild tiles not counted."""
        return self._cheapest.short

    def kinds_to_spare(self, wild: NDArray[Any] | None) -> KindSets:
        """Return [m] uint64 the kinds of which a tile can be spared without raising the distance.

        ``wild`` [m] is the wild kind, -1 for none; None if no hand has one.
        """
        kinds = kinds_to_spare(self._cheapest)
        if self._counts is None:
            return kinds
        kinds = _where(self._to_sets == self.distance, kinds)
        if self._to_pairs is not None:
            kinds |= _where(self._to_pairs == self.distance, pairs_can_spare(self._counts, self._wilds))
        if self._to_orphans is not None:
            spare = orphans_can_spare(self._counts)
            if wild is not None:  # orphans have no use for wild tiles
                spare |= _where(wild >= 0, BIT_OF_KIND.take(wild, mode="wrap"))
            kinds |= _where(self._to_orphans == self.distance, spare)
        return kinds

    def take(self, which: NDArray[np.intp]) -> Shanten:
        """Return the shanten of some of the hands."""
        return Shanten(self._hands.take(which), self._shapes)

    def without(self, hand: NDArray[np.intp], kind: NDArray[np.intp], is_wild: NDArray[np.bool_] | None) -> Shanten:
        """Return the shanten of some hands [k] without a tile of ``kind`` [k]; ``is_wild`` as for `Hands.without`."""
        return Shanten(self._hands.take(hand).without(kind, is_wild), self._shapes)

    def kinds_that_help(self, distance: NDArray[np.int8]) -> KindSets:
        """Return [m] uint64 the kinds whose draw brings hands nearer that are ``distance`` [m] away.

        Wild kinds are not considered. The distance may be given as greater than it is, as for a claimed meld that is
        followed by a discard.
        """
        kinds = _where((self._to_sets <= distance) & (self._to_sets > 0), kinds_that_help(self._cheapest))
        if self._counts is not None and self._to_pairs is not None:
            kinds |= _where(self._to_pairs == distance, kinds_for_pairs(self._counts))
        if self._counts is not None and self._to_orphans is not None:
            kinds |= _where(self._to_orphans == distance, kinds_for_orphans(self._counts))
        return kinds & ALL_KINDS


def _where(condition: NDArray[np.bool_], kinds: KindSets) -> KindSets:
    chosen: KindSets = np.where(condition, kinds, _NONE)
    return chosen


# --- Pungs, seven pairs, thirteen orphans -----------------------------------------------------------------------------


def _seven_pairs_short(pairs: NDArray[Any], singles: NDArray[Any], wilds: NDArray[Any]) -> NDArray[np.int8]:
    """Return [m] int8 the distance to seven pairs of hands with these numbers of pairs and of single tiles."""
    without_a_single = np.maximum(7 - pairs - singles, 0)
    missing = (7 - pairs + without_a_single).astype(np.int8)
    return np.maximum(missing - np.asarray(wilds, np.int8), np.int8(0))


def distance_to_pairs(hands: CountPlanes, wilds: NDArray[Any]) -> NDArray[np.int8]:
    """Return [m] int8 the distance to seven pairs; ``wilds`` [m] int8."""
    return _seven_pairs_short(*_pairs_and_singles(hands), wilds)


def _pairs_and_singles(hands: CountPlanes) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    pairs = count_members(hands.twos) + 2 * count_members(hands.fours)
    return pairs.astype(np.int8), count_members(hands.ones).astype(np.int8)


def pairs_can_spare(hands: CountPlanes, wilds: NDArray[Any]) -> KindSets:
    """Return [m] uint64 the kinds of which a tile can be spared without raising the distance to seven pairs."""
    pairs, singles = _pairs_and_singles(hands)
    now = _seven_pairs_short(pairs, singles, wilds)
    one, pair = np.int8(1), (hands.twos | hands.fours) & ~hands.ones
    spare_singles: KindSets = np.where(_seven_pairs_short(pairs, singles - one, wilds) == now, hands.ones, _NONE)
    spare_pairs: KindSets = np.where(_seven_pairs_short(pairs - one, singles + one, wilds) == now, pair, _NONE)
    return spare_singles | spare_pairs


def kinds_for_pairs(hands: CountPlanes) -> KindSets:
    """Return [m] uint64 the kinds that complete a pair, or that begin one which is still lacking."""
    pairs, singles = _pairs_and_singles(hands)
    return hands.ones | np.where(pairs + singles < np.int8(7), ~hands.fours, _NONE)


def to_pungs(
    counts: CountPlanes, sets: NDArray[np.intp], wilds: NDArray[np.int8]
) -> tuple[NDArray[np.int8], KindSets, KindSets]:
    """Return [m] each: the distance from pungs and a pair, the kinds that help, and the kinds that can be spared."""
    triplets = (counts.ones & counts.twos) | counts.fours
    pairs = counts.twos & ~counts.ones
    singles = counts.ones & ~counts.twos
    held = [count_members(kinds).astype(np.intp) for kinds in (triplets, pairs, singles)]
    kinds_wanted = sets + 1  # the pair is the kind of the fewest tiles
    missing = np.zeros(len(sets), np.intp)
    left = kinds_wanted.copy()
    for cost, number in zip((0, 1, 2, 3), (*held, np.full(len(sets), 9)), strict=True):
        taken = np.minimum(left, number)
        missing += cost * taken
        left -= taken
    missing -= np.where(held[0] >= kinds_wanted, 0, 1)  # one of them need only be a pair
    distance = np.maximum(missing - wilds, 0).astype(np.int8)
    few = held[0] + held[1] < kinds_wanted
    help_ = pairs | np.where(few, singles, _NONE)
    surplus = held[0] + held[1] + held[2] > kinds_wanted
    spare = np.where(few & ~surplus, _NONE, singles) | counts.fours
    spare |= np.where(held[0] + held[1] > kinds_wanted, pairs, _NONE)
    return distance, help_, spare


def distance_to_orphans(hands: CountPlanes) -> NDArray[np.int8]:
    """Return [m] int8 the distance to thirteen orphans."""
    twice = (hands.twos | hands.fours) & _ORPHANS
    kinds = count_members((hands.ones & _ORPHANS) | twice)
    return np.int8(14) - kinds.astype(np.int8) - (twice != _NONE)


def orphans_can_spare(hands: CountPlanes) -> KindSets:
    """Return [m] uint64 the kinds of which a tile can be spared without raising the distance to thirteen orphans."""
    twice = (hands.twos | hands.fours) & _ORPHANS
    thrice = (hands.ones & hands.twos) | hands.fours
    others = (hands.ones | hands.twos | hands.fours) & ~_ORPHANS
    several_pairs = twice & (twice - np.uint64(1)) != _NONE
    return others | (thrice & _ORPHANS) | np.where(several_pairs, twice, _NONE)


def kinds_for_orphans(hands: CountPlanes) -> KindSets:
    """Return [m] uint64 the ones, nines and honours that are lacking, all of them while there is no pair."""
    twice = (hands.twos | hands.fours) & _ORPHANS
    return _ORPHANS & ~np.where(twice != _NONE, hands.ones | twice, _NONE | twice)
