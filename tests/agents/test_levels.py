"""Levels: every one can be made and plays, and their names stay."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.levels import LEVELS
from mahjong_env import VARIANTS, make_engine
from support.marks import everyday

OTHERS = [variant for variant in VARIANTS if variant != "hebei"]
CASES = [*((text, "hebei") for text in LEVELS), *product(("plan-value?samples=1", "value", "folding"), OTHERS)]
QUICK = [case for case in CASES[: len(LEVELS)] if "search" not in case[0]]


@pytest.mark.parametrize("case", everyday(CASES, [*QUICK, ("folding", "taiwan")]))
def test_every_level_plays(case):
    """Legal actions, and the same again with the same chance: to the end of hands, of searches one decision."""
    text, variant = case
    agent, steps = make_agent(text), 2 if "search" in text else 1000
    engine, rng = make_engine(variant, 1 if "search" in text else 6, seed=6), np.random.default_rng(0)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size and (steps := steps - 1):
        view, seed = engine.view(games=live), int(rng.integers(1000))
        chosen = agent.act(view, np.random.default_rng(seed))
        np.testing.assert_array_equal(chosen, agent.act(view, np.random.default_rng(seed)))
        assert view.action_mask[np.arange(len(live)), chosen].all()
        engine.step(chosen, games=live)


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
