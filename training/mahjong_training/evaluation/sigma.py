"""The unit in which strength is compared across variants: sigma, the spread of a hand's points among greedy players."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from mahjong_agents import GreedyAgent
from mahjong_env import Rules, make_engine
from mahjong_training.evaluation.matches import play_out
from mahjong_training.evaluation.statistics import Estimate
from mahjong_training.seeds import SIGMA_SEED

_HANDS: Final = 4000


@cache
def sigma(rules: Rules) -> float:
    """Return the standard deviation of the points that a seat wins in a hand when every seat plays greedy.

    It is measured on the same 4000 deals every time, once in a process; its own error is about two per cent.

    Args:
        rules: what is played, knobs included.

    Returns:
        Points.
    """
    who = np.zeros((_HANDS, rules.people), np.intp)
    rng = np.random.default_rng(np.random.SeedSequence([SIGMA_SEED, *who[0]]))
    played = play_out(make_engine(rules, _HANDS, seed=SIGMA_SEED), [GreedyAgent()], who, rng)
    return float(played.points.std())


def in_sigma(rules: Rules, points: Estimate) -> Estimate:
    """Return points a hand by some rules as sigma a hand."""
    return points.over(sigma(rules))
