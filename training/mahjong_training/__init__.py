"""Learning and evaluation of agents for mahjong_env."""
