"""Substitutions: the kinds that wild tiles may stand for in a winner's hand."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import (
    BASE,
    NUM_GROUPS,
    NUM_KINDS,
    POWER,
    RANKS,
    encode,
    is_honours,
    merge_groups,
    split_groups,
)
from mahjong_env.hands.summaries import (
    group_short_of_sets,
    group_summaries,
    is_group_complete,
    short_of_sets,
    short_of_sets_and_pair,
    suit_summaries,
    sum_summaries,
)
from mahjong_env.hands.tables import load_steps, load_table

MOST_WILDS = 4
_RANK_BIT: NDArray[np.intp] = 1 << np.arange(RANKS)


@dataclass(frozen=True)
class Substitutions:
    """Substitutions for the wild tiles of some hands, those of one hand beside each other.

    Attributes:
        owner: [m] intp, which hand is completed.
        counts: [m, 34] uint8, its tiles by kind with the wild ones put in.
        wild_as: [m, 34] uint8, how many wild tiles stand for each kind.
    """

    owner: NDArray[np.intp]
    counts: NDArray[np.uint8]
    wild_as: NDArray[np.uint8]


def substitutions(counts: NDArray[Any], wilds: NDArray[Any], kinds: NDArray[np.bool_]) -> Substitutions:
    """Return everything that wild tiles may stand for to complete hands as sets and one pair.

    Args:
        counts: [n, 34] integers up to 4, the concealed tiles without wild ones.
        wilds: [n] integers, 0 to 4: wild tiles held; all of them are used.
        kinds: [34] or [n, 34] bool, the kinds that a wild tile may stand for.

    Returns:
        All different substitutions, as multisets of kinds; none where the hand cannot be completed.

    Raises:
        ValueError: a hand has more than four wild tiles.
    """
    counts = np.asarray(counts)
    tiles = counts.astype(np.uint8)
    wilds = np.asarray(wilds, np.intp)
    if (wilds > MOST_WILDS).any():
        raise ValueError(f"a hand has {wilds.max()} wild tiles, at most {MOST_WILDS} are possible")
    codes = encode(counts)
    words = suit_summaries(codes)
    if not wilds.any():
        owner = np.flatnonzero(short_of_sets_and_pair(words) == 0)
        return Substitutions(owner, tiles.take(owner, axis=0), np.zeros((len(owner), NUM_KINDS), np.uint8))
    groups = split_groups(tiles)
    in_group = groups.sum(axis=1, dtype=np.intp)
    row, choice = _candidates(words, wilds, in_group)
    fits = _is_complete(codes, groups, row, choice)
    forbidden = ~split_groups(kinds.reshape(-1, NUM_KINDS))  # with the ranks that honours do not have
    fits &= _multisets().ranks.take(choice) & (forbidden @ _RANK_BIT).take(row % len(forbidden)) == 0
    row, choice = row.compress(fits), choice.compress(fits)

    size = _multisets().size.take(choice)
    has_pair = (in_group.take(row) + size) % 3 == 2
    owner, chosen = _choose_parts(row, has_pair, size, wilds)
    wild_as = merge_groups(_multisets().added.take(choice.take(chosen), axis=0))
    return Substitutions(owner, tiles.take(owner, axis=0) + wild_as, wild_as)


class _Multisets(NamedTuple):
    """All multisets of up to four ranks, small ones first; 715 of them."""

    added: NDArray[np.uint8]  # [715, 9] how many of each rank
    size: NDArray[np.intp]  # [715]
    most: NDArray[np.uint8]  # [715] of one rank
    ranks: NDArray[np.intp]  # [715] a bit for each rank
    code: NDArray[np.intp]  # [715] as what they add to the code of a group


@cache
def _multisets() -> _Multisets:
    one = np.eye(RANKS, dtype=np.uint8)
    sizes = range(1, MOST_WILDS + 1)
    ranks = [np.array(list(combinations_with_replacement(range(RANKS), size))) for size in sizes]
    added = [np.zeros((1, RANKS), np.uint8), *(one[chosen].sum(axis=1, dtype=np.uint8) for chosen in ranks)]
    by_rank = np.concatenate(added)
    size = by_rank.sum(axis=1, dtype=np.intp)
    return _Multisets(
        by_rank, size, by_rank.max(axis=1), (by_rank > 0) @ _RANK_BIT, by_rank @ POWER[:RANKS].astype(np.intp)
    )


@cache
def _choices() -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """List the multisets that a group of r tiles beyond sets may use, b tiles at most, for r < 3 and b from -1 to 4.

    Returns:
        The lists, one after the other; [3, 6] where each starts and how long it is.
    """
    size = _multisets().size
    lists = [
        # One tile beyond sets is never right: sets leave none, sets and a pair leave two.
        np.flatnonzero((size <= most) & ((beyond + size) % 3 != 1))
        for beyond in range(3)
        for most in range(-1, MOST_WILDS + 1)
    ]
    length = np.array([len(choices) for choices in lists])
    return np.concatenate(lists), length.cumsum() - length, length


def _candidates(
    words: NDArray[np.uint32], wilds: NDArray[np.intp], in_group: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which multisets may be worth adding to which groups, the groups ascending.

    Args:
        words: [n, 4] facts of the groups.
        wilds: [n] wild tiles of the hands.
        in_group: [4 * n] tiles of each group.
    """
    total = sum_summaries(words)
    # A group may use the wild tiles that the others do not need; a pair may need one less than a triplet.
    spare = group_short_of_sets(words) + (wilds + 1 - short_of_sets(words, total))[:, None]
    hopeless = short_of_sets_and_pair(words, total) > wilds
    budget = np.maximum(np.minimum(spare, np.where(hopeless, -1, wilds)[:, None]), -1)
    choices, start, length = _choices()
    which = in_group % 3 * (MOST_WILDS + 2) + budget.reshape(-1) + 1
    row, place = _expand(start.take(which), length.take(which))
    return row, choices.take(place)


