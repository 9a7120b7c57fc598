"""Agents that play any variant of mahjong_env."""

from agents.base import Agent, AgentError, PolicyFileError
from agents.greedy import GreedyAgent
from agents.lookahead import Lookahead, look_ahead
from agents.random_agent import RandomAgent
from agents.registry import agent_names, make_agent

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
