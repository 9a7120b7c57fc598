"""The facts of an observation: plain numbers about the game, each declared with how it is read.

They are read from what is seen (a `visibility.VisibleState`, or a `View`, which has the same arrays); a slot that
nobody is in has no number, 0.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

import numpy as np

from mahjong_env.observation.declaration import SLOTS, Fact
from mahjong_env.state.arrays import MAX_MARKS

_ONE_SLOT: Final = np.eye(SLOTS, dtype=np.int8).view(np.int32)[:, 0]  # four numbers as one item
_ONE: Final = np.array(1, np.int8)
_WIND: Final = 4


def _is_dealer(seen: Any) -> Any:
    return _ONE_SLOT.take(seen.dealer).view(np.int8).reshape(-1, SLOTS)


def _marks_of(place: int) -> Any:
    """Reads one mark of each slot, if the variant has it."""
    return lambda seen: seen.marks[:, :, place] if place < len(seen.rules.marks) else None


def _steps_from_own(name: str) -> Any:
    """Reads a person: the steps to him from the person who looks, and 1; 0 for nobody."""

    def read(seen: Any) -> Any:
        if seen.rules.people == seen.rules.seats:
            return None
        person = getattr(seen, name)
        own = seen.own_person if person.ndim == 1 else seen.own_person[:, None]
        return ((person - own) % seen.rules.people + _ONE) * (person >= 0)

    return read


FACTS: Final[tuple[Fact, ...]] = (
    Fact(
        "phase",
        "what the seat is asked (1 its turn, 2 to claim a discard, 3 to rob a kong, 4 to win before the first turn, "
        "5 to win although a flower cannot be replaced; 0 nothing)",
        attrgetter("phase"),
        high=5,
        scale=5,
    ),
    Fact(
        "left",
        "tiles that can be drawn, below 0 after a kong at the end of the wall",
        attrgetter("left"),
        -2,
        127,
        scale=80,
    ),
    Fact("num_discards", "discards of the hand so far", attrgetter("num_discards"), high=127, scale=80),
    Fact(
        "streak",
        "hands for which the dealer has kept the deal",
        attrgetter("streak"),
        high=127,
        scale=4,
        is_open_ended=True,
    ),
    Fact(
        "round_wind",
        "round wind (1 East to 4 North)",
        lambda seen: seen.round_wind + _ONE,
        high=_WIND,
        scale=_WIND,
    ),
    Fact(
        "deals_passed_on",
        "times that the deal has passed on in this round",
        attrgetter("deals_passed_on"),
        high=SLOTS,
        scale=SLOTS,
    ),
    Fact(
        "offered_from",
        "slot + 1 that gave the tile that the seat is asked about",
        lambda seen: seen.offered_from + _ONE,
        high=SLOTS,
        scale=SLOTS,
    ),
    Fact(
        "turn",
        "slot + 1 whose turn it is, or will be if the last discard is not claimed",
        lambda seen: seen.turn + _ONE,
        high=SLOTS,
        scale=SLOTS,
    ),
    Fact(
        "opening",
        "number of the question that the seat is asked before the first turn (in the order of the rules), 0 for none",
        lambda seen: seen.opening if seen.rules.opening_stages else None,
        high=4,
        scale=2,
    ),
    Fact("kong_draws", "kongs in a row before the seat's drawn tile", attrgetter("kong_draws"), high=16),
    Fact("flower_draw", "the seat's drawn tile replaced a flower", attrgetter("flower_draw")),
    Fact("closing", "the hand ends after the seat's discard, or the one that it is asked about", attrgetter("closing")),
    Fact("dice", "dice of the hand", attrgetter("dice"), high=18, scale=18),
    Fact(
        "hand_in_match",
        "hand of the match, from 0",
        attrgetter("hand_in_match"),
        high=127,
        scale=16,
        is_open_ended=True,
    ),
    Fact(
        "hands_to_come",
        "hands of the match still to come",
        attrgetter("hands_to_come"),
        high=127,
        scale=16,
        is_open_ended=True,
    ),
    Fact(
        "sitting_out",
        "who sits out, where people take turns in it: steps from the person who looks + 1, 0 for nobody",
        _steps_from_own("sitting_out"),
        high=SLOTS,
        scale=SLOTS,
    ),
    Fact("is_dealer", "the slot is the dealer", _is_dealer, by_slot=True),
    Fact(
        "house_wind",
        "wind of the slot (1 East to 4 North, 0 nobody)",
        lambda seen: seen.house_wind + _ONE,
        high=_WIND,
        scale=_WIND,
        by_slot=True,
    ),
    Fact(
        "person",
        "who sits there, where people take turns in sitting out: steps from the person who looks + 1, 0 for nobody",
        _steps_from_own("person"),
        high=SLOTS,
        scale=SLOTS,
        by_slot=True,
    ),
    *(
        Fact(
            f"mark_{number}",
            f"what the variant counts for the slot (number {number} of `Rules.marks`)",
            _marks_of(number),
            low=-127,
            high=127,
            by_slot=True,
            is_open_ended=True,
        )
        for number in range(MAX_MARKS)
    ),
)
"""The table of facts, in order."""
