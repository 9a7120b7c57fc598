"""Chance that the games of a deal share: as random as any other, the same wherever the same decision is made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_agents.shared_chance import RowChance, SharedChance, deal_keys, decision_keys, pair
from mahjong_env import make_engine, rules
from mahjong_training.evaluation.matches import measure, play_out


def chance(seed=0):
    return SharedChance(np.random.SeedSequence(seed))


KEYS = decision_keys(deal_keys(3, np.arange(4000)), np.zeros(4000, np.int8), np.zeros(4000, np.int64))


class TestNumbers:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_are_uniform_and_independent(self, dtype):
        numbers = chance().decide(KEYS).random((4000, 60), dtype)
        assert numbers.dtype == dtype
        assert 0 <= numbers.min() < numbers.max() < 1
        assert stats.kstest(numbers.ravel(), "uniform").pvalue > 0.001
        correlations = np.corrcoef(numbers.T)[np.triu_indices(60, 1)] * np.sqrt(4000)
        assert np.abs(correlations).max() < 4.5  # of 1770 that are normal if nothing is wrong
        neighbours = np.corrcoef(numbers[1:].ravel(), numbers[:-1].ravel())[0, 1]
        assert abs(neighbours) * np.sqrt(numbers.size) < 4

    def test_follow_from_the_key_and_the_call_alone(self):
        """Not from the other rows, nor from what an agent asked for in between."""
        whole, part = chance(), chance(9)
        first, second = whole.decide(KEYS).random((4000, 5)), whole.random(4000)
        part.decide(KEYS[7:9])
        part.integers(5, size=100)
        np.testing.assert_array_equal(part.random((2, 5)), first[7:9])
        np.testing.assert_array_equal(part.random(2), second[7:9])
        assert len(np.unique(np.concatenate([first.ravel(), second]))) == 6 * 4000

    def test_other_deals_persons_and_decisions_have_others(self):
        deals = deal_keys(3, np.arange(50))
        keys = [
            decision_keys(deal_keys(seed, np.arange(50)), np.full(50, person), np.full(50, number))
            for seed in (3, 4)
            for person in range(4)
            for number in range(30)
        ]
        assert len(np.unique(keys)) == 2 * 4 * 30 * 50
        assert deals.dtype == np.uint64

    def test_whatever_else_is_asked_for_comes_from_an_ordinary_stream(self):
        asked, plain = chance(5).decide(KEYS), np.random.Generator(chance(5).bit_generator)
        np.testing.assert_array_equal(asked.random((3, 34)), plain.random((3, 34)))
        assert asked.random() == plain.random()
        np.testing.assert_array_equal(asked.permutation(10), plain.permutation(10))


class TestGames:
    def test_one_player_under_two_names_plays_every_order_alike(self):
        """It draws lots, and draws the same ones in every order: nothing is left of the difference."""
        result = measure(rules("wuhan"), [GreedyAgent(), GreedyAgent()], (0, 1, 1, 1), deals=30, seed=2)
        assert result.of(0).points.half_width == 0
        assert result.of(0).wins.mean == result.of(1).wins.mean > 0


def test_rows_of_the_same_number_have_the_same_chance():
    drawn = RowChance(np.random.SFC64(3), np.array([2, 0, 2]), 4).random((3, 5), np.float32)
    assert drawn.dtype == np.float32
    assert np.array_equal(drawn[0], drawn[2])
    assert not np.array_equal(drawn[0], drawn[1])
    alone = RowChance(np.random.SFC64(3), np.array([0]), 4).random((1, 5), np.float32)
    assert np.array_equal(alone[0], drawn[1])
    assert RowChance(np.random.SFC64(3), np.array([0]), 4).random((7, 5)).shape == (7, 5)
    assert isinstance(RowChance(np.random.SFC64(3), np.array([0]), 4).random(), float)


def _played(agent, swapped):
    engine = make_engine("hebei", 30, seed=4)
    if swapped:  # one game is another one, which ends at another time
        engine.reset(seed=99, games=[7])
    rows = np.arange(30)
    return play_out(engine, pair(engine, [agent], rows, 1), np.zeros((30, 3), np.intp), np.random.default_rng(0))


def test_another_game_changes_nothing_in_the_others():
    for agent in (GreedyAgent(), RandomAgent()):
        one, two = _played(agent, False), _played(agent, True)
        others = np.arange(30) != 7
        assert np.array_equal(one.points[others], two.points[others])
        assert np.array_equal(one.counts["chows"][others], two.counts["chows"][others])
