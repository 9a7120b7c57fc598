"""The arrays of a batch as one line of memory each; nothing outside this folder knows of it.

numpy gathers and scatters along one axis five times faster than along two or three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.tiles import NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.hands.codes import POWER, SUIT

GROUPS: Final = 4
_GROUP: Final = SUIT.astype(np.intp)
# What one tile adds to the code of its suit, by wild kind (the last row, reached by -1: none) and kind: wild tiles add
# nothing. And the same for several tiles, or for tiles that leave the hand.
_STEPS: Final = np.vstack([POWER * ~np.eye(NUM_KINDS, dtype=np.bool_), POWER]).astype(np.int32).reshape(-1)
_CODE_STEPS: Final = {count: _STEPS * np.int32(count) for count in (-4, -3, -2, -1, 1)}
_MASK: Final = np.dtype((np.void, NUM_ACTIONS))
_FEW_ROWS: Final = 1024
_WILD_ROWS: Final = np.arange(NUM_KINDS + 1) * NUM_KINDS


def _row_starts(rows: int, length: int, first: int = 0) -> Callable[[Any], Any]:
    """The offsets of rows in the memory of an array, by their numbers, if the first one begins at ``first``.

    Few numbers are read three times faster from a table than multiplied; many are multiplied three times faster.
    """
    if rows <= _FEW_ROWS:
        return (np.arange(rows) * length + first).__getitem__
    times, plus = np.array(length), np.array(first)
    return (lambda numbers: numbers * times + plus) if first else times.__mul__


def code_steps(wild: Any, kind: Any, count: int) -> Int32Array:
    """[n] the code of ``count`` tiles of a kind in their suit, in games with these wild kinds (-1: none)."""
    return _CODE_STEPS[count][_WILD_ROWS.take(wild) + kind]


class Flat:
    """The arrays that the verbs of `State` write to, each with one axis, and where things stand in them.

    All methods take and give arrays that broadcast: numbers of games or of seats in the batch (``index``), and kinds.
    """

    wall: Int8Array
    hand: Int8Array
    code: Int32Array
    flowers: Int8Array
    public: Int8Array
    num_melds: Int8Array
    meld_type: Int8Array
    meld_kind: Int8Array
    meld_from: Int8Array
    meld_claimed: Int8Array
    open_pung: BoolArray
    river: Int8Array
    river_claimed: Int8Array
    river_size: Int8Array
    turns: Int8Array
    is_tenpai: BoolArray
    options: Int8Array
    mask: BoolArray

    def __init__(self, arrays: dict[str, Any]) -> None:
        """Lay out views and tables of the arrays of a state, by name."""
        games, seats, kinds = arrays["hand"].shape
        planes, walls = arrays["public"].shape[2], arrays["wall"].shape[1]
        index = games * seats
        self._first_seats = _row_starts(games, seats)
        self._walls = _row_starts(games, walls)
        self._masks = _row_starts(games, NUM_ACTIONS)
        self._codes = _row_starts(index, GROUPS)
        self._tiles = _row_starts(index, kinds)
        self._flowers = _row_starts(index, NUM_ALL_KINDS)
        self._melds = _row_starts(index, arrays["meld_type"].shape[2])
        self._rivers = _row_starts(index, arrays["river"].shape[2])
        self._planes = tuple(_row_starts(index, planes * kinds, plane * kinds) for plane in range(planes))
        self.codes: Int32Array = arrays["code"].reshape(-1, GROUPS)
        self.hands: Int8Array = arrays["hand"].reshape(-1, kinds)
        self.masks = arrays["mask"].view(_MASK)[:, 0]  # [B], one item for all actions
        for name in type(self).__annotations__:
            setattr(self, name, arrays[name].reshape(-1))

    def index(self, games: Games, seat: Any) -> Games:
        """Numbers of seats in the batch."""
        return self._first_seats(games) + seat

    def seat(self, games: Games, index: Games) -> Games:
        """The seats, at their tables, with these numbers."""
        return index - self._first_seats(games)

    def tile(self, index: Games, kind: Any) -> Games:
        """Offsets of kinds in `hand` and `open_pung`."""
        return self._tiles(index) + kind

    def suit(self, index: Games, kind: Any) -> Games:
        """Offsets of the suits of kinds in `code`."""
        return self._codes(index) + _GROUP[kind]

    def flower(self, index: Games, kind: Any) -> Games:
        """Offsets of kinds in `flowers`."""
        return self._flowers(index) + kind

    def meld(self, index: Games, number: Any) -> Games:
        """Offsets of melds, counted from 0, in `meld_type` and its like."""
        return self._melds(index) + number

    def discard(self, index: Games, number: Any) -> Games:
        """Offsets of discards, counted from 0, in `river`."""
        return self._rivers(index) + number

    def seen(self, index: Games, plane: int, number: Any) -> Games:
        """Offsets of kinds, or numbers of the meld list, in a plane of `public`."""
        return self._planes[plane](index) + number

    def wall_tile(self, games: Games, number: Any) -> Games:
        """Offsets of tiles of the wall, counted from its front, in `wall`."""
        return self._walls(games) + number

    def action(self, games: Games, action: Any) -> Games:
        """Offsets of actions in `mask`."""
        return self._masks(games) + action

    def set_masks(self, games: Games, masks: BoolArray) -> None:
        """Copy whole rows of `mask` [n, 109]: numpy copies one item at once, but walks along an array of them."""
        self.masks[games] = masks.view(_MASK)[:, 0]
