"""The facts of an observation: plain numbers about the game, each declared with the function that reads it.

They are read from what a seat sees (`visibility.VisibleState`). An empty slot has the number 0.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final

import numpy as np

from mahjong_env.observation.declaration import SLOTS, Fact
from mahjong_env.state.arrays import MAX_MARKS

_ONE_SLOT: Final = np.eye(SLOTS, dtype=np.int8).view(np.int32)[:, 0]  # four numbers as one item
_ONE: Final = np.array(1, np.int8)


def _is_dealer(seen: Any) -> Any:
    return _ONE_SLOT.take(seen.dealer).view(np.int8).reshape(-1, SLOTS)


def _marks_of(place: int) -> Any:
    """Return a reader of one mark of each slot, if the variant has it; after the last mark, of the private walls."""

    def read(seen: Any) -> Any:
        number = len(seen.rules.marks)
        if place < number:
            return seen.marks[:, :, place]
        return seen.walls if place == number and seen.rules.has_private_walls else None

    return read


def _steps_from_own(name: str) -> Any:
    """Return a reader of a person as the number of steps from the person who looks, plus 1; 0 for nobody."""

    def read(seen: Any) -> Any:
        if not seen.rules.people_move:
            return None
        person = getattr(seen, name)
        own = seen.own_person if person.ndim == 1 else seen.own_person[:, None]
        return ((person - own) % seen.rules.people + _ONE) * (person >= 0)

    return read


def _array(name: str, meaning: str, **more: Any) -> Fact:
    """Declare a fact that is held by the array of the same name."""
    return Fact(name, meaning, attrgetter(name), **more)


def _one_more(name: str, meaning: str, **more: Any) -> Fact:
    """Declare a fact that is one more than the array of its name, so that -1 (nobody) becomes 0."""
    return Fact(name, meaning, lambda seen: getattr(seen, name) + _ONE, **more)


# Ranges that several facts share.
_OF_SLOTS: Final[Any] = {"high": SLOTS, "scale": SLOTS}
_OF_WINDS: Final[Any] = {"high": 4, "scale": 4}
_OPEN_ENDED: Final[Any] = {"high": 127, "is_open_ended": True}

FACTS: Final[tuple[Fact, ...]] = (
    _array(
        "phase",
        "what the seat is asked (1 its turn, 2 to claim a discard, 3 to rob a kong, 4 to win before the first turn, "
        "5 to win although a flower cannot be replaced; 0 nothing)",
        high=5,
        scale=5,
    ),
    _array("left", "tiles that can be drawn, below 0 after a kong at the end of the wall", low=-2, high=127, scale=80),
    _array("num_discards", "discards of the hand so far", high=127, scale=80),
    _array("streak", "hands for which the dealer has kept the deal", scale=4, **_OPEN_ENDED),
    _one_more("round_wind", "round wind (1 East to 4 North)", **_OF_WINDS),
    _array(
        "deals_passed_on", "times that the deal has passed on, from 0 again after each seat has had it", **_OF_SLOTS
    ),
    _one_more("offered_from", "slot + 1 that gave the tile that the seat is asked about", **_OF_SLOTS),
    _one_more("turn", "slot + 1 whose turn it is, or will be if the last discard is not claimed", **_OF_SLOTS),
    Fact(
        "opening",
        "number of the question that the seat is asked before the first turn (in the order of the rules), 0 for none",
        lambda seen: seen.opening if seen.rules.opening_stages else None,
        high=4,
        scale=2,
    ),
    _array("kong_draws", "kongs in a row before the seat's drawn tile", high=16),
    _array("flower_draw", "the seat's drawn tile replaced a flower"),
    _array("closing", "the hand ends after the seat's discard, or the one that it is asked about"),
    _array("dice", "dice of the hand", high=18, scale=18),
    _array("hand_in_match", "hand of the match, from 0", scale=16, **_OPEN_ENDED),
    _array("hands_to_come", "hands of the match still to come", scale=16, **_OPEN_ENDED),
    Fact(
        "sitting_out",
        "who sits out, where people take turns in it: steps from the person who looks + 1, 0 for nobody",
        _steps_from_own("sitting_out"),
        **_OF_SLOTS,
    ),
    Fact("is_dealer", "the slot is the dealer", _is_dealer, by_slot=True),
    _one_more("house_wind", "wind of the slot (1 East to 4 North, 0 nobody)", by_slot=True, **_OF_WINDS),
    Fact(
        "person",
        "who sits there, where people change seats or take turns in sitting out: steps from the person who looks + 1, "
        "0 for nobody",
        _steps_from_own("person"),
        by_slot=True,
        **_OF_SLOTS,
    ),
    *(
        Fact(
            f"mark_{number}",
            f"what the variant counts for the slot (number {number} of `Rules.marks`); in the first place behind "
            "those, the tiles that are left in its private wall",
            _marks_of(number),
            low=-127,
            by_slot=True,
            **_OPEN_ENDED,
        )
        for number in range(MAX_MARKS)
    ),
)
"""The table of facts, in order."""
