"""Levels: every one can be made and plays, and their names stay."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.levels import LEVELS
from mahjong_env import make_engine
from support.marks import everyday


@pytest.mark.parametrize("level", everyday(range(len(LEVELS)), [0, 1, 2, 3, 5, 7, 11]))  # the others search
def test_every_level_plays(level):
    engine = make_engine("hebei", 2, seed=1)
    chosen = make_agent(LEVELS[level]).act(engine.view(), np.random.default_rng(0))
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
    assert LEVELS[10] == "search?rollouts=256&base=policy&actions=3&plans=3&clear=2&likely=0.05"
    assert LEVELS[11] == "folding?caution=2"


def test_search_by_default_is_the_newest_level():
    engine = make_engine("hebei", 4, seed=3)
    agents = [make_agent(text) for text in ("search?rollouts=16", LEVELS[10].replace("256", "16"), LEVELS[8])]
    newest, level, before = (vars(agent) for agent in agents)
    assert all(newest[name] == level[name] for name in ("_clear", "_likely", "_actions", "_plans"))
    assert (before["_clear"], before["_likely"]) == (1, 0)  # what is called by its numbers stays what it was
    chosen = [agent.act(engine.view(), np.random.default_rng(0)).tolist() for agent in agents[:2]]
    assert chosen[0] == chosen[1]
