"""Sets are accounted for once: what chows make together, compared with the referee, which goes by the book."""

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np

from mahjong_env import VARIANTS
from mahjong_env.scoring.combinations import Combinations
from mahjong_env.scoring.rows import Combination
from oracle.referee import mcr

ROWS = [row for row in VARIANTS["mcr"].rows if row.combines is not None and row.combines.of == "runs"]
TABLE = Combinations([row.combines for row in ROWS], [row.value for row in ROWS])


def counted(chows):
    """The rows that the table gives chows, by their lowest kinds."""
    (entries,) = TABLE.count(np.bincount(chows, minlength=34)[None].astype(np.int8))
    return Counter({row.name: number for row, number in zip(ROWS, entries.tolist(), strict=True) if number})


def as_written(chows):
    """The combinations of the greatest value that the referee finds; the pair is a dragon."""
    sets = [mcr.Part("chow", f"{chow % 9 + 1}{'mps'[chow // 9]}") for chow in chows]
    ways = mcr.chow_fan(mcr.Reading("plain", sets, "5z"))
    values = [sum(mcr.POINTS[name] for name in way) for way in ways]
    return [Counter(way) for way, value in zip(ways, values, strict=True) if value == max(values)]


def test_all_that_four_chows_can_be():
    starts = [9 * suit + rank for suit in range(3) for rank in range(7)]
    sizes = Counter()
    for chows in combinations_with_replacement(starts, 4):
        if chows[0] >= 9:  # suits are alike
            break
        assert counted(chows) in as_written(chows), chows
        sizes[counted(chows).total()] += 1
    assert set(sizes) == {0, 1, 2, 3}


def test_fewer_chows():
    for number in (0, 1, 2, 3):
        for chows in combinations_with_replacement([0, 3, 6, 9, 12, 18], number):
            assert counted(chows) in as_written(chows), chows


def test_the_best_choice_counts_and_not_the_first():
    rows = [Combination("triplets", False, ((0,),)), Combination("triplets", False, ((0, 0),))]
    pungs = np.bincount([3, 12, 21], minlength=34)[None].astype(np.int8)
    assert Combinations(rows, [2, 16]).count(pungs).tolist() == [[0, 1]]
    assert Combinations(rows, [20, 16]).count(pungs).tolist() == [[2, 0]]
