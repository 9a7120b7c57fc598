"""Matches that are dealt before they begin are those that would be dealt then."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env import VARIANTS, make_engine
from mahjong_env.engine import batch
from mahjong_env.testing.play import choose_actions, frozen_arrays


def play(engine, steps, seed=0):
    """The arrays after each step; now and then some games are dealt anew, taken back or taken over by a copy."""
    rng, told = np.random.default_rng(seed), []
    for step in range(steps):
        engine.step(choose_actions(engine, rng))
        if step % 70 == 20:
            engine.reset(games=[0])
        if step == 100:
            then = engine.snapshot()
        if step == 190:
            engine.restore(then)
        if step == 220:
            engine = engine.select(np.arange(engine.num_games)[::-1])
        told.append(frozen_arrays(engine))
    return told


@pytest.mark.parametrize(
    ("variant", "games", "knobs"),
    [
        *((variant, 7, {}) for variant in sorted(VARIANTS)),
        ("wuhan", 1, {}),
        *(("hebei", 5, knobs) for knobs in ({"num_hands": 3}, {"start": "first"})),
    ],
)
def test_they_are_the_same_games(variant, games, knobs, monkeypatch):
    ahead = make_engine(variant, games, seed=3, auto_reset=True, **knobs)
    told = play(ahead, 320)
    assert "_ahead" in vars(ahead)
    monkeypatch.setattr(batch, "MOST_GAMES", 0)
    at_once = make_engine(variant, games, seed=3, auto_reset=True, **knobs)
    for now, then in zip(told, play(at_once, 320), strict=True):
        for name, array in now.items():
            assert np.array_equal(array, then[name]), name
    assert "_ahead" not in vars(at_once)


def test_another_seed_is_not_dealt_from_what_was_dealt_before():
    engine, other = make_engine("wuhan", 2, seed=1), make_engine("wuhan", 2, seed=2)
    engine.reset()
    engine.reset(seed=2)
    assert np.array_equal(engine.state.wall, other.state.wall)
    engine.reset()
    other.reset()
    assert np.array_equal(engine.state.wall, other.state.wall)
