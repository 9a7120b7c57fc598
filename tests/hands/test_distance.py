"""Distance to a win: every function against brute force."""

import numpy as np
import pytest

from mahjong_env import hands
from mahjong_env.hands.distance import NOT_HELD
from oracle import hands as slow


def deal(rng, number):
    """Hands of 3k+1 and 3k+2 tiles with the sets they need, some of their tiles wild."""
    dealt = []
    for _ in range(number):
        sets, wilds = int(rng.integers(0, 6)), int(rng.integers(0, 4))
        tiles = max(3 * sets + int(rng.integers(1, 3)) - wilds, 0)
        dealt.append((slow.random_hand(rng, tiles, kinds=int(rng.choice([6, 9, 14, 34]))), sets, wilds))
    counts, sets, wilds = zip(*dealt, strict=True)
    return np.array(counts), np.array(sets), np.array(wilds)


def distances(counts, sets, wilds):
    return [slow.distance(tuple(c), s, w) for c, s, w in zip(counts.tolist(), sets, wilds, strict=True)]


def test_tiles_missing_matches_brute_force():
    counts, sets, wilds = deal(np.random.default_rng(11), 150)
    found = hands.distance_to_sets_and_pair(hands.encode(counts), sets, wilds)
    assert found.dtype == np.int8
    assert found.tolist() == distances(counts, sets, wilds)


def test_tiles_missing_when_far_more_is_held_than_wanted():
    rng = np.random.default_rng(12)
    counts = np.array([slow.random_hand(rng, 18, kinds=kinds) for kinds in (5, 6, 8, 10, 20, 34) * 4])
    sets = rng.integers(0, 6, len(counts))
    assert hands.distance_to_sets_and_pair(hands.encode(counts), sets).tolist() == distances(counts, sets, 0 * sets)


def test_leading_axes_are_free():
    counts, _, _ = deal(np.random.default_rng(13), 12)
    codes = hands.encode(counts)
    together = hands.distance_to_sets_and_pair(codes.reshape(3, 2, 2, 4), 4, 1)
    assert together.shape == (3, 2, 2)
    assert together.ravel().tolist() == [int(hands.distance_to_sets_and_pair(code, 4, 1)) for code in codes]


def test_a_hand_is_complete_exactly_when_nothing_is_missing():
    rng = np.random.default_rng(14)
    complete = 0
    for sets in (1, 2, 4, 5):
        counts = np.array([slow.random_hand(rng, 3 * sets + 2, kinds=5 + sets) for _ in range(300)])
        codes = hands.encode(counts)
        by_distance = hands.distance_to_sets_and_pair(codes, sets) == 0
        assert (by_distance == (hands.short_of_sets_and_pair(hands.suit_summaries(codes)) == 0)).all()
        complete += by_distance.sum()
    assert complete > 20


def test_missing_after_discard_matches_brute_force():
    counts, sets, wilds = deal(np.random.default_rng(15), 25)
    found = hands.distance_after_discard(hands.encode(counts), counts, sets, wilds)
    assert found.dtype == np.int8
    for hand, by_kind in enumerate(found):
        for kind in slow.KINDS:
            after = counts[hand].copy()
            after[kind] -= 1
            held = counts[hand, kind] > 0
            expected = slow.distance(tuple(after.tolist()), sets[hand], wilds[hand]) if held else NOT_HELD
            assert by_kind[kind] == expected


def test_helping_kinds_match_brute_force():
    counts, sets, wilds = deal(np.random.default_rng(16), 12)
    found = hands.helping_kinds(hands.encode(counts), sets, wilds)
    for hand, by_kind in enumerate(found):
        now = slow.distance(tuple(counts[hand].tolist()), sets[hand], wilds[hand])
        for kind in slow.KINDS:
            after = counts[hand].copy()
            after[kind] += 1
            helps = slow.distance(tuple(after.tolist()), sets[hand], wilds[hand]) < now
            assert by_kind[kind] == (helps and counts[hand, kind] < 4)


def test_batched_functions_take_no_hands():
    codes, counts = np.zeros((0, 4), np.int32), np.zeros((0, 34), np.int8)
    assert hands.distance_to_sets_and_pair(codes, 4).shape == (0,)
    assert hands.distance_after_discard(codes, counts, 4).shape == (0, 34)
    assert hands.helping_kinds(codes, 4).shape == (0, 34)


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
    counts, wilds = map(np.array, zip(*dealt, strict=True))
    found = hands.distance_to_seven_pairs(counts, wilds)
    assert found.tolist() == [pairs_by_hand(c, w) for c, w in dealt]
    assert {0, 1, 2} <= set(found.tolist())
    fourteen = counts.sum(axis=1) + wilds == 14
    enough_pairs = hands.pairs(hands.suit_summaries(hands.encode(counts))) + wilds >= 7
    assert ((found == 0) == enough_pairs)[fourteen].all()
    assert (found[~fourteen] > 0).all()


def test_six_pairs_and_a_wild_tile_still_wait_for_a_tile():
    six_pairs = np.repeat([2, 0], [6, 28])
    assert hands.distance_to_seven_pairs(six_pairs, 1) == 1
    assert hands.distance_to_seven_pairs(six_pairs, 2) == 0


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, 1),  # all thirteen kinds: thirteen waits
        ({0: 2}, 0),
        ({4: 1}, 1),
        ({0: 2, 33: 0, 4: 1}, 1),
        ({0: 0, 8: 0, 4: 2}, 3),
        ({0: 0, 8: 3}, 1),
        (dict.fromkeys(slow.ORPHANS, 0), 14),
    ],
)
def test_thirteen_orphans_missing(changes, missing):
    counts = np.zeros(34, int)
    counts[slow.ORPHANS] = 1
    for kind, count in changes.items():
        counts[kind] = count
    assert hands.distance_to_thirteen_orphans(counts) == missing
    if counts.sum() == 14:
        words = hands.suit_summaries(hands.encode(counts))
        assert (hands.orphan_kinds(words) == 13 and hands.pairs(words) == 1) == (missing == 0)
