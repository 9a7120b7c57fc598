"""Plans for a hand (one suit, pungs, seven pairs, dragons): its distance from each, and play that follows one."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import RANK, ClosedGreedyAgent, GreedyAgent
from mahjong_env import View
from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR
from mahjong_env.hands.codes import NUM_GROUPS, POWER, RANKS, encode, split_wilds
from mahjong_env.hands.distance import cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.kind_sets import (
    ALL_KINDS,
    BIT_OF_KIND,
    CountPlanes,
    KindSets,
    count_members,
    count_planes,
    count_tiles,
    members,
    pack,
    unpack,
)
from mahjong_env.hands.shanten import Hands, Shapes, distance_to_pairs, kinds_for_pairs, pairs_can_spare, to_pungs
from mahjong_env.observation.acceptance import hands_after, tiles_after
from mahjong_env.ruleset.shapes import other_shapes

_NO_KIND = np.uint64(0)
*_SUITS, _HONOURS = (int(np.bitwise_or.reduce(kinds)) for kinds in np.split(BIT_OF_KIND, (9, 18, 27)))

ANY: Final = 0
PUNGS: Final = 7
PAIRS: Final = 8
NUM_PLANS: Final = 9
"""The number of plans; 1 to 3 are one suit alone, 4 to 6 one suit and honours."""

KINDS_OF_PLAN: Final = np.array(
    [int(ALL_KINDS), *_SUITS, *(suit | _HONOURS for suit in _SUITS), int(ALL_KINDS), int(ALL_KINDS)], np.uint64
)
"""[9] uint64: the kinds that may be part of a plan's hand."""
_GROUPS_OF_PLAN = np.array(
    [[bool(kinds >> np.uint64(RANKS * group) & np.uint64(1)) for group in range(NUM_GROUPS)] for kinds in KINDS_OF_PLAN]
)


class Prospects(NamedTuple):
    """The distances of k pairs of a hand and a plan, with the kinds that help and the kinds that can be spared.

    Attributes:
        hand: [k] the number of the hand.
        plan: [k] the plan.
        distance: [k] int8 tiles that the hand lacks.
        help: [k] uint64 kinds that bring the hand nearer, except wild kinds.
        spare: [k] uint64 held kinds of which a tile may go without raising the distance, except wild kinds.
    """

    hand: NDArray[np.intp]
    plan: NDArray[np.intp]
    distance: NDArray[np.int8]
    help: KindSets
    spare: KindSets

    def take(self, which: NDArray[np.intp]) -> Prospects:
        """Return some of the pairs."""
        return Prospects(self.hand[which], self.plan[which], self.distance[which], self.help[which], self.spare[which])


def weigh(hands: Hands, hand: NDArray[np.intp], plan: NDArray[np.intp]) -> Prospects:
    """Return the prospects of [k] pairs of a hand and a plan; `Hands.counts` must not be None."""
    assert hands.counts is not None
    kinds = KINDS_OF_PLAN.take(plan)
    codes = hands.codes.take(hand, axis=1) * _GROUPS_OF_PLAN.take(plan, axis=0).T
    counts = CountPlanes(*(digit.take(hand) & kinds for digit in hands.counts))
    sets, wilds = hands.sets.take(hand), hands.wilds.take(hand)
    distance = np.empty(len(hand), np.int8)
    help_, spare = np.empty(len(hand), np.uint64), np.empty(len(hand), np.uint64)

    at = np.flatnonzero(plan < PUNGS)
    cheapest = cheapest_hands(codes.take(at, axis=1), sets.take(at))
    distance[at] = np.maximum(cheapest.short - wilds.take(at), 0)
    help_[at] = kinds_that_help(cheapest) & kinds.take(at)
    spare[at] = kinds_to_spare(cheapest)

    at = np.flatnonzero(plan == PUNGS)
    distance[at], help_[at], spare[at] = to_pungs(counts.take(at), sets.take(at), wilds.take(at))
    at = np.flatnonzero(plan == PAIRS)
    pairs = counts.take(at)
    distance[at] = distance_to_pairs(pairs, wilds.take(at))
    help_[at], spare[at] = kinds_for_pairs(pairs), pairs_can_spare(pairs, wilds.take(at))

    whole = hands.counts.take(hand)
    outside = (whole.ones | whole.twos | whole.fours) & ~kinds
    return Prospects(hand, plan, distance, help_ & ALL_KINDS, spare | outside)


