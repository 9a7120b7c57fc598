"""Levels: every one can be made and plays, and their names stay."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import AgentError
from mahjong_agents.levels import LEVELS, make_level
from mahjong_env import make_engine


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_every_level_plays(level):
    engine = make_engine("hebei", 2, seed=1)
    chosen = make_level(level).act(engine.view(), np.random.default_rng(0))
    assert engine.action_mask[[0, 1], chosen].all()


def test_levels_are_never_changed():
    assert LEVELS[:3] == ("random", "closed-greedy", "greedy")
    assert LEVELS[3:5] == (
        "plan-value",
        "search?rollouts=64&base=reference&actions=5&plans=0&clear=2&nearness=false",
    )
    assert LEVELS[5:8] == ("value", "search?rollouts=64&base=reference&actions=5&plans=0&clear=2", "policy")
    assert LEVELS[8] == "search?rollouts=256&base=policy&actions=3&plans=3&clear=1"
    assert LEVELS[9] == "search?rollouts=256&base=policy&actions=3&plans=3&clear=1&luck=true"


@pytest.mark.parametrize("level", [-1, len(LEVELS), 1.0, True, "1"])
def test_a_level_that_does_not_exist(level):
    with pytest.raises(AgentError, match=r"levels are 0 \(random\), 1"):
        make_level(level)
