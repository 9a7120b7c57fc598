"""Distance to sets and a pair, what helps and what can be spared: against brute force."""

import numpy as np
import pytest

from mahjong_env.hands.codes import POWER, SUIT, encode
from mahjong_env.hands.distance import cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.summaries import short_of_sets_and_pair, suit_summaries
from oracle import hands as slow
from support.distances import distance_to_sets_and_pair


def brute_distances(counts, sets, wilds):
    return [slow.distance(tuple(c), s, w) for c, s, w in zip(counts.tolist(), sets, wilds, strict=True)]


def test_tiles_missing_matches_brute_force():
    rng, dealt = np.random.default_rng(11), []
    for _ in range(150):
        sets, wilds = int(rng.integers(0, 6)), int(rng.integers(0, 4))
        tiles = max(3 * sets + int(rng.integers(1, 3)) - wilds, 0)
        dealt.append((slow.random_hand(rng, tiles, kinds=int(rng.choice([6, 9, 14, 34]))), sets, wilds))
    counts, sets, wilds = map(np.array, zip(*dealt, strict=True))
    assert distance_to_sets_and_pair(encode(counts), sets, wilds).tolist() == brute_distances(counts, sets, wilds)


def test_tiles_missing_when_far_more_is_held_than_wanted():
    rng = np.random.default_rng(12)
    counts = np.array([slow.random_hand(rng, 18, kinds=kinds) for kinds in (5, 6, 8, 10, 20, 34) * 4])
    sets = rng.integers(0, 6, len(counts))
    assert distance_to_sets_and_pair(encode(counts), sets).tolist() == brute_distances(counts, sets, 0 * sets)


def test_a_hand_is_complete_exactly_when_nothing_is_missing():
    rng = np.random.default_rng(14)
    complete = 0
    for sets in (1, 2, 4, 5):
        counts = np.array([slow.random_hand(rng, 3 * sets + 2, kinds=5 + sets) for _ in range(300)])
        codes = encode(counts)
        by_distance = distance_to_sets_and_pair(codes, sets) == 0
        assert (by_distance == (short_of_sets_and_pair(suit_summaries(codes)) == 0)).all()
        complete += by_distance.sum()
    assert complete > 20


def loose_hands(rng, number, kinds=(4, 6, 9, 14, 34)):
    """Hands of 3k to 3k + 2 tiles, and the sets they need."""
    sets = rng.integers(0, 6, number)
    tiles = 3 * sets + rng.integers(0, 3, number)
    counts = [
        slow.random_hand(rng, min(int(size), 4 * int(most)), kinds=int(most))
        for size, most in zip(tiles, rng.choice(kinds, number), strict=True)
    ]
    return np.array(counts), sets


@pytest.mark.parametrize(("change", "kinds"), [(1, kinds_that_help), (-1, kinds_to_spare)])
def test_kinds_that_help_and_kinds_to_spare(change, kinds):
    counts, sets = loose_hands(np.random.default_rng(3), 4000)
    codes = encode(counts)
    cheapest = cheapest_hands(codes.T.astype(np.intp), sets)
    found = unpack(kinds(cheapest))
    assert found.any()
    assert not found.all()
    for kind, held in enumerate(counts.T):
        may_change = held < 4 if change > 0 else held > 0
        after = codes[may_change].copy()
        after[:, SUIT[kind]] += change * POWER[kind]
        distance = distance_to_sets_and_pair(after, sets[may_change])
        wanted = distance < cheapest.short[may_change] if change > 0 else distance == cheapest.short[may_change]
        np.testing.assert_array_equal(found[may_change, kind], wanted)
        assert not found[~may_change, kind].any()


def test_no_hands():
    assert kinds_that_help(cheapest_hands(np.zeros((4, 0), np.intp), np.zeros(0, np.intp))).shape == (0,)
