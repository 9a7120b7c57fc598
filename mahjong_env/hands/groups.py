"""Taking hands apart into their four groups, and putting what was found in the groups together again.

Groups are rows: those of hand ``i`` are the rows ``4 * i`` to ``4 * i + 3``, the honours last. Each has nine
columns, one per rank; the last two columns of honours stay empty.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import HONOURS, NUM_GROUPS, NUM_KINDS, RANKS


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
    return np.equal(row % NUM_GROUPS, HONOURS)


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
    by_group = [np.flatnonzero(row % NUM_GROUPS == group) for group in range(NUM_GROUPS)]
    chosen = by_group[0][:, None]
    for parts in by_group[1:]:
        hands, hand = row[chosen[:, 0]] // NUM_GROUPS, row[parts] // NUM_GROUPS
        one, other = expand(np.searchsorted(hand, hands), np.searchsorted(hand, hands, side="right"))
        chosen = np.column_stack([chosen[one], parts[other]])
        fits = has_pair[chosen].sum(axis=1) <= 1
        fits &= used[chosen].sum(axis=1) <= wilds[hands[one]]
        chosen = chosen[fits]
    hands = row[chosen[:, 0]] // NUM_GROUPS
    whole = has_pair[chosen].any(axis=1) & (used[chosen].sum(axis=1) == wilds[hands])
    return hands[whole], chosen[whole]


def expand(start: NDArray[np.intp], end: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Write out stretches of numbers, ``start`` to ``end``: for each number its stretch, and the numbers."""
    length = end - start
    stretch = np.repeat(np.arange(len(start)), length)
    return stretch, np.arange(len(stretch)) + np.repeat(start - np.cumsum(length) + length, length)
