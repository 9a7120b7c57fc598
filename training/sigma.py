"""The unit in which strength is compared across variants: sigma, the spread of a hand's points among greedy players."""

from __future__ import annotations

from functools import cache
from typing import Final

from agents import GreedyAgent
from mahjong_env import Rules
from training.lineups import Block, play_block

_HANDS: Final = 4000
_SEED: Final = 777
"""Of its own, so that sigma is the same whatever is evaluated."""


@cache
def sigma(rules: Rules) -> float:
    """Return the standard deviation of the points that a seat wins in a hand when every seat plays greedy.

    It is measured on the same 4000 deals every time, once in a process; its own error is about two per cent.

    Args:
        rules: what is played, knobs included.

    Returns:
        Points.
    """
    played = play_block(rules, [GreedyAgent()], Block((0,) * rules.people, 0, 0, _HANDS), _SEED)
    return float(played.points.std())
