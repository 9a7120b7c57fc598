"""Sets of kinds as bits."""

import numpy as np

from mahjong_env.hands import kind_sets
from oracle import hands as slow


def some_hands(number=600, tiles=(13, 14), seed=5):
    rng = np.random.default_rng(seed)
    return np.array(
        [slow.random_hand(rng, int(rng.choice(tiles)), kinds=int(rng.choice([8, 14, 34]))) for _ in range(number)]
    )


def test_packing_and_unpacking_are_inverse():
    flags = np.random.default_rng(0).random((50, 34)) < 0.4
    packed = kind_sets.pack(flags)
    assert packed[7] == sum(1 << int(kind) for kind in np.flatnonzero(flags[7]))
    np.testing.assert_array_equal(kind_sets.unpack(packed), flags)
    np.testing.assert_array_equal(np.stack(kind_sets.members(packed)), np.stack(np.nonzero(flags)))
    np.testing.assert_array_equal(kind_sets.count_members(packed), flags.sum(axis=1))


def test_long_rows_fill_several_words():
    flags = np.random.default_rng(1).random((9, 109)) < 0.5
    words = kind_sets.pack_words(flags)
    assert words.shape == (9, 2)
    np.testing.assert_array_equal(kind_sets.unpack(words[:, 1].copy(), 45), flags[:, 64:])


def test_counting_ones_without_numpy_2():
    numbers = np.random.default_rng(2).integers(0, 2**63, 500).astype(np.uint64) * np.uint64(2)
    numbers[:2] = 0, 2**64 - 1
    np.testing.assert_array_equal(kind_sets._count_ones_by_halving(numbers), [int(x).bit_count() for x in numbers])


def test_counting_tiles_of_some_kinds():
    counts, wanted = some_hands(), np.random.default_rng(3).random((600, 34)) < 0.5
    tiles = kind_sets.count_tiles(kind_sets.pack(wanted), kind_sets.count_planes(counts))
    np.testing.assert_array_equal(tiles, (counts * wanted).sum(axis=1))


def test_taking_a_tile_out():
    counts = some_hands()
    kind = counts.argmax(axis=1)
    after = kind_sets.count_planes(counts).without(kind_sets.BIT_OF_KIND[kind])
    counts[np.arange(len(counts)), kind] -= 1
    for found, wanted in zip(after, kind_sets.count_planes(counts), strict=True):
        np.testing.assert_array_equal(found, wanted)
