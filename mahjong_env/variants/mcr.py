"""MCR, Mahjong Competition Rules (国标麻将 guóbiāo májiàng).

Its rules, written for players, are the page `mcr.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from mahjong_env.basics.errors import RulesError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, FIRST_HONOUR, GREEN, IS_TERMINAL, NORTH, NUM_KINDS, RANK, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, UInt64Array
from mahjong_env.hands.aims import Aim, Aims
from mahjong_env.hands.codes import HONOUR_GROUP, NUM_GROUPS, POWER, RANKS, SUIT, encode
from mahjong_env.hands.kind_sets import pack
from mahjong_env.hands.knitted import (
    STRAIGHTS,
    different_honours,
    knitted_straight_of_one,
    knitted_tiles_of_one,
    parts_held,
    short_of_knitted_straight,
    short_of_knitted_tiles,
)
from mahjong_env.hands.reading import readings
from mahjong_env.hands.summaries import pairs, short_of_sets_and_pair, short_with_each
from mahjong_env.ruleset.questions import Circumstance, knob
from mahjong_env.scoring.arithmetic import Share
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.patterns import (
    kinds_tried,
    on_kong_draw,
    tiles_before,
)
from mahjong_env.scoring.payments import Payer, Payment, only
from mahjong_env.scoring.readings import (
    SETS_AND_PAIR,
    SEVEN_PAIRS,
    THIRTEEN_ORPHANS,
    Concealed,
    Readings,
    Shape,
)
from mahjong_env.scoring.rows import ByKnob, Combination, Counted, Facts, Restriction, Row
from mahjong_env.scoring.wins import Wins
from mahjong_env.state.arrays import State

_WINDS, _DRAGONS = slice(EAST, NORTH + 1), slice(WHITE, RED + 1)
_HANDS_OF_A_ROUND: Final = 4
_ROUNDS: Final = 4
_OTHER_SHAPES: Final = 12
# After each round of a match, the seats from which the people at East, South, West and North have come.
_CHANGES: Final = np.array([[1, 0, 3, 2], [3, 2, 0, 1], [1, 0, 3, 2]])


# --- Shapes -----------------------------------------------------------------------------------------------------------


def _read_knitted_straights(shape: Shape, wins: Wins, which: Games) -> list[Readings]:
    """Read hands with a knitted straight: it is taken out, and the rest is read as a pair and, if not melded, a set."""
    counts = wins.counts.take(which, axis=0)
    hand, straight = np.nonzero(np.all(counts[:, None] >= STRAIGHTS, axis=2))
    owner, sets = readings(counts.take(hand, axis=0) - STRAIGHTS.take(straight, axis=0))
    owner = which.take(hand.take(owner))
    return [Readings(wins, shape, owner, sets._replace(tiles=wins.counts.take(owner, axis=0)))]


def _parts_held(tiles: Concealed) -> Games:
    return parts_held(tiles.codes)


KNITTED_STRAIGHT = Shape(
    "a knitted straight, a set and a pair",
    lambda tiles: short_of_knitted_straight(tiles.codes, tiles.once(_parts_held)),
    _read_knitted_straights,
    short_of_one=lambda codes, total, with_pair, wilds: knitted_straight_of_one(codes),
    alone=True,
)
KNITTED_TILES = Shape(
    "honors and knitted tiles",
    lambda tiles: short_of_knitted_tiles(tiles.codes, tiles.once(_parts_held)),
    concealed=True,
    short_of_one=lambda codes, total, with_pair, wilds: knitted_tiles_of_one(codes),
    alone=True,
)
ORPHANS = replace(THIRTEEN_ORPHANS, alone=True)


# --- What the rows ask ------------------------------------------------------------------------------------------------


def _kinds(*ranks: int, suits: tuple[int, ...] = (0, 1, 2), honours: tuple[int, ...] = ()) -> BoolArray:
    """Return [34] the kinds of these ranks in some suits, and some honours."""
    chosen = np.isin(RANK[:NUM_KINDS], ranks) & np.isin(np.arange(NUM_KINDS) // RANKS, suits)
    chosen[list(honours)] = True
    return np.asarray(chosen)


_TERMINALS, _HONOURS = IS_TERMINAL[:NUM_KINDS].astype(np.bool_), np.arange(NUM_KINDS) >= FIRST_HONOUR
_OUTSIDE, _FIVES, _EVEN = _TERMINALS | _HONOURS, _kinds(5), _kinds(2, 4, 6, 8)
_GREEN = _kinds(2, 3, 4, 6, 8, suits=(2,), honours=(GREEN,))
_REVERSIBLE = _kinds(1, 2, 3, 4, 5, 8, 9, suits=(1,)) | _kinds(2, 4, 5, 6, 8, 9, suits=(2,), honours=(WHITE,))
_RUNS_WITH_END, _RUNS_WITH_FIVE = _kinds(1, 7), _kinds(3, 4, 5)
_ONE_A_BIT: Final = np.array([1, 2, 4, 8], np.int8)  # for each wind
_ALL, _ONE_A_TERMINAL = np.ones(NUM_KINDS, np.bool_), _TERMINALS.astype(np.int8)
_NINE_GATES: Final = int(POWER[:RANKS] @ [3, 1, 1, 1, 1, 1, 1, 1, 3])
_ARE_WINDS, _ARE_DRAGONS = (np.isin(np.arange(NUM_KINDS), np.arange(NUM_KINDS)[kinds]) for kinds in (_WINDS, _DRAGONS))
_SUITS = tuple(_kinds(*range(1, 10), suits=(suit,)) for suit in range(3))
_OPEN = (MeldType.CHOW, MeldType.PUNG, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG)
_KONGS = (MeldType.CONCEALED_KONG, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG)
_DRAWN, _ON_DISCARD, _ROBBED_KONG, _LAST_TILE, _FOURTH_TILE, _FLOWER_DRAW = map(
    attrgetter, ("drawn", "on_discard", "robbed_kong", "last_tile", "fourth_tile", "flower_draw")
)


def _only(kinds: BoolArray) -> tuple[Facts, ...]:
    """Return the fact that all tiles are of these kinds."""
    return (Facts(0, kinds=(~kinds,)),)


def _suits(number: int, *, honours: bool) -> tuple[Facts, ...]:
    """Return the facts that there are tiles of a number of suits, and honours or none."""
    return Facts(number, kinds=_SUITS), Facts(int(honours), kinds=(_HONOURS,))


def _are_true(*flags: Any) -> tuple[Facts, ...]:
    return (Facts(len(flags), flags=flags),)


def _kongs_are(concealed: int, melded: int) -> tuple[Facts, ...]:
    """Return the facts that there are exactly these numbers of kongs."""
    return Facts(concealed, melds=_KONGS[:1]), Facts(melded, melds=_KONGS[1:])


def _everywhere(kinds: BoolArray, runs: BoolArray | None) -> tuple[tuple[Counted, ...]]:
    """Return the way: all four sets and the pair contain a tile of these kinds; ``runs`` with one begin there."""
    return ((Counted(4, triplets=kinds, runs=runs), Counted(1, pair=kinds)),)


def _pungs(number: int, kinds: BoolArray, *, pair: bool = False) -> tuple[tuple[Counted, ...]]:
    """Return the way: a number of pungs of these kinds, and perhaps the pair."""
    pungs = Counted(number, triplets=kinds)
    return ((pungs, Counted(1, pair=kinds)) if pair else (pungs,),)


def _terminal_chows(number: int, suits: tuple[int, ...], of_pair: int) -> tuple[Counted, ...]:
    """Return the way: equal numbers of chows 123 and 789 of each of some suits, and a pair of 5."""
    chows = (Counted(number, runs=_kinds(rank, suits=(suit,))) for suit in suits for rank in (1, 7))
    return (*chows, Counted(1, pair=_kinds(5, suits=(of_pair,))))


class _WindPungs(NamedTuple):
    """The numbers of pungs of winds."""

    round: Int8Array  # [m] of the round's wind
    house: Int8Array  # [m] of one's own
    others: Int8Array  # [m] of neither, and not of Big Three Winds


@cache
def _wind_pungs_by_number() -> Int8Array:
    """Return [4 * 4 * 16, 3] `_WindPungs` by the round's wind, one's own, and a bit for each wind with a pung."""
    prevalent, own, pungs = np.ix_(range(4), range(4), range(16))
    of_round, of_house = pungs >> prevalent & 1, pungs >> own & 1
    number = sum(pungs >> wind & 1 for wind in range(4))
    others = np.where(number == 3, 0, number - of_round - of_house * (prevalent != own))
    table = np.stack(np.broadcast_arrays(of_round, of_house, others), axis=-1)
    return table.reshape(-1, len(_WindPungs._fields)).astype(np.int8)


def _wind_pungs(reading: Readings) -> _WindPungs:
    own = reading.of(4 * reading.wins.round_wind + reading.wins.house_wind)
    # numpy 1 would keep int8, which has no room for the product.
    number = np.multiply(own, 16, dtype=np.intp) + reading.triplets[:, _WINDS] @ _ONE_A_BIT
    return _WindPungs(*_wind_pungs_by_number().take(number, axis=0).T)


_CONCEALED_PUNGS = attrgetter("concealed_pungs")


def _others(number: int, ask: Any) -> tuple[tuple[Counted, ...]]:
    """Return the way: a number of what a function counts."""
    return ((Counted(number, others=(ask,)),),)


def _is_nine_gates(wins: Wins) -> BoolArray:
    """Return [n] complete hands that were 1112345678999 of one suit before the winning tile, with nothing melded."""
    tile = wins.winning_tile
    before = wins.codes.reshape(-1).take(np.arange(0, wins.codes.size, NUM_GROUPS) + SUIT.take(tile)) - POWER.take(tile)
    return np.asarray(before == _NINE_GATES)


def _terminals_or_honors(reading: Readings) -> Int8Array:
    """Return [m] the triplets of terminals, and of winds neither the round's, nor one's own, nor of Big Three Winds."""
    number = reading.once(_wind_pungs).others + reading.triplets @ _ONE_A_TERMINAL
    gates = reading.wins.once(_is_nine_gates)
    return np.asarray(number - (reading.of(gates) & (number > 0)) if gates.any() else number)


def _shifted_pairs(reading: Readings) -> BoolArray:
    """Return [m] whether there are seven ranks in a row of one suit."""
    twos = reading.of(reading.wins.counts)[:, :FIRST_HONOUR].reshape(-1, 3, RANKS) == 2
    in_a_row = [twos[:, :, start : start + 7].all(axis=2).any(axis=1) for start in range(3)]
    return np.asarray(np.logical_or.reduce(in_a_row))


_EDGE, _CLOSED, _SINGLE = 1, 2, 3


def _waits(reading: Readings) -> Int8Array:
    """Return [m] the wait row of each reading, 0 for none: one kind alone would have completed the shape."""
    third, second, first = reading.runs_with_winning_tile > 0
    tile = reading.of(reading.wins.winning_tile)
    # At another end of a chow a second kind would do as well.
    edge = third & (RANK.take(tile) == 3) | first & (RANK.take(tile) == 7)
    wait = np.where(edge, _EDGE, np.where(second, _CLOSED, np.where(reading.pair == tile, _SINGLE, 0))).astype(np.int8)
    for shape, waits_for_one in (SETS_AND_PAIR, _waits_for_one), (KNITTED_STRAIGHT, _waits_for_one_beside_straight):
        some = (reading.in_shape(shape) & (wait > 0)).nonzero()[0]
        if some.size:
            wait[some] *= waits_for_one(reading.wins, reading.owner.take(some))
    return wait


def _waits_for_one(wins: Wins, which: Games) -> BoolArray:
    """Return [k] whether exactly one kind, left or not, completed sets and a pair or, unmelded, seven pairs."""
    before = tiles_before(wins).take(which, axis=0)
    completes = (short_with_each(encode(before)) == 0) & (before < 4)
    win, kind = (before == 4).nonzero()  # a fifth tile
    if win.size:
        fifth = before.take(win, axis=0)
        fifth[np.arange(len(win)), kind] += 1
        completes[win, kind] = np.isin(np.arange(len(win)), readings(fifth)[0])
    singles = before & 1
    pairs_but_one = (wins.own_melds.take(which) == 0) & (singles.sum(axis=1) == 1)
    completes |= pairs_but_one[:, None] & (singles > 0)
    return np.asarray(np.count_nonzero(completes, axis=1) == 1)


def _waits_for_one_beside_straight(wins: Wins, which: Games) -> BoolArray:
    """Return [k] whether exactly one kind completed a knitted straight, a set and a pair."""
    codes = kinds_tried(wins)[0].take(which, axis=0)
    return np.asarray(np.count_nonzero(short_of_knitted_straight(codes) == 0, axis=1) == 1)


def _runs(one_suit: bool, *steps: tuple[int, ...]) -> Combination:
    return Combination("runs", one_suit, steps)


def _triplets(one_suit: bool, *steps: tuple[int, ...]) -> Combination:
    return Combination("triplets", one_suit, steps)


# --- The 81 fan, and the one that was added ----------------------------------------------------

_WAIT_ROWS = ("Edge Wait", "Closed Wait", "Single Wait")
_CONCEALED = ("Concealed Hand", "Fully Concealed Hand")
_CHOW_PAIRS = ("Pure Double Chow", "Mixed Double Chow", "Short Straight", "Two Terminal Chows")
_TERMINAL_PUNG = "Pung of Terminals or Honors"

# fmt: off
ROWS_88 = (
    Row("Big Four Winds", "大四喜 dà sì xǐ", 88, "pungs of all four winds",
        of_sets=_pungs(4, _ARE_WINDS),
        replaces=("Big Three Winds", "All Pungs", "Prevalent Wind", "Seat Wind", _TERMINAL_PUNG)),
    Row("Big Three Dragons", "大三元 dà sān yuán", 88, "pungs of all three dragons",
        of_sets=_pungs(3, _ARE_DRAGONS), replaces=("Two Dragon Pungs", "Dragon Pung")),
    Row("All Green", "绿一色 lǜ yī sè", 88, "only 2, 3, 4, 6, 8 of bamboo and Green; Green need not be there",
        of_facts=_only(_GREEN), replaces=("Half Flush",)),
    Row("Nine Gates", "九莲宝灯 jiǔ lián bǎo dēng", 88,
        "before the winning tile 1112345678999 of one suit, concealed; any tile of the suit wins",
        per_hand=lambda win: win.once(_is_nine_gates), replaces=("Full Flush", *_CONCEALED, "No Honors")),
    Row("Four Kongs", "四杠 sì gàng", 88, "four kongs of any kind",
        of_facts=(Facts(4, melds=_KONGS),), replaces=("All Pungs", *_WAIT_ROWS)),
    Row("Seven Shifted Pairs", "连七对 lián qī duì", 88, "seven pairs of one suit with ranks in a row",
        shape=SEVEN_PAIRS, per_reading=_shifted_pairs,
        replaces=("Seven Pairs", "Full Flush", "No Honors", *_CONCEALED)),
    Row("Thirteen Orphans", "十三幺 shí sān yāo", 88, "one of each terminal and honor, one of them twice",
        shape=ORPHANS, replaces=("All Types", "All Terminals and Honors", *_CONCEALED)),
)
ROWS_64 = (
    Row("All Terminals", "清幺九 qīng yāo jiǔ", 64, "only 1s and 9s",
        of_facts=_only(_TERMINALS),
        replaces=("All Pungs", "Outside Hand", _TERMINAL_PUNG, "Double Pung", "No Honors")),
    Row("Little Four Winds", "小四喜 xiǎo sì xǐ", 64, "pungs of three winds and a pair of the fourth",
        of_sets=_pungs(3, _ARE_WINDS, pair=True),
        replaces=("Big Three Winds", _TERMINAL_PUNG)),
    Row("Little Three Dragons", "小三元 xiǎo sān yuán", 64, "pungs of two dragons and a pair of the third",
        of_sets=_pungs(2, _ARE_DRAGONS, pair=True),
        replaces=("Two Dragon Pungs", "Dragon Pung")),
    Row("All Honors", "字一色 zì yī sè", 64, "only winds and dragons",
        of_facts=_only(_HONOURS), replaces=("All Pungs", "Outside Hand", _TERMINAL_PUNG)),
    Row("Four Concealed Pungs", "四暗刻 sì àn kè", 64, "four concealed pungs or kongs",
        of_sets=_others(4, _CONCEALED_PUNGS),
        replaces=("All Pungs", *_CONCEALED)),
    Row("Pure Terminal Chows", "一色双龙会 yī sè shuāng lóng huì", 64, "123 123 789 789 55, all of one suit",
        of_sets=tuple(_terminal_chows(2, (suit,), suit) for suit in range(3)),
        replaces=("Full Flush", "All Chows", *_CHOW_PAIRS, "No Honors")),
)
ROWS_48 = (
    Row("Quadruple Chow", "一色四同顺 yī sè sì tóng shùn", 48, "the same chow four times",
        combines=_runs(True, (0, 0, 0)), replaces=("Tile Hog",)),
    Row("Four Pure Shifted Pungs", "一色四节高 yī sè sì jié gāo", 48, "four pungs of one suit with ranks in a row",
        combines=_triplets(True, (1, 1, 1)), replaces=("All Pungs",)),
)
ROWS_32 = (
    Row("Four Pure Shifted Chows", "一色四步高 yī sè sì bù gāo", 32,
        "four chows of one suit, each one rank above the one before, or each two ranks",
        combines=_runs(True, (1, 1, 1), (2, 2, 2))),
    Row("Three Kongs", "三杠 sān gàng", 32, "exactly three kongs of any kind",
        of_facts=(Facts(3, melds=_KONGS),)),
    Row("All Terminals and Honors", "混幺九 hùn yāo jiǔ", 32, "only 1s, 9s and honors, both there",
        of_facts=(*_only(_OUTSIDE), Facts(2, kinds=(_HONOURS, _TERMINALS))),
        replaces=("All Pungs", "Outside Hand", _TERMINAL_PUNG)),
)
ROWS_24 = (
    Row("Seven Pairs", "七对 qī duì", 24, "seven pairs, nothing melded; four alike are two pairs",
        shape=SEVEN_PAIRS, replaces=_CONCEALED),
    Row("Greater Honors and Knitted Tiles", "七星不靠 qī xīng bù kào", 24,
        "each honor once and seven different tiles of one knitted straight",
        shape=KNITTED_TILES, per_reading=lambda reading: reading.of(_different_honors(reading.wins)) == 7,
        replaces=("Lesser Honors and Knitted Tiles", "All Types", *_CONCEALED)),
    Row("All Even Pungs", "全双刻 quán shuāng kè", 24, "four pungs and the pair all of 2, 4, 6, 8",
        of_sets=_everywhere(_EVEN, None),
        replaces=("All Pungs", "All Simples", "No Honors")),
    Row("Full Flush", "清一色 qīng yī sè", 24, "one suit, no honors",
        of_facts=_suits(1, honours=False), replaces=("No Honors",)),
    Row("Pure Triple Chow", "一色三同顺 yī sè sān tóng shùn", 24, "the same chow three times",
        combines=_runs(True, (0, 0))),
    Row("Pure Shifted Pungs", "一色三节高 yī sè sān jié gāo", 24, "three pungs of one suit with ranks in a row",
        combines=_triplets(True, (1, 1))),
    Row("Upper Tiles", "全大 quán dà", 24, "only 7, 8, 9",
        of_facts=_only(_kinds(7, 8, 9)), replaces=("Upper Four", "No Honors")),
    Row("Middle Tiles", "全中 quán zhōng", 24, "only 4, 5, 6",
        of_facts=_only(_kinds(4, 5, 6)), replaces=("All Simples", "No Honors")),
    Row("Lower Tiles", "全小 quán xiǎo", 24, "only 1, 2, 3",
        of_facts=_only(_kinds(1, 2, 3)), replaces=("Lower Four", "No Honors")),
)
ROWS_16 = (
    Row("Pure Straight", "清龙 qīng lóng", 16, "chows 123, 456, 789 of one suit",
        combines=_runs(True, (3, 3))),
    Row("Three-Suited Terminal Chows", "三色双龙会 sān sè shuāng lóng huì", 16,
        "123 and 789 of two suits and a pair of 5 of the third",
        of_sets=tuple(_terminal_chows(1, suits, 3 - sum(suits)) for suits in ((0, 1), (0, 2), (1, 2))),
        replaces=("All Chows", *_CHOW_PAIRS, "No Honors")),
    Row("Pure Shifted Chows", "一色三步高 yī sè sān bù gāo", 16,
        "three chows of one suit, each one rank above the one before, or each two ranks",
        combines=_runs(True, (1, 1), (2, 2))),
    Row("All Fives", "全带五 quán dài wǔ", 16, "every set and the pair contain a 5; not with a knitted straight",
        of_sets=_everywhere(_FIVES, _RUNS_WITH_FIVE), replaces=("All Simples", "No Honors")),
    Row("Triple Pung", "三同刻 sān tóng kè", 16, "pungs of one rank in all three suits",
        combines=_triplets(False, (0, 0))),
    Row("Three Concealed Pungs", "三暗刻 sān àn kè", 16, "exactly three concealed pungs or kongs",
        of_sets=_others(3, _CONCEALED_PUNGS)),
)
ROWS_12 = (
    Row("Lesser Honors and Knitted Tiles", "全不靠 quán bù kào", 12,
        "fourteen different tiles: five or six honors, the rest of one knitted straight",
        shape=KNITTED_TILES, replaces=("All Types", *_CONCEALED)),
    Row("Knitted Straight", "组合龙 zǔ hé lóng", 12,
        "147 of one suit, 258 of another, 369 of the third, with a set and a pair or with five honors",
        per_reading=lambda reading: _has_knitted_straight(reading)),
    Row("Upper Four", "大于五 dà yú wǔ", 12, "only 6, 7, 8, 9",
        of_facts=_only(_kinds(6, 7, 8, 9)), replaces=("No Honors",)),
    Row("Lower Four", "小于五 xiǎo yú wǔ", 12, "only 1, 2, 3, 4",
        of_facts=_only(_kinds(1, 2, 3, 4)), replaces=("No Honors",)),
    Row("Big Three Winds", "三风刻 sān fēng kè", 12, "pungs of exactly three winds",
        of_sets=_pungs(3, _ARE_WINDS)),
)
ROWS_8 = (
    Row("Mixed Straight", "花龙 huā lóng", 8, "chows 123, 456, 789, each of another suit",
        combines=_runs(False, (3, 3))),
    Row("Reversible Tiles", "推不倒 tuī bù dǎo", 8, "only 1234589 of dots, 245689 of bamboo and White",
        of_facts=_only(_REVERSIBLE), replaces=("One Voided Suit",)),
    Row("Mixed Triple Chow", "三色三同顺 sān sè sān tóng shùn", 8, "the same chow in all three suits",
        combines=_runs(False, (0, 0))),
    Row("Mixed Shifted Pungs", "三色三节高 sān sè sān jié gāo", 8,
        "three pungs with ranks in a row, each of another suit",
        combines=_triplets(False, (1, 1))),
    Row("Last Tile Draw", "妙手回春 miào shǒu huí chūn", 8, "self-drawn with the last tile of the wall",
        of_facts=_are_true(_DRAWN, _LAST_TILE), replaces=("Self-Drawn",)),
    Row("Last Tile Claim", "海底捞月 hǎi dǐ lāo yuè", 8, "won with the discard after the last tile of the wall",
        of_facts=_are_true(_ON_DISCARD, _LAST_TILE)),
    Row("Out with Replacement Tile", "杠上开花 gàng shàng kāi huā", 8,
        "self-drawn with the replacement tile of a kong; not if a flower came between",
        of_facts=(*_are_true(on_kong_draw), Facts(0, flags=(_FLOWER_DRAW,))), replaces=("Self-Drawn",)),
    Row("Robbing the Kong", "抢杠和 qiǎng gàng hú", 8, "won with the tile that another player adds to their pung",
        of_facts=_are_true(_ROBBED_KONG), replaces=("Last Tile",)),
)
ROWS_6 = (
    Row("All Pungs", "碰碰和 pèng pèng hú", 6, "four pungs or kongs and a pair",
        of_sets=_pungs(4, _ALL)),
    Row("Half Flush", "混一色 hùn yī sè", 6, "one suit and honors, both there",
        of_facts=_suits(1, honours=True)),
    Row("Mixed Shifted Chows", "三色三步高 sān sè sān bù gāo", 6,
        "three chows, each of another suit, each one rank above the one before",
        combines=_runs(False, (1, 1))),
    Row("All Types", "五门齐 wǔ mén qí", 6, "all three suits, a wind and a dragon",
        of_facts=(Facts(5, kinds=(*_SUITS, _ARE_WINDS, _ARE_DRAGONS)),)),
    Row("Melded Hand", "全求人 quán qiú rén", 6, "four sets with claimed tiles, won with a discard",
        of_facts=(Facts(4, melds=_OPEN), *_are_true(_ON_DISCARD)), replaces=("Single Wait",)),
    Row("Two Concealed Kongs", "双暗杠 shuāng àn gàng", 6, "exactly two kongs, both concealed",
        of_facts=_kongs_are(2, 0), replaces=("Two Concealed Pungs",)),
    Row("Two Dragon Pungs", "双箭刻 shuāng jiàn kè", 6, "pungs of exactly two dragons, the third not the pair",
        of_sets=_pungs(2, _ARE_DRAGONS), replaces=("Dragon Pung",)),
)
ROWS_4 = (
    Row("Outside Hand", "全带幺 quán dài yāo", 4,
        "every set and the pair contain a terminal or honor; not with a knitted straight",
        of_sets=_everywhere(_OUTSIDE, _RUNS_WITH_END)),
    Row("Fully Concealed Hand", "不求人 bù qiú rén", 4, "nothing claimed, self-drawn; concealed kongs are allowed",
        of_facts=(Facts(0, melds=_OPEN), *_are_true(_DRAWN)), replaces=("Self-Drawn",)),
    Row("Two Melded Kongs", "双明杠 shuāng míng gàng", 4, "exactly two kongs, both exposed or added",
        of_facts=_kongs_are(0, 2)),
    Row("Last Tile", "和绝张 hú jué zhāng", 4,
        "the winning tile is the fourth of its kind; the other three lie open, as discards or in melds",
        of_facts=_are_true(_FOURTH_TILE)),
)
ROWS_2 = (
    Row("Dragon Pung", "箭刻 jiàn kè", 2, "a pung of one dragon",
        of_sets=_pungs(1, _ARE_DRAGONS)),
    Row("Prevalent Wind", "圈风刻 quān fēng kè", 2, "a pung of the round's wind",
        of_sets=_others(1, lambda reading: reading.once(_wind_pungs).round)),
    Row("Seat Wind", "门风刻 mén fēng kè", 2, "a pung of one's own wind",
        of_sets=_others(1, lambda reading: reading.once(_wind_pungs).house)),
    Row("Concealed Hand", "门前清 mén qián qīng", 2,
        "nothing claimed, won with another player's tile; concealed kongs are allowed",
        of_facts=(Facts(0, melds=_OPEN, flags=(_DRAWN,)),)),
    Row("All Chows", "平和 píng hú", 2, "chows and a pair of a suit; also a knitted straight, a chow and such a pair",
        of_sets=((Counted(0, triplets=_ALL), Counted(1, pair=~_HONOURS)),), replaces=("No Honors",)),
    Row("Tile Hog", "四归一 sì guī yī", 2, "each kind of which the hand has all four and not as a kong",
        per_hand=lambda win: (win.tiles == 4).sum(axis=1)),
    Row("Double Pung", "双同刻 shuāng tóng kè", 2, "each two pungs of one rank in two suits",
        combines=_triplets(False, (0,))),
    Row("Two Concealed Pungs", "双暗刻 shuāng àn kè", 2, "exactly two concealed pungs or kongs",
        of_sets=_others(2, _CONCEALED_PUNGS)),
    Row("Concealed Kong", "暗杠 àn gàng", 2, "exactly one kong, concealed",
        of_facts=_kongs_are(1, 0)),
    Row("All Simples", "断幺 duàn yāo", 2, "only 2 to 8",
        of_facts=_only(~_OUTSIDE), replaces=("No Honors",)),
)
ROWS_1 = (
    Row("Pure Double Chow", "一般高 yī bān gāo", 1, "each two chows that are the same",
        combines=_runs(True, (0,))),
    Row("Mixed Double Chow", "喜相逢 xǐ xiāng féng", 1, "each two chows of the same ranks in two suits",
        combines=_runs(False, (0,))),
    Row("Short Straight", "连六 lián liù", 1, "each two chows of one suit that follow each other, such as 123 456",
        combines=_runs(True, (3,))),
    Row("Two Terminal Chows", "老少副 lǎo shào fù", 1, "each two chows 123 and 789 of one suit",
        combines=_runs(True, (6,))),
    Row(_TERMINAL_PUNG, "幺九刻 yāo jiǔ kè", 1,
        "each pung of 1s, of 9s, or of a wind that is neither the round's nor one's own",
        per_sets=_terminals_or_honors),
    Row("Melded Kong", "明杠 míng gàng", 1, "exactly one kong, exposed or added",
        of_facts=_kongs_are(0, 1)),
    Row("One Voided Suit", "缺一门 quē yī mén", 1, "exactly two suits, with honors or without",
        of_facts=(Facts(2, kinds=_SUITS),)),
    Row("No Honors", "无字 wú zì", 1, "no winds, no dragons",
        of_facts=_only(~_HONOURS)),
    Row("Edge Wait", "边张 biān zhāng", 1, "the 3 of 12 or the 7 of 89, the only kind waited for",
        per_sets=lambda reading: reading.once(_waits) == _EDGE),
    Row("Closed Wait", "嵌张 qiàn zhāng", 1, "the middle tile of a chow, the only kind waited for",
        per_sets=lambda reading: reading.once(_waits) == _CLOSED),
    Row("Single Wait", "单钓将 dān diào jiàng", 1, "the pair, the only kind waited for",
        per_sets=lambda reading: reading.once(_waits) == _SINGLE),
    Row("Self-Drawn", "自摸 zì mō", 1, "self-drawn",
        of_facts=_are_true(_DRAWN)),
)
FLOWERS = Row("Flower Tiles", "花牌 huā pái", ByKnob("flower_points"),
              "each flower or season exposed; not part of the points that a win needs",
              per_hand=lambda win: win.flowers.sum(axis=1))
MIXED_KONGS = Row("Melded and Concealed Kongs", "明暗杠 míng àn gàng", ByKnob("mixed_kongs"),
                  "exactly two kongs, one concealed and one not; the later addition to the 81",
                  of_facts=_kongs_are(1, 1))
_OTHERS = (*ROWS_88, *ROWS_64, *ROWS_48, *ROWS_32, *ROWS_24, *ROWS_16, *ROWS_12, *ROWS_8, *ROWS_6, *ROWS_4, *ROWS_2,
           *ROWS_1)
CHICKEN = Row("Chicken Hand", "无番和 wú fān hú", 8, "nothing else scores, flowers apart",
              unless=tuple(row.name for row in (*_OTHERS, MIXED_KONGS)))
# fmt: on
_BEFORE_CHICKEN = [row.name for row in _OTHERS].index("Last Tile Draw")
ROWS = (*_OTHERS[:_BEFORE_CHICKEN], CHICKEN, *_OTHERS[_BEFORE_CHICKEN:], FLOWERS, MIXED_KONGS)


def _different_honors(wins: Wins) -> Int8Array:
    """Return [n] the number of kinds of honors among the concealed tiles."""
    return different_honours().take(wins.codes[:, HONOUR_GROUP])


def _has_knitted_straight(reading: Readings) -> Any:
    """Return [m] whether a reading has one, or one answer for all; knitted tiles have it if five of them are honors."""
    beside_a_set = reading.in_shape(KNITTED_STRAIGHT)
    if KNITTED_TILES not in reading.shapes:
        return beside_a_set
    return beside_a_set | reading.in_shape(KNITTED_TILES) & (reading.of(_different_honors(reading.wins)) == 5)


def _are_not_plain(wins: Wins) -> BoolArray:
    """Return [n] complete hands of another shape than sets and a pair, all worth `_OTHER_SHAPES` or more."""
    words, total = wins.suit_summaries, wins.sum_of_summaries
    others = short_of_sets_and_pair(words, total) > 0
    others |= (wins.own_melds == 0) & (pairs(words, total) == 7)
    return others & (wins.rules.minimum_points <= _OTHER_SHAPES)


def _pays_points(wins: Wins) -> BoolArray:
    """Return [n, S] who pays the points beside the base: the seat that gave the tile, or everybody if it was drawn."""
    return wins.drawn[:, None] | only(wins, wins.from_seat)


# --- What agents aim at -----------------------------------------------------------------------------------------------


_AIMED_RUNS = ("Pure Straight", "Pure Shifted Chows", "Mixed Straight", "Mixed Triple Chow", "Mixed Shifted Chows")


def _ranks(low: int, high: int) -> np.uint64:
    """Return the kinds of some neighbouring ranks."""
    return pack(_kinds(*range(low, high + 1))[None])[0]


def _suit(suit: int, *, honours: bool = False) -> np.uint64:
    """Return the kinds of a suit, perhaps with honours."""
    return pack(_kinds(*range(1, 10), suits=(suit,), honours=(*range(FIRST_HONOUR, NUM_KINDS),) * honours)[None])[0]


@cache
def _aims(minimum: int) -> Aims:
    """Return the aims that are worth a minimum of points, by the points of the rows."""
    value = {row.name: int(row.value_in(RULES)) for row in ROWS}

    def aim(name: str, shape: str, **asked: Any) -> Aim:
        return Aim(name, value[name], shape, **asked)

    aims = [
        *(
            aim(row.name, "runs", steps=row.combines.steps, one_suit=row.combines.one_suit)
            for row in ROWS
            if row.combines is not None and row.name in _AIMED_RUNS
        ),
        aim("Knitted Straight", "knitted straight"),
        aim("Lesser Honors and Knitted Tiles", "knitted tiles"),
        aim("Seven Pairs", "pairs"),
        aim("Thirteen Orphans", "orphans"),
        aim("All Pungs", "pungs", opens=True),
        aim("All Types", "all groups", opens=True),
        aim("Upper Four", "sets", kinds=_ranks(6, 9)),
        aim("Lower Four", "sets", kinds=_ranks(1, 4)),
        *(aim("Full Flush", "sets", kinds=_suit(suit)) for suit in range(3)),
        *(aim("Half Flush", "sets", kinds=_suit(suit, honours=True), opens=True) for suit in range(3)),
        Aim("any", 1, "sets"),
    ]
    return Aims(aims, minimum, concealed=value["Concealed Hand"], all_runs=value["All Chows"])


@dataclass(frozen=True, kw_only=True)
class Mcr(ScoredRules):
    """The rules of MCR; the fields are its knobs."""

    name: ClassVar[str] = "mcr"
    title: ClassVar[str] = "MCR"
    chinese: ClassVar[str] = "国标麻将"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "botzone": {"flower_tiles": False, "private_walls": True, "shows_drawn": False}
    }
    shapes: ClassVar[tuple[Shape, ...]] = (
        SETS_AND_PAIR,
        SEVEN_PAIRS,
        KNITTED_STRAIGHT,
        ORPHANS,
        KNITTED_TILES,
    )
    rows: ClassVar[tuple[Row, ...]] = ROWS
    restrictions: ClassVar[tuple[Restriction, ...]] = (
        Restriction(
            "the hand is worth less than {minimum_points} points without flowers",
            minimum=ByKnob("minimum_points"),
            apart=(FLOWERS.name,),
            spares=_are_not_plain,
        ),
    )
    payment: ClassVar[Payment] = Payment(draw=Payer.ALL_PAY, discard=Payer.ALL_PAY, robbed_kong=Payer.ALL_PAY)
    share: ClassVar[Share] = Share(base=ByKnob("base"), factor=lambda wins: _pays_points(wins))
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance("fourth_tile", "the three others of the winning kind lie open", type=bool, sets="fourth_tile"),
    )

    minimum_points: int = knob(
        8, about="the points that a win needs, flowers not counted", chinese="起和番数，花牌不算"
    )
    base: int = knob(
        8,
        about="what every other player pays for a win, in addition to the points",
        chinese="和牌时其余每家除番数外所付的底分",
    )
    mixed_kongs: int = knob(
        5, choices=(5, 6), about="the value of one melded and one concealed kong", chinese="明暗杠的番数"
    )
    flower_tiles: bool = knob(True, about="play with the flowers and seasons", chinese="用不用花牌")
    private_walls: bool = knob(
        False,
        about="whether each player draws from a separate wall of 34 tiles, as on Botzone; without flowers",
        chinese="各家是否只从自己的 34 张牌墙摸牌（复式，如 Botzone）；不能用花牌",
    )
    flower_points: int = knob(1, choices=(1, 0), about="the points of a flower", chinese="一张花牌的番数")
    change_seats: bool = knob(
        False, about="people change seats after each round, as at tournaments", chinese="每圈之后换座位，如比赛那样"
    )
    initial_points: int = knob(0, about="points of each person when a match begins", chinese="一场开始时每人的分数")

    def __post_init__(self) -> None:
        """Check the knobs, and those that exclude each other."""
        super().__post_init__()
        if self.private_walls and self.flower_tiles:
            raise RulesError(
                f"{self.name}: private_walls=True needs flower_tiles=False: a private wall is 34 of the 136 tiles "
                "without flowers"
            )

    @property
    def has_private_walls(self) -> bool:  # type: ignore[override]  # a knob
        """Whether each seat has a wall of its own."""
        return self.private_walls

    @property
    def people_move(self) -> bool:
        """Whether people change seats."""
        return self.change_seats

    @property
    def uses_flowers(self) -> bool:  # type: ignore[override]  # a knob
        """Whether flowers and seasons are in the set."""
        return self.flower_tiles

    @property
    def sigma(self) -> float:
        """See `Rules.sigma`; measured as a part that grows with the base, and a constant part for the points."""
        return 1.45 * self.base + 18.54

    @property
    def aims(self) -> Aims | None:
        """See `Rules.aims`; None where one point is enough, because every hand is worth one."""
        return _aims(self.minimum_points) if self.minimum_points > 1 else None

    def begin_match(self, state: State, games: Games, keys: UInt64Array, *, at_random: bool) -> None:
        """Begin matches with no streak, because nobody keeps the deal."""
        super().begin_match(state, games, keys, at_random=at_random)
        state.streak[games] = 0

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """Pass the deal to the next seat; the round's wind changes every four hands."""
        state.turnover[games] += 1
        state.dealer[games] = (state.dealer[games] + 1) % self.seats
        state.streak[games] = 0  # which a scene may have named
        state.round_wind[games] = state.turnover[games] // _HANDS_OF_A_ROUND % _ROUNDS

    def rotate(self, state: State, games: Games, winner: Int8Array) -> None:
        """Let people change seats after each round of a match."""
        if not self.change_seats:
            return
        rounds, hand = np.divmod(state.turnover[games], _HANDS_OF_A_ROUND)
        changes = (hand == 0) & (rounds % _ROUNDS > 0)
        games, rounds = games[changes], rounds[changes]
        # The first dealer's seat was East's, and deals now.
        seats = (state.dealer[games, None] + np.arange(self.seats)) % self.seats
        comes_from = seats[np.arange(len(games))[:, None], _CHANGES[rounds % _ROUNDS - 1]]
        persons = state.person_at[games[:, None], comes_from]
        state.person_at[games[:, None], seats] = persons


RULES = Mcr()
