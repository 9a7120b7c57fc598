"""How far concealed tiles are from the nearest shape that the rules play, what helps them, and what they can spare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands import POWER, SUIT
from mahjong_env.hands.kind_sets import ALL_KINDS, BIT_OF_KIND, CountPlanes, KindSets
from mahjong_env.hands.shares import Cheapest, cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.special_shapes import (
    distance_to_orphans,
    distance_to_pairs,
    kinds_for_orphans,
    kinds_for_pairs,
    orphans_can_spare,
    pairs_can_spare,
)
from mahjong_env.ruleset.shapes import Shapes, other_shapes

__all__ = ["Concealed", "Outlook", "Shapes", "other_shapes"]

_NUM_KINDS = len(POWER)
_POWER, _GROUP = POWER.astype(np.intp), SUIT.astype(np.intp)
_NO_KIND = np.uint64(0)
_OUT_OF_REACH = np.int8(100)


@dataclass(frozen=True)
class Concealed:
    """The concealed tiles of m seats.

    Attributes:
        codes: [4, m] intp codes of the groups, without wild tiles.
        wilds: [m] int8 wild tiles.
        sets: [m] intp sets that are still wanted.
        closed: [m] bool no melds.
        counts: the same tiles as `codes` by kind; None if the rules play no shape that needs them.
    """

    codes: NDArray[np.intp]
    wilds: NDArray[np.int8]
    sets: NDArray[np.intp]
    closed: NDArray[np.bool_]
    counts: CountPlanes | None

    def take(self, which: NDArray[np.intp]) -> Concealed:
        """Return some of them; ``which`` are indices."""
        return Concealed(
            self.codes.take(which, axis=1),
            self.wilds.take(which),
            self.sets.take(which),
            self.closed.take(which),
            None if self.counts is None else self.counts.take(which),
        )

    def without(self, kind: NDArray[np.intp], is_wild: NDArray[np.bool_] | None) -> Concealed:
        """Take one tile out of each hand.

        Args:
            kind: [m] its kind.
            is_wild: [m] whether that is the wild kind; None: nowhere.
        """
        codes = self.codes.copy()
        steps, tile, wilds = _POWER.take(kind), BIT_OF_KIND.take(kind), self.wilds
        if is_wild is not None:
            steps, tile, wilds = steps * ~is_wild, tile * ~is_wild, wilds - is_wild
        place = _GROUP.take(kind) * len(kind)
        place += np.arange(len(kind))
        codes.reshape(-1)[place] -= steps
        counts = None if self.counts is None else self.counts.without(tile)
        return Concealed(codes, wilds, self.sets, self.closed, counts)


class Outlook:
    """What m hands lack.

    Attributes:
        distance: [m] int8 tiles short of the nearest shape, 0 for a complete one.
    """

    distance: NDArray[np.int8]

    def __init__(self, hands: Concealed, shapes: Shapes) -> None:
        """Look at hands under rules that play these shapes."""
        self._cheapest: Cheapest = cheapest_hands(hands.codes, hands.sets)
        self._to_sets = np.maximum(self._cheapest.short - hands.wilds, np.int8(0))
        self._wilds, self._counts = hands.wilds, hands.counts
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
        """Return [m] uint64 the kinds of which a tile may go without raising the distance.

        Args:
            wild: [m] the wild kind, -1 for none; None: nowhere.
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

    def kinds_that_help(self, distance: NDArray[np.int8]) -> KindSets:
        """Return [m] uint64 the kinds whose draw brings hands nearer that are ``distance`` [m] away, wild kinds aside.

        The distance may be given as greater than it is, as for a claimed meld that is followed by a discard.
        """
        kinds = _where((self._to_sets <= distance) & (self._to_sets > 0), kinds_that_help(self._cheapest))
        if self._counts is not None and self._to_pairs is not None:
            kinds |= _where(self._to_pairs == distance, kinds_for_pairs(self._counts))
        if self._counts is not None and self._to_orphans is not None:
            kinds |= _where(self._to_orphans == distance, kinds_for_orphans(self._counts))
        return kinds & ALL_KINDS


def _where(condition: NDArray[np.bool_], kinds: KindSets) -> KindSets:
    """Return the sets where the condition holds, and empty ones elsewhere."""
    chosen: KindSets = np.where(condition, kinds, _NO_KIND)
    return chosen
