"""Taking hands apart into their four groups, and putting what was found in the groups together again.

Groups are rows: those of hand ``i`` are the rows ``4 * i`` to ``4 * i + 3``, the honours last. Each has nine
columns, one per rank; the last two columns of honours stay empty.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import HONOUR_GROUP, NUM_GROUPS, NUM_KINDS, RANKS


def split_groups(by_kind: NDArray[Any]) -> NDArray[Any]:
    """Return the rows [4 * n, 9] of hands [n, 34]."""
    padded = np.zeros((len(by_kind), NUM_GROUPS * RANKS), by_kind.dtype)
    padded[:, :NUM_KINDS] = by_kind
    return padded.reshape(-1, RANKS)


def merge_groups(groups: NDArray[Any]) -> NDArray[Any]:
    """Return the hands [n, 34] of rows [n, 4, 9]; the inverse of `split_groups`."""
    return groups.reshape(len(groups), NUM_GROUPS * RANKS)[:, :NUM_KINDS]


def is_honours(row: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which rows are honours."""
    return np.equal(row % NUM_GROUPS, HONOUR_GROUP)


def choose_parts(
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
        before, part = expand(first[group].take(hand), number[group].take(hand))
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


def expand(start: NDArray[np.intp], length: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Write out stretches of ``length`` numbers from ``start`` on: for each number its stretch, and the numbers."""
    stretch = np.arange(len(start)).repeat(length)
    return stretch, np.arange(len(stretch)) + (start - length.cumsum() + length).take(stretch)
