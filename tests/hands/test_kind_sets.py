"""Sets of kinds as bits, and the shapes that are looked at through them."""

import numpy as np

from mahjong_env import hands
from mahjong_env.hands import kind_sets, special_shapes
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


class TestOtherShapes:
    """Distances as the plain functions count them; what helps and what can be spared, by trying every kind."""

    @staticmethod
    def by_trying(counts, distance, change):
        """[n, 34] the distance with one tile more or less of each kind, `distance` unchanged where that cannot be."""
        now = np.repeat(distance(counts)[:, None], 34, axis=1)
        for kind in range(34):
            can = counts[:, kind] < 4 if change > 0 else counts[:, kind] > 0
            changed = counts[can]
            changed[:, kind] += change
            now[can, kind] = distance(changed)
        return now

    def test_seven_pairs(self):
        counts = some_hands()
        wilds = np.random.default_rng(6).integers(0, 3, 600).astype(np.int8)
        planes = kind_sets.count_planes(counts)
        now = special_shapes.distance_to_pairs(planes, wilds)
        np.testing.assert_array_equal(now, hands.distance_to_seven_pairs(counts, wilds))
        spare = kind_sets.unpack(special_shapes.pairs_can_spare(planes, wilds))
        for row in range(0, 600, 7):
            after = self.by_trying(counts[[row]], lambda c, w=wilds[row]: hands.distance_to_seven_pairs(c, w), -1)[0]
            np.testing.assert_array_equal(spare[row], (after == now[row]) & (counts[row] > 0))

    def test_kinds_for_pairs(self):
        counts = some_hands(tiles=(13,))
        now = hands.distance_to_seven_pairs(counts)
        after = self.by_trying(counts, hands.distance_to_seven_pairs, 1)
        helps = kind_sets.unpack(special_shapes.kinds_for_pairs(kind_sets.count_planes(counts)))
        np.testing.assert_array_equal(helps, after < now[:, None])

    def test_orphans(self):
        rng = np.random.default_rng(8)
        counts = some_hands()
        counts[::2, hands.distance.ORPHANS] = rng.choice([0, 1, 1, 1, 2, 3], (300, 13))
        planes = kind_sets.count_planes(counts)
        now = hands.distance_to_thirteen_orphans(counts)
        np.testing.assert_array_equal(special_shapes.distance_to_orphans(planes), now)
        less = self.by_trying(counts, hands.distance_to_thirteen_orphans, -1)
        spare = kind_sets.unpack(special_shapes.orphans_can_spare(planes))
        np.testing.assert_array_equal(spare, (less == now[:, None]) & (counts > 0))
        more = self.by_trying(counts, hands.distance_to_thirteen_orphans, 1)
        helps = kind_sets.unpack(special_shapes.kinds_for_orphans(planes))
        np.testing.assert_array_equal(helps, more < now[:, None])
