"""Knitted straights (组合龙 zǔ hé lóng): 1 4 7 of one suit, 2 5 8 of a second, 3 6 9 of the third.

Two shapes contain them: the nine tiles of a straight beside a set and a pair, and fourteen different tiles that are
honours or of one straight. The suits cannot be looked up independently there, because each must take a different part
of the straight. So what a suit holds of each part is written as a number of six bits, and one table joins three such
numbers.

A hand that lacks more than one tile for a shape counts as `FAR`, because nothing asks for its exact distance.
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

# By straight and suit: what each of the suit's three tiles adds to its code.
_TILES: Final = POWER[PARTS[:, :, None] + np.array([0, 3, 6])]
_NEARLY_STRAIGHT, _NEARLY_ALL, _ALL, _OF_STRAIGHT = (np.array(number, np.int8) for number in (8, 13, 14, 9))
_SUIT_PLACES: Final = np.array([1, 1 << 6, 1 << 12], np.float32)


def short_of_knitted_tiles(codes: NDArray[Any], parts: NDArray[np.intp] | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the tiles lacking for 14 different ones, honours or of one straight, for codes [..., 4].

    ``parts`` is `parts_held` of the codes, if it is known already.
    """
    most = _joined().take(parts_held(codes) if parts is None else parts)
    fitting = most + different_honours().take(codes[..., HONOUR_GROUP])
    return np.where(fitting >= _NEARLY_ALL, _ALL - fitting, FAR)


def short_of_knitted_straight(codes: NDArray[Any], parts: NDArray[np.intp] | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the tiles lacking for a straight, sets and a pair; see `short_of_knitted_tiles`."""
    short = np.full(codes.shape[:-1], FAR)
    straights = _nearly_held().take((parts_held(codes) if parts is None else parts).reshape(-1))
    if not np.count_nonzero(straights):
        return short
    near = straights.nonzero()[0]
    row, straight = np.unpackbits(straights.take(near)[:, None], axis=1, bitorder="little").nonzero()
    hand = near.take(row)
    tiles, rest = _TILES.take(straight, axis=0), codes.reshape(-1, NUM_GROUPS).take(hand, axis=0)
    held = rest[:, :HONOUR_GROUP, None] // tiles % BASE > 0
    rest[:, :HONOUR_GROUP] -= (tiles * held).sum(axis=2, dtype=rest.dtype)
    found = short_of_sets_and_pair(suit_summaries(rest)) + _OF_STRAIGHT - held.sum(axis=(1, 2), dtype=np.int8)
    np.minimum.at(short.reshape(-1), hand, np.where(found <= 1, found, FAR))
    return short


def knitted_tiles_of_one(codes: tuple[int, int, int, int]) -> int:
    """Return `short_of_knitted_tiles` of one hand."""
    fitting = _most_of_one(codes) + _for_one()[2][codes[HONOUR_GROUP]]
    return int(_ALL) - fitting if fitting >= _NEARLY_ALL else int(FAR)


def knitted_straight_of_one(codes: tuple[int, int, int, int]) -> int:
    """Return `short_of_knitted_straight` of one hand."""
    near = _most_of_one(codes) >= _NEARLY_STRAIGHT
    return int(short_of_knitted_straight(np.array([codes]))[0]) if near else int(FAR)


def _most_of_one(codes: tuple[int, int, int, int]) -> int:
    parts, joined, _ = _for_one()
    most: int = joined[parts[codes[0]] | parts[codes[1]] << 6 | parts[codes[2]] << 12]
    return most


@cache
def _for_one() -> tuple[memoryview, memoryview, memoryview]:
    """Return the tables in the form that plain Python reads."""
    return _parts_held().data, _joined().data, different_honours().data


def most_of_a_straight(codes: NDArray[Any]) -> NDArray[np.int8]:
    """Return [...] int8 the most different tiles of one straight that hands hold."""
    return _joined().take(parts_held(codes))


def parts_held(codes: NDArray[Any]) -> NDArray[np.intp]:
    """Return [...] what the suits of hands, codes [..., 4], hold of each part of straights, in one number."""
    # The suits come first in memory, so that they are joined without gaps.
    suits = codes.reshape(-1, NUM_GROUPS).T[:HONOUR_GROUP].astype(np.intp, order="C")
    parts: NDArray[np.intp] = (_SUIT_PLACES @ _parts_held().take(suits)).astype(np.intp)
    return parts.reshape(codes.shape[:-1])


@cache
def _parts_held() -> NDArray[np.uint8]:
    """Return [5**9] for each code of a suit the number of different tiles of 147, 258 and 369, in two bits each."""
    held = np.zeros(1, np.uint8)
    for rank in range(RANKS):
        held = np.add.outer((np.arange(BASE) > 0).astype(np.uint8) << np.uint8(2 * (rank % 3)), held).reshape(-1)
    return held


def _each_held(parts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return [6, n] the number of different tiles of each straight, by what three suits hold of each part."""
    number = [[parts >> 6 * suit + 2 * part & 3 for part in range(3)] for suit in range(HONOUR_GROUP)]
    return np.array([number[0][one] + number[1][two] + number[2][three] for one, two, three in PARTS])


@cache
def _joined() -> NDArray[np.int8]:
    """Return [64**3] the most tiles of one straight, by what three suits hold of each part."""
    return _each_held(np.arange(64**3)).max(axis=0).astype(np.int8)


@cache
def _nearly_held() -> NDArray[np.uint8]:
    """Return [64**3] the straights of which eight or nine tiles are held, with a bit for each."""
    return np.packbits(_each_held(np.arange(64**3)) >= _NEARLY_STRAIGHT, axis=0, bitorder="little")[0]


@cache
def different_honours() -> NDArray[np.int8]:
    """Return [5**7] the number of different kinds in each code of honours."""
    kinds = np.zeros(1, np.int8)
    for _ in range(NUM_HONOURS):
        kinds = np.add.outer((np.arange(BASE) > 0).astype(np.int8), kinds).reshape(-1)
    return kinds
