"""Hand mathematics beside an independent library: the package `mahjong` (riichi), where the shapes agree.

Shanten is our number of missing tiles less one. The shapes agree, but two rules of riichi are not ours:

* A riichi hand cannot wait for a fifth copy of a kind. Ours counts missing tiles without that limit, because a wild
  tile may stand for a fifth copy (common.md#wild-tiles): a hand like 2222m, which could only wait for a fifth 2m, is
  one tile nearer here.
* Riichi's seven pairs are seven different ones. Here four alike are two pairs (wuhan.md#wild-card-seven-pairs,
  hangzhou.md#luxury-pairs, hebei.md#luxurious-seven-pairs).
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from mahjong.shanten import Shanten

from mahjong_env.basics.notation import count_tiles, format_counts, parse_tiles
from mahjong_env.hands.codes import encode
from support.distances import distance_to_sets_and_pair, distance_to_seven_pairs, distance_to_thirteen_orphans

KINDS = {
    "all kinds": np.arange(34),
    "two suits": np.arange(18),
    "one suit": np.arange(9),
    "one suit and honours": np.r_[0:9, 27:34],
    "ones, nines and honours": np.array([0, 8, 9, 17, 18, 26, *range(27, 34)]),
}
HANDS = 600


def random_hands(kinds, size, number, rng):
    """[number, 34] hands of tiles of these kinds, at most four of each."""
    tiles = np.repeat(kinds, 4)
    picked = rng.random((number, len(tiles))).argsort(axis=1)[:, :size]
    hands = np.zeros((number, 34), np.int8)
    np.add.at(hands, (np.arange(number)[:, None], tiles[picked]), 1)
    return hands


def completed_by(hand, number):
    """Whether so many tiles more, at most four of each kind in all, can complete the hand."""
    added = np.array(list(combinations_with_replacement(range(34), number)), np.intp)
    hands = np.repeat(hand[None], len(added), axis=0)
    np.add.at(hands, (np.arange(len(added))[:, None], added), 1)
    hands = hands[(hands <= 4).all(axis=1)]
    return bool((distance_to_sets_and_pair(encode(hands), int(hand.sum()) // 3) == 0).any())


def check_regular(hands):
    """Compare; returns the hands that rightly differ."""
    ours = distance_to_sets_and_pair(encode(hands), int(hands[0].sum()) // 3)
    theirs = 1 + np.array([Shanten.calculate_shanten_for_regular_hand(hand) for hand in hands.tolist()])
    differ = np.flatnonzero(ours != theirs)
    for place in differ:
        hand, text = hands[place], format_counts(hands[place])
        assert theirs[place] == ours[place] + 1, f"{text}: {ours[place]} missing here, {theirs[place]} there"
        assert not completed_by(hand, ours[place]), f"{text} can be completed without a fifth copy"
        assert completed_by(hand, theirs[place]), text
    return hands[differ]


@pytest.mark.parametrize("size", [14, 13, 11, 10, 8, 7, 5, 4, 2, 1])
@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_sets_and_pair(kinds, size):
    check_regular(random_hands(kinds, size, HANDS, np.random.default_rng(size)))


def test_fifth_copies_are_where_the_two_differ():
    rng = np.random.default_rng(0)
    hands = random_hands(KINDS["one suit"], 6, 3000, rng)
    hands[np.arange(len(hands)), rng.integers(0, 9, len(hands))] += 4
    assert len(check_regular(hands[(hands <= 4).all(axis=1)])) > 0


@pytest.mark.parametrize("size", [13, 14])
@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_seven_pairs_and_thirteen_orphans(kinds, size):
    hands = random_hands(kinds, size, HANDS, np.random.default_rng(size))
    theirs = [1 + Shanten.calculate_shanten_for_kokushi_hand(hand) for hand in hands.tolist()]
    assert distance_to_thirteen_orphans(hands).tolist() == theirs
    hands = hands[(hands <= 2).all(axis=1)]
    theirs = [1 + Shanten.calculate_shanten_for_chiitoitsu_hand(hand) for hand in hands.tolist()]
    assert distance_to_seven_pairs(hands).tolist() == theirs


@pytest.mark.parametrize(
    ("text", "here", "there"), [("1111m 22p 33s 44s 55z 66z", 0, 2), ("111m 22p 33s 44s 55z 66z", 1, 2)]
)
def test_four_alike_are_two_pairs_here(text, here, there):
    hand = count_tiles(parse_tiles(text))
    assert distance_to_seven_pairs(hand) == here
    assert Shanten.calculate_shanten_for_chiitoitsu_hand(hand.tolist()) == there - 1
