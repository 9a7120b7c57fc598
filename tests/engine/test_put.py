"""Games written into an engine: from another one, and from snapshots of some of its games."""

from __future__ import annotations

import numpy as np
import pytest

import mahjong_env
from mahjong_env import ActionError, RulesError, SnapshotError, make_engine
from mahjong_env.testing import random_actions
from mahjong_env.testing.play import changed_array, frozen_arrays, play_together, require_same_states
from support.marks import variants


def played(variant, number, steps, seed=3, **settings):
    engine, rng = make_engine(variant, number, seed=seed, **settings), np.random.default_rng(seed)
    for _ in range(steps):
        engine.step(random_actions(engine.action_mask, rng))
    return engine


@pytest.mark.parametrize("variant", variants("hebei", "fuzhou"))
def test_games_that_were_put_go_on_as_where_they_came_from(variant):
    here, there = played(variant, 5, 9), played(variant, 4, 40, seed=8)
    before = here.select([0, 2, 4])
    here.put([3, 1], there, [2, 2])
    require_same_states(before, here, np.array([0, 2, 4]), "a game beside it")
    np.testing.assert_array_equal(here.observe(games=[3, 1]), there.observe(games=[2, 2]))
    play_together(there.select([2, 2]), here, 0, np.array([3, 1]), "a game that was put")


def test_a_game_is_put_elsewhere_in_its_own_engine():
    engine = played("hebei", 4, 20)
    before = engine.select([1, 0])
    engine.put([0, 1], engine, [1, 0])
    require_same_states(before, engine, np.array([0, 1]), "a game that was exchanged")


def test_games_that_are_dealt_ahead_are_those_of_the_game_that_was_put():
    here, there = played("hebei", 3, 30, auto_reset=True), played("hebei", 2, 30, seed=8, auto_reset=True)
    here.put([1], there, [0])
    rng = np.random.default_rng(1)
    for _ in range(400):
        actions = random_actions(there.action_mask, rng)
        there.step(actions)
        here.step(actions[:1], games=[1])
    require_same_states(there.select([0]), here, np.array([1]), "a game that was put")


def test_views_keep_what_they_showed():
    engine = played("wuhan", 3, 20)
    view = engine.view()
    hands = view.hand.copy()
    engine.put([0], engine, [1])
    np.testing.assert_array_equal(view.hand, hands)
    with pytest.raises(mahjong_env.MahjongError, match="moved on"):
        view.worlds(1, np.random.default_rng(1))


@pytest.mark.parametrize("variant", variants("hebei", "fuzhou"))
def test_some_games_go_back(variant):
    engine, rng = played(variant, 4, 12), np.random.default_rng(2)
    snapshot = mahjong_env.Snapshot.from_bytes(engine.snapshot([2, 0]).to_bytes())
    then = engine.select([2, 0])
    for _ in range(15):
        engine.step(random_actions(engine.action_mask, rng))
    others = engine.select([1, 3])
    engine.restore(snapshot, games=[2, 0])
    require_same_states(then, engine, np.array([2, 0]), "a game that went back")
    require_same_states(others, engine, np.array([1, 3]), "a game beside it")
    engine.restore(snapshot, games=[1, 3])  # wherever they are wanted
    require_same_states(then, engine, np.array([1, 3]), "a game that went back")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda engine: engine.put([0], 5), ActionError, "from an engine, not from int"),
        (lambda engine: engine.put([0], make_engine("wuhan", 1)), RulesError, "must be the same"),
        (lambda engine: engine.put([0], make_engine("hebei", 1, cap=2)), RulesError, "must be the same"),
        (lambda engine: engine.put([0], make_engine("hebei", 1, num_hands=2)), RulesError, "must be the same"),
        (lambda engine: engine.put([0, 0], engine, [0, 1]), ActionError, "twice"),
        (lambda engine: engine.put([7], engine, [0]), ActionError, "7"),
        (lambda engine: engine.put([0], engine, [7]), ActionError, "7"),
        (lambda engine: engine.put([0], engine), ActionError, "3 games cannot be put in the place of 1"),
        (lambda engine: engine.restore(engine.snapshot([0]), games=[0, 1]), SnapshotError, "num_games is 1, not 2"),
        (lambda engine: engine.restore(engine.snapshot([0])), SnapshotError, "num_games is 1, not 3"),
        (lambda engine: engine.snapshot([9]), ActionError, "9"),
    ],
)
def test_what_cannot_be_put_changes_nothing(call, error, message):
    engine = played("hebei", 3, 5)
    before = frozen_arrays(engine)
    with pytest.raises(error, match=message):
        call(engine)
    assert changed_array(engine, before) is None
