"""A slow and obvious search for the best reading of a Wuhan hand: every filling of the wild tiles, every division.

It shares nothing with the package. Kinds are numbers as everywhere: suits 0-26, winds 27-30, White, Green, Red 31-33.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil

FIRST_HONOUR = 27
WINDS = {27, 28, 29, 30}
DRAGONS = {31, 32, 33}
RED = 33
OPEN = ("chow", "pung", "exposed", "added")


@dataclass
class Hand:
    """What there is to know about a win: seat 0 wins."""

    concealed: Counter  # with the winning tile, wild tiles as what they are
    winning_tile: int
    melds: list = field(default_factory=list)  # (word, kind, from_seat)
    wild: int | None = None
    source: str = "draw"
    from_seat: int | None = None
    dealer: int = 0
    kong_draws: int = 0
    last_tile: bool = False
    red_discards: int = 0


def readings(hand, *, wild_hand_discard_win=True, wild_kong_multiplier=2):
    """All (value before the cap, rows as (name, value)) of the readings with which the hand may win."""
    wilds = 0 if hand.wild is None else hand.concealed[hand.wild]
    if hand.source != "draw":
        if hand.winning_tile in (hand.wild, RED):
            return []
        if wilds and not wild_hand_discard_win:
            return []
    natural = Counter({kind: count for kind, count in hand.concealed.items() if kind != hand.wild})
    found = {}
    for rows in [*_seven_pairs(hand, natural, wilds), *_sets_and_pair(hand, natural, wilds)]:
        complete = sorted(rows + _factors(hand, wild_kong_multiplier))
        found[tuple(complete)] = _value(complete)
    return [(value, list(rows)) for rows, value in found.items()]


def payments(hand, rows, points, *, discard_payers="all"):
    """Who pays what for a win that scored these rows."""
    names = {name for name, _ in rows}
    claimed = [from_seat for word, _, from_seat in hand.melds if word in OPEN]
    if "Pure One Suit" in names and len(claimed) >= 3:
        responsible = claimed[2]
    elif hand.source == "kong" or ("Full Demand" in names and hand.source == "discard"):
        responsible = hand.from_seat
    else:
        responsible = None
    if responsible is not None:
        paid = {responsible: 3 * points}
    elif hand.source == "discard" and discard_payers == "discarder":
        paid = {hand.from_seat: points}
    else:
        paid = dict.fromkeys((1, 2, 3), points)
    return (sum(paid.values()), *(-paid.get(seat, 0) for seat in (1, 2, 3)))


def _value(rows):
    base = sum(value for name, value in rows if value == 10) or 1
    product = Fraction(base)
    for name, value in rows:
        if value != 10 and name != "Flat Hand":
            product *= Fraction(value)
    return ceil(product)


def _factors(hand, wild_kong_multiplier):
    rows = []
    for word, kind, _ in hand.melds:
        if word in OPEN:
            rows.append(("Open Mouth", 2))
        if word == "exposed":
            rows.append(("Exposed Kong", 2))
        if word == "added":
            rows.append(("Added Kong", 2))
        if word == "concealed":
            rows.append(("Wild Card Kong", wild_kong_multiplier) if kind == hand.wild else ("Concealed Kong", 4))
    if hand.dealer == 0:
        rows.append(("Dealer", 2))
    if hand.source == "draw":
        rows.append(("Self-Draw", 1.5))
    return rows + [("Red Dragon", 2)] * hand.red_discards


def _situation(hand):
    rows = []
    if len(hand.melds) == 4 and all(word in OPEN for word, _, _ in hand.melds):
        rows.append(("Full Demand", 10))
    if hand.source == "draw" and hand.last_tile:
        rows.append(("Fishing the Bottom", 10))
    if hand.source == "draw" and hand.kong_draws:
        rows.append(("Kong Bloom", 10))
    if hand.source == "kong":
        rows.append(("Robbing a Kong", 10))
    return rows


def _suit_rows(kinds):
    suits = {kind // 9 for kind in kinds if kind < FIRST_HONOUR}
    honours = any(kind >= FIRST_HONOUR for kind in kinds)
    rows = []
    if not suits:
        rows.append(("All Honors", 10))
    if len(suits) == 1:
        rows.append(("Mixed One Suit", 10) if honours else ("Pure One Suit", 10))
    if not honours and all(kind % 9 in (0, 8) for kind in kinds):
        rows.append(("Terminals Only", 10))
    return rows


def _seven_pairs(hand, natural, wilds):
    """Four wild tiles, five natural pairs, nothing declared, no Red.

    The wild tiles are what they are; for Pure and Mixed One Suit they may also be tiles of any suit.
    """
    if hand.melds or wilds != 4 or any(count % 2 for count in natural.values()) or natural[RED]:
        return []
    fixed = [("Wild Card Seven Pairs", 10), ("Hard Win", 2), *_situation(hand)]
    as_they_are = _suit_rows({*+natural, hand.wild})
    found = [[*fixed, *as_they_are]]
    for some_tile in (4, 13, 22):  # a five of each suit, which is no terminal
        of_suit = _suit_rows({*+natural, some_tile})
        found.append([*fixed, *of_suit, *(row for row in as_they_are if row[0] == "Terminals Only")])
    return found


def _sets_and_pair(hand, natural, wilds):
    if not any(word in OPEN for word, _, _ in hand.melds):
        return
    melded = [[kind, kind + 1, kind + 2] if word == "chow" else [kind] * 3 for word, kind, _ in hand.melds]
    for filling in combinations_with_replacement(range(34), wilds):
        counts = [natural[kind] for kind in range(34)]
        for kind in filling:
            counts[kind] += 1
        if not _sizes_fit(counts):
            continue
        hard = all(kind == hand.wild for kind in filling)
        for pair, sets in divisions(counts):
            rows = _rows(hand, pair, [*melded, *sets], wilds, holds_red=natural[RED] > 0)
            if rows is not None:
                yield [*rows, ("Hard Win", 2) if hard else ("Soft Win", 1)]


def _rows(hand, pair, sets, wilds, *, holds_red):
    """The rows of one reading, None if the hand may not win with it."""
    triplets = {tiles[0] for tiles in sets if tiles[0] == tiles[1]}
    large = _situation(hand) + _suit_rows({pair, *(kind for tiles in sets for kind in tiles)})
    if all(tiles[0] == tiles[1] for tiles in sets):
        large.append(("All Triplets", 10))
    if triplets >= WINDS:
        large.append(("Big Four Winds", 10))
    if triplets >= DRAGONS:
        large.append(("Big Three Dragons", 10))
    elif holds_red:
        return None
    if large:
        return large
    if wilds > 1 or pair >= FIRST_HONOUR or pair % 9 not in (1, 4, 7):
        return None
    return [("Flat Hand", 1)]


def _sizes_fit(counts):
    """Each suit and the honours must be sets, one of them sets and a pair."""
    beyond = [sum(counts[low:high]) % 3 for low, high in ((0, 9), (9, 18), (18, 27), (27, 34))]
    return sorted(beyond) == [0, 0, 0, 2]


def divisions(counts):
    """Every way to divide the tiles into a pair and sets: (pair, list of sets)."""
    for pair in range(34):
        if counts[pair] >= 2:
            rest = list(counts)
            rest[pair] -= 2
            for sets in _divide(rest, 0):
                yield pair, sets


def _divide(counts, kind):
    while kind < 34 and not counts[kind]:
        kind += 1
    if kind == 34:
        yield []
        return
    if counts[kind] >= 3:
        rest = list(counts)
        rest[kind] -= 3
        for sets in _divide(rest, kind):
            yield [[kind] * 3, *sets]
    if kind < FIRST_HONOUR and kind % 9 <= 6 and counts[kind + 1] and counts[kind + 2]:
        rest = list(counts)
        for step in range(3):
            rest[kind + step] -= 1
        for sets in _divide(rest, kind):
            yield [[kind, kind + 1, kind + 2], *sets]
