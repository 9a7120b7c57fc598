"""Dividing tiles into sets and a pair, by trying everything.

A *joker* is a tile that may stand for any kind (the wild tiles of a hand, whatever kind they really are:
standing for its own kind is one of the choices). A *reading* is one complete way to divide tiles and jokers
into sets and a pair; `readings` lists every reading, so that scoring can look at one reading at a time and
keep the best.
"""

from collections import Counter
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from .tiles import KINDS, RUNS, RUNS_WITH, in_order


class Group(NamedTuple):
    """One set or pair of a reading: what it is, the kinds it shows, and which of its tiles are jokers."""

    type: str  # "run", "triplet" or "pair"
    tiles: tuple
    jokers: tuple


def groups_with(tile, want_pair):
    """Every (type, kinds) that has this tile in it, the tile itself put first."""
    found = [("triplet", (tile, tile, tile))]
    if want_pair:
        found.append(("pair", (tile, tile)))
    for run in RUNS_WITH[tile]:
        others = list(run)
        others.remove(tile)
        found.append(("run", (tile, *others)))
    return found


@lru_cache(maxsize=200_000)
def divides(tiles, jokers, sets, pairs):
    """Whether a sorted tuple of tiles, with the jokers, is exactly so many sets and pairs (pairs: 0 or 1).

    A joker and a real tile of the kind it stands for may change places, so a real tile is used where one is.
    """
    if len(tiles) + jokers != 3 * sets + 2 * pairs:
        return False
    if not tiles:
        return True
    for type_, (_, *others) in groups_with(tiles[0], pairs > 0):
        rest, jokers_left = list(tiles[1:]), jokers
        for other in others:
            if other in rest:
                rest.remove(other)
            else:
                jokers_left -= 1
        is_pair = type_ == "pair"
        if is_pair or sets > 0:
            fits = jokers_left >= 0 and divides(tuple(rest), jokers_left, sets - (not is_pair), pairs - is_pair)
            if fits:
                return True
    return False


def fillings(others, rest, jokers):
    """Every way to fill the other places of a group: (mask of jokers, tiles left, jokers left)."""
    if not others:
        return [((), rest, jokers)]
    found = []
    if others[0] in rest:
        left = list(rest)
        left.remove(others[0])
        found += [((False, *mask), *after) for mask, *after in fillings(others[1:], left, jokers)]
    if jokers > 0:
        found += [((True, *mask), *after) for mask, *after in fillings(others[1:], rest, jokers - 1)]
    return found


def jokers_alone(sets, pairs, kinds):
    """Every reading of jokers with no real tile among them."""
    whole_sets = [Group("triplet", (kind,) * 3, (True,) * 3) for kind in kinds]
    whole_sets += [Group("run", run, (True,) * 3) for run in RUNS]
    whole_pairs = [Group("pair", (kind,) * 2, (True,) * 2) for kind in kinds]
    for some_sets in combinations_with_replacement(whole_sets, sets):
        for some_pairs in combinations_with_replacement(whole_pairs, pairs):
            yield [*some_sets, *some_pairs]


def _all_readings(tiles, jokers, sets, pairs, kinds):
    if not divides(tuple(tiles), jokers, sets, pairs):
        return
    if not tiles:
        yield from jokers_alone(sets, pairs, kinds)
        return
    for type_, names in groups_with(tiles[0], pairs > 0):
        is_pair = type_ == "pair"
        if not is_pair and sets == 0:
            continue
        for mask, rest, jokers_left in fillings(names[1:], list(tiles[1:]), jokers):
            filled = in_order_with(names, (False, *mask))
            group = Group(type_, tuple(name for name, _ in filled), tuple(joker for _, joker in filled))
            for others in _all_readings(rest, jokers_left, sets - (not is_pair), pairs - is_pair, kinds):
                yield [group, *others]


def in_order_with(names, mask):
    """Names and joker marks of one group, by name, so that the same group is always written the same way."""
    return sorted(zip(names, mask, strict=True))


def readings(tiles, jokers, sets, pairs=1, kinds=KINDS):
    """Every reading, each once, as a sorted list of Groups; an empty list when the tiles are not complete."""
    found = {tuple(sorted(reading)) for reading in _all_readings(in_order(tiles), jokers, sets, pairs, tuple(kinds))}
    return [list(reading) for reading in sorted(found)]


def is_complete(tiles, jokers, sets):
    """Whether the tiles and jokers are so many sets and a pair."""
    return divides(tuple(in_order(tiles)), jokers, sets, 1)


def is_seven_pairs(tiles, jokers=0):
    """Seven pairs, four alike being two pairs; a joker pairs any tile, two jokers pair each other."""
    return is_only_pairs(tiles, jokers, 7)


def is_only_pairs(tiles, jokers, pairs):
    """Whether the tiles, with the jokers, are exactly so many pairs."""
    lonely = sum(count % 2 for count in Counter(tiles).values())
    return len(tiles) + jokers == 2 * pairs and lonely <= jokers


def is_thirteen_orphans(tiles):
    """One of each terminal and honour, and one of them twice."""
    thirteen = {"1m", "9m", "1p", "9p", "1s", "9s", "1z", "2z", "3z", "4z", "5z", "6z", "7z"}
    return len(tiles) == 14 and set(tiles) == thirteen


def quads(tiles):
    """How many kinds are there four times."""
    return sum(count == 4 for count in Counter(tiles).values())