def _choose_parts(
    row: NDArray[np.intp], has_pair: NDArray[np.bool_], used: NDArray[np.intp], wilds: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Combine parts, one for each group of a hand, so that there is one pair and all wild tiles are used.

    Args:
        row: [p] the row that a part belongs to, ascending.
        has_pair: [p] whether the part contains a pair.
        used: [p] wild tiles that the part uses.
        wilds: [n] wild tiles of each hand.

    Returns:
        [m] the hands, ascending, and [m, 4] the parts chosen; all combinations there are.
    """
    # What parts use, in one number: wild tiles, and pairs, of which four parts have at most four.
    spent, left = 5 * used + has_pair, 5 * wilds + 1
    number = np.bincount(row, minlength=NUM_GROUPS * len(wilds))
    first = (number.cumsum() - number).reshape(-1, NUM_GROUPS).T
    number = number.reshape(-1, NUM_GROUPS).T
    hand = np.arange(len(wilds))
    steps = []
    for group in range(NUM_GROUPS):
        before, part = _expand(first[group].take(hand), number[group].take(hand))
        left = left.take(before) - spent.take(part)
        fits = (left >= 0).nonzero()[0]
        before, left = before.take(fits), left.take(fits)
        hand = hand.take(before)
        steps.append((before, part.take(fits)))
    last = (left == 0).nonzero()[0]
    hand = hand.take(last)
    chosen = np.empty((len(last), NUM_GROUPS), np.intp)
    for group in reversed(range(NUM_GROUPS)):
        before, part = steps[group]
        chosen[:, group] = part.take(last)
        last = before.take(last)
    return hand, chosen


def _expand(start: NDArray[np.intp], length: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Write out stretches of ``length`` numbers from ``start`` on: for each number its stretch, and the numbers."""
    stretch = np.arange(len(start)).repeat(length)
    return stretch, np.arange(len(stretch)) + (start - length.cumsum() + length).take(stretch)


def _is_complete(
    codes: NDArray[np.int32], groups: NDArray[np.uint8], row: NDArray[np.intp], choice: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return [k] which of these groups form sets, or sets and a pair, with these multisets put in.

    Args:
        codes: [n, 4] the codes of the groups.
        groups: [4 * n, 9] their tiles, up to four of a kind.
        row: [k] group.
        choice: [k] multiset.
    """
    sets = _multisets()
    complete = is_group_complete(group_summaries(codes.reshape(-1).take(row) + sets.code.take(choice), is_honours(row)))
    # Codes hold four of a kind at most.
    crowded = np.flatnonzero(groups.max(axis=1).take(row) + sets.most.take(choice) >= BASE)
    if crowded.size:
        row, choice = row.take(crowded), choice.take(crowded)
        tiles = groups.take(row, axis=0) + sets.added.take(choice, axis=0)
        complete[crowded] = _is_crowded_group_complete(tiles, is_honours(row))
    return complete


def _is_crowded_group_complete(tiles: NDArray[np.uint8], honours: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which groups [k, 9] of up to eight of a kind form sets, or sets and a pair."""
    complete = np.empty(len(tiles), np.bool_)
    for group, rows in (("suit", np.flatnonzero(~honours)), ("honours", np.flatnonzero(honours))):
        if not rows.size:
            continue
        steps, state_is_complete = _automaton(group)
        state = np.zeros(len(rows), np.intp)
        for rank, step in enumerate(steps):
            state = step[tiles[rows, rank], state]
        complete[rows] = state_is_complete[state]
    return complete


@cache
def _automaton(group: str) -> tuple[list[NDArray[np.uint16]], NDArray[np.bool_]]:
    """Return the steps of the facts automaton, and which of its last states are complete."""
    sets, with_pair, _ = load_table(f"facts_{group}_values").T
    return load_steps("facts", group), (sets == 0) | (with_pair == 0)
