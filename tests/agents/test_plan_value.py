"""Plan value: the probability to win, and choices that are legal, repeatable and better."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import GreedyAgent
from mahjong_agents.value.plan_value import PlanValueAgent, win_probability
from mahjong_env import rules
from mahjong_training.evaluation.matches import measure
from support.marks import variants
from support.repeatable import check_legal_and_repeatable


@pytest.mark.parametrize("variant", variants("hebei"))
def test_plays_legal_actions_to_the_end_and_the_same_ones_again(variant):
    check_legal_and_repeatable(variant, PlanValueAgent(samples=1))


def test_chances_fall_with_distance_and_rise_with_help_and_time():
    def chance(distance, share, turns):
        one = np.ones(1)
        return win_probability(np.array([distance]), 90 * share * one, 90 * one, 1.0, one, one * turns, 0.3 * one)[0]

    assert 0 < chance(4, 0.4, 12) < chance(2, 0.4, 12) < chance(2, 0.4, 16) < 1
    assert chance(2, 0.1, 12) < chance(2, 0.2, 12)
    assert chance(3, 0.4, 2) == 0


@pytest.mark.thorough
def test_beats_greedy_in_wuhan():
    result = measure(rules("wuhan"), [GreedyAgent(), PlanValueAgent(samples=2)], (1, 0, 0, 0), deals=60, seed=70)
    assert result.of(1).points.low > 0
