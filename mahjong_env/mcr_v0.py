"""MCR for PettingZoo: ``env(...)`` and ``raw_env(...)``, see `mahjong_env.environments.aec`."""

from mahjong_env.environments.aec import environments, no_attribute

raw_env, env = environments("mcr")
__getattr__ = no_attribute
