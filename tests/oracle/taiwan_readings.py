"""A slow search for the best reading of a Taiwanese hand: every division, every set that the winning tile may complete.

It shares nothing with the package but the numbers of tile kinds and the words of the notation. A hand is a `Hand`, all
of whose parts are plain Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

EAST, WHITE = 27, 31
FIRST_HONOUR = range(27, 34)


@dataclass
class Hand:
    """A described win. ``melds`` are (word, lowest kind), the words chow, pung, exposed, added and concealed."""

    concealed: Counter  # with the winning tile
    winning_tile: int
    melds: list
    source: str  # draw, discard, kong
    flowers: set = field(default_factory=set)  # texts
    kong_draws: int = 0
    flower_draw: bool = False
    last_tile: bool = False
    first_draw: bool = False
    is_dealer: bool = False
    round_wind: int = EAST
    house_wind: int = EAST


def divisions(tiles: Counter, sets: int) -> Iterator[list]:
    """Every way to divide tiles into this many sets and a pair: lists of ("pair" | "triple" | "run", lowest kind)."""
    for kind in [kind for kind, count in tiles.items() if count >= 2]:
        rest = tiles.copy()
        rest[kind] -= 2
        for division in _divide(+rest, sets):
            yield [("pair", kind), *division]


def _divide(tiles: Counter, sets: int) -> Iterator[list]:
    if sets == 0:
        if not tiles:
            yield []
        return
    if not tiles:
        return
    lowest = min(tiles)
    candidates = [("triple", (lowest,) * 3)]
    if lowest < EAST and lowest % 9 <= 6:
        candidates.append(("run", (lowest, lowest + 1, lowest + 2)))
    for word, wanted in candidates:
        if not Counter(wanted) - tiles:
            for division in _divide(tiles - Counter(wanted), sets - 1):
                yield [(word, lowest), *division]


def is_complete(tiles: Counter, sets: int) -> bool:
    """Whether tiles can be divided at all."""
    return next(divisions(+tiles, sets), None) is not None


def tiles_of(part: tuple) -> list:
    """The kinds of a part of a division."""
    word, kind = part
    return [kind, kind + 1, kind + 2] if word == "run" else [kind] * (2 if word == "pair" else 3)


def priced_readings(hand: Hand, *, strict_peaceful: bool = False) -> list:
    """The rows of every reading, as sorted lists of (name, tai)."""
    single = waits_for_one(hand)
    return [
        sorted(_rows(hand, division, completed, single, strict_peaceful))
        for division in divisions(hand.concealed, 5 - len(hand.melds))
        for completed in division
        if hand.winning_tile in tiles_of(completed)
    ]


def waits_for_one(hand: Hand) -> bool:
    """Exactly one kind, not all four of which the player holds, completes what he held before."""
    before = hand.concealed.copy()
    before[hand.winning_tile] -= 1
    held = before.copy()
    for word, kind in hand.melds:
        if word == "chow":
            held.update([kind, kind + 1, kind + 2])
        else:
            held[kind] += 3 if word == "pung" else 4
    kinds = [
        kind for kind in range(34) if held[kind] < 4 and is_complete(before + Counter([kind]), 5 - len(hand.melds))
    ]
    return len(kinds) == 1


def _rows(hand: Hand, division: list, completed: tuple, single: bool, strict_peaceful: bool) -> Iterator[tuple]:
    drawn = hand.source == "draw"
    words = [word for word, _ in hand.melds]
    claimed = [word for word in words if word != "concealed"]
    runs = [kind for word, kind in division if word == "run"] + [kind for word, kind in hand.melds if word == "chow"]
    own_triples = [part for part in division if part[0] == "triple"]
    triples = [kind for _, kind in own_triples] + [kind for word, kind in hand.melds if word != "chow"]
    pair = next(kind for word, kind in division if word == "pair")
    every = [*triples, *runs, pair]

    if hand.first_draw:
        yield ("Heaven", 24) if hand.is_dealer else ("Earth", 16)
    else:
        if single:
            yield "Waiting for One", 1
        if drawn:
            yield ("Self-Touch", 1) if claimed else ("Pure Self-Touch", 3)
    if not claimed and not drawn:
        yield "Pure Hand", 1
    if drawn and (hand.kong_draws or hand.flower_draw):
        yield "Gang Blossom", 1
    if drawn and hand.last_tile:
        yield "Last Tile", 1
    if hand.source == "kong":
        yield "Robbing the Gang", 1
    for word in words:
        if word in ("exposed", "added"):
            yield "Exposed Gang", 1
        if word == "concealed":
            yield "Hidden Gang", 2
    if len(claimed) == 5 and hand.source == "discard":
        yield "Full Beggar's Hand", 2

    hidden = len(own_triples) + words.count("concealed") - (not drawn and completed[0] == "triple")
    if hidden >= 3:
        yield {3: ("Three Hidden Triples", 2), 4: ("Four Hidden Triples", 5), 5: ("Five Hidden Triples", 8)}[hidden]
    if not runs:
        yield "All Pungs", 4
    if not triples and pair < EAST and not drawn and not single and not (strict_peaceful and hand.flowers):
        yield "Peaceful Win", 2
    yield from _suit_rows(every)
    yield from _honour_rows(hand, triples, pair)
    yield from _flower_rows(hand)


def _suit_rows(every: list) -> Iterator[tuple]:
    suits = {kind // 9 for kind in every if kind < EAST}
    has_honours = any(kind in FIRST_HONOUR for kind in every)
    if not has_honours:
        yield "No Characters", 1
    if not suits:
        yield "All Honors", 8
    elif len(suits) == 1:
        yield ("Mixed One Suit", 4) if has_honours else ("Pure One Suit", 8)


def _honour_rows(hand: Hand, triples: list, pair: int) -> Iterator[tuple]:
    winds = [kind for kind in triples if EAST <= kind < WHITE]
    dragons = [kind for kind in triples if kind >= WHITE]
    if len(winds) == 4:
        yield "Big Four Winds", 16
    elif len(winds) == 3 and EAST <= pair < WHITE:
        yield "Little Four Winds", 8
    else:
        if hand.house_wind in winds:
            yield "House Wind", 1
        if hand.round_wind in winds:
            yield "Round Wind", 1
    if len(dragons) == 3:
        yield "Big Three Dragons", 8
    elif len(dragons) == 2 and pair >= WHITE:
        yield "Little Three Dragons", 4
    else:
        yield from [("Dragon", 1)] * len(dragons)


def _flower_rows(hand: Hand) -> Iterator[tuple]:
    if not hand.flowers:
        yield "No Flowers", 1
    number = hand.house_wind - EAST + 1
    for letter, name in (("F", "Four Flowers"), ("S", "Four Seasons")):
        if f"{letter}{number}" in hand.flowers:
            yield "Own Flower", 1
        if {f"{letter}{one}" for one in range(1, 5)} <= hand.flowers:
            yield name, 2
