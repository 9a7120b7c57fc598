"""Observations that are kept from one look to the next, so that only what has changed is written.

For every seat its observation is kept as far as it stays the same until somebody discards, lays tiles open or is paid
(`Piece.stays`, `Fact.stays`, `Blocks.changes`): what a seat that is asked sees of the table. Looking is then one copy,
into which the rest is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.observation.declaration import SLOTS, Blocks
from mahjong_env.observation.planes import LAYOUT, SHAPE
from mahjong_env.observation.visibility import Sight
from mahjong_env.state.arrays import SLOT_OF_OFFSET, State
from mahjong_env.state.changes import DISCARDS, EXPOSED, Changes
from mahjong_env.state.seats import Seats

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules

_PLACES: Final = SHAPE[0] * SHAPE[1]


class KeptObservations:
    """The observations of all seats of a batch, as far as they are kept; 1292 bytes for a seat."""

    def __init__(self, state: State, rules: Rules, num_hands: int) -> None:
        """Keep nothing yet; ``num_hands`` are the hands of a match."""
        self._state, self._rules, self._num_hands = state, rules, num_hands
        games, seats = state.person_at.shape
        self._kept: Int8Array = np.zeros((games * seats, *SHAPE), np.int8)  # [B * S, C, 34] by the seat that looks
        self._game = np.arange(games).repeat(seats)  # [B * S]
        self._seat = np.tile(np.arange(seats), games)
        # For each of the S slots, [B * S] who sees a seat there.
        self._lookers = [np.arange(games * seats) - self._seat + (self._seat - step) % seats for step in range(seats)]
        blocks = [(rows, self._items(rows, start)) for rows, start in LAYOUT.blocks()]
        self._blocks = [[one for one in blocks if change in one[0].changes] for change in (DISCARDS, EXPOSED)]
        state.changes.note_all(slice(None))

    def _items(self, rows: Blocks, start: int) -> list[Any]:
        """For each of the S slots, [B * S] its rows in the kept observations, each one item."""
        places = self._kept.reshape(-1, _PLACES)[:, start : start + SLOTS * rows.width]
        items = places.reshape(-1, SLOTS, rows.width).view((np.void, rows.width))
        return [items[:, slot, 0] for slot in SLOT_OF_OFFSET[self._state.num_seats]]

    def observe(self, seen: Sight, out: Int8Array | None = None) -> Int8Array:
        """[n, C, 34] int8 what seats see all of which are asked: ``out``, or a fresh array."""
        self._catch_up()
        written: Int8Array = self._kept.take(seen.own.index, axis=0, out=out, mode="clip")
        LAYOUT.renew(seen, written)
        return written

    def _catch_up(self) -> None:
        """Write what has changed since the last look."""
        changes = self._state.changes
        games = changes.take(changes.games)
        if games.size:
            self._write_games(games)
        for flags, blocks in zip(changes.seats, self._blocks, strict=True):
            moved = Changes.take(flags)
            if moved.size:
                self._write_blocks(moved, blocks)

    def _write_games(self, games: Games) -> None:
        seats = self._state.num_seats
        index = (games[:, None] * seats + np.arange(seats)).reshape(-1)
        at_table = np.ones(len(index), np.bool_)
        seen = Sight(self._state, self._rules, self._game[index], self._seat[index], at_table, self._num_hands)
        written = self._kept.take(index, axis=0)
        LAYOUT.write_staying(seen, written)
        self._kept[index] = written

    def _write_blocks(self, owners: Games, blocks: Any) -> None:
        """Write the rows of seats [m], by their numbers in the batch, for all who look at them."""
        seen = _OwnTable(self._state, self._rules, Seats(self._game[owners], self._seat[owners], owners))
        lookers = [of_slot[owners] for of_slot in self._lookers]
        for rows, items in blocks:
            numbers = rows.read(seen)
            if numbers is None:
                continue
            row = numbers.view(items[0].dtype)[:, 0, 0]
            for of_slot, looker in zip(items, lookers, strict=True):
                of_slot[looker] = row


class _OwnTable(Sight):
    """What all see of some seats themselves: there is one slot, their own."""

    def __init__(self, state: State, rules: Rules, seats: Seats) -> None:
        self.state, self.rules, self.own = state, rules, seats
        self.games, self.seat = seats.game, seats.seat
        self.all_asked = True

    def _of_slots(self, array: Any, empty: int = 0) -> Any:
        return self._of_own(array)[:, None]
