"""Agents by name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import Agent, make_agent
from mahjong_agents.base import GAMES_AT_ONCE, games_at_once
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import shapes
from mahjong_env import MissingExtraError, make_engine


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
