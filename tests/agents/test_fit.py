"""What `tools.fit` makes of hands: what is kept of them adds up, and the network learns what can be foreseen."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents.greedy import reference_agent
from mahjong_env import rules
from mahjong_training.evaluation.matches import sigma
from tools.fit import collect


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
