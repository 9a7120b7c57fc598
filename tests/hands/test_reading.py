"""Readings, with wild tiles and without: against brute force and against shapes read by hand."""

import numpy as np
import pytest

from mahjong_env.basics.notation import count_tiles, parse_tiles
from mahjong_env.hands import reading
from oracle import hands as slow

EVERYTHING = np.ones(34, bool)


def tiles(text):
    return count_tiles(parse_tiles(text)).astype(int)


def complete_hand(rng, sets, within):
    """A complete hand out of ``within`` neighbouring kinds; crowded ones have more than four of a kind."""
    kinds = slow._neighbours(rng, within).tolist()
    shapes = [shape for shape in slow.SETS if set(shape) <= set(kinds)]
    counts = np.zeros(34, int)
    for number in rng.integers(len(shapes), size=sets):
        np.add.at(counts, list(shapes[number]), 1)
    counts[rng.choice(kinds)] += 2
    return counts


def take_some(rng, counts, number):
    left = counts.copy()
    for _ in range(number):
        left[rng.choice(np.flatnonzero(left))] -= 1
    return left


def read(counts):
    """The readings of hands, in the form of `brute_force.readings`; checks that each is listed once."""
    owner, found = reading.readings(np.asarray(counts))
    by_hand = [set() for _ in counts]
    for hand, pair, triplets, runs, *_ in zip(owner, *found, strict=True):
        sets = [(kind,) * 3 for kind in slow.KINDS for _ in range(triplets[kind])]
        sets += [(kind, kind + 1, kind + 2) for kind in slow.KINDS for _ in range(runs[kind])]
        by_hand[hand].add((int(pair), tuple(sorted(sets))))
    assert len(owner) == sum(map(len, by_hand))
    assert (np.diff(owner) >= 0).all()
    return by_hand


@pytest.mark.parametrize(("sets", "within"), [(0, 5), (1, 4), (2, 4), (3, 5), (4, 5), (4, 9), (4, 34), (5, 6), (5, 9)])
def test_readings_match_brute_force(sets, within):
    rng = np.random.default_rng(sets + 10 * within)
    counts = np.array([complete_hand(rng, sets, within) for _ in range(60)])
    counts = counts[counts.max(axis=1) <= 8]
    assert read(counts) == [slow.readings(tuple(c)) for c in counts.tolist()]


def test_readings_read_by_hand():
    three_runs_or_three_triplets, nine_gates, crowded, none = read(
        [tiles("111222333m99p777z"), tiles("11123455678999m"), tiles("55555m"), tiles("1m2p")]
    )
    assert three_runs_or_three_triplets == {
        (17, ((0, 0, 0), (1, 1, 1), (2, 2, 2), (33, 33, 33))),
        (17, ((0, 1, 2), (0, 1, 2), (0, 1, 2), (33, 33, 33))),
    }
    assert nine_gates == {(4, ((0, 0, 0), (1, 2, 3), (5, 6, 7), (8, 8, 8)))}
    assert crowded == {(4, ((4, 4, 4),))}
    assert none == set()


def test_no_hands():
    nothing = np.zeros((0, 34), int)
    assert reading.readings(nothing)[1].triplets.shape == (0, 34)
    assert reading.read_with_wilds(nothing, np.zeros(0, int), EVERYTHING)[1].tiles.shape == (0, 34)


def substituted(counts, wilds, kinds=EVERYTHING):
    """What wild tiles stand for, as sorted tuples of kinds; checks that each is read as it is without wild tiles."""
    counts, wilds = np.asarray(counts), np.asarray(wilds)
    owner, found = reading.read_with_wilds(counts, wilds, kinds)
    assert (found.tiles == counts[owner] + found.wild_as).all()
    assert (found.wild_as.sum(axis=1) == wilds[owner]).all()
    by_hand = [set() for _ in counts]
    for hand, wild_as in zip(owner, found.wild_as, strict=True):
        by_hand[hand].add(tuple(np.repeat(np.arange(34), wild_as).tolist()))
    filled = [
        counts[hand] + np.bincount(kinds, minlength=34) for hand, ways in enumerate(by_hand) for kinds in sorted(ways)
    ]
    assert len(owner) == (len(reading.readings(np.array(filled))[0]) if filled else 0)
    return by_hand


@pytest.mark.parametrize(
    ("wilds", "sets", "number"), [(0, 4, 40), (1, 4, 40), (1, 5, 20), (2, 2, 20), (2, 4, 12), (3, 2, 3)]
)
def test_substitutions_match_brute_force(wilds, sets, number):
    rng = np.random.default_rng(wilds + 10 * sets)
    counts = []
    while len(counts) < number:
        whole = complete_hand(rng, sets, within=int(rng.choice([4, 6, 9, 34])))
        natural = take_some(rng, whole, wilds)
        if natural.max() <= 4:
            counts.append(natural)
    counts += [slow.random_hand(rng, 3 * sets + 2 - wilds, kinds=9) for _ in range(number)]
    expected = [slow.substitutions(tuple(map(int, c)), wilds, slow.KINDS) for c in counts]
    assert substituted(counts, [wilds] * len(counts)) == expected


def test_four_wilds_match_brute_force_within_few_kinds():
    rng = np.random.default_rng(23)
    kinds = [0, 1, 2, 3, 8, 9, 27]
    allowed = np.isin(np.arange(34), kinds)
    counts = [take_some(rng, complete_hand(rng, 3, within=5), 4) for _ in range(12)]
    counts = [c for c in counts if c.max() <= 4]
    expected = [slow.substitutions(tuple(c.tolist()), 4, kinds) for c in counts]
    assert substituted(counts, [4] * len(counts), allowed) == expected
    assert any(expected)


def test_a_wild_tile_may_be_the_fifth_copy():
    (found,) = substituted([tiles("5555m")], [1])
    assert found == {(4,)}
    assert read([tiles("55555m")]) == [{(4, ((4, 4, 4),))}]


def test_five_wild_tiles_are_refused():
    with pytest.raises(ValueError, match="5 wild tiles, at most 4"):
        reading.read_with_wilds(np.zeros((2, 34), int), np.array([2, 5]), EVERYTHING)


def test_kinds_that_wild_tiles_may_stand_for():
    kinds = np.arange(34) != 13
    assert substituted([tiles("123m5p"), tiles("123m6p")], [1] * 2, kinds) == [set(), {(14,)}]
