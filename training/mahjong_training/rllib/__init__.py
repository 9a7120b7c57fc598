"""The variants as multi-agent environments of RLlib, by its new API stack; see docs/cluster.md.

`register` makes them known to RLlib by the names `mahjong_env/<variant>`, `ppo` returns a configuration of RLlib's PPO
that learns one, and ``python -m mahjong_training.rllib`` lets it learn.
"""
