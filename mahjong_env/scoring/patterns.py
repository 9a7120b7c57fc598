"""The shared vocabulary of scoring: predicates about hands and melds, without prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Int8Array, Int32Array
from mahjong_env.hands.codes import NUM_GROUPS, POWER, SUIT, encode
from mahjong_env.scoring.wins import Wins


def suits_present(tiles: Int8Array) -> BoolArray:
    """Return [n, 4] whether there are tiles of each suit, and honours."""
    return encode(tiles) > 0  # a code is 0 where there are none


class SuitRows(NamedTuple):
    """Which hands are of one suit, or of honours only: [n] each, and no hand is two of them."""

    pure: BoolArray  # one suit, no honours (清一色 qīng yī sè)
    mixed: BoolArray  # one suit and honours (混一色 hùn yī sè)
    honours: BoolArray  # honours only (字一色 zì yī sè)


def suit_rows(present: BoolArray) -> SuitRows:
    """Return the suit rows of hands, from `suits_present`."""
    one, two, three, honours = present.T
    suits = one + two.astype(np.int8) + three
    one_suit = suits == 1
    return SuitRows(one_suit & ~honours, one_suit & honours, suits == 0)


def suits_of(wins: Wins) -> SuitRows:
    """Return which hands are of one suit, or of honours only, with wild tiles as the tiles that they are."""
    return wins.once(_suits_of)


def _suits_of(wins: Wins) -> SuitRows:
    return suit_rows(suits_present(wins.tiles))


def open_melds(wins: Wins) -> Int8Array:
    """Return [n] the number of the winner's chows, pungs, exposed and added kongs, all of which were claimed."""
    return wins.once(_open_melds)


def _open_melds(wins: Wins) -> Int8Array:
    return wins.own_melds - count_melds(wins, MeldType.CONCEALED_KONG)


def count_melds(wins: Wins, *types: MeldType) -> Int8Array:
    """Return [n] the number of the winner's melds of these types."""
    counts = wins.melded.types[:, types[0]]
    for meld_type in types[1:]:
        counts = counts + wins.melded.types[:, meld_type]
    return counts


def is_closed(wins: Wins) -> BoolArray:
    """Return [n] whether nothing was claimed, so that concealed kongs are the only melds (门清 mén qīng)."""
    return open_melds(wins) == 0


def on_kong_draw(wins: Wins) -> BoolArray:
    """Return [n] whether the win was self-drawn with the replacement tile of a kong (杠上开花 gàng shàng kāi huā)."""
    return wins.drawn & (wins.kong_draws > 0)


def waits_for_one(wins: Wins) -> BoolArray:
    """Return [n] whether exactly one kind completed the hand before the winning tile came (独听 dú tīng), in any shape.

    Kinds of which the player holds all four, melds included, do not count. This is for hands without wild tiles.
    """
    codes, before = kinds_tried(wins)
    held = before + wins.melded.tiles + wins.melded.kongs
    completes = wins.rules.tiles_short(codes, 0, wins.own_melds[:, None]) <= 0
    return np.asarray(np.count_nonzero(completes & (held < 4), axis=1) == 1)


def tiles_before(wins: Wins) -> Int8Array:
    """Return [n, 34] the concealed tiles before the winning one came."""
    before = wins.counts.copy()
    before[np.arange(len(wins)), wins.winning_tile] -= wins.winning_tile >= 0  # none in a win by flowers
    return before


def kinds_tried(wins: Wins) -> tuple[Int32Array, Int8Array]:
    """Return [n, 34, 4] codes of `tiles_before` with one more tile of each kind, and [n, 34] `tiles_before` itself.

    A kind of which four are concealed gets no further tile. This is for hands without wild tiles.
    """
    n, before = len(wins), tiles_before(wins)
    codes = encode(before).repeat(NUM_KINDS, axis=0)  # a row for each kind that might come
    group = np.arange(0, codes.size, codes.shape[1]).reshape(n, NUM_KINDS) + SUIT
    codes.reshape(-1)[group] += np.where(before < 4, POWER, 0)
    return codes.reshape(n, NUM_KINDS, NUM_GROUPS), before
