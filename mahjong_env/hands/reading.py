"""Every way to read a winner's concealed tiles as sets and a pair, and everything that wild tiles may stand for there.

The tiles of each group are covered by themselves, then the covers of the four groups are combined. Covers of
groups with at most four of a kind are found once and kept; a kind that occurs more often, as it does when a
wild tile stands for a fifth copy, is rare and is worked out each time.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product
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
    SUIT_CODES,
    TABLE_OFFSET,
    encode,
    merge_groups,
    split_groups,
)
from mahjong_env.hands.summaries import (
    facts,
    group_short_of_sets,
    is_group_complete,
    short_of_sets,
    short_of_sets_and_pair,
    suit_summaries,
    sum_summaries,
)
from mahjong_env.hands.tables import load_steps, load_table

MOST_WILDS = 4
_RANK_POWER: NDArray[np.intp] = POWER[:RANKS].astype(np.intp)
_RANK_BIT: NDArray[np.intp] = 1 << np.arange(RANKS)
_MOST_TILES = 17  # in a complete hand
_NO_PAIR = -64  # below every kind, also after the first kind of the group has been added
_FIRST_KIND: NDArray[np.int8] = np.arange(0, NUM_GROUPS * RANKS, RANKS, dtype=np.int8)


def _is_honours(row: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows of `split_groups` are honours."""
    return np.equal(row % NUM_GROUPS, HONOUR_GROUP)


# --- Readings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Readings:
    """Ways to read some hands as sets and a pair, those of one hand beside each other."""

    owner: NDArray[np.intp]  # [m] which hand is read
    pair: NDArray[np.int8]  # [m] the kind of the pair
    triplets: NDArray[np.uint8]  # [m, 34] triplets of each kind
    runs: NDArray[np.uint8]  # [m, 34] runs that start at each kind


class _Covers(NamedTuple):
    """Ways to cover the tiles of groups with sets and at most one pair; c of them."""

    row: NDArray[np.intp]  # [c] the group, ascending
    pair: NDArray[np.int8]  # [c] the rank of the pair, or _NO_PAIR
    triplets: NDArray[np.uint8]  # [c, 9]
    runs: NDArray[np.uint8]  # [c, 9]

    def take(self, which: NDArray[np.intp]) -> "_Covers":
        return _Covers(self.row[which], self.pair[which], self.triplets[which], self.runs[which])

    def join(self, more: "_Covers") -> "_Covers":
        parts: Any = zip(self, more, strict=True)
        return _Covers(*(np.concatenate(part) for part in parts))


def readings(counts: NDArray[Any]) -> Readings:
    """Find every way to read hands as sets and one pair; none for a hand that is not complete.

    Args:
        counts: [n, 34] integers, the concealed tiles (3k + 2 of them), wild ones replaced by what they stand
            for. A kind may occur more than four times.
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
    """Find covers of every group of hands [n, 34]; [n, 4] where those of each group start and how many they are."""
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
    more = _cover_rank_by_rank(groups[crowded], _is_honours(crowded))
    bounds = more.row.searchsorted(np.arange(len(crowded) + 1))
    np.put(first, crowded, bounds[:-1] + len(covers.row))
    np.put(number, crowded, np.diff(bounds))
    return covers.join(more), first, number


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
    """Cover groups [k, 9] by extending every cover of the ranks so far by every choice at the next rank."""
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


# --- Wild tiles -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Substitutions:
    """Substitutions for the wild tiles of some hands, those of one hand beside each other."""

    owner: NDArray[np.intp]  # [m] which hand is completed
    counts: NDArray[np.uint8]  # [m, 34] its tiles by kind with the wild ones put in
    wild_as: NDArray[np.uint8]  # [m, 34] how many wild tiles stand for each kind


def substitutions(counts: NDArray[Any], wilds: NDArray[Any], kinds: NDArray[np.bool_]) -> Substitutions:
    """Find everything that wild tiles may stand for to complete hands as sets and one pair, as multisets of kinds.

    Args:
        counts: [n, 34] integers up to 4, the concealed tiles without wild ones.
        wilds: [n] integers, 0 to 4: wild tiles held; all of them are used.
        kinds: [34] or [n, 34] bool, the kinds that a wild tile may stand for.

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
    return _Multisets(by_rank, size, by_rank.max(axis=1), (by_rank > 0) @ _RANK_BIT, by_rank @ _RANK_POWER)


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
    """Choose the multisets that may be worth adding to groups: [k] groups, ascending, and [k] multisets.

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
    """[k] which groups form sets, or sets and a pair, with multisets put in.

    Args:
        codes: [n, 4] the codes of the groups.
        groups: [4 * n, 9] their tiles, up to four of a kind.
        row: [k] group.
        choice: [k] multiset.
    """
    sets = _multisets()
    # A code beyond the last is of a crowded group, which is looked at below.
    code = codes.reshape(-1).take(row) + sets.code.take(choice) + SUIT_CODES * _is_honours(row)
    complete = is_group_complete(facts().take(code, mode="clip"))
    # Codes hold four of a kind at most.
    crowded = np.flatnonzero(groups.max(axis=1).take(row) + sets.most.take(choice) >= BASE)
    if crowded.size:
        row, choice = row.take(crowded), choice.take(crowded)
        tiles, honours = groups.take(row, axis=0) + sets.added.take(choice, axis=0), _is_honours(row)
        for group, rows in (("suit", np.flatnonzero(~honours)), ("honours", np.flatnonzero(honours))):
            steps, state_is_complete = _automaton(group)
            state = np.zeros(len(rows), np.intp)
            for rank, step in enumerate(steps):
                state = step[tiles[rows, rank], state]
            complete[crowded.take(rows)] = state_is_complete[state]
    return complete


@cache
def _automaton(group: str) -> tuple[list[NDArray[np.uint16]], NDArray[np.bool_]]:
    """The steps of the facts automaton, and which of its last states are complete."""
    sets, with_pair, _ = load_table(f"facts_{group}_values").T
    return load_steps("facts", group), (sets == 0) | (with_pair == 0)
