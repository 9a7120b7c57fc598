"""Wuhan mahjong: the scoring table, what bars a win, and Wild Card Seven Pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, IS_TERMINAL, NORTH, NUM_KINDS, RANK, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, UInt32Array
from mahjong_env.hands import (
    SUIT,
    encode,
    pairs,
    pairs_of_one,
    short_of_sets_and_258,
    short_of_sets_and_pair,
    suit_summaries,
)
from mahjong_env.scoring.patterns import SuitRows, count_melds, on_kong_draw, open_melds, suit_rows, suits_present
from mahjong_env.scoring.readings import SETS_AND_PAIR, Readings, Shape
from mahjong_env.scoring.rows import Restriction, Row, by_knob, names
from mahjong_env.scoring.wins import Wins

RED_DISCARDS = 0
"""The index of the only mark of a seat: Red Dragons that it has discarded."""

_NUM_WILDS, _NATURAL_PAIRS = np.int8(4), np.int8(5)
_IS_258 = np.isin(RANK[:NUM_KINDS], (2, 5, 8))
_NO_TERMINAL = np.where(IS_TERMINAL[:NUM_KINDS], np.int8(0), np.int8(-1))  # all bits, or none
_WINDS = slice(EAST, NORTH + 1)
_DRAGONS = slice(WHITE, RED + 1)


# --- Wild Card Seven Pairs --------------------------------------------------------------------------------------------


def is_wild_card_seven_pairs(wins: Wins) -> BoolArray:
    """[n] four wild tiles and five natural pairs, four alike being two of them."""
    possible = (wins.own_melds == 0) & (wins.wilds == _NUM_WILDS)
    return possible & ~(wins.counts & 1).any(axis=1) if possible.any() else possible


def _short_of_wild_card_seven_pairs(summaries: UInt32Array, melds: Any, total: UInt32Array, wilds: Any) -> Int8Array:
    """[...] natural pairs that are lacking, a tile each, and the four wild tiles."""
    return np.maximum(_NATURAL_PAIRS - pairs(summaries, total), 0) + _NUM_WILDS


def _wild_card_seven_pairs_of_one(total: int, with_pair: int, wilds: int) -> int:
    return max(int(_NATURAL_PAIRS) - pairs_of_one(total), 0) + int(_NUM_WILDS)


def _read_wild_card_seven_pairs(shape: Shape, wins: Wins, which: Games) -> list[Readings]:
    """Four readings of each hand: the wild tiles are of each suit in turn, or the tiles that they are."""
    owner = which.compress(is_wild_card_seven_pairs(wins).take(which)).repeat(4)
    taken_as = np.arange(len(owner)) % 4
    present = suits_present(wins.natural.take(owner, axis=0))
    own_group = SUIT[wins.wild.take(owner)]
    present[np.arange(len(owner)), np.where(taken_as == 3, own_group, taken_as)] = True
    return [Readings(wins, shape, owner, suits=suit_rows(present))]


WILD_CARD_SEVEN_PAIRS = Shape(
    "Wild Card Seven Pairs",
    _short_of_wild_card_seven_pairs,
    _read_wild_card_seven_pairs,
    concealed=True,
    short_of_one=_wild_card_seven_pairs_of_one,
)


# --- Rows that some reading has, found without reading ----------------------------------------------------------------


def _suits_of_naturals(wins: Wins) -> SuitRows:
    """The suit rows of the melds and the natural tiles; wild tiles can always stay within them."""
    return suit_rows(suits_present(wins.melded.tiles + wins.natural))


def _can_be_all_triplets(wins: Wins) -> BoolArray:
    """[n] whether all sets can be triplets."""
    beyond = wins.natural % 3
    lacking = np.where(beyond > 0, 3 - beyond, 0).sum(axis=1)
    # The pair is made of a kind that has tiles to spare, where it saves one tile, or else of two new ones.
    lacking += np.where(beyond.any(axis=1), -1, 2)
    return (lacking <= wins.jokers) & ~wins.melded.chows.any(axis=1)


def _can_be_big_three_dragons(wins: Wins) -> BoolArray:
    """[n] whether the dragons can be triplets and the rest complete."""
    possible = np.zeros(len(wins), np.bool_)
    natural = wins.natural
    wanted = np.where(wins.melded.triplets[:, _DRAGONS] > 0, 0, 3)
    taken = np.minimum(natural[:, _DRAGONS], wanted)
    left = wins.jokers - (wanted - taken).sum(axis=1)
    enough = np.flatnonzero(left >= 0)
    if enough.size:
        rest = natural[enough]
        rest[:, _DRAGONS] -= taken[enough].astype(np.int8)
        possible[enough] = short_of_sets_and_pair(suit_summaries(encode(rest))) <= left[enough]
    return possible


# --- Rows -------------------------------------------------------------------------------------------------------------

# Of readings that are worth the same, Pure One Suit comes first: who is responsible for it pays at least as much
# as would be paid otherwise.
LARGE = (
    Row(
        "All Triplets",
        "碰碰胡 pèng pèng hú",
        10,
        "every set is a triplet or kong",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: reading.all_pungs,
        in_some_reading=_can_be_all_triplets,
    ),
    Row(
        "Pure One Suit",
        "清一色 qīng yī sè",
        10,
        "one suit, no honours",
        per_reading=lambda reading: reading.suits.pure,
        in_some_reading=lambda win: win.once(_suits_of_naturals).pure,
        preference=8,
    ),
    Row(
        "Mixed One Suit",
        "混一色 hùn yī sè",
        10,
        "one suit and honours",
        per_reading=lambda reading: reading.suits.mixed,
        in_some_reading=lambda win: win.once(_suits_of_naturals).mixed,
    ),
    Row(
        "Terminals Only",
        "清老头 qīng lǎo tóu",
        10,
        "ones and nines only",
        per_reading=lambda reading: ~(reading.tiles & _NO_TERMINAL).any(axis=1),
        comes_with="All Triplets",
        preference=1,
    ),
    Row(
        "All Honors",
        "字一色 zì yī sè",
        10,
        "winds and dragons only",
        per_reading=lambda reading: reading.suits.honours,
        comes_with="All Triplets",
        preference=2,
    ),
    Row(
        "Full Demand",
        "全求人 quán qiú rén",
        10,
        "four open melds, one tile in hand",
        per_hand=lambda win: open_melds(win) == 4,
    ),
    Row(
        "Fishing the Bottom",
        "海底捞 hǎi dǐ lāo",
        10,
        "self-drawn with the last tile of the wall",
        per_hand=lambda win: win.drawn & win.last_tile,
    ),
    Row(
        "Kong Bloom",
        "杠上开花 gàng shàng kāi huā",
        10,
        "self-drawn with the replacement tile of a kong",
        per_hand=on_kong_draw,
    ),
    Row(
        "Robbing a Kong",
        "抢杠 qiǎng gàng",
        10,
        "won with the tile that another player adds to his pung",
        per_hand=lambda win: win.robbed_kong,
    ),
    Row(
        "Wild Card Seven Pairs",
        "七皮四赖 qī pí sì lài",
        10,
        "the four wild tiles and five natural pairs",
        shape=WILD_CARD_SEVEN_PAIRS,
        in_some_reading=is_wild_card_seven_pairs,
    ),
    Row(
        "Big Three Dragons",
        "大三元 dà sān yuán",
        10,
        "triplets or kongs of White, Green and Red",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: (reading.triplets[:, _DRAGONS] > 0).all(axis=1),
        in_some_reading=_can_be_big_three_dragons,
    ),
    Row(
        "Big Four Winds",
        "大四喜 dà sì xǐ",
        10,
        "triplets or kongs of all four winds",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: (reading.triplets[:, _WINDS] > 0).all(axis=1),
        comes_with="All Triplets",
    ),
)
"""The Large rows."""
FLAT = Row("Flat Hand", "平胡 píng hú", 1, "none of the Large rows below", unless=names(*LARGE))


def _wild_kongs(wins: Wins) -> Any:
    """[n] declared kongs of the wild tiles."""
    is_concealed = wins.own_type == int(MeldType.CONCEALED_KONG)
    return (is_concealed & (wins.own_kind == wins.wild[:, None])).sum(axis=1)


FACTORS = (
    Row("Open Mouth", "开口翻 kāi kǒu fān", 2, "for each chow, pung, exposed kong and added kong", per_hand=open_melds),
    Row("Dealer", "庄家 zhuāng jiā", 2, "the winner is the dealer", per_hand=lambda win: win.by_dealer),
    Row("Self-Draw", "自摸 zì mō", 1.5, "won with a tile drawn by oneself", per_hand=lambda win: win.drawn),
    Row(
        "Hard Win",
        "硬胡 yìng hú",
        2,
        "no wild tile stands for another kind",
        per_reading=lambda reading: reading.wilds_are_themselves,
        preference=4,
    ),
    Row("Soft Win", "软胡 ruǎn hú", 1, "a wild tile stands for another kind", unless=("Hard Win",)),
    Row(
        "Exposed Kong",
        "明杠 míng gàng",
        2,
        "for each kong made with a discard",
        per_hand=lambda win: count_melds(win, MeldType.EXPOSED_KONG),
    ),
    Row(
        "Added Kong",
        "加杠 jiā gàng",
        2,
        "for each pung with the fourth tile added",
        per_hand=lambda win: count_melds(win, MeldType.ADDED_KONG),
    ),
    Row(
        "Concealed Kong",
        "暗杠 àn gàng",
        4,
        "for each kong of four tiles of the hand",
        per_hand=lambda win: count_melds(win, MeldType.CONCEALED_KONG) - _wild_kongs(win),
    ),
    Row(
        "Wild Card Kong",
        "癞子杠 lài zi gàng",
        by_knob("wild_kong_multiplier"),
        "a kong of the four wild tiles",
        per_hand=lambda win: _wild_kongs(win) > 0,
    ),
    Row(
        "Red Dragon",
        "红中杠 hóng zhōng gàng",
        2,
        "for each Red Dragon that the winner has discarded",
        per_hand=lambda win: win.own_marks[:, RED_DISCARDS],
    ),
)


# --- What bars a win (wuhan.md#a-hand-that-may-win) --------------------------------------------------------------

RESTRICTIONS = (
    Restriction(
        "a discarded wild tile can be claimed by nobody, not even to win",
        per_hand=lambda win: ~win.drawn & (win.winning_tile == win.wild),
    ),
    Restriction(
        "a discarded Red Dragon can be claimed by nobody, not even to win",
        per_hand=lambda win: ~win.drawn & (win.winning_tile == RED),
    ),
    Restriction(
        "a hand with a wild tile can only be won by self-draw",
        per_hand=lambda win: ~win.drawn & (win.wilds > 0) & (not win.rules.wild_hand_discard_win),
    ),
    Restriction(
        "the hand has no open meld (chow, pung, exposed or added kong)",
        per_hand=lambda win: open_melds(win) == 0,
        waived_by=("Wild Card Seven Pairs",),
    ),
    Restriction(
        "a Red Dragon in hand bars every win but Big Three Dragons",
        per_hand=lambda win: win.counts[:, RED] > 0,
        waived_by=("Big Three Dragons",),
    ),
    Restriction(
        "a small hand may hold one wild tile at most",
        per_hand=lambda win: win.wilds > 1,
        waived_by=names(*LARGE),
    ),
    Restriction(
        "the pair of a small hand must be 2, 5 or 8",
        per_reading=lambda reading: ~_IS_258.take(reading.pair),
        in_every_reading=lambda win: short_of_sets_and_258(win.suit_summaries, win.sum_of_summaries) > win.jokers,
        waived_by=names(*LARGE),
    ),
)