def possible_plans(
    hands: Hands, meld_type: NDArray[np.int8], meld_kind: NDArray[np.int8], shapes: Shapes
) -> NDArray[np.bool_]:
    """Return [m, 9] bool which plans the melds of m hands allow, given the melds' types and kinds [m, 5]."""
    possible = np.ones((len(hands.sets), NUM_PLANS), np.bool_)
    exists = meld_type > MeldType.NONE
    bits = np.where(exists, BIT_OF_KIND.take(np.maximum(meld_kind, 0)), _NO_KIND)
    melded = np.bitwise_or.reduce(bits, axis=1)
    possible[:, :PUNGS] = melded[:, None] & ~KINDS_OF_PLAN[:PUNGS] == 0
    possible[:, PUNGS] = ~(meld_type == MeldType.CHOW).any(axis=1)
    possible[:, PAIRS] = hands.closed & shapes.seven_pairs
    return possible


def plans_within_reach(
    hands: Hands, meld_type: NDArray[np.int8], meld_kind: NDArray[np.int8], shapes: Shapes, reach: int
) -> Prospects:
    """Return the prospects of each hand that are at most ``reach`` tiles farther than its nearest one."""
    found = weigh(hands, *np.nonzero(possible_plans(hands, meld_type, meld_kind, shapes)))
    nearest = np.full(len(hands.sets), np.iinfo(np.int8).max, np.int8)
    np.minimum.at(nearest, found.hand, found.distance)
    return found.take(np.flatnonzero(found.distance <= nearest[found.hand] + reach))


# --- Playing for a plan ---------------------------------------------------------------------------------------

DISCARD: Final = -1  # an option in a seat's own turn: any discard

_RANK: Final = np.append(RANK, RANK[0])  # the last element is for `DISCARD`
_IMPOSSIBLE: Final = np.int16(1000)

OPEN: Final = NUM_PLANS
"""Any shape, with claims."""
CLOSED: Final = NUM_PLANS + 1
"""Any shape, without claims."""
_GREEDY: Final = {OPEN: GreedyAgent(), CLOSED: ClosedGreedyAgent()}


class Melds(NamedTuple):
    """Melds of m seats: those of the view, and one that an action may add; all arrays are [m, 5]."""

    type: NDArray[np.int8]  # `MeldType`
    kind: NDArray[np.int8]  # of a chow, the lowest
    giver: NDArray[np.int8]  # the slot that gave the tile, -1 for nobody

    def take(self, which: NDArray[np.intp]) -> Melds:
        """Return the melds of some seats."""
        return Melds(*(array[which] for array in self))


class Options(NamedTuple):
    """The m options of some seats: every legal action, with all discards of a seat as one option."""

    row: NDArray[np.intp]  # [m] row of the view
    action: NDArray[np.intp]  # [m] the action, or DISCARD
    hands: Hands  # before the discard
    melds: Melds


def options_of(view: View, rows: NDArray[np.intp]) -> Options:
    """Return all options of the seats of some rows, except wins."""
    mask = view.action_mask[rows]
    turn = np.flatnonzero(mask[:, :CONCEALED_KONG].any(axis=1))
    other, action = np.nonzero(mask[:, CONCEALED_KONG:])
    row = rows[np.concatenate([turn, other])]
    action = np.concatenate([np.full(len(turn), DISCARD), action + CONCEALED_KONG])
    played = np.where(action == DISCARD, PASS, action)
    natural, _ = split_wilds(tiles_after(view, row, played), view.wild[row])
    hands = replace(hands_after(view, row, played), counts=count_planes(natural))
    return Options(row, action, hands, melds_after(view, row, action))


