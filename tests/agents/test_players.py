"""Random and greedy as players, and agents by name."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from mahjong_agents import Agent, AgentError, GreedyAgent, RandomAgent, look_ahead, make_agent, reference_agent
from mahjong_agents.base import present_spec
from mahjong_agents.greedy import best_actions
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import shapes
from mahjong_env import VARIANTS, Deal, MahjongError, MissingExtraError, action, make_engine, rules
from mahjong_env.basics.actions import CHOW_LOW, CONCEALED_KONG, PASS, PUNG, WIN
from mahjong_training.evaluation.matches import measure

IDLE = "147m 258p 369s 1234z"


class TestGreedy:
    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    @pytest.mark.parametrize("agent", [GreedyAgent(), RandomAgent()], ids=lambda agent: agent.name)
    def test_plays_legal_actions_to_the_end(self, variant, agent):
        engine = make_engine(variant, 24, seed=6)
        rng = np.random.default_rng(0)
        while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
            view = engine.view(games=live)
            chosen = agent.act(view, rng)
            assert chosen.shape == (len(live),)
            assert view.action_mask[np.arange(len(live)), chosen].all()
            engine.step(chosen, games=live)

    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    def test_wins_when_it_may_and_claims_only_to_come_nearer(self, variant):
        engine = make_engine(variant, 48, seed=8, auto_reset=True)
        rng = np.random.default_rng(0)
        wins, claims, passes = 0, 0, 0
        for _ in range(250):
            view = engine.view()
            chosen = GreedyAgent().act(view, rng)
            distance = look_ahead(view).distance
            may_win = view.action_mask[:, WIN]
            assert (chosen[may_win] == WIN).all()
            wins += may_win.sum()
            claimed = (chosen >= CHOW_LOW) & (chosen <= PUNG)
            assert (distance[claimed, chosen[claimed]] < distance[claimed, PASS]).all()
            claims += claimed.sum()
            could = view.action_mask[:, CHOW_LOW : PUNG + 1].any(axis=1) & (chosen == PASS)
            assert (distance[could, CHOW_LOW : PUNG + 1].min(axis=1) >= distance[could, PASS]).all()
            passes += could.sum()
            engine.step(chosen)
        assert min(wins, claims, passes) > 10

    def test_throws_the_tile_that_leaves_most_help(self):
        engine = self.dealt("123m 456p 789s 34s 55z 1z")
        assert GreedyAgent().act(engine.view(), np.random.default_rng(0)) == action("discard 1z")
        # 4s and 6s wait for one kind; throwing either leaves one tile missing, throwing 9m leaves the wait.
        engine = self.dealt("123m 456p 111s 46s 55z 9m")
        assert GreedyAgent().act(engine.view(), np.random.default_rng(0)) == action("discard 9m")

    def test_declares_a_kong_that_does_not_hurt_and_leaves_one_that_does(self):
        engine = self.dealt("123m 456p 789s 3333z 5m")
        assert GreedyAgent().act(engine.view(), np.random.default_rng(0)) == action("concealed kong 3z")
        # Three of the fives stand in runs: without them the hand falls apart.
        engine = self.dealt("12m 456p 5555s 46s 67s 1z")
        assert GreedyAgent().act(engine.view(), np.random.default_rng(0)) == action("discard 1z")
        view = engine.view()
        assert view.action_mask[0, CONCEALED_KONG + 22]

    def test_stays_closed_if_told_to(self):
        agent = make_agent("closed-greedy")
        assert agent.name == "closed-greedy"
        engine = make_engine("hebei", 48, seed=8)
        rng = np.random.default_rng(0)
        passed = 0
        while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
            view = engine.view(games=live)
            chosen = agent.act(view, rng)
            assert ((chosen < CHOW_LOW) | (chosen >= WIN)).all()
            assert (chosen[view.action_mask[:, WIN]] == WIN).all()
            passed += (view.action_mask[:, CHOW_LOW:WIN].any(axis=1) & (chosen == PASS)).sum()
            engine.step(chosen, games=live)
        assert passed > 100

    @staticmethod
    def dealt(dealer):
        other = "147m 258p 369s 1267z"
        return make_and_deal(Deal(hands=(dealer, other, ""), dealer=0))

    def test_choices_do_not_depend_on_the_batch(self):
        view = make_engine("hebei", 40, seed=1).view()
        rows = np.array([3, 39, 11])
        whole, part = best_actions(view), best_actions(view.take(rows))
        for place, row in enumerate(rows):
            np.testing.assert_array_equal(part[1][part[0] == place], whole[1][whole[0] == row])

    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    def test_beats_random(self, variant):
        table = VARIANTS[variant]
        result = measure(table, [GreedyAgent(), RandomAgent()], (0, *[1] * (table.people - 1)), deals=60, seed=3)
        assert result.of(0).points.low > 0
        assert result.of(0).wins.mean > 5 * result.of(1).wins.mean


class TestReference:
    def test_it_stays_closed_where_closed_hands_are_worth_more(self):
        assert {name for name in VARIANTS if reference_agent(rules(name)).name == "closed-greedy"} == {"hebei"}

    @pytest.mark.parametrize("variant", ["hebei", "wuhan"])
    def test_the_agent_plays_as_the_rules_say(self, variant):
        view = make_engine(variant, 30, seed=2).view()
        one, other = (
            agent.act(view, np.random.default_rng(0))
            for agent in (make_agent("reference"), reference_agent(rules(variant)))
        )
        np.testing.assert_array_equal(one, other)


def make_and_deal(deal):
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=deal)
    return engine


class TestNames:
    def test_built_in_agents_are_agents(self):
        for name in ("random", "greedy", "closed-greedy", "reference", "plan-value"):
            agent = make_agent(name)
            assert isinstance(agent, Agent)
            assert agent.name == name

    def test_settings_that_have_names_now_are_understood_and_said_by_name(self):
        for before, name in (("greedy?claims=false", "closed-greedy"), ("value?numbers=none", "plan-value")):
            assert make_agent(before).name == present_spec(before) == name

    def test_an_unknown_name_lists_the_valid_ones(self):
        with pytest.raises(AgentError, match=r"no agent is called 'clever'; valid are closed-greedy, greedy, "):
            make_agent("clever")
        assert issubclass(AgentError, MahjongError)

    @pytest.mark.parametrize(
        "spec",
        ["greedy?depth=3", "greedy:fast", "random?=1", "random?x", "greedy?claims=2"],
    )
    def test_what_an_agent_does_not_take_is_refused(self, spec):
        with pytest.raises(AgentError):
            make_agent(spec)

    def test_an_agent_is_returned_as_it_is(self):
        agent = GreedyAgent()
        assert make_agent(agent) is agent

    def test_without_torch_the_pip_line_is_named(self, monkeypatch, tmp_path):
        PolicyFile("hebei", 0, {"width": 16, "layers": 1}, {}).write(tmp_path / "best.zip")
        monkeypatch.delitem(sys.modules, "mahjong_agents.policy.plane_network", raising=False)
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
