"""Plans for a few kinds of tiles or for the wild tile: one dragon, flower dragon, a wild tile waiting for its pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.outlook import Concealed
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import POWER, RANKS, encode
from mahjong_env.hands.kind_sets import BIT_OF_KIND, KindSets, count_members, pack, unpack
from mahjong_env.hands.shares import cheapest_hands, kinds_to_spare

FAR_PLANS: Final = ("one dragon", "flower dragon", "a wild pair")
"""Runs 123, 456, 789 of one suit; the same, each of another suit; sets, and a wild tile that any tile makes a pair."""
IMPOSSIBLE: Final = 9
_RUNS: Final = np.array([[7 << RANKS * suit + 3 * part for part in range(3)] for suit in range(3)], np.uint64)
"""[3, 3] uint64: the run of each suit and part as a set of kinds."""
_ONE_DRAGON: Final = np.bitwise_or.reduce(_RUNS, axis=1)
_FLOWER_DRAGON: Final = np.array(
    [_RUNS[suits[0], 0] | _RUNS[suits[1], 1] | _RUNS[suits[2], 2] for suits in permutations(range(3))], np.uint64
)
_FIRST_HONOUR: Final = 3 * RANKS
_POWER = POWER.astype(np.intp)


@dataclass(frozen=True)
class Standing:
    """How m hands stand to each of `FAR_PLANS`.

    Attributes:
        distance: [m, 3] int8 tiles short, `IMPOSSIBLE` at most.
        spare: [m, 3] uint64 kinds of which a tile may go without raising it, wild kinds aside.
    """

    distance: NDArray[np.int8]
    spare: KindSets


def far_plans(
    hands: Concealed,
    natural: NDArray[np.int8],
    meld_type: NDArray[np.int8],
    meld_kind: NDArray[np.int8],
    *,
    has_wild: bool,
) -> Standing:
    """Look at hands.

    Args:
        hands: m hands.
        natural: [m, 34] their natural tiles.
        meld_type: [m, 5] types of their melds.
        meld_kind: [m, 5] kinds of their melds.
        has_wild: whether there are wild tiles in the game.
    """
    held = pack(natural > 0)
    is_run = (meld_type == MeldType.CHOW) & (meld_kind % 3 == 0)
    runs = np.where(is_run, np.uint64(7) << np.maximum(meld_kind, 0).astype(np.uint64), np.uint64(0))
    found = [_dragon(hands, natural, held, runs, patterns) for patterns in (_ONE_DRAGON, _FLOWER_DRAGON)]
    found.append(_wild_pair(hands, natural, has_wild=has_wild))
    distance = np.stack([np.minimum(distance, IMPOSSIBLE) for distance, _ in found], axis=1)
    return Standing(distance.astype(np.int8), np.stack([spare for _, spare in found], axis=1))


def _dragon(
    hands: Concealed, natural: NDArray[np.int8], held: KindSets, runs: KindSets, patterns: KindSets
) -> tuple[NDArray[np.int8], KindSets]:
    """Return distance and spare kinds for the nearest of some patterns of three runs."""
    laid = np.bitwise_or.reduce(runs, axis=1)
    lacks = 9 - count_members((held | laid)[:, None] & patterns).astype(np.int8)
    pattern = patterns[lacks.argmin(axis=1)]
    laid_runs = ((runs & pattern[:, None] == runs) & (runs != 0)).sum(axis=1)
    wanted = pattern & ~np.where(laid_runs > 0, _of_runs(runs, pattern), np.uint64(0))
    sets = hands.sets - (3 - laid_runs)
    used = unpack(wanted & held)
    rest = cheapest_hands(encode(natural - used).T, np.maximum(sets, 0))
    lacking = count_members(wanted & ~held).astype(np.int8)
    distance = lacking + rest.short - hands.wilds
    return np.where(sets >= 0, np.maximum(distance, 0), np.int8(IMPOSSIBLE)), kinds_to_spare(rest)


def _of_runs(runs: KindSets, pattern: KindSets) -> KindSets:
    inside = np.where(runs & pattern[:, None] == runs, runs, np.uint64(0))
    kinds: KindSets = np.bitwise_or.reduce(inside, axis=1)
    return kinds


def _wild_pair(hands: Concealed, natural: NDArray[np.int8], *, has_wild: bool) -> tuple[NDArray[np.int8], KindSets]:
    """Return distance and spare kinds for sets alone, with one wild tile kept beside them."""
    if not has_wild:
        return np.full(len(natural), IMPOSSIBLE, np.int8), np.full(len(natural), np.uint64(0))
    # As if there were a pair of honours to begin with: only sets are wanted then.
    with_pair, every = natural.copy(), np.arange(len(natural))
    honour = with_pair[:, _FIRST_HONOUR:].argmin(axis=1) + _FIRST_HONOUR
    with_pair[every, honour] += 2
    codes = hands.codes.copy()
    codes[3] += 2 * _POWER[honour]
    found = cheapest_hands(codes, hands.sets)
    distance = found.short - np.maximum(hands.wilds - 1, 0) + (hands.wilds == 0)
    return np.maximum(distance, 0).astype(np.int8), kinds_to_spare(found) & ~BIT_OF_KIND[honour]
