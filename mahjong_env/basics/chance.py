"""All randomness of the engine: keys from a counter, so that a game's cards do not depend on its neighbours.

The cards of game ``stream`` in its ``hand``-th hand since ``seed`` depend on these three numbers alone: not on the size
of the batch, the order of calls, or numpy's generators. The mixing function is SplitMix64's finaliser (Steele, Lea and
Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.types import Int8Array, Int64Array, UInt64Array, is_integer

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOW_BITS = np.uint64(63)


def mix(values: UInt64Array) -> UInt64Array:
    """Return 64 well-mixed bits for each 64-bit number, by SplitMix64's finaliser."""
    mixed = values ^ (values >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def fold_seed(seed: int | None) -> int:
    """Return the 64 bits that the state keeps of a seed from 0, however large; None draws one from the system.

    Raises:
        MahjongError: the seed is not an integer, or it is negative.
    """
    if seed is None:
        return secrets.randbits(63)
    if not is_integer(seed) or seed < 0:
        raise MahjongError(f"a seed is an integer from 0 or None, not {seed!r}")
    number, folded = int(seed), np.zeros(1, np.uint64)
    while True:
        folded = mix((folded ^ np.uint64(number & 0xFFFFFFFFFFFFFFFF)) + GOLDEN)
        number >>= 64
        if not number:
            return int(folded[0])


def hand_keys(seed: UInt64Array, stream: Int64Array, hand: Any) -> UInt64Array:
    """Return [n] one key for each hand, from its seed, game number and number of the hand.

    The seed is already mixed (`fold_seed`), but the game number is not. If both were treated alike they would commute,
    and game a of seed b would be dealt what game b of seed a is dealt.
    """
    game = mix(seed + stream.astype(np.uint64) * GOLDEN)
    return mix(game + np.asarray(hand).astype(np.uint64) * GOLDEN)


def draw_numbers(keys: UInt64Array, place: int, below: int) -> Int64Array:
    """Return [n] a number from 0 to below-1 for each key; ``place`` (1 to 999) separates several draws of a hand."""
    offset = np.uint64((place + 1000) * int(GOLDEN) & 0xFFFFFFFFFFFFFFFF)
    return (mix(keys + offset) % np.uint64(below)).astype(np.int64)


def shuffle(keys: UInt64Array, deck: Int8Array) -> Int8Array:
    """Return [n, W] int8 a shuffled deck (kinds below 64, [W]) for each key [n].

    Sorting random numbers that carry the kind in their lowest bits shuffles the kinds.
    """
    places = np.arange(len(deck), dtype=np.uint64) * GOLDEN
    numbers = mix(keys[:, None] + places)
    numbers &= ~_LOW_BITS
    numbers |= deck.astype(np.uint64)
    numbers.sort(axis=1)
    return (numbers & _LOW_BITS).astype(np.int8)
