"""Sets of kinds as bits."""

import numpy as np

from mahjong_env.hands import kind_sets


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
