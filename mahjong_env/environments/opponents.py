"""Who plays the seats that do not learn: one agent for all, one for each, or a pool from which they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mahjong_env.basics.errors import AgentError
from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.environments.agent_registry import agent_names, find_agent
from mahjong_env.environments.players import Opponent, RandomAgent, agent_name, choose_at_random

__all__ = [
    "Opponent",
    "OpponentPool",
    "RandomAgent",
    "Seating",
    "agent_names",
    "choose_at_random",
    "find_agent",
    "find_opponents",
]


class OpponentPool:
    """Agents of which one is drawn for each other seat, anew for every episode, all equally likely.

    Attributes:
        agents: the agents; the same one may be named several times.
    """

    def __init__(self, agents: Iterable[Any]) -> None:
        """Look the agents up, see `find_agent`.

        Raises:
            AgentError: an unknown agent, or none at all.
        """
        if isinstance(agents, str) or not isinstance(agents, Iterable):
            raise AgentError(f"a pool is made of a list of agents, not of {agents!r}")
        self.agents: tuple[Opponent, ...] = tuple(_find_all(list(agents)))
        if not self.agents:
            raise AgentError("a pool of opponents has at least one agent")

    def __repr__(self) -> str:
        return f"OpponentPool([{', '.join(map(agent_name, self.agents))}])"


class Seating:
    """Which agent plays for whom at B tables of P persons, one of whom is no agent.

    Attributes:
        opponents: one agent for each other seat, the next person's first; or a pool.
        agents: the different agents.
        who: [B, P] number of the agent, among ``agents``, that plays for a person; of no meaning for the learner.
    """

    def __init__(self, opponents: Any, num_games: int, people: int) -> None:
        """Take opponents; see `find_opponents`. They sit down when they are told.

        Raises:
            AgentError: an unknown agent, or a list of another length.
        """
        self._people = people
        self.who: Games = np.zeros((num_games, people), np.intp)
        self.opponents: tuple[Opponent, ...] | OpponentPool = ()
        self.replace(opponents)

    def replace(self, opponents: Any) -> None:
        """Other opponents, from the next decision on; where seats have to be drawn anew, `settle` does it.

        Raises:
            AgentError: as above; nothing has changed.
        """
        before = self.opponents
        if isinstance(opponents, OpponentPool):
            self.opponents, self.agents = opponents, opponents.agents
        else:
            self.opponents = tuple(find_opponents(opponents, self._people - 1))
            self.agents = tuple({id(agent): agent for agent in self.opponents}.values())
        is_same_size = isinstance(before, OpponentPool) and isinstance(opponents, OpponentPool)
        self._is_settled = is_same_size and len(before.agents) == len(opponents.agents)  # type: ignore[union-attr]

    def settle(self, learner: Int8Array, rng: np.random.Generator) -> None:
        """Seat new opponents at all tables, if there are any who have not sat down; ``learner`` [B]."""
        if not self._is_settled:
            self.sit_down(np.arange(len(self.who)), learner, rng)
            self._is_settled = True

    def sit_down(self, games: Games, learner: Int8Array, rng: np.random.Generator) -> None:
        """Seat the opponents at [n] tables, whose learners are [n] ``learner``; a pool is drawn from."""
        if len(self.agents) == 1:
            self.who[games] = 0
        elif isinstance(self.opponents, OpponentPool):
            self.who[games] = rng.integers(len(self.agents), size=(len(games), self._people))
        else:
            self._seat_in_order(games, learner)

    def follow(self, learner: Int8Array) -> None:
        """The learners ([B]) are others than before; agents from a pool keep their seats."""
        if not isinstance(self.opponents, OpponentPool):
            self._seat_in_order(np.arange(len(self.who)), learner)

    def _seat_in_order(self, games: Games, learner: Int8Array) -> None:
        assert not isinstance(self.opponents, OpponentPool)
        numbers = {id(agent): number for number, agent in enumerate(self.agents)}
        # By the distance from the learner, who comes last and is no agent.
        at_distance = np.array([*(numbers[id(agent)] for agent in self.opponents), 0], np.intp)
        distance = (np.arange(self._people) - learner[:, None] - 1) % self._people
        self.who[games] = at_distance[distance]


def find_opponents(opponents: Any, number: int) -> list[Opponent]:
    """One agent for each of the other persons at a table.

    Args:
        opponents: one agent for all (see `find_agent`), or a list of one for each, the next person's first.
        number: how many they are.

    Returns:
        ``number`` agents; one that was given for all is the same object everywhere.

    Raises:
        AgentError: an unknown agent, or a list of another length.
    """
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        if len(opponents) != number:
            raise AgentError(
                f"opponents are one agent, or a list of {number} (one for each other seat), not {opponents!r}"
            )
        return _find_all(opponents)
    return [find_agent(opponents)] * number


def _find_all(agents: Sequence[Any]) -> list[Opponent]:
    # The same name twice is one agent, which then answers for both seats at once.
    named = {agent: find_agent(agent) for agent in agents if isinstance(agent, str)}
    return [named[agent] if isinstance(agent, str) else find_agent(agent) for agent in agents]
