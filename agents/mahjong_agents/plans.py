"""Plans for a hand: any nearest shape, one suit with or without honours, pungs alone, seven pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.outlook import Concealed, Shapes
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import NUM_GROUPS, RANKS
from mahjong_env.hands.kind_sets import ALL_KINDS, BIT_OF_KIND, CountPlanes, KindSets, count_members
from mahjong_env.hands.shares import cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.special_shapes import distance_to_pairs, kinds_for_pairs, pairs_can_spare

_NO_KIND = np.uint64(0)
_HONOURS: Final = int(np.bitwise_or.reduce(BIT_OF_KIND[27:]))
_SUITS: Final = [int(np.bitwise_or.reduce(BIT_OF_KIND[suit * RANKS : (suit + 1) * RANKS])) for suit in range(3)]

ANY: Final = 0
PUNGS: Final = 7
PAIRS: Final = 8
NUM_PLANS: Final = 9
"""Plans 1 to 3 are one suit alone, 4 to 6 one suit and honours."""

KINDS_OF_PLAN: Final = np.array(
    [int(ALL_KINDS), *_SUITS, *(suit | _HONOURS for suit in _SUITS), int(ALL_KINDS), int(ALL_KINDS)], np.uint64
)
"""[9] uint64: the kinds that a plan has use for."""
_GROUPS_OF_PLAN = np.array(
    [[bool(kinds >> np.uint64(RANKS * group) & np.uint64(1)) for group in range(NUM_GROUPS)] for kinds in KINDS_OF_PLAN]
)


@dataclass(frozen=True)
class Prospects:
    """How k pairs of a hand and a plan stand.

    Attributes:
        hand: [k] which hand.
        plan: [k] which plan.
        distance: [k] int8 tiles short.
        help: [k] uint64 kinds that bring it nearer, wild kinds aside.
        spare: [k] uint64 held kinds of which a tile may go without raising the distance, wild kinds aside.
    """

    hand: NDArray[np.intp]
    plan: NDArray[np.intp]
    distance: NDArray[np.int8]
    help: KindSets
    spare: KindSets

    def take(self, which: NDArray[np.intp]) -> Prospects:
        """Return some of them."""
        return Prospects(self.hand[which], self.plan[which], self.distance[which], self.help[which], self.spare[which])


def restrict(hands: Concealed, hand: NDArray[np.intp], plan: NDArray[np.intp]) -> tuple[NDArray[np.intp], CountPlanes]:
    """Return codes [4, k] and counts of the tiles that plans have use for; `Concealed.counts` must be there."""
    assert hands.counts is not None
    codes = hands.codes.take(hand, axis=1) * _GROUPS_OF_PLAN.take(plan, axis=0).T
    kinds = KINDS_OF_PLAN.take(plan)
    return codes, CountPlanes(*(digit.take(hand) & kinds for digit in hands.counts))


def weigh(hands: Concealed, hand: NDArray[np.intp], plan: NDArray[np.intp]) -> Prospects:
    """Look at hands under plans: [k] pairs."""
    assert hands.counts is not None
    codes, counts = restrict(hands, hand, plan)
    sets, wilds = hands.sets.take(hand), hands.wilds.take(hand)
    distance = np.empty(len(hand), np.int8)
    help_, spare = np.empty(len(hand), np.uint64), np.empty(len(hand), np.uint64)
    kinds = KINDS_OF_PLAN.take(plan)

    at = np.flatnonzero(plan < PUNGS)
    cheapest = cheapest_hands(codes.take(at, axis=1), sets.take(at))
    distance[at] = np.maximum(cheapest.short - wilds.take(at), 0)
    help_[at] = kinds_that_help(cheapest) & kinds.take(at)
    spare[at] = kinds_to_spare(cheapest)

    at = np.flatnonzero(plan == PUNGS)
    distance[at], help_[at], spare[at] = _pungs(counts.take(at), sets.take(at), wilds.take(at))
    at = np.flatnonzero(plan == PAIRS)
    pairs = counts.take(at)
    distance[at] = distance_to_pairs(pairs, wilds.take(at))
    help_[at], spare[at] = kinds_for_pairs(pairs), pairs_can_spare(pairs, wilds.take(at))

    whole = hands.counts.take(hand)
    outside = (whole.ones | whole.twos | whole.fours) & ~kinds
    return Prospects(hand, plan, distance, help_ & ALL_KINDS, spare | outside)


def _pungs(
    counts: CountPlanes, sets: NDArray[np.intp], wilds: NDArray[np.int8]
) -> tuple[NDArray[np.int8], KindSets, KindSets]:
    """Return distance, help and spare kinds for pungs and a pair."""
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
    help_ = pairs | np.where(few, singles, _NO_KIND)
    surplus = held[0] + held[1] + held[2] > kinds_wanted
    spare = np.where(few & ~surplus, _NO_KIND, singles) | counts.fours
    spare |= np.where(held[0] + held[1] > kinds_wanted, pairs, _NO_KIND)
    return distance, help_, spare


def possible_plans(
    hands: Concealed, meld_type: NDArray[np.int8], meld_kind: NDArray[np.int8], shapes: Shapes
) -> NDArray[np.bool_]:
    """Return [m, 9] bool the plans that the melds of hands allow.

    Args:
        hands: m hands.
        meld_type: [m, 5] types of their melds.
        meld_kind: [m, 5] kinds of their melds.
        shapes: what the rules play.
    """
    possible = np.ones((len(hands.sets), NUM_PLANS), np.bool_)
    exists = meld_type > MeldType.NONE
    bits = np.where(exists, BIT_OF_KIND.take(np.maximum(meld_kind, 0)), _NO_KIND)
    melded = np.bitwise_or.reduce(bits, axis=1)
    possible[:, :PUNGS] = melded[:, None] & ~KINDS_OF_PLAN[:PUNGS] == 0
    possible[:, PUNGS] = ~(meld_type == MeldType.CHOW).any(axis=1)
    possible[:, PAIRS] = hands.closed & shapes.seven_pairs
    return possible
