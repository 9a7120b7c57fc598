"""Agents that play any variant of mahjong_env."""
