"""Wuhan mahjong for PettingZoo: ``env(...)`` and ``raw_env(...)``, see `mahjong_env.aec.MahjongAEC`."""

from mahjong_env.aec import environments

raw_env, env = environments("wuhan")
