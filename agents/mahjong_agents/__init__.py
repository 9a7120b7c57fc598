"""Agents that play any variant of mahjong_env."""

from mahjong_agents.base import Agent, AgentError, PolicyFileError, agent_names, make_agent
from mahjong_agents.greedy import ClosedGreedyAgent, GreedyAgent, ReferenceAgent, reference_agent
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.observation.acceptance import Lookahead, look_ahead

__all__ = [
    "Agent",
    "AgentError",
    "ClosedGreedyAgent",
    "GreedyAgent",
    "Lookahead",
    "PolicyFileError",
    "RandomAgent",
    "ReferenceAgent",
    "agent_names",
    "look_ahead",
    "make_agent",
    "reference_agent",
]
