"""Agents by name: a thin face of `mahjong_env.environments.agents`, the only place that knows names."""

from __future__ import annotations

from typing import Any, cast

from mahjong_agents.base import Agent
from mahjong_env.environments.agents import ENTRY_POINTS as GROUP
from mahjong_env.environments.agents import agent_names, find_agent

__all__ = ["GROUP", "agent_names", "make_agent", "present_spec"]

_FORMER = {"greedy?claims=false": "closed-greedy", "value?numbers=none": "plan-value"}


def make_agent(spec: Any) -> Agent:
    """Make an agent from a short text; an agent is returned as it is.

    Args:
        spec: ``NAME``, ``NAME:ARGUMENT``, ``module:Class`` or ``file.py:Class``, any of them with
            ``?option=value&option=value`` behind it: "random", "search?rollouts=64", "policy:runs/hebei/best.zip",
            "my_agents.py:Cautious"; see `mahjong_env.environments.agents.find_agent`.

    Returns:
        The agent.

    Raises:
        AgentError: there is no such agent, it cannot be loaded, or it does not take this argument or option.
        PolicyFileError: the policy file cannot be used.
        MissingExtraError: the agent needs packages that are not installed; the message names the ``pip install`` line.
    """
    return cast(Agent, find_agent(spec))


def present_spec(spec: str) -> str:
    """Return the text of an agent; where files of before hold a setting for what has a name of its own, that name."""
    return _FORMER.get(spec, spec)
