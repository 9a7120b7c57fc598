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

from mahjong_env.hands.codes import BASE, NUM_GROUPS, POWER, RANKS, SUIT_CODES
from mahjong_env.hands.facts import honour_facts, is_group_complete, suit_facts
from mahjong_env.hands.groups import choose_parts, expand, is_honours, merge_groups, split_groups

_RANK_POWER: NDArray[np.intp] = POWER[:RANKS].astype(np.intp)
_MOST_TILES = 17  # in a complete hand
_NO_PAIR = -1


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
        """Return some of the covers."""
        return _Covers(self.row[which], self.pair[which], self.triplets[which], self.runs[which])


def readings(counts: NDArray[Any]) -> Readings:
    """Return every way to read hands as sets and one pair.

    Args:
        counts: [n, 34] integers, the concealed tiles (3k + 2 of them), wild ones replaced by what they stand
            for. A kind may occur more than four times.

    Returns:
        All different readings; none for a hand that is not complete.
    """
    groups = split_groups(np.asarray(counts))
    # Sets leave a group's tiles divisible by three; the group with the pair has two more, and only one does.
    beyond_sets = groups.sum(axis=1).reshape(-1, NUM_GROUPS) % 3
    promising = (beyond_sets != 1).all(axis=1) & (beyond_sets.sum(axis=1) == 2)
    covers = _cover(groups, np.flatnonzero(np.repeat(promising, NUM_GROUPS)))

    no_wilds = np.zeros(max(len(covers.row), len(counts)), np.intp)
    has_pair = covers.pair != _NO_PAIR
    owner, chosen = choose_parts(covers.row, has_pair, no_wilds, no_wilds)
    pair = np.where(has_pair, covers.pair + covers.row % NUM_GROUPS * RANKS, _NO_PAIR)[chosen].max(axis=1)
    triplets, runs = merge_groups(covers.triplets[chosen]), merge_groups(covers.runs[chosen])
    return Readings(owner, pair.astype(np.int8), triplets, runs)


def _cover(groups: NDArray[Any], rows: NDArray[np.intp]) -> _Covers:
    """Cover the groups ``rows`` [k], ascending, out of ``groups`` [r, 9] in every way."""
    tiles = groups[rows]
    crowded = (tiles >= BASE).any(axis=1)
    usual, unusual = np.flatnonzero(~crowded), np.flatnonzero(crowded)
    covers = _cover_by_table(tiles[usual], is_honours(rows[usual]))
    covers = covers._replace(row=rows[usual][covers.row])
    if not len(unusual):
        return covers
    others = _cover_rank_by_rank(tiles[unusual], is_honours(rows[unusual]))
    together = _Covers(
        np.append(covers.row, rows[unusual][others.row]),
        np.append(covers.pair, others.pair),
        np.append(covers.triplets, others.triplets, axis=0),
        np.append(covers.runs, others.runs, axis=0),
    )
    return together.take(np.argsort(together.row, kind="stable"))


def _cover_by_table(tiles: NDArray[Any], honours: NDArray[np.bool_]) -> _Covers:
    """Do what `_cover_rank_by_rank` does, for groups [k, 9] with at most four of a kind."""
    keys, start, known = _known_covers()
    key = tiles @ _RANK_POWER + honours * SUIT_CODES
    place = np.searchsorted(keys, key)
    place[keys.take(place, mode="clip") != key] = len(keys)  # the last place, where there are no covers
    row, cover = expand(start[place], start[place + 1])
    return known.take(cover)._replace(row=row)


@cache
def _known_covers() -> tuple[NDArray[np.intp], NDArray[np.intp], _Covers]:
    """Cover every complete group of up to 17 tiles with at most four of a kind.

    Returns:
        [c] the codes of these groups, ascending, those of honours after those of suits; [c + 2] where the
        covers of each group start and the next one's do, with an empty stretch at the end; the covers.
    """
    keys = np.flatnonzero(is_group_complete(np.concatenate([suit_facts(), honour_facts()])))
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
