"""Observations of which a part is kept are those that are written anew."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from mahjong_env import VARIANTS, make_engine
from mahjong_env.observation.cache import FEW_GAMES
from mahjong_env.state.arrays import State
from mahjong_env.testing.play import choose_actions

SETTINGS = [(variant, {}) for variant in sorted(VARIANTS)] + [
    ("hebei", {"players": 4, "num_hands": 3}),
    ("taiwan", {"num_hands": 2}),
    ("hangzhou", {"num_hands": 3}),
]


def anew(engine):
    """What the seats to act see, read from a view: that keeps nothing."""
    return engine.view().observation


def check_play(engine, steps=250):
    """Play, with long and short pauses between looks; `AssertionError` where what is kept is out of date."""
    rng = np.random.default_rng(2)
    start = engine.snapshot()
    for step in range(steps):
        engine.step(choose_actions(engine, rng))
        if rng.random() < 0.5:
            assert np.array_equal(engine.observe(), anew(engine))
        if step % 60 == 30:
            engine.resample_hidden(np.zeros(engine.num_games, int), rng)
            assert np.array_equal(engine.observe(), anew(engine))
        if step == 100:
            engine.restore(start)
            assert np.array_equal(engine.observe(), anew(engine))
        if step == 150:
            engine = copy.deepcopy(engine) if engine.num_games > 1 else pickle.loads(pickle.dumps(engine))


@pytest.mark.parametrize(("variant", "settings"), SETTINGS)
@pytest.mark.parametrize("games", [1, FEW_GAMES])
def test_they_are_those_that_are_written_anew(variant, settings, games):
    engine = make_engine(variant, games, seed=6, auto_reset=True, **settings)
    check_play(engine)
    assert engine._kept is not None


def test_a_change_that_is_not_noted_is_found(monkeypatch):
    monkeypatch.setattr(State, "note_change", lambda self, games: None)
    with pytest.raises(AssertionError):
        check_play(make_engine("hebei", 4, seed=6, auto_reset=True))


def test_buffers_and_some_of_the_games():
    engine = make_engine("fuzhou", 5, seed=1, auto_reset=True)
    out = np.full((3, *engine.observation_shape), 99, np.int8)
    assert engine.observe([4, 0, 2], out=out) is out
    assert np.array_equal(out, anew(engine)[[4, 0, 2]])
