"""Every way to read a winner's concealed tiles as sets and a pair, and what his wild tiles may stand for.

Here the hands are few (those that have just won) and nothing is looked up by code, so that a kind may also
occur five times or more, as it does when a wild tile stands for a fifth copy. The tiles of each group are
covered rank by rank; what is found in the four groups is then joined.
"""

from dataclasses import dataclass
from functools import cache, partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mahjong_env.hands.codes import (
    FIRST_HONOUR,
    HONOURS,
    NUM_GROUPS,
    NUM_KINDS,
    POWER,
    RANKS,
    SUIT,
    SUIT_CODES,
    decode,
    encode,
)
from mahjong_env.hands.facts import (
    group_sets_missing,
    honour_facts,
    is_group_complete,
    look_up,
    sets_and_pair_missing,
    suit_facts,
)

_PADDED_KINDS = NUM_GROUPS * RANKS  # honours are given nine ranks too
_CAN_START_RUN = np.arange(_PADDED_KINDS) % RANKS <= RANKS - 3
_CAN_START_RUN[FIRST_HONOUR:] = False
_NO_PAIR = -1
_RANK_POWER = POWER[:RANKS].astype(np.intp)
_MOST_TILES = 17  # in a complete hand


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


@dataclass(frozen=True)
class Substitutions:
    """What the wild tiles of some hands may stand for, those of one hand beside each other.

    Attributes:
        owner: [m] intp, which of the hands is completed.
        counts: [m, 34] uint8, its tiles by kind with the wild ones put in.
        wild_as: [m, 34] uint8, how many wild tiles stand for each kind.
    """

    owner: NDArray[np.intp]
    counts: NDArray[np.uint8]
    wild_as: NDArray[np.uint8]


class _Covers(NamedTuple):
    """Ways to cover the tiles of some rows with sets and perhaps a pair; m of them.

    While the groups are apart a row is one group of one hand and there are nine columns, one per rank. When
    they are joined a row is a hand, and the columns of its groups stand side by side.
    """

    row: NDArray[np.intp]  # [m], ascending
    pair: NDArray[np.int8]  # [m] the column of the pair, or _NO_PAIR
    triplets: NDArray[np.uint8]  # [m, width]
    runs: NDArray[np.uint8]  # [m, width]
    wild_as: NDArray[np.uint8]  # [m, width]

    @property
    def wilds(self) -> NDArray[np.intp]:
        """[m] how many wild tiles are used."""
        total: NDArray[np.intp] = self.wild_as.sum(axis=1, dtype=np.intp)
        return total

    def take(self, which: NDArray[Any]) -> "_Covers":
        """Return some of the covers."""
        return _Covers(*(array[which] for array in self))


def readings(counts: NDArray[Any]) -> Readings:
    """Return every way to read hands as sets and one pair.

    Args:
        counts: [n, 34] integers, the concealed tiles (3k + 2 of them), wild ones replaced by what they stand
            for. A kind may occur more than four times.

    Returns:
        All different readings; none for a hand that is not complete.
    """
    hands = len(counts)
    groups = _groups(counts)
    # Sets leave a group's tiles divisible by three; the group with the pair has two more, and only one does.
    beyond_sets = groups.sum(axis=1) % 3
    complete = np.sort(beyond_sets.reshape(hands, NUM_GROUPS), axis=1) == (0, 0, 0, 2)
    promising = np.repeat(complete.all(axis=1), NUM_GROUPS)
    no_wilds = np.zeros(len(groups), np.intp)
    covers = _cover_groups(groups, np.flatnonzero(promising), no_wilds, np.zeros_like(groups, np.bool_))
    joined = _join_groups(covers, np.zeros(hands, np.intp))
    return Readings(joined.row, joined.pair, joined.triplets[:, :NUM_KINDS], joined.runs[:, :NUM_KINDS])


