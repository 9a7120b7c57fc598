"""Who plays the seats that do not learn: one agent for all, one for each, or a pool from which they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mahjong_env.basics.errors import AgentError
from mahjong_env.environments.agent_registry import agent_names, find_agent, read_value
from mahjong_env.environments.players import Opponent, RandomAgent, choose_at_random

__all__ = [
    "Opponent",
    "OpponentPool",
    "RandomAgent",
    "agent_names",
    "choose_at_random",
    "find_agent",
    "find_opponents",
    "read_value",
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
        self.agents: list[Opponent] = _find_all(list(agents))
        if not self.agents:
            raise AgentError("a pool of opponents has at least one agent")

    def __repr__(self) -> str:
        return f"OpponentPool({self.agents!r})"


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
