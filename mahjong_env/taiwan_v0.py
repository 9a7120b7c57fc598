"""Taiwanese 16-tile mahjong for PettingZoo: ``env(...)`` and ``raw_env(...)``, see `mahjong_env.environments.aec`."""

from mahjong_env.environments.aec import environments

raw_env, env = environments("taiwan")
