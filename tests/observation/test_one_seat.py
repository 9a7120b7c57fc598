"""Observations of small batches, in plain Python (observation/one_seat.py), are those that numpy writes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from mahjong_env import VARIANTS, ActionError, Deal, make_engine
from mahjong_env.observation import one_seat
from mahjong_env.testing.play import choose_actions

SETTINGS = [(variant, {}) for variant in sorted(VARIANTS)] + [
    ("hebei", {"players": 4, "num_hands": 3}),
    ("hebei", {"rotation": True, "num_hands": 3}),
    ("taiwan", {"num_hands": 2}),
    ("hangzhou", {"num_hands": 3}),
]


def anew(engine):
    """What the seats to act see, as numpy writes it for a view."""
    return engine.view().observation


def check_play(engine, steps=250):
    """Play, with long and short pauses between looks; `AssertionError` where an observation is not that of a view."""
    rng = np.random.default_rng(2)
    start = engine.snapshot()
    for step in range(steps):
        engine.step(choose_actions(engine, rng))
        if rng.random() < 0.5:
            assert np.array_equal(engine.observe(), anew(engine))
        person = step % engine.num_people
        assert np.array_equal(engine.observe(seats=person), engine.view(seats=person).observation)
        if step % 60 == 30:
            engine.resample_hidden(np.zeros(engine.num_games, int), rng)
            assert np.array_equal(engine.observe(), anew(engine))
        if step == 100:
            engine.restore(start)
            assert np.array_equal(engine.observe(), anew(engine))
        if step == 150:
            engine = copy.deepcopy(engine) if engine.num_games > 1 else pickle.loads(pickle.dumps(engine))


@pytest.mark.parametrize(("variant", "settings"), SETTINGS)
@pytest.mark.parametrize("games", [1, 8])
def test_they_are_those_that_numpy_writes(variant, settings, games):
    check_play(make_engine(variant, games, seed=6, auto_reset=True, **settings))


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_when_games_are_over(variant):
    engine, rng = make_engine(variant, 3, seed=4), np.random.default_rng(0)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        engine.step(choose_actions(engine, rng)[live], live)
        if live.size < 3:
            assert np.array_equal(engine.observe(), anew(engine))
            assert np.array_equal(engine.observe(seats=2), engine.view(seats=2).observation)


def test_a_difference_is_found(monkeypatch):
    monkeypatch.setattr(one_seat, "_STREAK", one_seat._STREAK + 1)
    with pytest.raises(AssertionError):
        check_play(make_engine("hebei", 4, seed=6, auto_reset=True))


def test_buffers_and_some_of_the_games():
    engine = make_engine("fuzhou", 5, seed=1, auto_reset=True)
    games = np.array([4, 0, 2, 0])
    out = np.full((4, *engine.observation_shape), 99, np.int8)
    seats = engine.seat_to_act[games]
    for asked in (games, games.tolist()):
        for persons in (None, seats, seats.tolist()):
            out[...] = 99
            assert engine.observe(asked, persons, out=out) is out
            assert np.array_equal(out, anew(engine)[games])
    assert np.array_equal(engine.observe(games, (seats + 1) % 4), engine.view(games, (seats + 1) % 4).observation)
    for wrong in (np.array([5]), np.array([-1])):
        with pytest.raises(ActionError, match="there is no game"):
            engine.observe(wrong)
    with pytest.raises(ActionError, match="out"):
        engine.observe(out=np.zeros((5, 3, 34), np.int8))


@pytest.mark.parametrize("games", [1, 17])
def test_the_seat_of_nobody_is_refused_and_leaves_no_trace(games):
    engine, rng = make_engine("wuhan", games, seed=1), np.random.default_rng(0)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        engine.step(choose_actions(engine, rng)[live], live)
    with pytest.raises(ActionError, match="seats are integers from 0 to 3"):
        engine.observe(seats=engine.seat_to_act)
    engine.reset(deals=Deal(dealer=1))
    assert np.array_equal(engine.observe(seats=0), engine.view(seats=0).observation)