def substitutions(counts: NDArray[Any], wilds: NDArray[Any], kinds: NDArray[np.bool_]) -> Substitutions:
    """Return everything that wild tiles may stand for to complete hands as sets and one pair.

    Args:
        counts: [n, 34] integers up to 4, the concealed tiles without wild ones.
        wilds: [n] integers, 0 to 4: wild tiles held; all of them are used.
        kinds: [34] or [n, 34] bool, the kinds that a wild tile may stand for.

    Returns:
        All different substitutions, as multisets of kinds; none where the hand cannot be completed.
    """
    hands = len(counts)
    wilds = np.asarray(wilds, np.intp)
    words = look_up(encode(counts))
    missing = group_sets_missing(words).astype(np.intp)
    groups = _groups(counts)
    # A group may use the wild tiles that the others do not need; a pair may need one less than a triplet.
    spare = wilds[:, None] - (missing.sum(axis=1, keepdims=True) - missing) + 1
    budget = np.minimum(spare, wilds[:, None]).ravel()
    budget -= (groups.sum(axis=1) + budget) % 3 == 1  # one tile beyond sets is never right
    promising = np.repeat(sets_and_pair_missing(words) <= wilds, NUM_GROUPS)
    allowed = _groups(np.broadcast_to(kinds, (hands, NUM_KINDS)))
    covers = _cover_groups(groups, np.flatnonzero(promising), budget, allowed)
    joined = _join_groups(_one_cover_per_substitution(covers), wilds)
    joined = joined.take(joined.wilds == wilds[joined.row])
    wild_as = joined.wild_as[:, :NUM_KINDS]
    return Substitutions(joined.row, np.asarray(counts).astype(np.uint8)[joined.row] + wild_as, wild_as)


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
    codes = np.repeat(encode(counts)[:, None], NUM_KINDS, axis=1)
    can_be_added = counts < 4
    codes[:, np.arange(NUM_KINDS), SUIT] += np.where(can_be_added, POWER, 0)
    missing = sets_and_pair_missing(look_up(codes))
    return can_be_added & (missing <= np.asarray(wilds)[..., None])


def _groups(by_kind: NDArray[Any]) -> NDArray[Any]:
    """Return [n, 34] as [n * 4, 9], a row for each group; honours get two kinds more, with zeros."""
    padded = np.zeros((len(by_kind), _PADDED_KINDS), np.asarray(by_kind).dtype)
    padded[:, :NUM_KINDS] = by_kind
    return padded.reshape(-1, RANKS)


def _cover_groups(
    tiles: NDArray[Any], rows: NDArray[np.intp], budget: NDArray[np.intp], allowed: NDArray[np.bool_]
) -> _Covers:
    """Cover groups with sets and at most one pair, adding wild tiles.

    Args:
        tiles: [r, 9] tiles by rank; every fourth row are honours.
        rows: [k] the rows to cover, ascending.
        budget: [r] wild tiles that may be used at most.
        allowed: [r, 9] what wild tiles may stand for.

    Returns:
        All covers. With wild tiles the same tiles can be covered in several ways.
    """
    in_table = (budget[rows] == 0) & (tiles[rows] <= 4).all(axis=1)
    covers = _cover_by_table(tiles, rows[in_table])
    if in_table.all():
        return covers
    others = _cover_rank_by_rank(tiles, rows[~in_table], budget, allowed)
    row, pair, triplets, runs, wild_as = zip(covers, others, strict=True)
    together = _Covers(*map(np.concatenate, (row, pair, triplets, runs, wild_as)))
    return together.take(np.argsort(together.row, kind="stable"))


