"""Seven pairs and thirteen orphans for many hands at once, from counts by binary digit (`kind_sets.count_planes`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.distance import ORPHANS, seven_pairs_short
from mahjong_env.hands.kind_sets import BIT_OF_KIND, CountPlanes, KindSets, count_members

_ORPHANS: Final = np.bitwise_or.reduce(BIT_OF_KIND[ORPHANS])
_NONE: Final = np.uint64(0)


def distance_to_pairs(hands: CountPlanes, wilds: NDArray[Any]) -> NDArray[np.int8]:
    """Return [m] int8 the distance to seven pairs; ``wilds`` [m] int8."""
    return seven_pairs_short(*_pairs_and_singles(hands), wilds)


def _pairs_and_singles(hands: CountPlanes) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    pairs = count_members(hands.twos) + 2 * count_members(hands.fours)
    return pairs.astype(np.int8), count_members(hands.ones).astype(np.int8)


def pairs_can_spare(hands: CountPlanes, wilds: NDArray[Any]) -> KindSets:
    """Return [m] uint64 the kinds of which a tile may go without raising the distance to seven pairs."""
    pairs, singles = _pairs_and_singles(hands)
    now = seven_pairs_short(pairs, singles, wilds)
    one, pair = np.int8(1), (hands.twos | hands.fours) & ~hands.ones
    spare_singles: KindSets = np.where(seven_pairs_short(pairs, singles - one, wilds) == now, hands.ones, _NONE)
    spare_pairs: KindSets = np.where(seven_pairs_short(pairs - one, singles + one, wilds) == now, pair, _NONE)
    return spare_singles | spare_pairs


def kinds_for_pairs(hands: CountPlanes) -> KindSets:
    """Return [m] uint64 the kinds that make a pair, or the first tile of one that is still lacking."""
    pairs, singles = _pairs_and_singles(hands)
    return hands.ones | np.where(pairs + singles < np.int8(7), ~hands.fours, _NONE)


def distance_to_orphans(hands: CountPlanes) -> NDArray[np.int8]:
    """Return [m] int8 the distance to thirteen orphans."""
    twice = (hands.twos | hands.fours) & _ORPHANS
    kinds = count_members((hands.ones & _ORPHANS) | twice)
    return np.int8(14) - kinds.astype(np.int8) - (twice != _NONE)


def orphans_can_spare(hands: CountPlanes) -> KindSets:
    """Return [m] uint64 the kinds of which a tile may go without raising the distance to thirteen orphans."""
    twice = (hands.twos | hands.fours) & _ORPHANS
    thrice = (hands.ones & hands.twos) | hands.fours
    others = (hands.ones | hands.twos | hands.fours) & ~_ORPHANS
    several_pairs = twice & (twice - np.uint64(1)) != _NONE
    return others | (thrice & _ORPHANS) | np.where(several_pairs, twice, _NONE)


def kinds_for_orphans(hands: CountPlanes) -> KindSets:
    """Return [m] uint64 the ones, nines and honours that lack, all of them while there is no pair."""
    twice = (hands.twos | hands.fours) & _ORPHANS
    return _ORPHANS & ~np.where(twice != _NONE, hands.ones | twice, _NONE | twice)
