"""Seats that look at their tables, and where the others sit from there: slot 0 is the looking seat itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from mahjong_env.basics.lazy import lazy
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.observation.declaration import SLOTS
from mahjong_env.state.arrays import NO_SEAT, SLOT_OF_OFFSET, State
from mahjong_env.state.seats import Seats

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules

EMPTY_SLOT: Final = 2
"""The slot where nobody sits at tables for three."""

# [looking seat, slot] -> seat at the table; the empty slot of three is filled with the looking seat, and then cleared.
_SEAT_AT_SLOT: Final = {
    seats: np.array(
        [
            [(looker + list(offsets).index(slot)) % seats if slot in offsets else looker for slot in range(SLOTS)]
            for looker in range(seats)
        ]
    )
    for seats, offsets in SLOT_OF_OFFSET.items()
}
# By looking seat and other seat, each row beginning with "nobody" (-1): the slot.
SLOT_OF_SEAT: Final = {
    seats: np.array(
        [[NO_SEAT, *(offsets[(other - looker) % seats] for other in range(seats))] for looker in range(seats)], np.int8
    ).reshape(-1)
    for seats, offsets in SLOT_OF_OFFSET.items()
}
# [looking seat] where its row begins, without that "nobody".
_FIRST_SLOT: Final = {seats: np.arange(seats) * (seats + 1) + 1 for seats in SLOT_OF_OFFSET}
SEAT_AFTER: Final = {seats: np.roll(np.arange(seats, dtype=np.int8), -1) for seats in SLOT_OF_OFFSET}


def of_game(name: str) -> property:
    """[n] an array of the state that is seen by all."""
    return property(lambda looker: getattr(looker.state, name)[looker.games])


def by_slot(name: str, empty: int = 0) -> property:
    """[n, 4, ...] an array of the state that is seen by all, by slot."""
    return property(lambda looker: looker._of_slots(getattr(looker.state, name), empty))


class Looker:
    """One seat in each of n games that looks at its table.

    Attributes:
        state: the games.
        rules: their rules.
        games: [n] which games.
        seat: [n] the table seat that looks.
        present: [n] False for a person who sits out: he sees the table from this seat, but not its hand.
        is_asked: [n] whether the seat is to act.
        all_asked: whether all of them are.
        own: the seats themselves.
    """

    def __init__(
        self, state: State, rules: Rules, games: Games, seat: Games, present: BoolArray, num_hands: int = 1
    ) -> None:
        """Look from one seat in each game; ``num_hands`` are the hands of a match."""
        self.state, self.rules, self.games, self.seat, self.present = state, rules, games, seat, present
        self._num_hands = num_hands
        self.is_asked: BoolArray = state.actor[games] == seat
        if rules.people > rules.seats:
            self.is_asked &= present
        self.all_asked = np.count_nonzero(self.is_asked) == len(games)
        self.own = state.seats(games, seat)
        self._phase = state.phase[games]

    @lazy
    def _order(self) -> Games:
        """[n, 4] the seats in the order of slots."""
        order: Games = _SEAT_AT_SLOT[self.state.num_seats].take(self.seat, axis=0)
        return order

    @lazy
    def _first_slot(self) -> Games:
        """[n] where the row of the seat in `SLOT_OF_SEAT` begins."""
        return _FIRST_SLOT[self.state.num_seats].take(self.seat)

    @lazy
    def _at(self) -> Seats:
        """[n, 4] the same."""
        return self.state.seats(self.games[:, None], self._order)

    def __len__(self) -> int:
        """The number of seats that look."""
        return len(self.games)

    def take(self, which: Any) -> Self:
        """Some of the seats: a boolean mask or indices."""
        games, seat, present = self.games[which], self.seat[which], self.present[which]
        return type(self)(self.state, self.rules, games, seat, present, self._num_hands)

    def _of_slots(self, array: Any, empty: int = 0) -> Any:
        """[n, 4, ...] the rows of an array with a seat axis, by slot."""
        rows = self._at.of(array)
        if self.state.num_seats < SLOTS:
            rows[:, EMPTY_SLOT] = empty
        return rows

    def _of_own(self, array: Any) -> Any:
        """[n, ...] the rows of an array with a seat axis that belong to the looking seat."""
        return self.own.of(array)

    def _slot(self, seat: Any) -> Int8Array:
        """[n] the slots of table seats; -1 for nobody."""
        return SLOT_OF_SEAT[self.state.num_seats].take(self._first_slot + seat)
