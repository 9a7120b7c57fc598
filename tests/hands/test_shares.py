"""Which kinds help and which can be spared, against brute force and the functions that look at one tile at a time."""

import numpy as np
import pytest

from mahjong_env import hands
from mahjong_env.hands.distance import NOT_HELD
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.shares import cheapest_hands, kinds_that_help, kinds_to_spare
from oracle import hands as slow


def deal(rng, number, kinds=(4, 6, 9, 14, 34)):
    """Hands of 3k to 3k + 2 tiles, and the sets they need."""
    sets = rng.integers(0, 6, number)
    tiles = 3 * sets + rng.integers(0, 3, number)
    counts = [
        slow.random_hand(rng, min(int(size), 4 * int(most)), kinds=int(most))
        for size, most in zip(tiles, rng.choice(kinds, number), strict=True)
    ]
    return np.array(counts), sets


@pytest.fixture(scope="module")
def dealt():
    counts, sets = deal(np.random.default_rng(3), 4000)
    codes = hands.encode(counts)
    return counts, sets, codes, cheapest_hands(codes.T.astype(np.intp), sets)


def test_distance(dealt):
    _, sets, codes, cheapest = dealt
    np.testing.assert_array_equal(cheapest.short, hands.distance_to_sets_and_pair(codes, sets))


def test_kinds_that_help_lower_the_distance(dealt):
    _, sets, codes, cheapest = dealt
    np.testing.assert_array_equal(unpack(kinds_that_help(cheapest)), hands.helping_kinds(codes, sets))


def test_kinds_to_spare_leave_the_distance(dealt):
    counts, sets, codes, cheapest = dealt
    after = hands.distance_after_discard(codes, counts, sets)
    spare = (after == hands.distance_to_sets_and_pair(codes, sets)[:, None]) & (after != NOT_HELD)
    np.testing.assert_array_equal(unpack(kinds_to_spare(cheapest)), spare)
    assert spare.any()
    assert (~spare & (counts > 0)).any()


@pytest.mark.thorough
def test_against_brute_force():
    counts, sets = deal(np.random.default_rng(4), 25, kinds=(5, 9))
    cheapest = cheapest_hands(hands.encode(counts).T.astype(np.intp), sets)
    helping, spare = unpack(kinds_that_help(cheapest)), unpack(kinds_to_spare(cheapest))
    one = np.eye(34, dtype=counts.dtype)
    for hand, wanted, helps, spares in zip(counts, sets, helping, spare, strict=True):
        now = slow.distance(tuple(hand), int(wanted), 0)
        for kind in range(9):
            if hand[kind] < 4:
                assert helps[kind] == (slow.distance(tuple(hand + one[kind]), int(wanted), 0) < now)
            if hand[kind] > 0:
                assert spares[kind] == (slow.distance(tuple(hand - one[kind]), int(wanted), 0) == now)


def test_no_hands():
    nothing = cheapest_hands(np.zeros((4, 0), np.intp), np.zeros(0, np.intp))
    assert kinds_that_help(nothing).shape == (0,)
