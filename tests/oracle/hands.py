"""Slow and obvious hand mathematics, written without the package: what the tables are compared with.

A hand is a tuple of 34 counts. Nothing here limits a kind to four copies.
"""

from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np

KINDS = range(34)
RUN_STARTS = [kind for kind in range(27) if kind % 9 <= 6]
KINDS_258 = tuple(kind for kind in range(27) if kind % 9 in (1, 4, 7))
ORPHANS = [kind for kind in KINDS if kind >= 27 or kind % 9 in (0, 8)]
SETS = [(kind,) * 3 for kind in KINDS] + [(start, start + 1, start + 2) for start in RUN_STARTS]
NEVER = 99


def random_hand(rng, tiles, kinds):
    """Deal a hand of so many kinds; few of them hang together."""
    allowed = rng.choice(34, kinds, replace=False) if rng.random() < 0.3 else neighbours(rng, kinds)
    wall = np.repeat(allowed, 4)
    return tuple(np.bincount(rng.choice(wall, tiles, replace=False), minlength=34).tolist())


def neighbours(rng, kinds):
    return (rng.integers(34) + np.arange(kinds)) % 34


def _without(counts, tiles):
    left = list(counts)
    missing = 0
    for kind in tiles:
        if left[kind]:
            left[kind] -= 1
        else:
            missing += 1
    return tuple(left), missing


@cache
def added_for_sets(counts, pair_kinds=()):
    """Fewest tiles to add so that all tiles form sets, and one pair of ``pair_kinds`` where any are given."""
    first = next((kind for kind in KINDS if counts[kind]), None)
    if first is None:
        return 2 if pair_kinds else 0
    ways = [(tiles, pair_kinds) for tiles in SETS if first in tiles]
    if first in pair_kinds:
        ways.append(((first, first), ()))
    best = NEVER
    for tiles, pair_still_to_come in ways:
        left, missing = _without(counts, tiles)
        best = min(best, missing + added_for_sets(left, pair_still_to_come))
    return best


@cache
def _suit_targets(sets, pair, has_runs, kinds):
    """Every tile combination of one group with so many sets and pairs: [m, kinds]."""
    shapes = [(kind,) * 3 for kind in range(kinds)]
    if has_runs:
        shapes += [(start, start + 1, start + 2) for start in range(kinds - 2)]
    pairs = [(kind, kind) for kind in range(kinds)] if pair else [()]
    rows = [
        np.bincount(sum(chosen, two), minlength=kinds)
        for chosen in combinations_with_replacement(shapes, sets)
        for two in pairs
    ]
    return np.array(rows)


def group_distance(counts, sets, pair):
    """Tiles missing for so many sets (and a pair) within one group, other tiles thrown away."""
    targets = _suit_targets(sets, pair, len(counts) == 9, len(counts))
    return int(np.maximum(targets - np.array(counts), 0).sum(axis=1).min())


def distance(counts, sets, wilds=0):
    """Tiles missing to have so many sets and a pair, other tiles thrown away."""
    groups = [counts[0:9], counts[9:18], counts[18:27], counts[27:34]]
    by_group = [{(s, p): group_distance(group, s, p) for s in range(sets + 1) for p in (0, 1)} for group in groups]
    best = NEVER
    for pair_group in range(4):
        for split in product(range(sets + 1), repeat=4):
            if sum(split) == sets:
                missing = sum(by_group[g][split[g], int(g == pair_group)] for g in range(4))
                best = min(best, missing)
    return max(best - wilds, 0)
