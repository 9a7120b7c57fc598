"""The distances from hands that may win, against all hands that MCR's aims describe, one by one."""

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from mahjong_env import rules, score
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.aimed import AimedShanten
from mahjong_env.hands.codes import NUM_KINDS, encode
from mahjong_env.hands.kind_sets import BIT_OF_KIND, count_planes, unpack
from mahjong_env.hands.knitted import STRAIGHTS
from mahjong_env.hands.shanten import Hands, Melded

FAR = 20
ONE = np.eye(NUM_KINDS, dtype=np.int8)
RUNS = {kind: ONE[kind] + ONE[kind + 1] + ONE[kind + 2] for kind in range(27) if kind % 9 < 7}
SETS = np.array([*RUNS.values(), *(3 * ONE)])
PAIRS = 2 * ONE
AIMS = rules("mcr").aims


def hands_of(counts, runs=(), pungs=()):
    """Hands [n, 34] that all have these melds, lowest kinds of runs and kinds of pungs."""
    counts = np.asarray(counts, np.int8)
    n, number = len(counts), len(runs) + len(pungs)
    types = np.array([MeldType.CHOW] * len(runs) + [MeldType.PUNG] * len(pungs) + [MeldType.NONE] * (5 - number))
    kinds = np.array([*runs, *pungs, *[-1] * (5 - number)], np.int8)
    melds = Melded.of(np.tile(types.astype(np.int8), (n, 1)), np.tile(kinds, (n, 1)), np.zeros(n, np.uint64))
    codes = encode(counts).T.astype(np.intp, order="C")
    sets = np.full(n, 4 - number)
    return Hands(codes, np.zeros(n, np.int8), sets, sets == 4, count_planes(counts), melds)


def shanten_of(counts, runs=(), pungs=()):
    return AimedShanten(hands_of(counts, runs, pungs), AIMS)


def patterns():
    """Points and the lowest kinds of three runs, as a player would list them."""
    for suits in set(permutations(range(3))):
        yield 8, [9 * suit + 3 * place for place, suit in enumerate(suits)]
        for start in range(5):
            yield 6, [9 * suit + start + place for place, suit in enumerate(suits)]
    for start in range(7):
        yield 8, [start, 9 + start, 18 + start]
    for suit in range(3):
        yield 16, [9 * suit, 9 * suit + 3, 9 * suit + 6]
        for step in (1, 2):
            for start in range(7 - 2 * step):
                yield 16, [9 * suit + start + step * place for place in range(3)]


@cache
def complete_hands():
    """All hands of three runs or a knitted straight, a set and a pair that are worth enough: closed and open ones.

    Each is what is wanted of every kind, with its sets, -1 for tiles of a knitted straight.
    """
    found = []
    for points, runs in patterns():
        for number, kind in product(range(len(SETS)), range(NUM_KINDS)):
            all_chows = number < len(RUNS) and kind < 27
            found.append(
                (points + 2 * all_chows >= 8, points + 2 >= 8, sum(RUNS[run] for run in runs), runs, number, kind)
            )
    for straight in STRAIGHTS:
        found += [
            (True, True, straight, [], number, kind) for number, kind in product(range(len(SETS)), range(NUM_KINDS))
        ]
    return found


def short_of_patterns(counts, runs, pungs):
    """[n] by going through all complete hands that contain the melds."""
    lowest = list(RUNS)
    melds = sorted([lowest.index(run) for run in runs] + [len(RUNS) + kind for kind in pungs])
    wanted = []
    for is_open, is_closed, aside, of_aside, number, kind in complete_hands():
        if not (is_open if melds else is_closed):
            continue
        left = sorted([lowest.index(run) for run in of_aside] + [number])
        try:
            for meld in melds:
                left.remove(meld)
        except ValueError:
            continue
        rest = aside + SETS[number] + PAIRS[kind] - sum((SETS[meld] for meld in melds), np.zeros(NUM_KINDS, np.int8))
        wanted.append(rest)
    if not wanted:
        return np.full(len(counts), FAR)
    wanted = np.unique(np.array(wanted, np.int8), axis=0)
    return np.array([np.maximum(wanted - hand, 0).sum(axis=1).min() for hand in counts])


def short_of_all_groups(counts, runs, pungs):
    groups = np.split(np.arange(NUM_KINDS), (9, 18, 27, 31))
    melded = [[meld for meld in (*runs, *pungs) if meld in group] for group in groups]
    if any(len(melds) > 1 for melds in melded):
        return np.full(len(counts), FAR)
    found = []
    for hand in counts:
        ways = []
        for pair in range(5 - bool(runs or pungs)):
            if melded[pair]:
                continue
            short = 0
            for place, group in enumerate(groups):
                inside = [
                    block for block in (PAIRS if place == pair else SETS) if np.isin(np.flatnonzero(block), group).all()
                ]
                short += 0 if melded[place] else min(np.maximum(block - hand, 0).sum() for block in inside)
            ways.append(short)
        found.append(min(ways, default=FAR))
    return np.array(found)


