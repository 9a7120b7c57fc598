"""Where things stand in the flat arrays of a batch (`State.flat`).

A *chair* is one seat in one game, numbered through the batch: ``game * S + seat``. The places where rows begin are
tables, because for few games numpy reads a table five times faster than it multiplies; for many it takes as long.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import Games, Int32Array
from mahjong_env.hands import POWER, SUIT

GROUPS: Final = 4
_GROUP: Final = SUIT.astype(np.intp)
# By seats at the table: [S, S] the seats after each seat, in their order; the last is the seat itself.
_SEATS_AFTER: Final = {n: (np.arange(n) + np.arange(1, n + 1)[:, None]) % n for n in (3, 4)}

# What one tile adds to the code of its suit, by wild kind (the last row, reached by -1: none) and kind: wild tiles add
# nothing. And the same for several tiles, or for tiles that leave the hand.
_STEPS: Final = np.vstack([POWER * ~np.eye(NUM_KINDS, dtype=np.bool_), POWER]).astype(np.int32).reshape(-1)
_CODE_STEPS: Final = {count: _STEPS * np.int32(count) for count in (-4, -3, -2, -1, 1)}
_WILD_ROWS: Final = np.arange(NUM_KINDS + 1) * NUM_KINDS


def code_steps(wild: Any, kind: Any, count: int) -> Int32Array:
    """[n] what ``count`` tiles of a kind add to the code of their suit, in games with these wild kinds (-1: none)."""
    return _CODE_STEPS[count][_WILD_ROWS[wild] + kind]


class Places:
    """The places in the flat arrays of B games with S seats.

    All methods take and give arrays that broadcast: ``games`` and ``seat``, or ``chair``, and ``kind``.
    """

    __slots__ = ("_codes", "_first_chairs", "_publics", "_tiles", "_walls", "seats_after_each")

    def __init__(self, games: int, seats: int, walls: int, planes: int) -> None:
        """Lay out the tables; ``walls`` is the length of a wall, ``planes`` the number of public ones."""
        chairs = np.arange(games * seats)
        self.seats_after_each = _SEATS_AFTER[seats]
        self._first_chairs = np.arange(games) * seats
        self._walls = np.arange(games) * walls
        self._codes = chairs * GROUPS
        self._tiles = chairs * NUM_KINDS
        self._publics = (chairs * planes + np.arange(planes)[:, None]) * NUM_KINDS

    def chair(self, games: Games, seat: Any) -> Games:
        """Numbers of chairs."""
        return self._first_chairs[games] + seat

    def seat(self, games: Games, chair: Games) -> Games:
        """Seats of chairs in these games."""
        return chair - self._first_chairs[games]

    def chairs_after(self, games: Games, giver: Any, number: int) -> Games:
        """[number, n] the chairs after the giver's, in their order; the last of S is his own.

        Games come last, because numpy reduces few long rows 30 times faster than many short ones.
        """
        return self._first_chairs[games] + self.seats_after_each[:number].take(giver, axis=1)

    def tile(self, chair: Games, kind: Any) -> Games:
        """Places of kinds in `State.hand` and `State.open_pung`."""
        return self._tiles[chair] + kind

    def code(self, chair: Games, kind: Any) -> Games:
        """Places in `State.code` of the suits of kinds."""
        return self._codes[chair] + _GROUP[kind]

    def public(self, chair: Games, plane: int, kind: Any) -> Games:
        """Places in one plane of `State.public`."""
        return self._publics[plane][chair] + kind

    def wall(self, games: Games, place: Any) -> Games:
        """Places in `State.wall`."""
        return self._walls[games] + place
