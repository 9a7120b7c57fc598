"""Views work their arrays out when asked, and show what was seen when they were taken, whatever happens since."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

from mahjong_env import View, make_engine
from mahjong_env.testing import random_actions

RNG = np.random.default_rng


def arrays(view):
    return {name: getattr(view, name).copy() for name in View.array_names()}


def same(view, wanted):
    for name, array in wanted.items():
        np.testing.assert_array_equal(getattr(view, name), array, err_msg=name)


def step(engine):
    engine.step(random_actions(engine.action_mask, RNG(5)))


def snapshot_and_back(engine):
    before = engine.snapshot()
    step(engine)
    engine.restore(before)
    step(engine)


@pytest.mark.parametrize(
    "move",
    [
        step,
        lambda engine: engine.reset(seed=9),
        lambda engine: engine.reset(games=[1, 2]),
        lambda engine: engine.resample_hidden(0, RNG(1)),
        snapshot_and_back,
    ],
    ids=["step", "reset", "reset of some", "resample", "restore"],
)
@pytest.mark.parametrize("variant", ["hebei", "fuzhou"])
def test_a_view_stays_as_it_was(variant, move):
    engine = make_engine(variant, 20, seed=3, auto_reset=True)
    for _ in range(30):
        step(engine)
    wanted = arrays(engine.view())
    late, part = engine.view(), engine.view().take([4, 7])
    copied, thawed = copy.deepcopy(engine.view()), pickle.loads(pickle.dumps(engine.view()))
    move(engine)
    for view in (late, copied, thawed):
        same(view, wanted)
    same(part, {name: array[[4, 7]] for name, array in wanted.items()})
    np.testing.assert_array_equal(late.codes, copied.codes)


def test_what_nobody_asks_for_is_not_worked_out():
    engine = make_engine("taiwan", 5, seed=0)
    view = engine.view()
    view.hand  # noqa: B018
    assert "hand" in vars(view)
    assert "observation" not in vars(view)
    with pytest.raises(AttributeError, match="no attribute 'hands'"):
        view.hands  # noqa: B018


def test_views_that_are_no_longer_used_are_forgotten():
    engine = make_engine("wuhan", 2, seed=0)
    for _ in range(500):
        engine.view()
    gc.collect()
    assert len(engine._views) <= 64


def test_engines_with_views_are_copied_and_pickled():
    engine = make_engine("hangzhou", 3, seed=1)
    view = engine.view()
    for twin in (copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        step(twin)
        assert "observation" not in vars(view)
        np.testing.assert_array_equal(twin.view().hand.shape, view.hand.shape)
