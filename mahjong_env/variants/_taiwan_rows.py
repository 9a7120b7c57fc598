"""Taiwanese 16-tile mahjong: the scoring table, and what its rows ask of hands."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, FIRST_HONOUR, FLOWERS, NORTH, NUM_KINDS, RED, WHITE
from mahjong_env.basics.types import BoolArray, Int8Array
from mahjong_env.scoring.patterns import count_melds, is_closed, suits_of, waits_for_one
from mahjong_env.scoring.readings import SETS_AND_PAIR, Readings, Shape
from mahjong_env.scoring.rows import Row, names
from mahjong_env.scoring.wins import Wins

_ALL_FLOWERS: Final = 8
_UP_TO_A_RUN: Final = np.arange(3, dtype=np.int8)[:, None]

SITUATION = (
    Row(
        "Waiting for One",
        "獨聽 dú tīng",
        1,
        "one kind alone could complete the hand; by draw or discard",
        per_hand=waits_for_one,
    ),
    Row(
        "Exposed Gang",
        "明槓 míng gàng",
        1,
        "each gang with a claimed tile, also one made from a pung",
        per_hand=lambda win: count_melds(win, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG),
    ),
    Row(
        "Hidden Gang",
        "暗槓 àn gàng",
        2,
        "each gang of four own tiles",
        per_hand=lambda win: count_melds(win, MeldType.CONCEALED_KONG),
    ),
    Row(
        "No Characters",
        "無字 wú zì",
        1,
        "no winds, no dragons",
        per_hand=lambda win: ~win.tiles[:, FIRST_HONOUR:].any(axis=1),
    ),
    Row(
        "No Flowers",
        "無花 wú huā",
        1,
        "no flower and no season exposed",
        per_hand=lambda win: ~win.flowers.any(axis=1),
    ),
    Row(
        "Pure Hand",
        "門清 mén qīng",
        1,
        "nothing claimed, won with another player's tile; hidden gangs are allowed (elsewhere called Closed Hand)",
        per_hand=lambda win: is_closed(win) & ~win.drawn,
    ),
    Row("Self-Touch", "自摸 zì mō", 1, "self-drawn", per_hand=lambda win: win.drawn),
    Row(
        "Pure Self-Touch",
        "門清自摸 mén qīng zì mō",
        3,
        "self-drawn with nothing claimed, instead of both",
        per_hand=lambda win: is_closed(win) & win.drawn,
        replaces=("Self-Touch",),
    ),
    Row(
        "Gang Blossom",
        "槓上開花 gàng shàng kāi huā",
        1,
        "self-drawn as the replacement of a gang or a flower",
        per_hand=lambda win: win.drawn & ((win.kong_draws > 0) | win.flower_draw),
    ),
    Row(
        "Last Tile",
        "海底撈月 hǎi dǐ lāo yuè",
        1,
        "self-drawn as the last tile that can be drawn",
        per_hand=lambda win: win.drawn & win.last_tile,
    ),
    Row(
        "Robbing the Gang",
        "搶槓 qiǎng gàng",
        1,
        "won with the tile that another player adds to his pung",
        per_hand=lambda win: win.robbed_kong,
    ),
)
HONOURS_AND_FLOWERS = (
    Row(
        "Dragon",
        "三元牌 sān yuán pái",
        1,
        "each triple or gang of dragons",
        per_hand=lambda win: win.once(_honours).dragon_triples,
    ),
    Row(
        "House Wind",
        "門風 mén fēng",
        1,
        "a triple or gang of the own wind",
        per_hand=lambda win: win.once(_honours).winds[np.arange(len(win)), win.house_wind] >= 3,
    ),
    Row(
        "Round Wind",
        "圈風 quān fēng",
        1,
        "a triple or gang of the round's wind",
        per_hand=lambda win: win.once(_honours).winds[np.arange(len(win)), win.round_wind] >= 3,
    ),
    Row(
        "Own Flower",  # F1 and S1 are East's, 2 South's, 3 West's, 4 North's (taiwan.md#own-flower)
        "正花 zhèng huā",
        1,
        "each flower or season with the number of the own wind",
        per_hand=lambda win: _exposed(win)[np.arange(len(win)), :, win.house_wind].sum(axis=1),
    ),
    Row(
        "Four Flowers",
        "梅蘭菊竹 méi lán jú zhú",
        2,
        "the flowers F1 to F4",
        per_hand=lambda win: _exposed(win)[:, 0].all(axis=1),
    ),
    Row(
        "Four Seasons",
        "春夏秋冬 chūn xià qiū dōng",
        2,
        "the seasons S1 to S4",
        per_hand=lambda win: _exposed(win)[:, 1].all(axis=1),
    ),
)
HANDS = (
    Row(
        "Peaceful Win",
        "平胡 píng hú",
        2,
        "runs and a suit pair, not self-drawn, not Waiting for One",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: (
            reading.all_runs & (reading.pair < FIRST_HONOUR) & reading.of(_may_be_peaceful(reading.wins))
        ),
    ),
    Row(
        "Full Beggar's Hand",
        "全求人 quán qiú rén",
        2,
        "all five sets claimed, won on a discard",
        per_hand=lambda win: (win.own_melds == 5) & (count_melds(win, MeldType.CONCEALED_KONG) == 0) & win.on_discard,
    ),
    Row(
        "Three Hidden Triples",
        "三暗刻 sān àn kè",
        2,
        "three triples or gangs without another player's tile",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: reading.once(_hidden_triples) == 3,
    ),
    Row(
        "Four Hidden Triples",
        "四暗刻 sì àn kè",
        5,
        "four of them",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: reading.once(_hidden_triples) == 4,
    ),
    Row(
        "Five Hidden Triples",
        "五暗刻 wǔ àn kè",
        8,
        "five of them",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: reading.once(_hidden_triples) == 5,
    ),
    Row(
        "All Pungs",
        "碰碰胡 pèng pèng hú",
        4,
        "every set is a triple or gang",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: reading.all_pungs,
    ),
    Row("Mixed One Suit", "混一色 hùn yī sè", 4, "one suit and honours", per_hand=lambda win: suits_of(win).mixed),
    Row("Pure One Suit", "清一色 qīng yī sè", 8, "one suit alone", per_hand=lambda win: suits_of(win).pure),
    Row(
        "Little Three Dragons",
        "小三元 xiǎo sān yuán",
        4,
        "two triples and a pair of dragons; no Dragon rows",
        per_hand=lambda win: win.once(_honours).little_dragons,
        replaces=("Dragon",),
    ),
    Row(
        "Big Three Dragons",
        "大三元 dà sān yuán",
        8,
        "three triples of dragons; no Dragon rows",
        per_hand=lambda win: win.once(_honours).dragon_triples == 3,
        replaces=("Dragon",),
    ),
    Row(
        "Little Four Winds",
        "小四喜 xiǎo sì xǐ",
        8,
        "three triples and a pair of winds; no House or Round Wind",
        per_hand=lambda win: win.once(_honours).little_winds,
        replaces=("House Wind", "Round Wind"),
    ),
    Row(
        "Big Four Winds",
        "大四喜 dà sì xǐ",
        16,
        "four triples of winds; no House or Round Wind",
        per_hand=lambda win: win.once(_honours).wind_triples == 4,
        replaces=("House Wind", "Round Wind"),
    ),
    Row("All Honors", "字一色 zì yī sè", 8, "winds and dragons alone", per_hand=lambda win: suits_of(win).honours),
)
EIGHT_FLOWERS = Shape(
    "eight flowers", short_of=lambda summaries, melds, total, wilds: np.full(total.shape, 99, np.int8)
)
FIRST_DRAW = (
    Row(
        "Heaven",
        "天胡 tiān hú",
        24,
        "the dealer wins on his first draw, no gang before",
        per_hand=lambda win: win.first_draw & win.by_dealer,
        replaces=("Waiting for One", "Pure Hand", "Self-Touch", "Pure Self-Touch"),
    ),
    Row(
        "Earth",
        "地胡 dì hú",
        16,
        "another player wins on his first draw, no claim and no gang by anyone before",
        per_hand=lambda win: win.first_draw & ~win.by_dealer,
        replaces=("Waiting for One", "Pure Hand", "Self-Touch", "Pure Self-Touch"),
    ),
)
ALONE = Row(
    "Eight Flowers",
    "八仙過海 bā xiān guò hǎi",
    8,
    "all flowers and seasons exposed; any hand; scored alone",
    shape=EIGHT_FLOWERS,
    replaces=names(*SITUATION, *HONOURS_AND_FLOWERS, *HANDS, *FIRST_DRAW),
)
ROWS = (*SITUATION, *HONOURS_AND_FLOWERS, *HANDS, ALONE, *FIRST_DRAW)


def has_all_flowers(flowers: Int8Array) -> BoolArray:
    """[...] whether all eight flowers and seasons are exposed; ``flowers`` [..., 42] int8."""
    return np.asarray(flowers.sum(axis=-1) == _ALL_FLOWERS)


def _exposed(wins: Wins) -> Int8Array:
    """[n, 2, 4] flowers and seasons laid open, by their numbers."""
    return wins.flowers[:, FLOWERS:].reshape(-1, 2, 4)


class _Honours(NamedTuple):
    winds: Int8Array  # [n, 4] tiles of each wind, kongs counted as three
    wind_triples: Int8Array  # [n]
    dragon_triples: Int8Array  # [n]
    little_winds: BoolArray  # [n] three triples and a pair
    little_dragons: BoolArray  # [n] two triples and a pair


def _honours(wins: Wins) -> _Honours:
    """Winds and dragons of complete hands."""
    winds, dragons = wins.tiles[:, EAST : NORTH + 1], wins.tiles[:, WHITE : RED + 1]
    wind_triples, dragon_triples = ((tiles >= 3).sum(axis=1, dtype=np.int8) for tiles in (winds, dragons))
    return _Honours(
        winds,
        wind_triples,
        dragon_triples,
        little_winds=(wind_triples == 3) & (winds == 2).any(axis=1),
        little_dragons=(dragon_triples == 2) & (dragons == 2).any(axis=1),
    )


def _may_be_peaceful(wins: Wins) -> BoolArray:
    """[n] the conditions of Peaceful Win beside the sets."""
    may_be = ~wins.drawn & ~wins.once(waits_for_one)
    return may_be & ~wins.flowers.any(axis=1) if wins.rules.strict_peaceful else may_be


def _hidden_triples(reading: Readings) -> Int8Array:
    """[m] triples and gangs of each reading that no other player's tile has completed.

    A claimed winning tile that also fits a concealed run of the reading completes that run, and three others of its
    kind are hidden.
    """
    wins = reading.wins
    tile, claimed = reading.of(wins.winning_tile), reading.of(~wins.drawn)
    index = np.arange(len(reading)) * NUM_KINDS + tile
    exposed = claimed & (reading.hidden_triplets.reshape(-1).take(index) > 0)
    if exposed.any():
        runs = np.zeros((2 + NUM_KINDS, len(reading)), np.int8)  # runs that begin at kind k stand at k + 2
        runs[2:] = reading.hidden_runs.T
        exposed &= runs[tile + _UP_TO_A_RUN, np.arange(len(reading))].sum(axis=0) == 0
    gangs = reading.of(count_melds(wins, MeldType.CONCEALED_KONG))
    return reading.hidden_triplets.sum(axis=1, dtype=np.int8) + gangs - exposed
