"""Tile kinds as integers, and the counts of the decks.

==========  ==============================  =========
kinds       tiles                           notation
==========  ==============================  =========
0 .. 8      Characters 1-9 (万 wàn)          1m .. 9m
9 .. 17     Dots 1-9 (筒 tǒng)               1p .. 9p
18 .. 26    Bamboo 1-9 (条 tiáo)             1s .. 9s
27 .. 30    East South West North            1z .. 4z
31 .. 33    White, Green, Red Dragon         5z .. 7z
34 .. 37    flowers (花 huā)                  F1 .. F4
38 .. 41    seasons                          S1 .. S4
==========  ==============================  =========
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.basics.types import BoolArray, Int8Array

NUM_KINDS: Final = 34
"""The number of kinds that can be in a hand: suits and honours."""
NUM_ALL_KINDS: Final = 42
"""The number of all kinds, flowers and seasons included."""
NO_TILE: Final = -1

FIRST_HONOUR, FLOWERS, SEASONS = 27, 34, 38
EAST, SOUTH, WEST, NORTH, WHITE, GREEN, RED = range(27, 34)

KIND_NAMES: Final[tuple[str, ...]] = (
    *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)),
    *(f"{rank}z" for rank in range(1, 8)),
    *(f"F{number}" for number in range(1, 5)),
    *(f"S{number}" for number in range(1, 5)),
)

# The Unicode block "Mahjong Tiles" begins with winds and dragons (in the order Red, Green, White), then Characters,
# Bamboo, Dots, four flowers, four seasons.
_BLOCK_ORDER: Final = (27, 28, 29, 30, 33, 32, 31, *range(9), *range(18, 27), *range(9, 18), *range(34, 42))
GLYPHS: Final = tuple(chr(0x1F000 + _BLOCK_ORDER.index(kind)) for kind in range(NUM_ALL_KINDS))
"""The Unicode character of each kind."""

IS_SUITED: Final[BoolArray] = np.arange(NUM_ALL_KINDS) < FIRST_HONOUR
"""[42] whether a kind belongs to one of the three suits."""
IS_TERMINAL: Final[BoolArray] = IS_SUITED & np.isin(np.arange(NUM_ALL_KINDS) % 9, (0, 8))
"""[42] whether a kind is a one or a nine."""
RANK: Final[Int8Array] = np.where(IS_SUITED, np.arange(NUM_ALL_KINDS) % 9 + 1, 0).astype(np.int8)
"""[42] the rank of each kind: 1-9 for suit tiles, 0 for all others."""


def deck(*, flowers: bool) -> Int8Array:
    """Return [42] int8 the tiles of each kind in a set: 136 in all, or 144 with the four flowers and four seasons."""
    counts = np.full(NUM_ALL_KINDS, 4, np.int8)
    counts[NUM_KINDS:] = 1 if flowers else 0
    return counts
