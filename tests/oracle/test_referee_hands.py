"""The referee's division of tiles into sets against substitution of every kind, and against known counts."""

import random
from itertools import combinations_with_replacement, product

import pytest

from oracle.referee.hands import divides, is_complete, is_seven_pairs, readings
from oracle.referee.tiles import KINDS, NUMBERED, in_order, tiles_from


def random_complete_tiles(rng, sets):
    """Tiles of random sets and a pair in few kinds, so that they can be divided in several ways."""
    kinds = [*NUMBERED[:9], "1z", "2z"]
    tiles = []
    for _ in range(sets):
        kind = rng.choice(kinds)
        if kind[0] in "1234567" and kind[1] == "m" and rng.random() < 0.6:
            tiles += [f"{int(kind[0]) + step}m" for step in range(3)]
        else:
            tiles += [kind] * 3
    return tiles + [rng.choice(kinds)] * 2


def names_of(reading):
    return tuple(sorted((group.type, group.tiles) for group in reading))


@pytest.mark.parametrize("jokers", [0, 1, 2])
def test_jokers_mean_every_substitution(jokers):
    """A hand with jokers is complete if some substitution of kinds completes it, and reads as all of them."""
    rng = random.Random(jokers)
    complete = 0
    for _ in range(40 if jokers == 2 else 150):
        tiles = random_complete_tiles(rng, 2)
        rng.shuffle(tiles)
        tiles = tiles[jokers:]
        if rng.random() < 0.5:
            tiles[0] = rng.choice(KINDS)
        expected = set()
        for kinds in combinations_with_replacement(KINDS, jokers):
            expected |= {names_of(reading) for reading in readings([*tiles, *kinds], 0, 2)}
        found = readings(tiles, jokers, 2)
        assert {names_of(reading) for reading in found} == expected
        assert is_complete(tiles, jokers, 2) == bool(expected)
        assert all(sum(sum(group.jokers) for group in reading) == jokers for reading in found)
        complete += bool(expected)
    assert complete > 10


def test_readings_without_jokers_are_all_partitions():
    """112233m is one run twice; 111222333m is three runs or three triplets."""
    assert len(readings(tiles_from("112233m 55z"), 0, 2)) == 1
    assert len(readings(tiles_from("111222333m 55z"), 0, 3)) == 2
    assert readings(tiles_from("112233m 56z"), 0, 2) == []


def test_a_pair_of_jokers_may_be_told_from_a_real_tile_with_one():
    """456m and two wild tiles: the pair is both of them, or one with a real tile whose place the other takes."""
    masks = {
        next(group.jokers for group in reading if group.type == "pair")
        for reading in readings(tiles_from("456m"), 2, 1)
    }
    assert (True, True) in masks
    assert (False, True) in masks or (True, False) in masks


def test_four_alike_are_two_of_seven_pairs():
    assert is_seven_pairs(tiles_from("1111m 22p 33p 44p 55p 66p"))
    assert is_seven_pairs(tiles_from("111m 22p 33p 44p 55p 66p"), 1)
    assert not is_seven_pairs(tiles_from("111m 2p 33p 44p 55p 67p"), 2)


@pytest.mark.thorough
def test_known_number_of_complete_shapes_in_one_suit():
    """13 259 ways to hold fourteen tiles of one suit, at most four alike, as four sets and a pair."""
    shapes = 0
    for counts in product(range(5), repeat=9):
        if sum(counts) == 14:
            tiles = [kind for kind, count in zip(NUMBERED[:9], counts, strict=True) for _ in range(count)]
            shapes += divides(tuple(in_order(tiles)), 0, 4, 1)
    assert shapes == 13259
