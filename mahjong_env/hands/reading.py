"""Every way to read a winner's concealed tiles as sets and a pair, with everything that wild tiles may stand for.

Wild tiles are replaced one by one with what they stand for. Each group of tiles is then covered on its own with sets
and at most one pair, and the covers of the four groups are combined. Covers of groups with at most four of a kind are
found once and kept. Groups in which a kind occurs more often, as when a wild tile stands for a fifth copy, are rare,
and are covered anew each time.
"""

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import (
    BASE,
    HONOUR_GROUP,
    NUM_GROUPS,
    NUM_KINDS,
    POWER,
    RANKS,
    SUIT,
    SUIT_CODES,
    TABLE_OFFSET,
    encode,
    merge_groups,
    split_groups,
)
from mahjong_env.hands.distance import cheapest_hands, kinds_that_help
from mahjong_env.hands.kind_sets import ALL_KINDS, members, pack
from mahjong_env.hands.summaries import facts, is_group_complete
from mahjong_env.hands.tables import load_steps, load_table

MOST_WILDS = 4
_KINDS: NDArray[np.int8] = np.arange(NUM_KINDS, dtype=np.int8)
_FOUR = np.array(BASE - 1, np.int8)
_RANK_POWER: NDArray[np.intp] = POWER[:RANKS].astype(np.intp)
_MOST_TILES = 17  # in a complete hand
_NO_PAIR = -64  # below every kind, even after the first kind of the group has been added
_FIRST_KIND: NDArray[np.int8] = np.arange(0, NUM_GROUPS * RANKS, RANKS, dtype=np.int8)
# [34, 4] Substitutions are sorted by the sums of these, group by group: few tiles first, then low ranks.
_ORDER: NDArray[np.float32] = np.where(
    SUIT[:, None] == np.arange(NUM_GROUPS), SUIT_CODES - _RANK_POWER[RANKS - 1 - np.arange(NUM_KINDS) % RANKS, None], 0
).astype(np.float32)


class Sets(NamedTuple):
    """The sets and the pair of m readings."""

    pair: NDArray[np.int8]  # [m] kind of the pair
    triplets: NDArray[np.int8]  # [m, 34] triplets of each kind
    runs: NDArray[np.int8]  # [m, 34] runs by their lowest tile
    tiles: NDArray[np.int8]  # [m, 34] all tiles, wild ones as what they stand for
    wild_as: NDArray[np.int8]  # [m, 34] wild tiles that stand for each kind


class _Covers(NamedTuple):
    """The c ways to cover the tiles of groups with sets and at most one pair."""

    row: NDArray[np.intp]  # [c] the group, ascending
    pair: NDArray[np.int8]  # [c] the rank of the pair, or _NO_PAIR
    triplets: NDArray[np.int8]  # [c, 9]
    runs: NDArray[np.int8]  # [c, 9]

    def take(self, which: NDArray[np.intp]) -> "_Covers":
        return _Covers(self.row[which], self.pair[which], self.triplets[which], self.runs[which])

    def join(self, more: "_Covers") -> "_Covers":
        parts: Any = zip(self, more, strict=True)
        return _Covers(*(np.concatenate(part) for part in parts))


def read_with_wilds(
    counts: NDArray[Any], wilds: NDArray[Any], kinds: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Sets]:
    """Find every way to read hands as sets and one pair, for everything that their wild tiles may stand for.

    Args:
        counts: [n, 34] integers up to 4, the concealed tiles without wild ones.
        wilds: [n] integers, 0 to 4: wild tiles held; all of them are used.
        kinds: [34] bool, the kinds that a wild tile may stand for.

    Returns:
        [m] the hand that is read, ascending, and the sets of each reading.

    Raises:
        ValueError: a hand has more than four wild tiles.
    """
    counts = np.asarray(counts, np.int8)
    hand, filled = _substitutions(counts, np.asarray(wilds), kinds)
    owner, sets = readings(filled)
    hand = hand.take(owner)
    return hand, sets._replace(wild_as=sets.tiles - counts.take(hand, axis=0))


def readings(counts: NDArray[Any]) -> tuple[NDArray[np.intp], Sets]:
    """Find every way to read hands as sets and one pair; none for a hand that is not complete.

    Args:
        counts: [n, 34] integers, the concealed tiles (3k + 2 of them), wild ones replaced by what they stand
            for. A kind may occur more than four times.

    Returns:
        [m] the hand that is read, ascending, and the sets of each reading, in which no tile is a wild one.
    """
    counts = np.asarray(counts, np.int8)
    covers, first, number = _covers_of_groups(counts)
    # The number of tiles in a group decides whether there is a pair among them, so all its covers agree.
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
    triplets, runs = (merge_groups(sets.take(chosen, axis=0)) for sets in (covers.triplets, covers.runs))
    tiles = counts.take(owner, axis=0)
    return owner, Sets(pair, triplets, runs, tiles, np.zeros_like(tiles))


