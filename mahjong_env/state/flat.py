"""The arrays of a batch as one line of memory each; only the code in this folder uses them.

numpy gathers and scatters along one axis five times faster than along two or three.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.tiles import NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Int32Array
from mahjong_env.hands.codes import NUM_GROUPS, POWER, SUIT

GROUP: Final = SUIT.astype(np.intp)
MASK: Final = np.dtype((np.void, NUM_ACTIONS))
"""A row of `State.mask` as one item, see `whole_rows`."""
# What one tile adds to the code of its suit, by wild kind (the last row, reached by -1, is for none) and kind; wild
# tiles add nothing. Then the same for several tiles, and for tiles that leave the hand.
_STEPS: Final = np.vstack([POWER * ~np.eye(NUM_KINDS, dtype=np.bool_), POWER]).astype(np.int32).reshape(-1)
_CODE_STEPS: Final = {count: _STEPS * np.int32(count) for count in (-1, 1, 2, 3, 4)}
_FEW_ROWS: Final = 1024
_WILD_ROWS: Final = np.arange(NUM_KINDS + 1) * NUM_KINDS


@lru_cache(maxsize=128)  # batches have few sizes, but views of some rows come in many
def _row_starts(rows: int, length: int, first: int = 0) -> Callable[[Any], Any]:
    """Return a function from numbers of rows to their offsets in memory, if the first row begins at ``first``.

    With few rows, a table is read three times faster than numbers are multiplied; with many it is the reverse.
    """
    if rows <= _FEW_ROWS:
        return (np.arange(rows) * length + first).__getitem__
    times, plus = np.array(length), np.array(first)
    return (lambda numbers: numbers * times + plus) if first else times.__mul__


def whole_rows(array: NDArray[Any]) -> NDArray[Any]:
    """Return [B] the same memory with each game's part as one item, which numpy copies eight times faster."""
    numbers = math.prod(array.shape[1:])
    return array.reshape(len(array), numbers).view(np.dtype((np.void, numbers * array.itemsize)))[:, 0]


def code_steps(wild: Any, kind: Any, count: int) -> Int32Array:
    """Return [n] the code of ``count`` tiles of a kind in their suit, in games with these wild kinds (-1 for none)."""
    return _CODE_STEPS[count][_WILD_ROWS.take(wild) + kind]


class Flat:
    """Each array, by its name, as one line for the methods of `State`, and the offsets of things in these lines.

    ``seats_at``, ``walls_at``, ``masks_at`` and ``exposed_at`` give the offsets at which games begin, the others those
    at which seats of the batch (`Seats.index`) begin. A kind, a number or an action is added to them.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            """The line of an array."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        """Make the views and offsets for the arrays of a state, which are given by name."""
        games, seats, kinds = arrays["hand"].shape
        planes = arrays["public"].shape[2]
        index = games * seats
        self.seats_at = _row_starts(games, seats)
        self.walls_at = _row_starts(games, arrays["wall"].shape[1])
        self.masks_at = _row_starts(games, NUM_ACTIONS)
        self.codes_at = _row_starts(index, NUM_GROUPS)
        self.kinds_at = _row_starts(index, kinds)
        self.flowers_at = _row_starts(index, NUM_ALL_KINDS)
        self.melds_at = _row_starts(index, arrays["meld_type"].shape[2])
        self.rivers_at = _row_starts(index, arrays["river"].shape[2])
        self.exposed_at = _row_starts(games, arrays["exposed"].shape[1])
        self.planes_at = tuple(_row_starts(index, planes * kinds, plane * kinds) for plane in range(planes))
        self._arrays = arrays
        self.masks = whole_rows(arrays["mask"])
        for name, array in arrays.items():
            setattr(self, name, array.reshape(-1))

    @cached_property
    def rows(self) -> dict[str, NDArray[Any]]:
        """Each array with a game's part as one item, except arrays in which that part is empty."""
        return {name: whole_rows(array) for name, array in self._arrays.items() if all(array.shape[1:])}


class Lines:
    """Each array, by its name, as one line of numbers that plain Python reads and writes.

    Truth values are numbers. A line of numbers that may be negative accepts bytes only if they are ``cast("b")``.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> memoryview:
            """The line of an array."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        """Make the views of a state's arrays, which are given by name."""
        for name, array in arrays.items():
            line = array.reshape(-1)
            setattr(self, name, (line.view(np.uint8) if line.dtype == np.bool_ else line).data)
