"""Sets of tile kinds as single integers: bit k of a uint64 stands for kind k.

Unions, intersections and counts over 34 kinds are then one operation on one number for each hand.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import NUM_KINDS

KindSets = NDArray[np.uint64]

_WORD: Final = 64

ALL_KINDS: Final = np.uint64(2**NUM_KINDS - 1)
BIT_OF_KIND: Final = np.uint64(1) << np.arange(NUM_KINDS, dtype=np.uint64)
"""[34] uint64: the set of each kind alone."""
BIT_OF_KIND.flags.writeable = False


def pack(flags: NDArray[Any]) -> KindSets:
    """Return [n] uint64 the sets of the kinds whose flag [n, up to 64] is not zero."""
    return pack_words(flags)[:, 0]


def pack_words(flags: NDArray[Any]) -> KindSets:
    """Return [n, words] uint64 numbers with the flags [n, k] as bits, 64 in each."""
    padded = np.zeros((len(flags), -(-flags.shape[1] // _WORD) * _WORD), flags.dtype)
    padded[:, : flags.shape[1]] = flags
    return _packed(padded)


def _packed(padded: NDArray[Any]) -> KindSets:
    """Return rows of a multiple of 64 flags as bits."""
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(sets: KindSets, number: int = NUM_KINDS) -> NDArray[np.bool_]:
    """Return sets [n] as flags [n, number]."""
    as_bytes = sets.astype("<u8", copy=False).view(np.uint8).reshape(-1, _WORD // 8)
    return np.unpackbits(as_bytes, axis=1, bitorder="little", count=number).view(np.bool_)


def members(sets: KindSets) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """List the members of [n] sets: [m] which set, ascending, and [m] kinds, ascending within a set."""
    which, kind = np.divmod(np.flatnonzero(unpack(sets)), NUM_KINDS)
    return which, kind


class CountPlanes(NamedTuple):
    """The tiles of m hands: for each of the binary digits 1, 2 and 4, [m] uint64 the kinds whose count has it."""

    ones: KindSets
    twos: KindSets
    fours: KindSets

    def take(self, which: Any) -> CountPlanes:
        """Return some of the hands."""
        return CountPlanes(*(plane[which] for plane in self))

    def counts(self) -> NDArray[np.int8]:
        """Return [m, 34] int8 tiles of each kind; the inverse of `count_planes`."""
        ones, twos, fours = (unpack(plane).astype(np.int8) for plane in self)
        return ones + 2 * twos + 4 * fours

    def with_tile(self, tile: KindSets) -> CountPlanes:
        """Put one tile into each hand; ``tile`` [m] uint64 is its kind, or no kind."""
        carry = tile & self.ones
        return CountPlanes(self.ones ^ tile, self.twos ^ carry, self.fours ^ (carry & self.twos))

    def without(self, tile: KindSets) -> CountPlanes:
        """Take one tile out of each hand; ``tile`` [m] uint64 is its kind, or no kind."""
        borrow = tile & ~self.ones
        return CountPlanes(self.ones ^ tile, self.twos ^ borrow, self.fours ^ (borrow & ~self.twos))


def count_planes(counts: NDArray[Any]) -> CountPlanes:
    """Return counts [n, 34] from 0 to 7 by binary digit, for `count_tiles` and for tests of parity."""
    padded = np.zeros((len(counts), _WORD), np.uint8)
    padded[:, : counts.shape[1]] = counts
    return CountPlanes(*(_packed(padded & np.uint8(digit))[:, 0] for digit in (1, 2, 4)))


def count_members(sets: KindSets) -> NDArray[np.uint8]:
    """Return [...] uint8 the number of kinds in sets [...] uint64."""
    return _count_ones(sets)


def count_tiles(kinds: KindSets, planes: CountPlanes) -> NDArray[np.uint8]:
    """Return [n] uint8 the number of tiles of some kinds [n] uint64."""
    ones, twos, fours = (_count_ones(kinds & plane) for plane in planes)
    tiles: NDArray[np.uint8] = ones + (twos << np.uint8(1)) + (fours << np.uint8(2))
    return tiles


def _count_ones_by_halving(numbers: KindSets) -> NDArray[np.uint8]:
    """Count the ones in the binary digits of numbers, for numpy 1.26, which has no `bitwise_count`."""
    pairs = numbers - (numbers >> np.uint64(1) & np.uint64(0x5555555555555555))
    low_pairs = np.uint64(0x3333333333333333)
    nibbles = (pairs & low_pairs) + (pairs >> np.uint64(2) & low_pairs)
    octets = nibbles + (nibbles >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    total: NDArray[np.uint8] = (octets * np.uint64(0x0101010101010101) >> np.uint64(56)).astype(np.uint8)
    return total


_count_ones: Any = getattr(np, "bitwise_count", _count_ones_by_halving)
