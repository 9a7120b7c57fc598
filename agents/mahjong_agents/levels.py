"""Levels: opponents that stay as they are, so that a result against one of them means the same everywhere.

A level is a text for `make_agent`. Levels are added at the end and never changed: whoever improves an agent gives the
old one another name. They are ordered by how much they take into account, which is not in every variant the order of
their strength.
"""

from __future__ import annotations

from typing import Final

from mahjong_agents.base import Agent, AgentError
from mahjong_agents.registry import make_agent

LEVELS: Final[tuple[str, ...]] = (
    "random",
    "closed-greedy",
    "greedy",
    "plan-value",
    "search?rollouts=64&base=reference&actions=5&plans=0&clear=2&nearness=false",
    "value",
    "search?rollouts=64&base=reference&actions=5&plans=0&clear=2",
    "policy",
    "search?rollouts=256&base=policy&actions=3&plans=3&clear=1",
    "search?rollouts=256&base=policy&actions=3&plans=3&clear=1&luck=true",
)
"""What plays at each level, from 0 on."""


def make_level(level: int) -> Agent:
    """Make the opponent of a level.

    Raises:
        AgentError: there is no such level.
    """
    if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level < len(LEVELS):
        listed = ", ".join(f"{number} ({spec})" for number, spec in enumerate(LEVELS))
        raise AgentError(f"there is no level {level!r}; levels are {listed}")
    return make_agent(LEVELS[level])
