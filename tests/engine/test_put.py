"""Games written into an engine: from another one, and from snapshots of some of its games."""

from __future__ import annotations

import numpy as np
import pytest

import mahjong_env
from mahjong_env import ActionError, RulesError, SnapshotError, make_engine
from support.marks import variants


def played(variant, number, steps, seed=3, **settings):
    engine, rng = make_engine(variant, number, seed=seed, **settings), np.random.default_rng(seed)
    for _ in range(steps):
        step(engine, rng)
    return engine


def step(engine, rng):
    mask = engine.action_mask
    return engine.step((rng.random(mask.shape) * mask).argmax(axis=1))


def states(engine, games):
    return {name: array[games].copy() for name, array in engine.state.arrays().items()}


def same(first, second):
    return all(np.array_equal(array, second[name]) for name, array in first.items())


@pytest.mark.parametrize("variant", variants("hebei", "fuzhou"))
def test_games_that_were_put_go_on_as_where_they_came_from(variant):
    here, there = played(variant, 5, 9), played(variant, 4, 40, seed=8)
    before = states(here, [0, 2, 4])
    here.put([3, 1], there, [2, 2])
    assert same(states(here, [3, 1]), states(there, [2, 2]))
    assert same(states(here, [0, 2, 4]), before)
    alone = there.select([2])
    while (alone.seat_to_act >= 0).any():
        actions = alone.action_mask.argmax(axis=1)
        np.testing.assert_array_equal(here.observe(games=[3, 1]), alone.observe(games=[0, 0]))
        np.testing.assert_array_equal(here.action_mask[[3, 1]], alone.action_mask[[0, 0]])
        rewards = here.step(np.repeat(actions, 2), games=[3, 1]).rewards
        np.testing.assert_array_equal(rewards, alone.step(actions).rewards[[0, 0]])
    assert same(states(here, [0, 2, 4]), before)


def test_a_game_is_put_elsewhere_in_its_own_engine():
    engine = played("hebei", 4, 20)
    first, second = states(engine, [0]), states(engine, [1])
    engine.put([0, 1], engine, [1, 0])
    assert same(states(engine, [0]), second)
    assert same(states(engine, [1]), first)


def test_games_that_are_dealt_ahead_are_those_of_the_game_that_was_put():
    here, there = played("hebei", 3, 30, auto_reset=True), played("hebei", 2, 30, seed=8, auto_reset=True)
    here.put([1], there, [0])
    rng = np.random.default_rng(1)
    for _ in range(400):
        actions = (rng.random(there.action_mask.shape) * there.action_mask).argmax(axis=1)
        there.step(actions)
        here.step(actions[:1], games=[1])
    assert same(states(here, [1]), states(there, [0]))


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
    then = states(engine, [2, 0])
    for _ in range(15):
        step(engine, rng)
    others = states(engine, [1, 3])
    engine.restore(snapshot, games=[2, 0])
    assert same(states(engine, [2, 0]), then)
    assert same(states(engine, [1, 3]), others)
    engine.restore(snapshot, games=[1, 3])  # wherever they are wanted
    assert same(states(engine, [1, 3]), then)


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
    before = states(engine, [0, 1, 2])
    with pytest.raises(error, match=message):
        call(engine)
    assert same(states(engine, [0, 1, 2]), before)
