"""Knitted straights (组合龙 zǔ hé lóng): 1 4 7 of one suit, 2 5 8 of a second, 3 6 9 of the third.

Two shapes are made of them: the nine tiles of a straight beside a set and a pair, and fourteen different tiles that are
honours or of one straight. Suits cannot be looked at one by one there, as each must take another part of the straight.
What a suit holds of each part is a number of six bits, and one table joins three such numbers.

A hand that lacks more than one tile of either counts as `FAR`: nobody asks how far.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import BASE, HONOUR_GROUP, NUM_GROUPS, NUM_HONOURS, NUM_KINDS, POWER, RANKS
from mahjong_env.hands.summaries import short_of_sets_and_pair, suit_summaries

FAR: Final = np.int8(99)
PARTS: Final = np.array(list(permutations(range(3))))
"""[6, 3] the part of the straight, by its lowest rank from 0, that each suit has in each of the six straights."""
STRAIGHTS: Final = np.zeros((len(PARTS), NUM_KINDS), np.int8)
"""[6, 34] the tiles of each straight."""
for _straight, _parts in zip(STRAIGHTS, PARTS, strict=True):
    for _suit, _part in enumerate(_parts):
        _straight[RANKS * _suit + _part : RANKS * (_suit + 1) : 3] = 1
STRAIGHTS.flags.writeable = PARTS.flags.writeable = False

_NEARLY_STRAIGHT, _NEARLY_ALL, _ALL, _OF_STRAIGHT = (np.array(number, np.int8) for number in (8, 13, 14, 9))


def short_of_knitted_tiles(codes: NDArray[Any]) -> NDArray[np.int8]:
    """[...] int8 tiles that lack until 14 different ones are honours or of one straight, for codes [..., 4]."""
    fitting = _most_of_a_straight(codes) + _different_honours().take(codes[..., HONOUR_GROUP])
    return np.where(fitting >= _NEARLY_ALL, _ALL - fitting, FAR)


def short_of_knitted_straight(codes: NDArray[Any]) -> NDArray[np.int8]:
    """[...] int8 tiles that lack until all are a straight, sets and a pair, for codes [..., 4]."""
    short = np.full(codes.shape[:-1], FAR)
    near = _most_of_a_straight(codes).reshape(-1) >= _NEARLY_STRAIGHT
    if not np.count_nonzero(near):
        return short
    place, _, rest, lacking = _beside_straights(codes.reshape(-1, NUM_GROUPS), near.nonzero()[0])
    found = lacking + short_of_sets_and_pair(suit_summaries(rest))
    np.minimum.at(short.reshape(-1), place, np.where(found <= 1, found, FAR))
    return short


def knitted_tiles_of_one(codes: tuple[int, int, int, int]) -> int:
    """`short_of_knitted_tiles` of one hand."""
    fitting = _most_of_one(codes) + _for_one()[2][codes[HONOUR_GROUP]]
    return int(_ALL) - fitting if fitting >= _NEARLY_ALL else int(FAR)


def knitted_straight_of_one(codes: tuple[int, int, int, int]) -> int:
    """`short_of_knitted_straight` of one hand."""
    near = _most_of_one(codes) >= _NEARLY_STRAIGHT
    return int(short_of_knitted_straight(np.array([codes]))[0]) if near else int(FAR)


def _most_of_one(codes: tuple[int, int, int, int]) -> int:
    parts, joined, _ = _for_one()
    most: int = joined[parts[codes[0]] | parts[codes[1]] << 6 | parts[codes[2]] << 12]
    return most


@cache
def _for_one() -> tuple[memoryview, memoryview, memoryview]:
    """The tables as plain Python reads them."""
    return _parts_held().data, _joined().data, _different_honours().data


def knitted_straights(codes: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """[m] hands of codes [n, 4] and [m] straights, of those that are a straight, sets and a pair; hands ascending."""
    near = (_most_of_a_straight(codes) == _OF_STRAIGHT).nonzero()[0]
    if not near.size:
        return near, near
    hand, straight, rest, lacking = _beside_straights(codes, near)
    whole = (lacking + short_of_sets_and_pair(suit_summaries(rest)) == 0).nonzero()[0]
    return hand.take(whole), straight.take(whole)


def _beside_straights(codes: NDArray[Any], which: NDArray[np.intp]) -> tuple[Any, Any, Any, Any]:
    """The straights of which hands hold eight tiles or nine, and what is left of the hands.

    Args:
        codes: [n, 4].
        which: [k] the hands to look at, ascending.

    Returns:
        [m] hands, [m] straights, [m, 4] the codes of the other tiles, [m] tiles of the straight that lack.
    """
    digits = codes[which, :HONOUR_GROUP, None] // POWER[:RANKS] % BASE > 0
    held = digits.reshape(-1, 1, RANKS * HONOUR_GROUP) & (STRAIGHTS[:, : RANKS * HONOUR_GROUP] > 0)
    number = held.sum(axis=2, dtype=np.int8)
    row, straight = (number >= _NEARLY_STRAIGHT).nonzero()
    hand = which.take(row)
    taken = held[row, straight].reshape(-1, HONOUR_GROUP, RANKS) @ POWER[:RANKS].astype(np.intp)
    rest = codes.take(hand, axis=0).astype(np.intp)
    rest[:, :HONOUR_GROUP] -= taken
    return hand, straight, rest, _OF_STRAIGHT - number[row, straight]


def _most_of_a_straight(codes: NDArray[Any]) -> NDArray[np.int8]:
    """[...] int8 different tiles that hands hold of the straight of which they hold most."""
    # Suit by suit: numpy adds up short rows slowly.
    one, two, three = (_parts_held().take(codes[..., suit]).astype(np.intp) for suit in range(HONOUR_GROUP))
    return _joined().take(one | two << 6 | three << 12)


@cache
def _parts_held() -> NDArray[np.uint8]:
    """[5**9] for each code of a suit the different tiles held of 147, 258 and 369, two bits each."""
    held = np.zeros(1, np.uint8)
    for rank in range(RANKS):
        held = np.add.outer((np.arange(BASE) > 0).astype(np.uint8) << np.uint8(2 * (rank % 3)), held).reshape(-1)
    return held


@cache
def _joined() -> NDArray[np.int8]:
    """[64**3] the most tiles of one straight, by what three suits hold of each part."""
    by_part = np.arange(64)[:, None] >> np.array([0, 2, 4]) & 3
    sums = [by_part[:, one] + by_part[:, two, None] + by_part[:, three, None, None] for one, two, three in PARTS]
    return np.maximum.reduce(sums).reshape(-1).astype(np.int8)


@cache
def _different_honours() -> NDArray[np.int8]:
    """[5**7] different kinds in each code of honours."""
    kinds = np.zeros(1, np.int8)
    for _ in range(NUM_HONOURS):
        kinds = np.add.outer((np.arange(BASE) > 0).astype(np.int8), kinds).reshape(-1)
    return kinds
