"""What wild tiles may stand for in a winner's hand, and which tiles complete a hand."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mahjong_env.hands.codes import NUM_KINDS, POWER, RANKS, SUIT, encode
from mahjong_env.hands.facts import group_sets_missing, look_up, sets_and_pair_missing
from mahjong_env.hands.groups import choose_parts, expand, is_honours, merge_groups, split_groups
from mahjong_env.hands.tables import load_steps, load_table

MOST_WILDS = 4


@dataclass(frozen=True)
class Substitutions:
    """What the wild tiles of some hands may stand for, those of one hand beside each other.

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
    wilds = np.asarray(wilds, np.intp)
    if (wilds > MOST_WILDS).any():
        raise ValueError(f"a hand has {wilds.max()} wild tiles, at most {MOST_WILDS} are possible")
    groups = split_groups(counts.astype(np.uint8))
    row, choice = _candidates(counts, groups, wilds, kinds)
    added, size = _multisets()
    beyond_sets = (groups.sum(axis=1)[row] + size[choice]) % 3
    complete = _is_complete(groups[row] + added[choice], is_honours(row))
    row, choice, beyond_sets = row[complete], choice[complete], beyond_sets[complete]

    owner, chosen = choose_parts(row, beyond_sets == 2, size[choice], wilds)
    wild_as = merge_groups(added[choice[chosen]])
    return Substitutions(owner, counts.astype(np.uint8)[owner] + wild_as, wild_as)


def waits(counts: NDArray[Any], wilds: ArrayLike = 0) -> NDArray[np.bool_]:
    """Return the kinds that complete hands as sets and one pair.

    A drawn wild tile is a wild tile more, not a tile of its kind: it completes what misses ``wilds + 1``.

    Args:
        counts: [n, 34] integers up to 4, the concealed tiles (3k + 1 with the wild ones) without wild ones.
        wilds: [n] or one integer: wild tiles held.

    Returns:
        [n, 34] bool, False for kinds of which the hand holds all four.
    """
    counts = np.asarray(counts)
    can_be_added = counts < 4
    codes = np.repeat(encode(counts)[:, None], NUM_KINDS, axis=1)
    codes[:, np.arange(NUM_KINDS), SUIT] += np.where(can_be_added, POWER, 0)
    missing = sets_and_pair_missing(look_up(codes))
    return can_be_added & (missing <= np.asarray(wilds)[..., None])


@cache
def _multisets() -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Return all multisets of up to four ranks, small ones first: [715, 9] by rank, and [715] their sizes."""
    one = np.eye(RANKS, dtype=np.uint8)
    sizes = range(1, MOST_WILDS + 1)
    ranks = [np.array(list(combinations_with_replacement(range(RANKS), size))) for size in sizes]
    added = [np.zeros((1, RANKS), np.uint8), *(one[chosen].sum(axis=1, dtype=np.uint8) for chosen in ranks)]
    by_rank = np.concatenate(added)
    return by_rank, by_rank.sum(axis=1, dtype=np.intp)


def _candidates(
    counts: NDArray[Any], groups: NDArray[np.uint8], wilds: NDArray[np.intp], kinds: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which multisets may be worth adding to which groups, the groups ascending."""
    words = look_up(encode(counts))
    missing = group_sets_missing(words).astype(np.intp)
    # A group may use the wild tiles that the others do not need; a pair may need one less than a triplet.
    spare = wilds[:, None] - (missing.sum(axis=1, keepdims=True) - missing) + 1
    budget = np.minimum(spare, wilds[:, None])
    budget[sets_and_pair_missing(words) > wilds] = -1

    added, size = _multisets()
    row, choice = expand(np.zeros(budget.size, np.intp), np.searchsorted(size, budget.ravel(), side="right"))
    fits = (groups.sum(axis=1)[row] + size[choice]) % 3 != 1  # one tile beyond sets is never right
    forbidden = ~split_groups(np.broadcast_to(kinds, counts.shape))  # with the ranks that honours do not have
    ranks = 1 << np.arange(RANKS)
    fits &= ((added > 0) @ ranks)[choice] & (forbidden @ ranks)[row] == 0
    return row[fits], choice[fits]


def _is_complete(tiles: NDArray[np.uint8], honours: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which groups [k, 9] of up to eight of a kind form sets, or sets and a pair."""
    complete = np.empty(len(tiles), np.bool_)
    for group, rows in (("suit", np.flatnonzero(~honours)), ("honours", np.flatnonzero(honours))):
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
