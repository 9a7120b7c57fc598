"""The agent that every other agent should beat; it is built into mahjong_env, which lets it play by default."""

from mahjong_env.environments.agents import RandomAgent, choose_at_random

__all__ = ["RandomAgent", "choose_at_random"]