def melds_after(view: View, row: NDArray[np.intp], action: NDArray[np.intp]) -> Melds:
    """Return the melds of the acting seats after actions [m]."""
    melds = Melds(*(array[row, 0].copy() for array in (view.meld_type, view.meld_kind, view.meld_from)))
    number = view.num_melds[row, 0].astype(np.intp)
    offered, giver = view.offered[row].astype(np.intp), view.offered_from[row]
    is_kong, is_added = (
        (action >= first) & (action < last) for first, last in ((CONCEALED_KONG, ADDED_KONG), (ADDED_KONG, CHOW_LOW))
    )
    adds = (action == KONG) & (view.hand[row, np.maximum(offered, 0)] < 3)
    for which, meld, kind in (
        (is_kong, MeldType.CONCEALED_KONG, action - CONCEALED_KONG),
        ((action >= CHOW_LOW) & (action < PUNG), MeldType.CHOW, offered - (action - CHOW_LOW)),
        (action == PUNG, MeldType.PUNG, offered),
        ((action == KONG) & ~adds, MeldType.EXPOSED_KONG, offered),
    ):
        at = np.flatnonzero(which)
        melds.type[at, number[at]], melds.kind[at, number[at]] = meld, kind[at]
        melds.giver[at, number[at]] = -1 if meld is MeldType.CONCEALED_KONG else giver[at]
    kind = np.where(is_added, action - ADDED_KONG, offered)
    raised = (is_added | adds)[:, None] & (melds.type == MeldType.PUNG) & (melds.kind == kind[:, None])
    melds.type[raised] = MeldType.ADDED_KONG
    return melds


