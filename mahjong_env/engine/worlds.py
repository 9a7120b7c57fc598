"""Worlds: games that continue the positions of a view, with everything that its seats have not seen drawn anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mahjong_env.basics.errors import ViewError
from mahjong_env.basics.types import BoolArray, Games, Int64Array
from mahjong_env.engine import hidden
from mahjong_env.engine.nearness import Nearness

if TYPE_CHECKING:
    from mahjong_env.engine.batch import Engine
    from mahjong_env.observation.view import View


@dataclass(frozen=True)
class Origin:
    """Where a view was taken: n positions of an engine, each with the seat that looks. Nothing is copied.

    Attributes:
        engine: the engine.
        games: [n] its games.
        seats: [n] the table seats that look.
        is_to_act: [n] whether that seat is to act.
        moves: [n] how often each game had moved then (`Engine.moves`).
    """

    engine: Engine
    games: Games
    seats: Games
    is_to_act: BoolArray
    moves: Int64Array

    def take(self, which: Any) -> Origin:
        """Some of the positions: a boolean mask or indices."""
        return Origin(self.engine, self.games[which], self.seats[which], self.is_to_act[which], self.moves[which])

    def watch(self, view: View) -> None:
        """Have the view keep what it shows before the games move on."""
        self.engine.watch(view)

    def worlds(self, count: int, rng: np.random.Generator, nearness: Nearness | None = None) -> Engine:
        """Copies of the games with all that their seats have not seen drawn anew; see `View.worlds`."""
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ViewError(f"the count of worlds is an integer from 1, not {count!r}")
        if not isinstance(rng, np.random.Generator):
            raise ViewError(f"worlds are drawn with a numpy.random.Generator, not with {type(rng).__name__}")
        moved = np.flatnonzero(self.engine.moves(self.games) != self.moves)
        if moved.size:
            raise ViewError(
                f"row {moved[0]}: the game has moved on since this view was taken, so that the position is gone; "
                "draw worlds before the next step, or take a new view"
            )
        waiting = np.flatnonzero(~self.is_to_act)
        if waiting.size:
            raise ViewError(f"row {waiting[0]}: the seat is not to act; worlds are drawn for seats that are")
        worlds = self.engine.select(np.repeat(self.games, count))
        worlds.auto_reset = False
        hidden.resample(worlds._context, np.arange(worlds.num_games), np.repeat(self.seats, count), rng, nearness)
        return worlds
