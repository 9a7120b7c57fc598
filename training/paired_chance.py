"""Agents whose chance belongs to the game: in two runs of the same game they throw the same dice.

Pairs are compared: the same wall under two rules, the same world after two actions. What the agents draw by lot
between equally good actions would be noise that the pairs do not share, and a single game that ends earlier would
shift the lots of all others. So the numbers are drawn for every pair of games, by the number of the move, and each row
of a view is given those of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from mahjong_env import View
from mahjong_env.engine.worlds import Origin

__all__ = ["PairedAgent", "RowChance", "pair"]


class RowChance(np.random.Generator):
    """A generator whose uniform numbers, where there is one for each row of a view, are those of the row's game."""

    def __init__(self, bits: np.random.BitGenerator, rows: NDArray[np.intp], number: int) -> None:
        """Give each row a number.

        Args:
            bits: where chance comes from.
            rows: [n] for each row of a view the number of its game; rows of the same number get the same chance.
            number: how many such numbers there are.
        """
        super().__init__(bits)
        self._rows, self._number = rows, number

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw as `numpy.random.Generator.random` does; arrays [n, ...] are drawn for all games and shared out."""
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size or ())
        if out is not None or not shape or shape[0] != len(self._rows):
            return super().random(size, dtype, out)
        return super().random((self._number, *shape[1:]), dtype).take(self._rows, axis=0)


class PairedAgent:
    """An agent whose chance depends on the game and the number of its move alone.

    Attributes:
        name: that of the agent.
    """

    def __init__(self, agent: Agent, rows: NDArray[np.intp], seed: Sequence[int]) -> None:
        """Wrap an agent, for the games of one engine in which all games move at the same time.

        Args:
            agent: who chooses.
            rows: [B] the number of each game; games of the same number are a pair.
            seed: of the chance.
        """
        self.name = agent.name
        self._agent, self._rows, self._seed = agent, rows, tuple(seed)
        self._number = int(rows.max(initial=-1)) + 1

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Let the agent choose; ``rng`` is not used."""
        origin = cast(Origin, view.origin)
        bits = np.random.SFC64(np.random.SeedSequence(self._seed, spawn_key=(int(origin.moves[:1].sum()),)))
        return self._agent.act(view, RowChance(bits, self._rows.take(origin.games), self._number))


def pair(agents: Sequence[Agent], rows: NDArray[np.intp], seed: int) -> list[PairedAgent]:
    """Wrap several agents, each with chance of its own; the arguments are those of `PairedAgent`."""
    return [PairedAgent(agent, rows, (seed, number)) for number, agent in enumerate(agents)]
