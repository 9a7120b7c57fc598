"""Agents whose chance belongs to the game: in two runs of the same game they throw the same dice.

Pairs are compared: the same wall under two rules, the same world after two actions. What the agents draw by lot
between equally good actions would be noise that the pairs do not share, and a single game that ends earlier would
shift the lots of all others. So the numbers are drawn for every pair of games, by the number of the move, and each row
of a view is given those of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent
from mahjong_agents.row_chance import RowChance
from mahjong_env import Engine, View

__all__ = ["PairedAgent", "RowChance", "pair"]


class PairedAgent:
    """An agent whose chance depends on the game and the number of its move alone.

    Attributes:
        name: that of the agent.
    """

    def __init__(self, engine: Engine, agent: Agent, rows: NDArray[np.intp], seed: Sequence[int]) -> None:
        """Wrap an agent, for the games of one engine in which all games move at the same time.

        Args:
            engine: the games.
            agent: who chooses.
            rows: [B] the number of each game; games of the same number are a pair.
            seed: of the chance.
        """
        self.name = agent.name
        self._engine, self._agent, self._rows, self._seed = engine, agent, rows, tuple(seed)
        self._number = int(rows.max(initial=-1)) + 1

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Let the agent choose; ``rng`` is not used."""
        games, moves = self._engine.games_of(view)
        bits = np.random.SFC64(np.random.SeedSequence(self._seed, spawn_key=(int(moves[:1].sum()),)))
        return self._agent.act(view, RowChance(bits, self._rows.take(games), self._number))


def pair(engine: Engine, agents: Sequence[Agent], rows: NDArray[np.intp], seed: int) -> list[PairedAgent]:
    """Wrap several agents, each with chance of its own; the arguments are those of `PairedAgent`."""
    return [PairedAgent(engine, agent, rows, (seed, number)) for number, agent in enumerate(agents)]
