"""Complete shapes: against brute force, against published counts, and the words' layout."""

import numpy as np
import pytest

from mahjong_env.hands import summaries
from mahjong_env.hands.codes import encode
from oracle import hands as slow

ALL = tuple(slow.KINDS)


def words_of(counts):
    return summaries.suit_summaries(encode(np.asarray(counts)))


def deal_many(seed, number):
    """Hands of 1 to 18 tiles out of few or many kinds."""
    rng = np.random.default_rng(seed)
    return [slow.random_hand(rng, rng.integers(1, 19), rng.choice([5, 7, 12, 34])) for _ in range(number)]


@pytest.fixture(scope="module")
def dealt():
    return deal_many(1, 400)


def test_code_digits_are_counts(dealt):
    codes = encode(np.array(dealt))
    assert codes.dtype == np.int32
    by_hand = [
        [sum(c * 5**i for i, c in enumerate(counts[start:end])) for start, end in ((0, 9), (9, 18), (18, 27), (27, 34))]
        for counts in dealt
    ]
    assert codes.tolist() == by_hand


def test_missing_tiles_match_brute_force(dealt):
    words = words_of(dealt)
    assert summaries.short_of_sets(words).tolist() == [slow.added_for_sets(c) for c in dealt]
    assert summaries.short_of_sets_and_pair(words).tolist() == [slow.added_for_sets(c, ALL) for c in dealt]
    assert summaries.short_of_sets_and_258(words).tolist() == [slow.added_for_sets(c, slow.KINDS_258) for c in dealt]


def test_missing_tiles_with_one_tile_more_of_each_kind(dealt):
    found = summaries.short_with_each(encode(np.array(dealt)))
    for kind in slow.KINDS:
        hands = [place for place, counts in enumerate(dealt) if counts[kind] < 4]
        more = np.array(dealt)[hands]
        more[:, kind] += 1
        np.testing.assert_array_equal(found[hands, kind], summaries.short_of_sets_and_pair(words_of(more)))


def test_counting_fields(dealt):
    words = words_of(dealt)
    assert summaries.pairs(words).tolist() == [sum(n // 2 for n in c) for c in dealt]
    assert summaries.quads(words).tolist() == [sum(n == 4 for n in c) for c in dealt]
    assert summaries.orphan_kinds(words).tolist() == [sum(c[k] > 0 for k in slow.ORPHANS) for c in dealt]


def test_fields_do_not_overflow_in_the_fullest_hands():
    quads = np.zeros(34, int)
    quads[[0, 8, 9, 17]] = 4
    quads[18] = 2
    orphans = np.zeros(34, int)
    orphans[slow.ORPHANS] = 1
    orphans[27:32] += 1
    scattered = np.zeros(34, int)
    scattered[[*range(0, 27, 3), *range(27, 34)]] = 1
    scattered[27:29] = 2
    for counts, pairs, fours, kinds in ((quads, 9, 4, 5), (orphans, 5, 0, 13), (scattered, 2, 0, 10)):
        words = words_of(counts)
        assert counts.sum() == 18
        assert (summaries.pairs(words), summaries.quads(words), summaries.orphan_kinds(words)) == (pairs, fours, kinds)
        assert summaries.short_of_sets(words) == slow.added_for_sets(tuple(counts))
        assert summaries.short_of_sets_and_pair(words) == slow.added_for_sets(tuple(counts), ALL)


def test_tables_are_read_only():
    assert len(summaries.facts()[: 5**9]) == 5**9
    assert len(summaries.facts()[5**9 :]) == 5**7
    with pytest.raises(ValueError, match="read-only"):
        summaries.facts()[0] = 0


# Known counts: hands as count vectors of at most four per kind.


def complete_by_sets_and_pair(facts, length):
    """[6, 2]: complete codes of one group by number of sets and pair."""
    digits = np.arange(len(facts))
    tiles = np.zeros_like(digits)
    for _ in range(length):
        tiles += digits % 5
        digits //= 5
    missing_sets = (facts & 0x3F).astype(int)
    missing_with_pair = missing_sets + (facts >> 28).astype(int) - 8
    sets_only = np.bincount(tiles[missing_sets == 0], minlength=18)
    with_pair = np.bincount(tiles[missing_with_pair == 0], minlength=18)
    return np.stack([sets_only[0:18:3], with_pair[2:18:3]], axis=1)


def joined(one, other):
    """Counts of two groups together: a polynomial in sets and pairs."""
    both = np.zeros_like(one)
    for sets in range(6):
        for more in range(6 - sets):
            both[sets + more, 0] += one[sets, 0] * other[more, 0]
            both[sets + more, 1] += one[sets, 1] * other[more, 0] + one[sets, 0] * other[more, 1]
    return both


@pytest.fixture(scope="module")
def suit_shapes():
    return complete_by_sets_and_pair(summaries.facts()[: 5**9], 9)


def test_complete_shapes_of_one_suit(suit_shapes):
    assert suit_shapes[:5].tolist() == [[1, 9], [16, 135], [127, 996], [627, 4475], [2098, 13259]]


def test_complete_shapes_of_all_kinds(suit_shapes):
    three_suits = joined(joined(suit_shapes, suit_shapes), suit_shapes)
    everything = joined(three_suits, complete_by_sets_and_pair(summaries.facts()[5**9 :], 7))
    assert three_suits[4, 1] == 5_237_550
    assert everything[4, 1] == 11_498_658
    assert everything[5, 1] == 118_856_487
