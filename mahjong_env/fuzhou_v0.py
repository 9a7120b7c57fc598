"""Fuzhou mahjong for PettingZoo: ``env(...)`` and ``raw_env(...)``, see `mahjong_env.environments.aec`."""

from mahjong_env.environments.aec import environments, no_attribute

raw_env, env = environments("fuzhou")
__getattr__ = no_attribute
