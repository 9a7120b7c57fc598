"""The fast greedy chooses what the first, slow one chose: the same actions for the same chance."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, look_ahead
from mahjong_agents.greedy import best_actions
from mahjong_env import VARIANTS, make_engine
from mahjong_env.basics.actions import KONG, WIN
from mahjong_env.testing import random_actions
from support import slow_greedy


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


@pytest.mark.parametrize("variant", sorted(VARIANTS))
class TestChoices:
    @pytest.mark.parametrize("claims", [True, False])
    def test_same_actions_for_the_same_chance(self, variant, claims):
        agent, kongs, wins = GreedyAgent(claims=claims), 0, 0
        for seed, view in enumerate(positions(variant, games=96, rounds=90)):
            fast = agent.act(view, np.random.default_rng(seed))
            slow = slow_greedy.choose(view, np.random.default_rng(seed), claims=claims)
            np.testing.assert_array_equal(fast, slow)
            assert fast.dtype == slow.dtype
            kongs += (view.action_mask[:, 34:102].any(axis=1) | view.action_mask[:, KONG]).sum()
            wins += (fast == WIN).sum()
        assert min(kongs, wins) > 10

    def test_same_lookahead(self, variant):
        for view in positions(variant, games=48, rounds=60, seed=1):
            fast, slow = look_ahead(view), slow_greedy.look_ahead(view)
            np.testing.assert_array_equal(fast.distance, slow.distance)
            np.testing.assert_array_equal(fast.help, slow.help)
            assert (fast.distance.dtype, fast.help.dtype) == (np.int8, np.int16)

    def test_rows_without_a_legal_action_draw_any(self, variant):
        engine = make_engine(variant, 12, seed=3)
        view = engine.view(seats=(engine.seat_to_act[0] + 1) % engine.num_people)
        assert (~view.action_mask.any(axis=1)).sum() > 0
        slow = slow_greedy.choose(view, np.random.default_rng(1))
        np.testing.assert_array_equal(GreedyAgent().act(view, np.random.default_rng(1)), slow)


def test_equal_actions_are_those_of_the_slow_one():
    for view in positions("hangzhou", games=64, rounds=30, seed=2):
        equal = np.zeros(view.action_mask.shape, np.bool_)
        row, action = best_actions(view)
        equal[row, action] = True
        slow = slow_greedy.best_actions(view, slow_greedy.look_ahead(view))
        undecided = ~view.action_mask[:, WIN]
        np.testing.assert_array_equal(equal[undecided], slow[undecided])
        assert not equal[~undecided].any()


def test_a_view_of_no_rows():
    view = make_engine("taiwan", 3, seed=0).view().take(np.zeros(0, np.intp))
    assert GreedyAgent().act(view, np.random.default_rng(0)).shape == (0,)
    assert look_ahead(view).distance.shape == (0, 109)
