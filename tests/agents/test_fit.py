"""What `tools.fit` makes of hands: what is kept of them adds up, and the network learns what can be foreseen."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents.greedy import reference_agent
from mahjong_env import rules
from mahjong_training.evaluation.matches import sigma
from tools.fit import collect, count, learn


@pytest.fixture(scope="module")
def experience():
    played = rules("fuzhou")
    return next(collect(played, reference_agent(played), hands=1, seed=3, explored=0.2))


def test_points_and_wins_are_those_of_the_hands(experience):
    """A winner is paid what it won, unless kongs or liabilities come between; a deal-in costs points."""
    unit, won, dealt_in = sigma(rules("fuzhou")), experience["win"], experience["deal_in"]
    points, of_win = experience["points"], experience["points_of_win"]
    assert 0.1 < won.mean() < 0.5
    assert (of_win[won] > 0).all()
    assert (of_win[~won] == 0).all()
    np.testing.assert_allclose(np.median(points[won] - of_win[won]), 0, atol=1e-5)
    assert 0.005 < dealt_in.mean() < 0.2
    assert (points[dealt_in] < 0).mean() > 0.95
    assert not (dealt_in & won).any()
    np.testing.assert_allclose(points * unit, (points * unit).round(), atol=1e-2)


@pytest.mark.thorough
def test_a_network_foresees_wins(experience):
    network = learn(experience, sigma(rules("fuzhou")), epochs=40, seed=0)
    held_out = experience["hand"] % 10 == 0
    found = network(experience["numbers"][held_out].astype(np.float32))
    won = experience["win"][held_out]
    assert found.win[won].mean() > found.win[~won].mean() + 0.1
    assert abs(found.win.mean() - won.mean()) < 0.06


def test_hands_come_nearer_with_every_turn():
    counts = count(rules("hebei"), hands=1, seed=0)
    by_turn = counts.sum(axis=1)
    means = (by_turn * np.arange(counts.shape[2])).sum(axis=1)[1:10] / by_turn.sum(axis=1)[1:10]
    assert (np.diff(means) < 0).all()
    assert counts[:, :, 0].sum() == 0