def random_hands(rng, number, tiles, runs, pungs):
    """Hands between which and a complete hand a few tiles stand, no kind more than four times with the melds."""
    laid = sum((RUNS[run] for run in runs), np.zeros(NUM_KINDS, int)) + sum(3 * ONE[kind].astype(int) for kind in pungs)
    found = []
    for _ in range(number):
        points = rng.random(NUM_KINDS) * np.where(rng.random() < 0.5, 1, (np.arange(NUM_KINDS) < 27) * 3 + 0.2)
        wall = np.repeat(np.arange(NUM_KINDS), 4 - laid)
        weight = points[wall]
        found.append(np.bincount(rng.choice(wall, tiles, replace=False, p=weight / weight.sum()), minlength=NUM_KINDS))
    return np.array(found, np.int8)


MELDS = [
    ((), ()),
    ((0,), ()),
    ((3, 14), ()),
    ((9,), (33,)),
    ((), (4, 31)),
    ((1, 11, 21), ()),
    ((2, 2), ()),
    ((0, 9, 3), (30,)),
]


@pytest.mark.parametrize(("runs", "pungs"), MELDS)
def test_patterns_and_groups_are_as_near_as_the_nearest_of_all_hands(runs, pungs):
    counts = random_hands(
        np.random.default_rng(len(runs) + 5 * len(pungs)), 12, 13 - 3 * len(runs + pungs), runs, pungs
    )
    shanten = shanten_of(counts, runs, pungs)
    found = np.minimum(shanten._of_patterns().min(axis=0), FAR)
    np.testing.assert_array_equal(found, short_of_patterns(counts, runs, pungs))
    groups = next(aim for aim in AIMS.others if aim.shape == "all groups")
    np.testing.assert_array_equal(
        np.minimum(shanten._distance_to(groups), FAR), short_of_all_groups(counts, runs, pungs)
    )


@pytest.mark.parametrize(("runs", "pungs"), MELDS[:-1])
def test_kinds_help_that_lower_the_distance_and_are_spare_that_leave_it(runs, pungs):
    """The distance is asked for with every tile more and every tile less."""
    rng = np.random.default_rng(3)
    counts = random_hands(rng, 60, 14 - 3 * len(runs + pungs), runs, pungs)
    shanten = shanten_of(counts, runs, pungs)
    more = np.stack([shanten_of(np.minimum(counts + tile, 4), runs, pungs).distance for tile in ONE], axis=1)
    less = np.stack([shanten_of(np.maximum(counts - tile, 0), runs, pungs).distance for tile in ONE], axis=1)
    helps = (more < shanten.distance[:, None]) & (counts < 4)
    np.testing.assert_array_equal(unpack(shanten.kinds_that_help(shanten.distance)) & (counts < 4), helps)
    spare = (less == shanten.distance[:, None]) & (counts > 0)
    np.testing.assert_array_equal(unpack(shanten.kinds_to_spare(None)), spare)

    hand, kind = np.nonzero(spare)
    which = rng.permutation(len(hand))[:200]
    after = shanten_of(counts[hand[which]] - ONE[kind[which]], runs, pungs)
    without = shanten.without(hand[which], kind[which], None)
    np.testing.assert_array_equal(without.kinds_that_help(after.distance), after.kinds_that_help(after.distance))


def test_a_kind_of_which_no_tile_is_left_leads_nowhere():
    counts = np.zeros((1, NUM_KINDS), np.int8)
    counts[0, [0, 1, 12, 13, 14, 24, 25, 26, 31, 31, 5, 28, 10]] += 1
    counts[0, 31] = 2
    hands = hands_of(counts)
    gone = hands.melds._replace(gone=BIT_OF_KIND[[2]])
    lost = AimedShanten(Hands(hands.codes, hands.wilds, hands.sets, hands.closed, hands.counts, gone), AIMS)
    assert shanten_of(counts)._of_patterns().min() < lost._of_patterns().min()


@pytest.mark.parametrize("minimum", [2, 30, 1000])
def test_whatever_a_win_needs_something_is_nearest(minimum):
    shanten = AimedShanten(
        hands_of(random_hands(np.random.default_rng(1), 5, 13, (), ())), rules("mcr", minimum_points=minimum).aims
    )
    assert unpack(shanten.kinds_that_help(shanten.distance)).any(axis=1).all()
    assert (shanten.distance >= 20).all() == (minimum == 1000)


@pytest.mark.parametrize(
    ("hand", "melds", "tile"),
    [
        ("123m 456p 78s 11z 555z", [], "9s"),
        ("234m 345p 45s 777p 22z", [], "6s"),
        ("56s 99p", ["chow 234m@3", "chow 345p@3", "chow 678m@3"], "4s"),
        ("147m 258p 36s 222z 5z 9s", [], "5z"),
        ("147m 258p 36s 12345z", [], "9s"),
        ("1199m 2233p 5566s 7z", [], "7z"),
        ("789m 66m 77p", ["chow 678s@3", "pung 888p@1"], "7p"),
    ],
)
def test_hands_at_an_aim_may_win(hand, melds, tile):
    assert score("mcr", hand=hand, melds=melds, winning_tile=tile, source="discard", from_seat=1).legal
