"""Agents by name: every level can be made and plays, names stay, and what needs torch says so."""

from __future__ import annotations

import re
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import Agent, make_agent
from mahjong_agents.base import GAMES_AT_ONCE, games_at_once
from mahjong_agents.levels import LEVELS
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import shapes
from mahjong_env import VARIANTS, MissingExtraError, make_engine
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
    assert LEVELS[12] == "search?rollouts=256&base=policy&actions=3&plans=3&clear=2&likely=0.05&luck=true&horizon=4"


def test_search_by_default_is_the_newest_level():
    engine = make_engine("hebei", 4, seed=3)
    agents = [make_agent(text) for text in ("search?rollouts=16", LEVELS[12].replace("256", "16"), LEVELS[8])]
    newest, level, before = (vars(agent) for agent in agents)
    settings = ("_clear", "_likely", "_luck", "_horizon", "_actions", "_plans")
    assert all(newest[name] == level[name] for name in settings)
    assert [before[name] for name in settings[:4]] == [
        1,
        0,
        False,
        0,
    ]  # what is called by its numbers stays what it was
    chosen = [agent.act(engine.view(), np.random.default_rng(0)).tolist() for agent in agents[:2]]
    assert chosen[0] == chosen[1]


# --- Names and extras -----------------------------------------------------------------------------------------------


class TestNames:
    def test_built_in_agents_are_agents(self):
        for name in ("random", "greedy", "closed-greedy", "reference", "plan-value"):
            agent = make_agent(name)
            assert isinstance(agent, Agent)
            assert agent.name == name

    def test_the_page_says_how_many_games_are_played_at_once(self):
        text = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text(encoding="utf-8")
        said = re.search(r"is (\d+) games: .*`value` (\d+), .*`search` with 64\srollouts (\d+), ", text, re.DOTALL)
        agents = make_agent("value"), make_agent("search?rollouts=64")
        assert [int(one) for one in said.groups()] == [GAMES_AT_ONCE, *(games_at_once([agent]) for agent in agents)]

    def test_without_torch_the_pip_line_is_named(self, monkeypatch, tmp_path):
        PolicyFile("hebei", 0, {"width": 16, "layers": 1}, {}).write(tmp_path / "best.zip")
        for module in ("plane_network", "torch_network"):
            monkeypatch.delitem(sys.modules, f"mahjong_agents.policy.{module}", raising=False)
        monkeypatch.delattr("mahjong_agents.policy.torch_network", raising=False)
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'mahjong-env\[train\]'"):
            make_agent(f"policy:{tmp_path / 'best.zip'}")

    def test_policies_that_look_at_one_action_at_a_time_need_no_torch(self, monkeypatch, tmp_path):
        weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(4).items()}
        PolicyFile("hebei", 0, {"width": 4}, weights, architecture="actions").write(tmp_path / "best.zip")
        monkeypatch.setitem(sys.modules, "torch", None)
        view = make_engine("hebei", 5, seed=1).view()
        actions = make_agent(f"policy:{tmp_path / 'best.zip'}").act(view, np.random.default_rng(0))
        assert view.action_mask[np.arange(5), actions].all()
