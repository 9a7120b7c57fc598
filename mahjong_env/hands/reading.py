"""Every way to read a winner's concealed tiles as sets and a pair.

The tiles of each group are covered by themselves, then the covers of the four groups are combined. Covers of
groups with at most four of a kind are found once and kept; a kind that occurs more often, as it does when a
wild tile stands for a fifth copy, is rare and is worked out each time.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import (
    BASE,
    NUM_GROUPS,
    POWER,
    RANKS,
    SUIT_CODES,
    TABLE_OFFSET,
    encode,
    is_honours,
    merge_groups,
    split_groups,
)
from mahjong_env.hands.summaries import facts, is_group_complete

_RANK_POWER: NDArray[np.intp] = POWER[:RANKS].astype(np.intp)
_MOST_TILES = 17  # in a complete hand
_NO_PAIR = -64  # below every kind, also after the first kind of the group has been added
_FIRST_KIND: NDArray[np.int8] = np.arange(0, NUM_GROUPS * RANKS, RANKS, dtype=np.int8)


@dataclass(frozen=True)
class Readings:
    """Ways to read some hands as sets and a pair, those of one hand beside each other.

    Attributes:
        owner: [m] intp, which hand is read.
        pair: [m] int8, the kind of the pair.
        triplets: [m, 34] uint8, triplets of each kind.
        runs: [m, 34] uint8, runs that start at each kind.
    """

    owner: NDArray[np.intp]
    pair: NDArray[np.int8]
    triplets: NDArray[np.uint8]
    runs: NDArray[np.uint8]


class _Covers(NamedTuple):
    """Ways to cover the tiles of groups with sets and at most one pair; c of them."""

    row: NDArray[np.intp]  # [c] the group, ascending
    pair: NDArray[np.int8]  # [c] the rank of the pair, or _NO_PAIR
    triplets: NDArray[np.uint8]  # [c, 9]
    runs: NDArray[np.uint8]  # [c, 9]

    def take(self, which: NDArray[np.intp]) -> "_Covers":
        """Return copies of some of the covers."""
        return _Covers(self.row[which], self.pair[which], self.triplets[which], self.runs[which])


def readings(counts: NDArray[Any]) -> Readings:
    """Return every way to read hands as sets and one pair.

    Args:
        counts: [n, 34] integers, the concealed tiles (3k + 2 of them), wild ones replaced by what they stand
            for. A kind may occur more than four times.

    Returns:
        All different readings; none for a hand that is not complete.
    """
    counts = np.asarray(counts)
    covers, first, number = _covers_of_groups(counts)
    # The number of tiles of a group says whether there is a pair among them: the same in all its covers.
    one_pair = (covers.pair.take(first, mode="clip") != _NO_PAIR).sum(axis=1) == 1
    ways = number.prod(axis=1) * one_pair
    owner = np.arange(len(counts)).repeat(ways)
    chosen = first.take(owner, axis=0)
    if len(owner) > np.count_nonzero(ways):  # most hands can be read in one way only
        number = number.take(owner, axis=0)
        way = np.arange(len(owner)) - (ways.cumsum() - ways).take(owner)
        for group in reversed(range(NUM_GROUPS)):
            way, cover = np.divmod(way, number[:, group])
            chosen[:, group] += cover
    pair = (covers.pair.take(chosen) + _FIRST_KIND).max(axis=1)
    triplets, runs = covers.triplets.take(chosen, axis=0), covers.runs.take(chosen, axis=0)
    return Readings(owner, pair, merge_groups(triplets), merge_groups(runs))


def _covers_of_groups(counts: NDArray[Any]) -> tuple[_Covers, NDArray[np.intp], NDArray[np.intp]]:
    """Find the covers of every group of hands [n, 34].

    Returns:
        Covers, and [n, 4] where those of each group start and how many they are.
    """
    keys, start, covers = _known_covers()
    key = encode(counts) + TABLE_OFFSET
    place = keys.searchsorted(key)
    place[keys.take(place, mode="clip") != key] = len(keys)  # the last place, where there are no covers
    first = start.take(place)
    number = start.take(place + 1) - first
    if counts.max(initial=0) < BASE:
        return covers, first, number
    groups = split_groups(counts)
    crowded = np.flatnonzero((groups >= BASE).any(axis=1))
    more = _cover_rank_by_rank(groups[crowded], is_honours(crowded))
    bounds = more.row.searchsorted(np.arange(len(crowded) + 1))
    np.put(first, crowded, bounds[:-1] + len(covers.row))
    np.put(number, crowded, np.diff(bounds))
    every = _Covers(
        np.concatenate([covers.row, more.row]),
        np.concatenate([covers.pair, more.pair]),
        np.concatenate([covers.triplets, more.triplets]),
        np.concatenate([covers.runs, more.runs]),
    )
    return every, first, number


@cache
def _known_covers() -> tuple[NDArray[np.intp], NDArray[np.intp], _Covers]:
    """Cover every complete group of up to 17 tiles with at most four of a kind.

    Returns:
        [c] the codes of these groups, ascending, those of honours after those of suits; [c + 2] where the
        covers of each group start and the next one's do, with an empty stretch at the end; the covers.
    """
    keys = np.flatnonzero(is_group_complete(facts()))
    honours = keys >= SUIT_CODES
    tiles = (keys - honours * SUIT_CODES)[:, None] // _RANK_POWER % BASE
    few = tiles.sum(axis=1) <= _MOST_TILES
    covers = _cover_rank_by_rank(tiles[few], honours[few])
    start = np.searchsorted(covers.row, np.arange(few.sum() + 1))
    return keys[few], np.append(start, start[-1]), covers


def _cover_rank_by_rank(tiles: NDArray[Any], honours: NDArray[np.bool_]) -> _Covers:
    """Cover groups by extending every cover of the ranks so far by every choice at the next rank.

    Args:
        tiles: [k, 9] tiles of each rank.
        honours: [k] which groups are honours.

    Returns:
        All covers, ``row`` being the place in ``tiles``.
    """
    tiles = tiles.astype(np.intp)
    # What may be taken of a rank beside the runs: nothing, a pair, some triplets, or both.
    pair, triplets = np.array(list(product((0, 1), range(int(tiles.max(initial=0)) // 3 + 1)))).T
    taken = 2 * pair + 3 * triplets

    nothing = np.zeros((len(tiles), RANKS), np.uint8)
    covers = _Covers(np.arange(len(tiles)), np.full(len(tiles), _NO_PAIR, np.int8), nothing, nothing)
    for rank in range(RANKS):
        open_runs = covers.runs[:, max(rank - 2, 0) : rank].sum(axis=1, dtype=np.intp)
        new_runs = (tiles[covers.row, rank] - open_runs)[:, None] - taken
        can_start = ~honours[covers.row] & (rank <= RANKS - 3)
        fits = (new_runs == 0) | (can_start[:, None] & (new_runs > 0))
        fits &= (pair == 0) | (covers.pair == _NO_PAIR)[:, None]
        cover, choice = np.nonzero(fits)
        covers = covers.take(cover)
        covers.pair[pair[choice] == 1] = rank
        covers.triplets[:, rank] = triplets[choice]
        covers.runs[:, rank] = new_runs[cover, choice]
    return covers
