"""Agents that play any variant of mahjong_env."""

from mahjong_agents.base import Agent, AgentError, PolicyFileError
from mahjong_agents.greedy import ClosedGreedyAgent, GreedyAgent, ReferenceAgent, reference_agent
from mahjong_agents.lookahead import Lookahead, look_ahead
from mahjong_agents.random_agent import RandomAgent
from mahjong_agents.registry import agent_names, make_agent

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
