"""Seats of the batch: the one way in which phases, variants and observations say whose tiles they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.types import Games

_Kind = TypeVar("_Kind", bound=np.generic)


class Seats:
    """One seat in each of n games: the seats that act, are asked, or have something happen to them.

    They are made by `State.seats`. Usually all three arrays are [n]. Where m seats of each game are meant, ``seat`` and
    ``index`` are [m, n] (or [n, m]), and ``game`` broadcasts against them.

    Attributes:
        game: [n] number of the game; no game occurs twice, unless a method says so.
        seat: [n] seat at its table, 0 to S-1.
        index: [n] ``game * S + seat``, the number of the seat in the whole batch.
    """

    __slots__ = ("game", "index", "seat")
    game: Final[Games]
    seat: Final[Any]
    index: Final[Games]

    def __init__(self, game: Games, seat: Any, index: Games) -> None:
        """Keep the arrays; `State.seats` works out the index."""
        self.game, self.seat, self.index = game, seat, index

    def __len__(self) -> int:
        """The number of games (n)."""
        return len(self.game)

    def of(self, array: NDArray[_Kind]) -> NDArray[_Kind]:
        """Return [n, ...] the rows of these seats in an array [B, S, ...] of the state; a copy."""
        games, seats, *rest = array.shape
        if rest:
            return array.reshape(games * seats, *rest).take(self.index, axis=0)
        return array.reshape(-1).take(self.index)

    def put(self, array: NDArray[Any], values: Any) -> None:
        """Write numbers for these seats into an array [B, S] of the state."""
        array.reshape(-1)[self.index] = values

    def take(self, which: Any) -> Seats:
        """Return some of the seats: [k] positions or a mask [n], along the axis of games, which is the last one."""
        if which.dtype == np.bool_:
            which = which.nonzero()[0]
        return Seats(self.game.take(which), self.seat.take(which, axis=-1), self.index.take(which, axis=-1))

    def row(self, number: int) -> Seats:
        """Return [n] the seats in one row of [m, n] seats."""
        return Seats(self.game, self.seat[number], self.index[number])

    def choose(self, row: Games) -> Seats:
        """Return [n] one seat in each game, of [m, n] seats: the one in the row [n]."""
        column = np.arange(len(row))
        return Seats(self.game, self.seat[row, column], self.index[row, column])

    def pick(self, place: Games) -> Seats:
        """Return [k] the seats at places [k] of [m, n] seats, counted row by row; games may occur several times."""
        seat, index = self.seat.reshape(-1)[place], self.index.reshape(-1)[place]
        return Seats(self.game[place % len(self.game)], seat, index)

    @staticmethod
    def join(parts: Sequence[Seats | None]) -> Seats | None:
        """Return all of the seats, one part after the other; None if there are none."""
        some = [part for part in parts if part is not None and part.game.size]
        if len(some) <= 1:
            return some[0] if some else None
        return Seats(
            np.concatenate([part.game for part in some]),
            np.concatenate([part.seat for part in some]),
            np.concatenate([part.index for part in some]),
        )