def follow_plans(view: View, plan: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose [n] actions that follow plans: a win if there is one, else the action that leaves the plan nearest.

    Args:
        view: what n seats see.
        plan: [n] the plan of each seat, or `OPEN` or `CLOSED`.
        rng: the source of randomness, which decides between equally good discards.
    """
    actions = np.full(len(view), WIN, np.int64)
    for manner, greedy in _GREEDY.items():
        rows = np.flatnonzero(plan == manner)
        if rows.size:
            actions[rows] = greedy.act(view if len(rows) == len(view) else view.take(rows), rng)
    rows = np.flatnonzero(~view.action_mask[:, WIN] & (plan < NUM_PLANS))
    if not rows.size:
        return actions
    options = options_of(view, rows)
    every, plans = np.arange(len(options.row)), plan[options.row]
    possible = possible_plans(options.hands, options.melds.type, options.melds.kind, other_shapes(view.rules))
    distance = weigh(options.hands, every, plans).distance
    is_claim = (options.action >= CHOW_LOW) & (options.action <= PUNG)
    distance = np.where(is_claim, np.maximum(distance, 1), distance)
    cost = distance.astype(np.int16) * np.int16(3) + _RANK[options.action]
    cost += np.where(possible[every, plans] | (options.action == PASS) | (options.action == DISCARD), 0, _IMPOSSIBLE)
    # Take the cheapest option of each row, and the first of equal ones.
    order = np.lexsort((every, cost, options.row))
    first = order[np.unique(options.row[order], return_index=True)[1]]
    row, action = options.row[first], options.action[first]
    actions[row] = action
    discarding = np.flatnonzero(action == DISCARD)
    if discarding.size:
        at = row[discarding]
        actions[at] = discards_for(view.take(at), options.hands.take(first[discarding]), plan[at], rng)
    return actions


def discards_for(view: View, hands: Hands, plan: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return [n] discards that leave plans nearest, then with most help; ties are broken by the same for any shape."""
    near = weigh(hands, np.arange(len(view)), plan).spare
    legal = pack(view.action_mask[:, :CONCEALED_KONG])
    near = np.where(near & legal == _NO_KIND, legal, near & legal)
    seat, kind = members(near)
    is_wild = kind == view.wild[seat]
    after, every = hands.take(seat).without(kind, is_wild), np.arange(len(seat))
    unseen = count_planes(view.unseen).take(seat)
    order = rng.random(len(seat)) * 1e-4 - 1e3 * is_wild
    for weight, of in ((1.0, plan[seat]), (1e-2, np.full(len(seat), ANY))):
        found = weigh(after, every, of)
        order += weight * (count_tiles(found.help, unseen) / 200.0 - found.distance)
    best = np.full(len(view), -np.inf)
    np.maximum.at(best, seat, order)
    chosen = np.zeros(len(view), np.int64)
    at = np.flatnonzero(order == best[seat])
    chosen[seat[at]] = kind[at]
    return chosen


# --- Plans for a few kinds or for the wild tile ---------------------------------------------------------------

FAR_PLANS: Final = ("one dragon", "flower dragon", "a wild pair")
"""Plans of a few kinds or of the wild tile.

Runs 123, 456 and 789 of one suit; the same runs, each of another suit; sets, and a wild tile with which any tile makes
the pair."""
IMPOSSIBLE: Final = 9
_RUNS: Final = np.array([[7 << RANKS * suit + 3 * part for part in range(3)] for suit in range(3)], np.uint64)
"""[3, 3] uint64: the run of each suit (rows) and part (123, 456, 789) as a set of kinds."""
_ONE_DRAGON: Final = np.bitwise_or.reduce(_RUNS, axis=1)
_FLOWER_DRAGON: Final = np.array(
    [_RUNS[suits[0], 0] | _RUNS[suits[1], 1] | _RUNS[suits[2], 2] for suits in permutations(range(3))], np.uint64
)
_POWER = POWER.astype(np.intp)


class Standing(NamedTuple):
    """The distances of m hands from each of `FAR_PLANS`."""

    distance: NDArray[np.int8]  # [m, 3] tiles that the hands lack, `IMPOSSIBLE` at most
    spare: KindSets  # [m, 3] kinds of which a tile may go without raising the distance, except wild kinds


def far_plans(
    hands: Hands,
    natural: NDArray[np.int8],
    meld_type: NDArray[np.int8],
    meld_kind: NDArray[np.int8],
    *,
    has_wild: bool,
) -> Standing:
    """Return the distances of m hands from each of `FAR_PLANS`, given natural tiles [m, 34] and melds [m, 5]."""
    held = pack(natural > 0)
    is_run = (meld_type == MeldType.CHOW) & (meld_kind % 3 == 0)
    runs = np.where(is_run, np.uint64(7) << np.maximum(meld_kind, 0).astype(np.uint64), np.uint64(0))
    found = [_dragon(hands, natural, held, runs, patterns) for patterns in (_ONE_DRAGON, _FLOWER_DRAGON)]
    found.append(_wild_pair(hands, natural, has_wild=has_wild))
    distance = np.stack([np.minimum(distance, IMPOSSIBLE) for distance, _ in found], axis=1)
    return Standing(distance.astype(np.int8), np.stack([spare for _, spare in found], axis=1))


def _dragon(
    hands: Hands, natural: NDArray[np.int8], held: KindSets, runs: KindSets, patterns: KindSets
) -> tuple[NDArray[np.int8], KindSets]:
    """Return [m] distances and [m] spare kinds for the nearest of some patterns of three runs."""
    laid = np.bitwise_or.reduce(runs, axis=1)
    lacks = 9 - count_members((held | laid)[:, None] & patterns).astype(np.int8)
    pattern = patterns[lacks.argmin(axis=1)]
    inside = np.where(runs & pattern[:, None] == runs, runs, np.uint64(0))
    laid_runs = (inside != 0).sum(axis=1)
    wanted = pattern & ~np.bitwise_or.reduce(inside, axis=1)
    sets = hands.sets - (3 - laid_runs)
    used = unpack(wanted & held)
    rest = cheapest_hands(encode(natural - used).T, np.maximum(sets, 0))
    lacking = count_members(wanted & ~held).astype(np.int8)
    distance = lacking + rest.short - hands.wilds
    return np.where(sets >= 0, np.maximum(distance, 0), np.int8(IMPOSSIBLE)), kinds_to_spare(rest)


def _wild_pair(hands: Hands, natural: NDArray[np.int8], *, has_wild: bool) -> tuple[NDArray[np.int8], KindSets]:
    """Return [m] distances and [m] spare kinds for sets alone, with one wild tile kept for the pair."""
    if not has_wild:
        return np.full(len(natural), IMPOSSIBLE, np.int8), np.full(len(natural), np.uint64(0))
    # Add a pair of honours, so that the hand needs only sets.
    with_pair, every = natural.copy(), np.arange(len(natural))
    honour = with_pair[:, FIRST_HONOUR:].argmin(axis=1) + FIRST_HONOUR
    with_pair[every, honour] += 2
    codes = hands.codes.copy()
    codes[3] += 2 * _POWER[honour]
    found = cheapest_hands(codes, hands.sets)
    distance = found.short - np.maximum(hands.wilds - 1, 0) + (hands.wilds == 0)
    return np.maximum(distance, 0).astype(np.int8), kinds_to_spare(found) & ~BIT_OF_KIND[honour]
