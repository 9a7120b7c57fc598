"""Readings, with wild tiles and without: those that the referee finds, which lays tiles out in every way."""

import numpy as np
import pytest

from mahjong_env.basics.notation import count_tiles, parse_tiles
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.hands import reading
from oracle import hands as slow
from oracle.referee.hands import readings
from oracle.referee.tiles import ORDER

EVERYTHING = np.ones(34, bool)


def complete_hand(rng, sets, within):
    """A complete hand out of ``within`` neighbouring kinds; crowded ones have more than four of a kind."""
    kinds = slow.neighbours(rng, within).tolist()
    shapes = [shape for shape in slow.SETS if set(shape) <= set(kinds)]
    counts = np.zeros(34, int)
    for number in rng.integers(len(shapes), size=sets):
        np.add.at(counts, list(shapes[number]), 1)
    counts[rng.choice(kinds)] += 2
    return counts


def with_wilds(rng, sets, wilds, within):
    """A complete hand, as many tiles of which are taken out as there will be wild ones."""
    left = complete_hand(rng, sets, within)
    for _ in range(wilds):
        left[rng.choice(np.flatnonzero(left))] -= 1
    return left


def found_by_package(counts, wilds, kinds=EVERYTHING):
    """Of each hand: pairs, sets, and what wild tiles stand for; checks that each reading is listed once."""
    owner, found = reading.read_with_wilds(np.asarray(counts), np.asarray(wilds), kinds)
    by_hand = [set() for _ in counts]
    for hand, pair, triplets, runs, tiles, wild_as in zip(owner, *found, strict=True):
        sets = [(kind,) * 3 for kind in slow.KINDS for _ in range(triplets[kind])]
        sets += [(kind, kind + 1, kind + 2) for kind in slow.KINDS for _ in range(runs[kind])]
        assert (tiles == counts[hand] + wild_as).all()
        by_hand[hand].add((int(pair), tuple(sorted(sets)), tuple(np.repeat(slow.KINDS, wild_as).tolist())))
    assert len(owner) == sum(map(len, by_hand))
    assert (np.diff(owner) >= 0).all()
    return by_hand


def found_by_referee(counts, wilds, kinds=EVERYTHING):
    tiles = [KIND_NAMES[kind] for kind in np.repeat(slow.KINDS, counts)]
    found = set()
    for groups in readings(tiles, wilds, (len(tiles) + wilds) // 3):
        (pair,) = (ORDER[group.tiles[0]] for group in groups if group.type == "pair")
        sets = sorted(tuple(ORDER[tile] for tile in group.tiles) for group in groups if group.type != "pair")
        jokers = [
            ORDER[tile] for group in groups for tile, joker in zip(group.tiles, group.jokers, strict=True) if joker
        ]
        if kinds[jokers].all():
            found.add((pair, tuple(sets), tuple(sorted(jokers))))
    return found


@pytest.mark.parametrize(
    ("wilds", "sets", "number"),
    [
        (0, 0, 9),
        (0, 2, 40),
        (0, 4, 60),
        (0, 5, 60),
        (1, 4, 40),
        (1, 5, 20),
        (2, 2, 20),
        (2, 4, 12),
        (3, 2, 3),
        (4, 1, 2),
    ],
)
def test_they_are_those_of_the_referee(wilds, sets, number):
    rng = np.random.default_rng(wilds + 10 * sets)
    counts = [with_wilds(rng, sets, wilds, int(rng.choice([5, 6, 9, 34]))) for _ in range(number)]
    counts = [one for one in counts if one.max() <= (4 if wilds else 8)]
    counts += [np.array(slow.random_hand(rng, 3 * sets + 2 - wilds, kinds=9)) for _ in range(number // 2)]
    for kinds in (EVERYTHING, np.arange(34) % 5 != 0):
        expected = [found_by_referee(one, wilds, kinds) for one in counts]
        assert any(expected)
        assert found_by_package(np.array(counts), [wilds] * len(counts), kinds) == expected


def test_a_wild_tile_may_be_the_fifth_copy():
    fives = count_tiles(parse_tiles("5555m")).astype(int)
    assert found_by_package(fives[None], [1]) == [{(4, ((4, 4, 4),), (4,))}]


def test_no_hands_and_too_many_wild_tiles():
    nothing = np.zeros((0, 34), int)
    assert reading.readings(nothing)[1].triplets.shape == (0, 34)
    assert reading.read_with_wilds(nothing, np.zeros(0, int), EVERYTHING)[1].tiles.shape == (0, 34)
    with pytest.raises(ValueError, match="5 wild tiles, at most 4"):
        reading.read_with_wilds(np.zeros((2, 34), int), np.array([2, 5]), EVERYTHING)
