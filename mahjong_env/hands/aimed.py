"""Aimed shanten: how far hands are from the nearest aim, the kinds that help, and those that can be spared.

The distances to all aims are worked out together. What each suit lacks beside the tiles that an aim puts aside is read
from one table (`mahjong_env.hands.aims.Options`) and joined over the suits. Kinds are then worked out only for the
nearest aims.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.aims import (
    FAR,
    MOST_TILES,
    STARTS,
    SUITS,
    WINDS,
    Aim,
    Aims,
    field,
    honours,
    join,
    suit_codes,
    total_short,
)
from mahjong_env.hands.codes import (
    BASE,
    HONOUR_GROUP,
    NUM_GROUPS,
    NUM_KINDS,
    POWER,
    RANKS,
    SUIT,
    SUIT_CODES,
    encode,
)
from mahjong_env.hands.distance import Cheapest, cheapest_hands, kinds_that_help, kinds_to_spare, short, with_shares
from mahjong_env.hands.kind_sets import ALL_KINDS, BIT_OF_KIND, CountPlanes, KindSets, count_members, pack, unpack
from mahjong_env.hands.knitted import STRAIGHTS, different_honours, most_of_a_straight
from mahjong_env.hands.shanten import (
    Hands,
    Melded,
    distance_to_orphans,
    distance_to_pairs,
    kinds_for_orphans,
    kinds_for_pairs,
    orphans_can_spare,
    pairs_can_spare,
    to_pungs,
)

_SETS: Final = 4  # of a complete hand
_ASIDE: Final = 3  # sets whose tiles are put aside
_CHUNK: Final = 1024
"""The number of hands compared with all patterns at once, so that the arrays stay in the processor's cache."""
_LAST_RESORT: Final = np.int8(20)
"""Added to the distance of a hand that fits no aim, so that it is farther away than any hand that fits one."""
_NONE: Final = np.uint64(0)
_HONOUR_BITS: Final = np.bitwise_or.reduce(BIT_OF_KIND[SUITS * RANKS :])
_STRAIGHT_KINDS: Final = pack(STRAIGHTS)
_POWER: Final = POWER.astype(np.intp)
_GROUP: Final = SUIT.astype(np.intp)
_RUN_OF: Final = np.zeros((NUM_KINDS, NUM_KINDS), np.int8)
"""[34, 34] the tiles of the run that begins with each kind of a suit; zeros where none begins."""
for _suit in range(SUITS):
    for _start in range(STARTS):
        _RUN_OF[RANKS * _suit + _start, RANKS * _suit + _start : RANKS * _suit + _start + 3] = 1
_RUN_KINDS: Final = np.flatnonzero(_RUN_OF.any(axis=1))
# Shares of a group (`mahjong_env.hands.distance`), and the kinds of suits, winds and dragons.
_NOTHING, _ONE_SET, _A_PAIR = 1, 1 << 1, 1 << 6
_BLOCK_KINDS: Final = [np.bitwise_or.reduce(kinds) for kinds in np.split(BIT_OF_KIND, (9, 18, 27, 27 + WINDS))]


class _Ways(NamedTuple):
    """The k ways of m hands to their nearest aims: sets and a pair, beside tiles that are put aside."""

    hand: NDArray[np.intp]  # [k]
    codes: NDArray[np.intp]  # [4, k] of the tiles that are not put aside
    sets: NDArray[np.intp]  # [k] sets wanted of them
    aside: KindSets  # [k] kinds that are lacking among the tiles put aside
    kinds: KindSets  # [k] kinds that may stand beside them

    def take(self, which: NDArray[np.intp]) -> _Ways:
        """Return some of the ways."""
        return _Ways(self.hand[which], self.codes[:, which], self.sets[which], self.aside[which], self.kinds[which])

    def without(self, kind: NDArray[np.intp]) -> _Ways:
        """Return the ways with one tile less, of a kind [k] that can be spared."""
        inside = (BIT_OF_KIND.take(kind) & self.kinds) != _NONE
        codes = self.codes.copy()
        codes[_GROUP.take(kind), np.arange(len(kind))] -= _POWER.take(kind) * inside
        return self._replace(codes=codes)

    def help(self, cheapest: Cheapest | None = None) -> KindSets:
        """Return [k] the kinds that help."""
        cheapest = cheapest_hands(self.codes, self.sets) if cheapest is None else cheapest
        beside = np.where(cheapest.short > 0, kinds_that_help(cheapest), _NONE)
        return np.asarray(self.aside | beside & self.kinds)


