"""Seven pairs and thirteen orphans: distances by hand; what helps and what can be spared, by trying every kind."""

import numpy as np

from mahjong_env.hands import kind_sets, shanten
from mahjong_env.hands.codes import encode
from mahjong_env.hands.summaries import pairs, suit_summaries
from oracle import hands as slow
from support.distances import distance_to_seven_pairs, distance_to_thirteen_orphans


def some_hands(number=600, tiles=(13, 14)):
    rng = np.random.default_rng(5)
    return np.array(
        [slow.random_hand(rng, int(rng.choice(tiles)), kinds=int(rng.choice([8, 14, 34]))) for _ in range(number)]
    )


def by_trying(counts, distance, change):
    """[n, 34] the distance with one tile more or less of each kind, `distance` unchanged where that cannot be."""
    now = np.repeat(distance(counts)[:, None], 34, axis=1)
    for kind in range(34):
        can = counts[:, kind] < 4 if change > 0 else counts[:, kind] > 0
        changed = counts[can]
        changed[:, kind] += change
        now[can, kind] = distance(changed)
    return now


def test_kinds_that_seven_pairs_can_spare():
    counts = some_hands()
    wilds = np.random.default_rng(6).integers(0, 3, 600).astype(np.int8)
    planes = kind_sets.count_planes(counts)
    now = shanten.distance_to_pairs(planes, wilds)
    spare = kind_sets.unpack(shanten.pairs_can_spare(planes, wilds))
    for row in range(0, 600, 7):
        after = by_trying(counts[[row]], lambda c, w=wilds[row]: distance_to_seven_pairs(c, w), -1)[0]
        np.testing.assert_array_equal(spare[row], (after == now[row]) & (counts[row] > 0))


def test_kinds_for_pairs():
    counts = some_hands(tiles=(13,))
    after = by_trying(counts, distance_to_seven_pairs, 1)
    helps = kind_sets.unpack(shanten.kinds_for_pairs(kind_sets.count_planes(counts)))
    np.testing.assert_array_equal(helps, after < distance_to_seven_pairs(counts)[:, None])


def test_orphans():
    counts = some_hands()
    counts[::2, shanten.ORPHANS] = np.random.default_rng(8).choice([0, 1, 1, 1, 2, 3], (300, 13))
    planes, now = kind_sets.count_planes(counts), distance_to_thirteen_orphans(counts)
    less = by_trying(counts, distance_to_thirteen_orphans, -1)
    spare = kind_sets.unpack(shanten.orphans_can_spare(planes))
    np.testing.assert_array_equal(spare, (less == now[:, None]) & (counts > 0))
    more = by_trying(counts, distance_to_thirteen_orphans, 1)
    helps = kind_sets.unpack(shanten.kinds_for_orphans(planes))
    np.testing.assert_array_equal(helps, more < now[:, None])


def test_a_tile_more_and_a_tile_less():
    counts, rng = some_hands(), np.random.default_rng(9)
    kind = np.where(counts[np.arange(600), (at := rng.integers(0, 34, 600))] < 4, at, counts.argmin(axis=1))
    planes = kind_sets.count_planes(counts)
    more = planes.with_tile(kind_sets.BIT_OF_KIND[kind])
    np.testing.assert_array_equal(more.counts(), counts + np.eye(34, dtype=np.int8)[kind])
    np.testing.assert_array_equal(more.without(kind_sets.BIT_OF_KIND[kind]).counts(), counts)


def pairs_by_hand(counts, wilds):
    """Take the seven cheapest pairs: a pair held costs 0, a single tile 1, a pair out of nothing 2."""
    costs = sorted(cost for n in counts for cost in [0] * (n // 2) + [1] * (n % 2))
    costs += [2] * 7
    return max(sum(costs[:7]) - wilds, 0)


def test_seven_pairs_missing():
    rng = np.random.default_rng(17)
    dealt = []
    for _ in range(200):
        wilds = int(rng.integers(0, 5))
        tiles = int(rng.integers(13, 15)) - wilds
        dealt.append((slow.random_hand(rng, tiles, kinds=int(rng.choice([5, 7, 10, 34]))), wilds))
    dealt += [((2,) * 6 + (0,) * 28, 1), ((2,) * 6 + (0,) * 28, 2)]  # six pairs and a wild tile wait for a tile
    counts, wilds = map(np.array, zip(*dealt, strict=True))
    found = distance_to_seven_pairs(counts, wilds)
    assert found.tolist() == [pairs_by_hand(c, w) for c, w in dealt]
    assert found[-2:].tolist() == [1, 0]
    assert {0, 1, 2} <= set(found.tolist())
    fourteen = counts.sum(axis=1) + wilds == 14
    enough_pairs = pairs(suit_summaries(encode(counts))) + wilds >= 7
    assert ((found == 0) == enough_pairs)[fourteen].all()
    assert (found[~fourteen] > 0).all()
