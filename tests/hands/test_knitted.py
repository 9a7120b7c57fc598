"""Knitted straights: how far hands are from the two shapes, compared with a search through all straights."""

from itertools import permutations

import numpy as np
import pytest

from mahjong_env.hands.codes import encode
from mahjong_env.hands.knitted import (
    FAR,
    STRAIGHTS,
    knitted_straight_of_one,
    knitted_tiles_of_one,
    short_of_knitted_straight,
    short_of_knitted_tiles,
)
from mahjong_env.hands.summaries import short_of_sets_and_pair, suit_summaries

ALL = [
    {9 * suit + part + step for suit, part in enumerate(parts) for step in (0, 3, 6)}
    for parts in permutations(range(3))
]


def near_hands(number, seed, tiles):
    """Hands of a straight and others, some of them a tile or two away."""
    rng, hands = np.random.default_rng(seed), []
    while len(hands) < number:
        kinds = sorted(ALL[rng.integers(6)])
        if rng.random() < 0.5:
            kinds = [*rng.choice(kinds, 14 - (honours := rng.integers(5, 8)), replace=False)]
            kinds += [*rng.choice(np.arange(27, 34), honours, replace=False)]
        else:
            first, pair = rng.integers(34, size=2)
            run = first < 27 and first % 9 < 7
            kinds += [first, first + run, first + 2 * run, pair, pair]
        kinds = [int(kind) if rng.random() > 0.04 else int(rng.integers(34)) for kind in kinds]
        counts = np.bincount(rng.permutation(kinds)[:tiles], minlength=34)
        if counts.max() <= 4:
            hands.append(counts.astype(np.int8))
    return np.stack(hands)


def short_beside(counts, straight):
    """The tiles of a straight that lack, and what the others lack as sets and a pair."""
    rest = counts.copy()
    held = [kind for kind in straight if rest[kind]]
    rest[held] -= 1
    return 9 - len(held) + int(short_of_sets_and_pair(suit_summaries(encode(rest[None])))[0])


def test_there_are_six_straights():
    assert sorted(map(sorted, ALL)) == sorted(np.flatnonzero(straight).tolist() for straight in STRAIGHTS)


@pytest.mark.parametrize("tiles", [13, 14])
def test_both_shapes(tiles):
    hands, seen = near_hands(600, tiles, tiles), set()
    of_tiles, of_straight = short_of_knitted_tiles(encode(hands)), short_of_knitted_straight(encode(hands))
    of_one = [tuple(codes) for codes in encode(hands).tolist()]
    assert [knitted_tiles_of_one(codes) for codes in of_one] == of_tiles.tolist()
    assert [knitted_straight_of_one(codes) for codes in of_one] == of_straight.tolist()
    for row, counts in enumerate(hands):
        held = set(np.flatnonzero(counts))
        lacking = 14 - max(len(held & straight) for straight in ALL) - len(held & set(range(27, 34)))
        assert of_tiles[row] == (lacking if lacking <= 1 else FAR)
        beside = min(short_beside(counts, straight) for straight in ALL)
        assert of_straight[row] == (beside if beside <= 1 else FAR)
        seen |= {("tiles", min(lacking, 2)), ("straight", min(beside, 2))}
    wanted = {(shape, lacking) for shape in ("tiles", "straight") for lacking in (14 - tiles, 2)}
    assert wanted <= seen
