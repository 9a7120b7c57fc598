"""Greedy players: what they choose, beside what follows from looking ahead; tests/observation/test_acceptance.py."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, look_ahead, make_agent, reference_agent
from mahjong_env import ACTIONS, VARIANTS, Deal, action, make_engine, rules
from mahjong_env.basics.actions import CHOW_LOW, CONCEALED_KONG, KONG, PUNG, WIN
from mahjong_env.testing import random_actions
from support.distances import any_shape
from support.marks import variants


def positions(variant, games, rounds, seed=0, **knobs):
    """Views in mid-hand; some choices are random ones, so that odd hands come up too."""
    engine = make_engine(variant, games, seed=seed, auto_reset=True, **knobs)
    rng = np.random.default_rng(seed)
    greedy = GreedyAgent()
    for _ in range(rounds):
        view = engine.view()
        yield view
        nearer = greedy.act(view, rng)
        engine.step(np.where(rng.random(games) < 0.9, nearer, random_actions(engine.action_mask, rng)))


def equally_good(view, *, claims=True):
    """[n, 109] the actions between which greedy sees no difference, from what `look_ahead` says of every one."""
    rank = np.full(len(ACTIONS), 1)
    rank[CONCEALED_KONG:CHOW_LOW] = rank[KONG] = 0
    rank[CHOW_LOW : PUNG + 1] = 2
    ahead = look_ahead(view)
    cost = (3 * ahead.distance.astype(int) + rank) * 200 - ahead.help
    cost[:, WIN] = -1
    if not claims:
        cost[:, CHOW_LOW : KONG + 1] = 10**6
    cost[~view.action_mask] = 10**6
    return cost == cost.min(axis=1, keepdims=True)


@pytest.mark.parametrize("variant", variants("hebei", "mcr", "taiwan"))
class TestChoices:
    @pytest.mark.parametrize("claims", [True, False])
    def test_same_actions_for_the_same_chance(self, variant, claims):
        agent, kongs, wins = GreedyAgent(claims=claims), 0, 0
        for seed, view in enumerate(positions(variant, games=96, rounds=90, **any_shape(variant))):
            fast = agent.act(view, np.random.default_rng(seed))
            lots = np.random.default_rng(seed).random(view.action_mask.shape, np.float32)
            slow = np.where(equally_good(view, claims=claims), lots, -1).argmax(axis=1)
            np.testing.assert_array_equal(fast, slow)
            assert fast.dtype == slow.dtype
            kongs += (view.action_mask[:, 34:102].any(axis=1) | view.action_mask[:, KONG]).sum()
            wins += (fast == WIN).sum()
        assert min(kongs, wins) > 10


def test_a_view_of_no_rows():
    view = make_engine("taiwan", 3, seed=0).view().take(np.zeros(0, np.intp))
    assert GreedyAgent().act(view, np.random.default_rng(0)).shape == (0,)
    assert look_ahead(view).distance.shape == (0, 109)


class TestGreedy:
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

    @staticmethod
    def dealt(dealer):
        other = "147m 258p 369s 1267z"
        return make_and_deal(Deal(hands=(dealer, other, ""), dealer=0))


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
