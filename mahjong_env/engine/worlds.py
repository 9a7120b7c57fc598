"""Worlds: games that continue the positions of a view, with everything that its seats have not seen drawn anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mahjong_env.basics.errors import RulesError, ViewError
from mahjong_env.basics.types import BoolArray, Games, Int64Array, is_integer
from mahjong_env.engine import hidden
from mahjong_env.engine.arguments import check_room
from mahjong_env.engine.opponent_hands import OpponentHands

if TYPE_CHECKING:
    from mahjong_env.engine.batch import Engine


@dataclass(slots=True)
class Origin:
    """Where a view was taken: n positions of an engine, each with the seat that looks. Nothing is copied.

    Code that holds an origin can read the whole table, so views keep theirs where no attribute leads to it
    (`mahjong_env.observation.view`).

    Attributes:
        engine: the engine.
        games: [n] its games.
        seats: [n] the table seats that look.
        is_to_act: [n] whether that seat is to act.
        moves: [n] how often each game had moved at that time (`Engine.moves`).
    """

    engine: Engine
    games: Games
    seats: Games
    is_to_act: BoolArray
    moves: Int64Array

    def take(self, which: Any) -> Origin:
        """Return some of the positions, by a boolean mask or indices."""
        return Origin(self.engine, self.games[which], self.seats[which], self.is_to_act[which], self.moves[which])

    def games_in(self, engine: Engine) -> tuple[Games, Int64Array]:
        """See `Engine.games_of`; holding the engine proves that the caller may know its games."""
        if engine is not self.engine:
            raise ViewError("this view was not taken of this engine")
        return self.games, self.moves

    def worlds(self, count: int, rng: np.random.Generator, opponent_hands: OpponentHands | None = None) -> Engine:
        """Copy the games with everything that their seats have not seen drawn anew; see `View.worlds`."""
        if not is_integer(count) or count < 1:
            raise ViewError(f"the count of worlds is an integer from 1, not {count!r}")
        if not isinstance(rng, np.random.Generator):
            raise ViewError(f"worlds are drawn with a numpy.random.Generator, not with {type(rng).__name__}")
        if opponent_hands is not None and not isinstance(opponent_hands, OpponentHands):
            raise ViewError(f"opponent_hands is an OpponentHands or None, not {type(opponent_hands).__name__}")
        moved = np.flatnonzero(self.engine.moves(self.games) != self.moves)
        if moved.size:
            raise ViewError(
                f"row {moved[0]}: the game has moved on since this view was taken; "
                "draw worlds before the next step, or take a new view"
            )
        waiting = np.flatnonzero(~self.is_to_act)
        if waiting.size:
            raise ViewError(f"row {waiting[0]}: the seat is not to act; worlds are drawn for seats that are")
        number = int(count) * len(self.games)
        try:
            # Checked first: numpy would end the interpreter where numbers are too large to be counted.
            check_room(self.engine.rules, number, redrawn=True)
            worlds = self.engine.select(np.repeat(self.games, count))
            worlds.auto_reset = False
            seats, present = np.repeat(self.seats, count), np.ones(number, np.bool_)  # seats to act are at the table
            hidden.resample(worlds._context, np.arange(number), seats, present, rng, opponent_hands, int(count))
        except RulesError as error:
            raise ViewError(str(error)) from None
        except MemoryError:
            raise ViewError(f"{number} games do not fit into the free memory") from None
        return worlds