def _covers_of_groups(counts: NDArray[Any]) -> tuple[_Covers, NDArray[np.intp], NDArray[np.intp]]:
    """Find the covers of every group of hands [n, 34], with [n, 4] where those of each group start and their number."""
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
    more = _cover_rank_by_rank(groups[crowded], crowded % NUM_GROUPS == HONOUR_GROUP)
    bounds = more.row.searchsorted(np.arange(len(crowded) + 1))
    np.put(first, crowded, bounds[:-1] + len(covers.row))
    np.put(number, crowded, np.diff(bounds))
    return covers.join(more), first, number


@cache
def _known_covers() -> tuple[NDArray[np.intp], NDArray[np.intp], _Covers]:
    """Cover every complete group of up to 17 tiles with at most four of a kind.

    Returns:
        [c] the codes of these groups, ascending, with those of honours after those of suits; [c + 2] where the covers
        of each group start, followed by their end twice, so that there is an empty stretch at the end; the covers.
    """
    keys = np.flatnonzero(is_group_complete(facts()))
    honours = keys >= SUIT_CODES
    tiles = (keys - honours * SUIT_CODES)[:, None] // _RANK_POWER % BASE
    few = tiles.sum(axis=1) <= _MOST_TILES
    covers = _cover_rank_by_rank(tiles[few], honours[few])
    start = np.searchsorted(covers.row, np.arange(few.sum() + 1))
    return keys[few], np.append(start, start[-1]), covers


def _cover_rank_by_rank(tiles: NDArray[Any], honours: NDArray[np.bool_]) -> _Covers:
    """Cover groups [k, 9] by extending every cover of the ranks so far by every choice at the next rank."""
    tiles = tiles.astype(np.intp)
    # What may be taken of a rank beside the runs: nothing, a pair, some triplets, or both.
    pair, triplets = np.array(list(product((0, 1), range(int(tiles.max(initial=0)) // 3 + 1)))).T
    taken = 2 * pair + 3 * triplets

    nothing = np.zeros((len(tiles), RANKS), np.int8)
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


def _substitutions(
    counts: NDArray[np.int8], wilds: NDArray[Any], kinds: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Replace wild tiles one by one, the lowest kind first, as long as those that are left may complete the hand.

    The distance of a hand is known for at most four of a kind; each further copy brings it nearer by one tile at best.

    Returns:
        [m] the hands, ascending, and [m, 34] their tiles with wild ones replaced. Hands without wild tiles are returned
        as they are, complete or not.
    """
    if (wilds > MOST_WILDS).any():
        raise ValueError(f"a hand has {wilds.max()} wild tiles, at most {MOST_WILDS} are possible")
    allowed = pack(kinds[None])
    hand, lowest = np.zeros((2, 0), np.intp)  # ``lowest``: the kind that replaced a wild tile last
    filled = counts[:0]
    for left in range(int(wilds.max(initial=0)), -1, -1):
        begins = np.flatnonzero(wilds == left)
        hand, filled = np.concatenate([hand, begins]), np.concatenate([filled, counts.take(begins, axis=0)])
        if not left or not hand.size:
            continue
        held = np.minimum(filled, _FOUR)
        tiles = filled.sum(axis=1, dtype=np.int8)
        nearest = cheapest_hands(encode(held).T, (tiles + left - 2) // 3)
        possible = (kinds_that_help(nearest) | pack(held == _FOUR)) & allowed
        possible[nearest.short > left + tiles - held.sum(axis=1, dtype=np.int8)] = 0
        possible[: len(lowest)] &= ALL_KINDS << lowest.astype(np.uint64)
        row, lowest = members(possible)
        hand, filled = hand.take(row), filled.take(row, axis=0)
        filled[np.arange(len(row)), lowest] += 1
    if filled.max(initial=0) > _FOUR:
        crowded = np.flatnonzero((filled > _FOUR).any(axis=1))
        wrong = crowded[~_is_complete(filled.take(crowded, axis=0))]
        hand, filled = np.delete(hand, wrong), np.delete(filled, wrong, axis=0)
    wild_as = filled - counts.take(hand, axis=0)
    order = np.lexsort((*(wild_as @ _ORDER).T[::-1], hand))
    return hand.take(order), filled.take(order, axis=0)


def _is_complete(counts: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return [k] whether each group of hands, with any number of a kind, forms sets, or sets and a pair."""
    complete = np.ones(len(counts), np.bool_)
    groups = split_groups(counts).reshape(-1, NUM_GROUPS, RANKS)
    for number in range(NUM_GROUPS):
        steps, is_complete = _automaton("honours" if number == HONOUR_GROUP else "suit")
        state = np.zeros(len(counts), np.intp)
        for step, held in zip(steps, groups[:, number].T, strict=False):
            state = step[held, state]
        complete &= is_complete[state]
    return complete


@cache
def _automaton(group: str) -> tuple[list[NDArray[np.uint16]], NDArray[np.bool_]]:
    """Return the steps of the facts automaton, and which of its last states are complete."""
    sets, with_pair, _ = load_table(f"facts_{group}_values").T
    return load_steps("facts", group), (sets == 0) | (with_pair == 0)
