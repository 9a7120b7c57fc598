"""Chance that belongs to games: what happens in one game changes nothing in the others."""

from __future__ import annotations

import numpy as np

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_env import make_engine
from mahjong_training.evaluation.matches import play_out
from mahjong_training.evaluation.paired_chance import RowChance, pair


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


def test_without_pairs_it_changes_them():
    """The reason for all this."""

    def played(swapped):
        engine = make_engine("hebei", 30, seed=4)
        if swapped:
            engine.reset(seed=99, games=[7])
        return play_out(engine, [GreedyAgent()], np.zeros((30, 3), np.intp), np.random.default_rng(0))

    others = np.arange(30) != 7
    assert not np.array_equal(played(False).points[others], played(True).points[others])


def test_two_agents_have_chance_of_their_own():
    engine = make_engine("hebei", 8, seed=4)
    one, two = pair(engine, [RandomAgent(), RandomAgent()], np.arange(8), 1)
    rng = np.random.default_rng(0)
    view = engine.view()
    assert np.array_equal(one.act(view, rng), one.act(view, rng))
    assert not np.array_equal(one.act(view, rng), two.act(view, rng))
