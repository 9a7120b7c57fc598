"""Sets are accounted for once: what four chows make together, compared with the rule as books write it down."""

from collections import Counter
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np

from mahjong_env.scoring.combinations import Combinations
from mahjong_env.scoring.rows import Combination

ROWS = {
    "quadruple": (48, True, ((0, 0, 0),)),
    "four shifted": (32, True, ((1, 1, 1), (2, 2, 2))),
    "pure triple": (24, True, ((0, 0),)),
    "straight": (16, True, ((3, 3),)),
    "shifted": (16, True, ((1, 1), (2, 2))),
    "mixed straight": (8, False, ((3, 3),)),
    "mixed triple": (8, False, ((0, 0),)),
    "mixed shifted": (6, False, ((1, 1),)),
    "pure double": (1, True, ((0,),)),
    "mixed double": (1, False, ((0,),)),
    "short": (1, True, ((3,),)),
    "terminal": (1, True, ((6,),)),
}
NAMES, TWOS = list(ROWS), ("pure double", "mixed double", "short", "terminal")
TABLE = Combinations([Combination("runs", *row[1:]) for row in ROWS.values()], [row[0] for row in ROWS.values()])


def counted(chows):
    """The rows that the table gives chows, by their lowest kinds."""
    (entries,) = TABLE.count(np.bincount(chows, minlength=34)[None].astype(np.int8))
    return Counter(dict(zip(NAMES, entries.tolist(), strict=True))) + Counter()


def made(chows):
    """The row that these chows make together, None for none."""
    suits, ranks = [chow // 9 for chow in chows], sorted(chow % 9 for chow in chows)
    steps = tuple(after - before for before, after in pairwise(ranks))
    for name, (_, one_suit, ways) in ROWS.items():
        if steps in ways and len(set(suits)) == (1 if one_suit else len(suits)):
            return name
    return None


def as_written(chows):
    """One row of four; else one of three and one of two with the fourth; else rows of two, at most one a tree."""
    if len(chows) == 4 and made(chows):
        return Counter([made(chows)])
    threes = [which for which in combinations(range(len(chows)), 3) if made([chows[place] for place in which])]
    if threes:
        best = max(threes, key=lambda which: ROWS[made([chows[place] for place in which])][0])
        found = Counter([made([chows[place] for place in best])])
        for fourth in set(range(len(chows))) - set(best):
            two = [made([chows[fourth], chows[place]]) for place in best]
            found += Counter(sorted(filter(None, two), key=TWOS.index)[:1])
        return found
    pairs = [pair for pair in combinations(range(len(chows)), 2) if made([chows[place] for place in pair])]
    found = Counter(made([chows[place] for place in pair]) for pair in pairs)
    part = list(range(len(chows)))
    for one, other in pairs:
        part = [part[one] if each == part[other] else each for each in part]
    most = len(chows) - len(set(part))
    for least in (1, 0):
        for name in reversed(TWOS):
            while found.total() > most and found[name] > least:
                found[name] -= 1
    return found + Counter()


def test_all_that_four_chows_can_be():
    starts = [9 * suit + rank for suit in range(3) for rank in range(7)]
    sizes = Counter()
    for chows in combinations_with_replacement(starts, 4):
        if chows[0] >= 9:  # suits are alike
            break
        assert counted(chows) == as_written(chows), chows
        sizes[counted(chows).total()] += 1
    assert set(sizes) == {0, 1, 2, 3}


def test_fewer_chows():
    for number in (0, 1, 2, 3):
        for chows in combinations_with_replacement([0, 3, 6, 9, 12, 18], number):
            assert counted(chows) == as_written(chows), chows


def test_the_same_row_is_not_made_twice_with_one_set():
    assert counted([19, 10, 10]) == {"pure double": 1, "mixed double": 1}


def test_the_best_choice_counts_and_not_the_first():
    rows = [Combination("triplets", False, ((0,),)), Combination("triplets", False, ((0, 0),))]
    pungs = np.bincount([3, 12, 21], minlength=34)[None].astype(np.int8)
    assert Combinations(rows, [2, 16]).count(pungs).tolist() == [[0, 1]]
    assert Combinations(rows, [20, 16]).count(pungs).tolist() == [[2, 0]]