def _cover_rank_by_rank(
    tiles: NDArray[Any], rows: NDArray[np.intp], budget: NDArray[np.intp], allowed: NDArray[np.bool_]
) -> _Covers:
    """Do the work of `_cover_groups`: extend all covers of the ranks so far by all choices at the next rank."""
    tiles = tiles.astype(np.intp)
    can_start = np.tile(_CAN_START_RUN.reshape(NUM_GROUPS, RANKS), (len(tiles) // NUM_GROUPS, 1))
    most_wilds = int(budget[rows].max(initial=0))
    most_triplets = (int(tiles.max(initial=0)) + most_wilds) // 3
    # What may be taken of one rank beside the runs that go through it.
    wild, pair, triplets = np.array(list(product(range(most_wilds + 1), (0, 1), range(most_triplets + 1)))).T
    taken = 2 * pair + 3 * triplets - wild

    nothing = np.zeros((len(rows), RANKS), np.uint8)
    covers = _Covers(rows, np.full(len(rows), _NO_PAIR, np.int8), nothing, nothing, nothing)
    for rank in range(RANKS):
        row, left = covers.row, budget[covers.row] - covers.wilds
        open_runs = covers.runs[:, max(rank - 2, 0) : rank].sum(axis=1, dtype=np.intp)
        new_runs = (tiles[row, rank] - open_runs)[:, None] - taken
        fits = (new_runs >= 0) & (wild <= left[:, None])
        fits &= (new_runs == 0) | can_start[row, rank, None]
        fits &= (pair == 0) | (covers.pair == _NO_PAIR)[:, None]
        fits &= (wild == 0) | allowed[row, rank, None]
        cover, choice = np.nonzero(fits)
        new_runs = new_runs[cover, choice]
        covers = covers.take(cover)
        covers.pair[pair[choice] == 1] = rank
        covers.triplets[:, rank] = triplets[choice]
        covers.runs[:, rank] = new_runs
        covers.wild_as[:, rank] = wild[choice]
    return covers


def _cover_by_table(tiles: NDArray[Any], rows: NDArray[np.intp]) -> _Covers:
    """Cover groups without wild tiles, none with a kind more than four times.

    Args:
        tiles: [r, 9] tiles by rank; every fourth row are honours.
        rows: [k] the rows to cover, ascending.
    """
    key = tiles[rows] @ _RANK_POWER + np.where(rows % NUM_GROUPS == HONOURS, SUIT_CODES, 0)
    keys, start, known = _covers_by_code()
    place = np.searchsorted(keys, key)
    place[keys.take(place, mode="clip") != key] = len(keys)  # the last place, where there are no covers
    source, cover = _expand(start[place], start[place + 1])
    return known.take(cover)._replace(row=rows[source])


@cache
def _covers_by_code() -> tuple[NDArray[np.intp], NDArray[np.intp], _Covers]:
    """Cover every complete group of up to 17 tiles, at most four of a kind, once.

    Returns:
        [c] the codes of the c groups, ascending, honours with their offset in the tables; [c + 2] where the
        covers of each group start and end, and an empty stretch for groups that are not complete; the covers.
    """
    words = np.concatenate([suit_facts(), honour_facts()])
    keys = np.flatnonzero(is_group_complete(words))
    number_of_suits = np.searchsorted(keys, SUIT_CODES)
    codes = np.zeros((len(keys), NUM_GROUPS), np.intp)
    codes[:number_of_suits, 0] = keys[:number_of_suits]
    codes[number_of_suits:, HONOURS] = keys[number_of_suits:] - SUIT_CODES
    tiles = _groups(decode(codes))
    rows = np.arange(len(keys)) * NUM_GROUPS
    rows[number_of_suits:] += HONOURS
    few = tiles[rows].sum(axis=1) <= _MOST_TILES
    keys, rows = keys[few], rows[few]
    no_wilds = np.zeros(len(tiles), np.intp)
    covers = _cover_rank_by_rank(tiles, rows, no_wilds, np.zeros_like(tiles, np.bool_))
    start = np.searchsorted(covers.row, np.append(rows, len(tiles)))
    return keys, np.append(start, start[-1]), covers


def _expand(start: NDArray[np.intp], end: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Write out stretches of numbers: for each number its stretch, and the numbers themselves."""
    length = end - start
    stretch = np.repeat(np.arange(len(start)), length)
    return stretch, np.arange(len(stretch)) + np.repeat(start - np.cumsum(length) + length, length)


def _one_cover_per_substitution(covers: _Covers) -> _Covers:
    """Keep one cover for each row and each use of wild tiles."""
    substitution = covers.wild_as @ _RANK_POWER
    _, first = np.unique(covers.row * 5**RANKS + substitution, return_index=True)
    return covers.take(first)


def _join_groups(covers: _Covers, wilds: NDArray[np.intp]) -> _Covers:
    """Join covers of the four groups of each hand, with one pair and at most ``wilds`` [n] wild tiles."""
    hand, group = np.divmod(covers.row, NUM_GROUPS)
    of_group = [
        covers.take(group == number)._replace(row=hand[group == number]) for number in range(NUM_GROUPS)
    ]
    joined = reduce(partial(_side_by_side, wilds=wilds), of_group)
    return joined.take(joined.pair != _NO_PAIR)


def _side_by_side(left: _Covers, right: _Covers, *, wilds: NDArray[np.intp]) -> _Covers:
    """Join any two covers of a hand that have at most one pair and ``wilds`` [n] wild tiles."""
    first, last = np.searchsorted(right.row, left.row), np.searchsorted(right.row, left.row, side="right")
    one, other = _expand(first, last)
    fits = (left.pair[one] == _NO_PAIR) | (right.pair[other] == _NO_PAIR)
    fits &= left.wilds[one] + right.wilds[other] <= wilds[left.row[one]]
    left, right = left.take(one[fits]), right.take(other[fits])
    pair_right = np.where(right.pair == _NO_PAIR, _NO_PAIR, right.pair + left.triplets.shape[1])
    return _Covers(
        left.row,
        np.maximum(left.pair, pair_right).astype(np.int8),
        np.hstack([left.triplets, right.triplets]),
        np.hstack([left.runs, right.runs]),
        np.hstack([left.wild_as, right.wild_as]),
    )