class AimedShanten:
    """The distances of m hands from the nearest aim, with the kinds that help and can be spared; see `Shanten`.

    Attributes:
        distance: [m] int8 tiles short of the nearest aim; if no aim can be reached any more, tiles short of sets and a
            pair, plus `_LAST_RESORT`.
    """

    distance: NDArray[np.int8]

    def __init__(self, hands: Hands, aims: Aims) -> None:
        """Measure the hands; `Hands.counts` and `Hands.melds` must not be None."""
        assert hands.counts is not None
        assert hands.melds is not None
        self._hands, self._aims, self._counts, self._melds = hands, aims, hands.counts, hands.melds
        self._number = _SETS - hands.sets
        self._laid = hands.melds.kinds()
        self._held = self._counts.ones | self._counts.twos | self._counts.fours
        self._every = np.concatenate([self._of_patterns(), self._of_others()])  # [A, m]
        self.distance = self._every.min(axis=0, initial=FAR)
        lost = np.flatnonzero(self.distance >= FAR)
        self.distance[lost] = short(hands.codes[:, lost], hands.sets[lost]) + _LAST_RESORT

    @property
    def short_of_sets(self) -> NDArray[np.int8]:
        """[m] tiles short of sets and a pair."""
        return short(self._hands.codes, self._hands.sets)

    def take(self, which: NDArray[np.intp]) -> AimedShanten:
        """Return some of the hands."""
        part = object.__new__(AimedShanten)
        part._hands, part._aims = self._hands.take(which), self._aims
        part._counts, part._melds = self._counts.take(which), self._melds.take(which)
        part._held, part._every, part.distance = self._held[which], self._every[:, which], self.distance[which]
        return part

    # --- Distances ----------------------------------------------------------------------------------------------------
    def _of_patterns(self) -> NDArray[np.int8]:
        """Return [P, m] tiles short of each pattern, a set and a pair."""
        aims, hands, melds = self._aims, self._hands, self._melds
        found = np.empty((len(aims.patterns), len(self._number)), np.int8)
        block = melds.gone & ~(self._held | self._laid)
        for start in range(0, len(self._number), _CHUNK):
            part = slice(start, start + _CHUNK)
            words, matched = [], []
            for suit in range(SUITS):
                lacking, laid = aims.options.of(hands.codes[suit, part], _laid_runs(melds.runs[part], suit))
                words.append(lacking)
                matched.append(laid)
            of_pattern = aims.options.of_pattern.T
            beside = self._number[part].astype(np.int8)[None]
            for laid, option in zip(matched, of_pattern, strict=True):
                if laid is not None:
                    beside = beside - laid.take(option, axis=0)
            of_honours = honours()[0].take(hands.codes[HONOUR_GROUP, part])
            anything = join(words, of_pattern, of_honours, ("set", "pair", "both"))
            total = total_short(anything, beside)
            some, rows = slice(aims.enough, None), np.flatnonzero(~hands.closed[part])
            if rows.size and aims.enough < len(aims.patterns):
                words = [word[:, rows] for word in words]
                runs_alone = join(words, of_pattern[:, some], None, ("run", "pair", "run_pair"))
                beside_it = np.broadcast_to(beside, total.shape)[some, rows]
                has_pungs = (beside_it > 0) & (melds.pungs[part][rows] != _NONE)
                total[some, rows] = np.where(has_pungs, FAR, total_short(runs_alone, beside_it))
            blocked = (aims.wanted_kinds[:, None] & block[part]) != _NONE
            found[:, part] = np.maximum(total, blocked.view(np.int8) * FAR)
        return found

    def _of_others(self) -> NDArray[np.int8]:
        """Return [A - P, m] tiles short of the aims that put nothing aside."""
        found = np.empty((len(self._aims.others), len(self._number)), np.int8)
        for row, aim in zip(found, self._aims.others, strict=True):
            row[:] = self._distance_to(aim)
            if aim.points < self._aims.minimum and not aim.opens:
                row[~self._hands.closed] = FAR
        return found

    def _distance_to(self, aim: Aim) -> NDArray[np.int8]:
        """Return [m] tiles short of an aim that puts nothing aside."""
        hands, counts, codes = self._hands, self._counts, self._hands.codes
        if aim.shape == "sets":
            fits, distance = self._laid & ~aim.kinds == _NONE, short(_restricted(codes, aim.kinds), hands.sets)
        elif aim.shape == "pungs":
            fits, distance = self._melds.runs == _NONE, to_pungs(counts, hands.sets, hands.wilds)[0]
        elif aim.shape == "all groups":
            blocks = self._blocks(codes, self._melds)
            fits, distance = blocks.possible, blocks.set.sum(axis=0) + (blocks.pair - blocks.set).min(axis=0)
        else:
            fits = hands.closed
            if aim.shape == "pairs":
                distance = distance_to_pairs(counts, hands.wilds)
            elif aim.shape == "orphans":
                distance = distance_to_orphans(counts)
            else:
                fitting = most_of_a_straight(codes.T) + different_honours().take(codes[HONOUR_GROUP])
                distance = np.maximum(MOST_TILES - fitting, 0)
        return np.where(fits, distance, FAR).astype(np.int8)

    # --- Ways ---------------------------------------------------------------------------------------------------------
    @cached_property
    def _nearest(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """[k] the nearest aims, and [k] the hands that they are nearest to."""
        aim, hand = np.nonzero(self._every == np.minimum(self.distance, FAR - 1))
        return aim, hand

    @cached_property
    def _ways(self) -> _Ways:
        """The ways to sets and a pair, with or without tiles that are put aside."""
        aim, hand = self._nearest
        patterns = len(self._aims.patterns)
        parts = [self._ways_of_patterns(aim[aim < patterns], hand[aim < patterns])]
        for place, other in enumerate(self._aims.others, patterns):
            if other.shape == "sets":
                parts.append(self._ways_of_sets(hand[aim == place], other.kinds))
        parts.append(self._ways_of_sets(np.flatnonzero(self.distance >= _LAST_RESORT), ALL_KINDS))
        return _Ways(
            np.concatenate([part.hand for part in parts]),
            np.concatenate([part.codes for part in parts], axis=1),
            *(np.concatenate([part[field] for part in parts]) for field in range(2, 5)),
        )

    @cached_property
    def _shaped(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """[k] the nearest aims that are not sets and a pair, as places in `Aims.others`, and [k] the hands."""
        aim, hand = self._nearest
        shaped = [other.shape != "sets" for other in self._aims.others]
        chosen = np.array([False] * len(self._aims.patterns) + shaped, np.bool_).take(aim)
        return aim[chosen] - len(self._aims.patterns), hand[chosen]

    def _ways_of_sets(self, hand: NDArray[np.intp], kinds: np.uint64) -> _Ways:
        codes = _restricted(self._hands.codes[:, hand], kinds)
        return _Ways(hand, codes, self._hands.sets[hand], np.zeros(len(hand), np.uint64), np.full(len(hand), kinds))

    def _ways_of_patterns(self, aim: NDArray[np.intp], hand: NDArray[np.intp]) -> _Ways:
        hands, aims = self._hands, self._aims
        counts, want = self._counts.take(hand).counts(), aims.want.take(aim, axis=0)
        matched = self._melds.runs.take(hand) & aims.run_kinds.take(aim)
        some = np.flatnonzero(matched)
        want[some] -= unpack(matched[some]).astype(np.int8) @ _RUN_OF
        sets = hands.sets.take(hand) - _ASIDE + count_members(matched)
        needs_runs = (aim >= aims.enough) & ~hands.closed.take(hand)
        kinds = np.where(needs_runs, ~_HONOUR_BITS, ALL_KINDS)
        with_run = np.flatnonzero(needs_runs & (sets == 1))
        if with_run.size:
            way, run = _best_runs(counts[with_run], want[with_run], self.distance.take(hand[with_run]))
            others = np.flatnonzero(~(needs_runs & (sets == 1)))
            order = np.concatenate([others, with_run[way]])
            hand, counts, want, sets, kinds = hand[order], counts[order], want[order], sets[order], kinds[order]
            want[len(others) :] += _RUN_OF.take(run, axis=0)
            sets[len(others) :] = 0
        codes = encode(counts - np.minimum(counts, want)).T.astype(np.intp, order="C")
        codes[HONOUR_GROUP, kinds != ALL_KINDS] = 0
        return _Ways(hand, codes, sets.astype(np.intp), pack(want > counts), kinds)

    # --- Kinds --------------------------------------------------------------------------------------------------------
    @cached_property
    def _spare(self) -> tuple[KindSets, KindSets]:
        """[k] the kinds that can be spared on each way, and on the way to each of the other shapes."""
        ways = self._ways
        of_ways = kinds_to_spare(cheapest_hands(ways.codes, ways.sets)) | self._held.take(ways.hand) & ~ways.kinds
        return of_ways, self._of_shapes(self._shaped[1], self._counts.take(self._shaped[1]), spare=True)

    def kinds_to_spare(self, wild: NDArray[Any] | None) -> KindSets:
        """Return [m] uint64 the kinds of which a tile can be spared without raising the distance."""
        kinds = np.zeros(len(self.distance), np.uint64)
        np.bitwise_or.at(kinds, self._ways.hand, self._spare[0])
        np.bitwise_or.at(kinds, self._shaped[1], self._spare[1])
        return kinds

    def kinds_that_help(self, distance: NDArray[np.int8]) -> KindSets:
        """Return [m] uint64 the kinds whose draw brings hands nearer."""
        kinds = np.zeros(len(self.distance), np.uint64)
        np.bitwise_or.at(kinds, self._ways.hand, self._ways.help())
        hand = self._shaped[1]
        np.bitwise_or.at(kinds, hand, self._of_shapes(hand, self._counts.take(hand), spare=False))
        return kinds

    def without(self, hand: NDArray[np.intp], kind: NDArray[np.intp], is_wild: None) -> Without:
        """Return some hands [k] without a tile of a kind [k] that they can spare."""
        return Without(self, hand, kind)

    def kinds_that_help_without(self, hand: NDArray[np.intp], kind: NDArray[np.intp]) -> KindSets:
        """Return [k] uint64 the kinds that bring hands [k] nearer after they have spared a tile of ``kind`` [k]."""
        found = np.zeros(len(hand), np.uint64)
        tile = BIT_OF_KIND.take(kind)
        at, way = _pairs_of(hand, self._ways.hand, len(self.distance))
        keep = np.flatnonzero(self._spare[0].take(way) & tile.take(at))
        at, way = at[keep], way[keep]
        np.bitwise_or.at(found, at, self._ways.take(way).without(kind.take(at)).help())
        at, way = _pairs_of(hand, self._shaped[1], len(self.distance))
        keep = np.flatnonzero(self._spare[1].take(way) & tile.take(at))
        at, way = at[keep], way[keep]
        of = self._shaped[1].take(way)
        counts = self._counts.take(of).without(tile.take(at))
        np.bitwise_or.at(found, at, self._of_shapes(of, counts, spare=False, aim=self._shaped[0].take(way)))
        return found

    def _of_shapes(
        self, hand: NDArray[np.intp], counts: CountPlanes, *, spare: bool, aim: NDArray[np.intp] | None = None
    ) -> KindSets:
        """Return [k] the kinds that help hands, or that they can spare, on the way to the other shapes.

        Args:
            hand: [k] the hands.
            counts: their tiles.
            spare: whether to return the kinds that can be spared, instead of those that help.
            aim: [k] places in `Aims.others`; None for those of `_shaped`.
        """
        aim = self._shaped[0] if aim is None else aim
        found = np.zeros(len(hand), np.uint64)
        for place, other in enumerate(self._aims.others):
            at = np.flatnonzero(aim == place)
            if other.shape == "sets" or not at.size:
                continue
            some, of = counts.take(at), hand[at]
            no_wilds = np.zeros(len(at), np.int8)
            if other.shape == "pungs":
                found[at] = to_pungs(some, self._hands.sets[of], no_wilds)[1 + spare]
            elif other.shape == "pairs":
                found[at] = pairs_can_spare(some, no_wilds) if spare else kinds_for_pairs(some)
            elif other.shape == "orphans":
                found[at] = orphans_can_spare(some) if spare else kinds_for_orphans(some)
            elif other.shape == "knitted tiles":
                found[at] = _for_knitted_tiles(some, spare=spare)
            else:
                found[at] = self._for_all_groups(some, of, spare=spare)
        return found

    def _for_all_groups(self, counts: CountPlanes, hand: NDArray[np.intp], *, spare: bool) -> KindSets:
        codes = encode(counts.counts()).T.astype(np.intp, order="C")
        blocks = self._blocks(codes, self._melds.take(hand))
        extra = blocks.pair - blocks.set
        is_pair = extra == extra.min(axis=0)
        is_set = ~is_pair | (is_pair.sum(axis=0) > 1)
        shares = np.where(blocks.melded, _NOTHING, is_set * _ONE_SET + is_pair * _A_PAIR).astype(np.uint16)
        kinds_of = kinds_to_spare if spare else kinds_that_help
        winds = codes.copy()
        dragons = np.zeros_like(codes)
        winds[HONOUR_GROUP] %= BASE**WINDS
        dragons[HONOUR_GROUP] = codes[HONOUR_GROUP] - winds[HONOUR_GROUP]
        but_dragons = kinds_of(with_shares(winds, shares[:NUM_GROUPS])) & ~_BLOCK_KINDS[-1]
        shares[:NUM_GROUPS] = _NOTHING
        of_dragons = kinds_of(with_shares(dragons, shares[[0, 1, 2, NUM_GROUPS]])) & _BLOCK_KINDS[-1]
        return np.asarray(but_dragons | of_dragons)

    def _blocks(self, codes: NDArray[np.intp], melds: Melded) -> _Blocks:
        _, place, _, lacks = suit_codes()
        _, winds, dragons = honours()
        in_suits, in_honours = lacks.take(place.take(codes[:SUITS])), codes[HONOUR_GROUP]
        words = np.stack([*in_suits, winds.take(in_honours), dragons.take(in_honours)])
        of_group = [count_members(melds.runs & kinds) + count_members(melds.pungs & kinds) for kinds in _BLOCK_KINDS]
        melded = np.stack(of_group)
        number = melded.sum(axis=0)
        is_melded = melded > 0
        pair = field(words, "pair")
        pair[is_melded] = FAR
        # A hand with melds is worth enough only with a set of dragons.
        pair[NUM_GROUPS, number > 0] = FAR
        possible = (melded <= 1).all(axis=0) & ~is_melded.all(axis=0)
        possible &= number == melds.number
        return _Blocks(np.where(is_melded, np.int8(0), field(words, "set")), pair, is_melded, possible)


class Without(NamedTuple):
    """Hands of an `AimedShanten` that have spared a tile each."""

    shanten: AimedShanten
    hand: NDArray[np.intp]  # [k]
    kind: NDArray[np.intp]  # [k]

    def kinds_that_help(self, distance: NDArray[np.int8]) -> KindSets:
        """Return [k] uint64 the kinds whose draw brings hands nearer."""
        return self.shanten.kinds_that_help_without(self.hand, self.kind)


class _Blocks(NamedTuple):
    """What the three suits, the winds and the dragons of m hands lack for a set and for a pair: all [5, m]."""

    set: NDArray[np.int8]  # 0 where there is one
    pair: NDArray[np.int8]
    melded: NDArray[np.bool_]
    possible: NDArray[np.bool_]  # [m]


def _laid_runs(runs: KindSets, suit: int) -> NDArray[np.intp]:
    """Return [m] the melded runs of a suit, with a bit for each start."""
    return (runs >> np.uint64(RANKS * suit) & np.uint64((1 << STARTS) - 1)).astype(np.intp)


def _restricted(codes: NDArray[np.intp], kinds: np.uint64) -> NDArray[np.intp]:
    """Return [4, m] codes with only the tiles of some kinds, which are neighbours in each group."""
    if kinds == ALL_KINDS:
        return codes
    found = np.zeros_like(codes)
    for row, group, (low, high) in zip(found, codes, _limits(int(kinds)), strict=True):
        if (low, high) == (1, SUIT_CODES):
            row[:] = group
        elif low < high:
            row[:] = group % high - group % low
    return found


@cache
def _limits(kinds: int) -> list[tuple[int, int]]:
    """Return for each group the place values of the lowest digit that is kept and of the next one that is not."""
    limits = []
    for group in range(NUM_GROUPS):
        ranks = [rank for rank in range(RANKS) if kinds >> RANKS * group + rank & 1]
        whole = len(ranks) == min(RANKS, NUM_KINDS - RANKS * group)
        limits.append((1, SUIT_CODES) if whole else (BASE ** ranks[0], BASE ** (ranks[-1] + 1)) if ranks else (0, 0))
    return limits


def _best_runs(
    counts: NDArray[np.int8], want: NDArray[np.int8], distance: NDArray[np.int8]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the runs that, beside the tiles put aside, bring hands as near as possible to runs and a pair of a suit.

    Args:
        counts: [k, 34] the tiles of the hands.
        want: [k, 34] the tiles that are put aside.
        distance: [k] the distances of the hands.

    Returns:
        [j] which of the k hands, and [j] the lowest kind of the run.
    """
    suits = slice(0, SUITS * RANKS)
    wanted = want[:, None, suits] + _RUN_OF[_RUN_KINDS][None, :, suits]
    used = np.minimum(counts[:, None, suits], wanted)
    lacking = (wanted - used).sum(axis=2, dtype=np.int8)
    pair = 2 - np.minimum((counts[:, None, suits] - used).max(axis=2), 2)
    way, run = np.nonzero(lacking + pair == distance[:, None])
    return way, _RUN_KINDS[run]


def _pairs_of(hand: NDArray[np.intp], of: NDArray[np.intp], number: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of a place in ``hand`` [k] and one in ``of`` [j] that hold the same one of ``number`` hands."""
    order = np.argsort(of, kind="stable")
    of_hand = np.bincount(of, minlength=number)
    first = np.concatenate([[0], of_hand.cumsum()[:-1]])
    times = of_hand.take(hand)
    at = np.repeat(np.arange(len(hand)), times)
    step = np.arange(len(at)) - np.repeat(times.cumsum() - times, times)
    return at, order.take(first.take(hand).take(at) + step)


def _for_knitted_tiles(counts: CountPlanes, *, spare: bool) -> KindSets:
    """Return [k] the kinds that help on the way to honours and knitted tiles, or that can be spared."""
    held = counts.ones | counts.twos | counts.fours
    fitting = count_members(held[:, None] & _STRAIGHT_KINDS)  # [k, 6]
    best = fitting == fitting.max(axis=1, keepdims=True)
    if spare:
        twice = counts.twos | counts.fours
        of_straights = held[:, None] & ~_STRAIGHT_KINDS & ~_HONOUR_BITS
        return twice | np.bitwise_or.reduce(np.where(best, of_straights, _NONE), axis=1)
    of_straights = np.bitwise_or.reduce(np.where(best, _STRAIGHT_KINDS, _NONE), axis=1)
    return np.asarray((of_straights | _HONOUR_BITS) & ~held)
