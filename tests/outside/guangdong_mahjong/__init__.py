"""Guangdong push-down mahjong for mahjong_env: ``rules("guangdong")``, and ``env`` and ``raw_env`` for PettingZoo."""

from guangdong_mahjong.guangdong import RULES
from mahjong_env.environments.aec import environments

raw_env, env = environments(RULES)

__all__ = ["RULES", "env", "raw_env"]
