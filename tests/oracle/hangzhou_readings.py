"""A slow search for the best reading of a Hangzhou hand: every tile that every fortune may stand for, one by one.

It shares nothing with the package but the numbers of tile kinds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement


@dataclass
class Hand:
    """A described win: plain Python throughout."""

    natural: Counter  # concealed tiles that are no fortunes, the winning tile included
    fortunes: int  # concealed fortunes, the winning tile included
    winning_tile: int | None  # None: a fortune
    melds: int = 0
    drawn: bool = True
    gambits: int = 0
    kong_draws: int = 0
    base_score: int = 1


def best_readings(hand: Hand) -> tuple[int, list]:
    """The highest value that any substitution gives, 0 for none, and the rows of all readings that have it."""
    best: tuple[int, list] = (0, [])
    for chosen in combinations_with_replacement(range(34), hand.fortunes):
        tiles = hand.natural + Counter(chosen)
        counts = tuple(tiles[kind] for kind in range(34))
        for rows in _readings(hand, Counter(chosen), counts):
            value = 1
            for _, factor in rows:
                value *= factor
            if value > best[0]:
                best = (value, [])
            if value == best[0] and sorted(rows) not in best[1]:
                best[1].append(sorted(rows))
    return best


def _readings(hand: Hand, chosen: Counter, counts: tuple) -> list:
    """The rows of the hand as four sets and a pair, and as seven pairs, with the fortunes standing for ``chosen``."""
    found = []
    common = [("Base Score", hand.base_score)]
    if hand.drawn:
        common += [("Fortune Gambit", 2)] * hand.gambits + [("Kong Blossom", 2)] * hand.kong_draws
    # Kinds of which the drawn tile and a fortune that was there before make a pair.
    with_fortune = [
        kind for kind in chosen if kind == hand.winning_tile or (hand.winning_tile is None and chosen[kind] > 1)
    ]
    if any(count >= 2 and is_sets(_less(counts, kind, 2)) for kind, count in enumerate(counts)):
        explosive = hand.drawn and any(is_sets(_less(counts, kind, 2)) for kind in with_fortune)
        found.append(common + [("Explosive Pair", 2)] * explosive)
    if hand.melds == 0 and all(count % 2 == 0 for count in counts):
        quads = sum(count == 4 for count in hand.natural.values())
        rows = [*common, ("Seven Pairs", 2), *[("Luxury Pairs", 2)] * quads]
        rows += [("Pure Seven Pairs", 2)] * (hand.fortunes == 0)
        found.append(rows + [("Explosive Pair", 2)] * (hand.drawn and bool(with_fortune)))
    return found


def _less(counts: tuple, kind: int, number: int) -> tuple:
    return (*counts[:kind], counts[kind] - number, *counts[kind + 1 :])


def is_sets(counts: tuple) -> bool:
    """Whether all tiles can be divided into runs and triplets."""
    suits = [counts[0:9], counts[9:18], counts[18:27]]
    return all(count in (0, 3, 6) for count in counts[27:]) and all(_is_suit_of_sets(suit) for suit in suits)


@cache
def _is_suit_of_sets(suit: tuple) -> bool:
    first = next((rank for rank, count in enumerate(suit) if count), None)
    if first is None:
        return True
    if suit[first] >= 3 and _is_suit_of_sets(_less(suit, first, 3)):
        return True
    if first > 6 or not (suit[first + 1] and suit[first + 2]):
        return False
    return _is_suit_of_sets(_less(_less(_less(suit, first, 1), first + 1, 1), first + 2, 1))
