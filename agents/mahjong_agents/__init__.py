"""Agents that play any variant of mahjong_env."""

from mahjong_agents.base import Agent, AgentError, PolicyFileError
from mahjong_agents.greedy import GreedyAgent
from mahjong_agents.lookahead import Lookahead, look_ahead
from mahjong_agents.random_agent import RandomAgent
from mahjong_agents.registry import agent_names, make_agent

__all__ = [
    "Agent",
    "AgentError",
    "GreedyAgent",
    "Lookahead",
    "PolicyFileError",
    "RandomAgent",
    "agent_names",
    "look_ahead",
    "make_agent",
]
