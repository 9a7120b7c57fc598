"""The numbers that are made of worlds: by hand, and by trying whether the intervals cover."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env import rules
from mahjong_training.analysis.action_values.branches import Branches, join


def made(points, taken=0):
    """One position whose actions 0, 1, ... brought these points."""
    points = np.asarray(points, np.int32)
    return Branches(
        rules("hebei"),
        np.zeros(1, np.int8),
        np.array([taken]),
        np.array([points.shape[1]]),
        np.zeros(len(points), np.intp),
        np.arange(len(points)),
        points,
        np.zeros(points.shape, np.int8),
    )


def test_paired_differences_by_hand():
    found = made([[1, 2, 3, 6], [2, 3, 5, 8], [0, 0, 0, 0]])
    assert found.mean().tolist() == [3, 4.5, 0]
    taken = found.against_taken()
    assert taken.mean.tolist() == [0, 1.5, -3]
    # Differences 1, 1, 2, 2: standard deviation 1/sqrt(3), error that over 2, Student's t of 3 degrees 3.1824.
    assert taken.error[1] == pytest.approx(1 / np.sqrt(3) / 2)
    assert taken.high[1] == pytest.approx(1.5 + 3.18245 / np.sqrt(3) / 2, rel=1e-5)
    assert (taken.low[0], taken.high[0]) == (0, 0)
    best = found.against_best()
    assert best.mean.tolist() == [-1.5, 1.5, -4.5]
    # Two others: each at 97.5 %, so that both hold at 95 %; Student's t of 3 degrees is then 4.1765.
    assert best.low[1] == pytest.approx(min(1.5 - 4.17653 / np.sqrt(3) / 2, 4.5 - 4.17653 * np.sqrt(7) / 2), rel=1e-5)


def test_two_actions_are_compared_as_one_pair():
    found = made([[1, 2, 3, 6], [2, 3, 5, 8]])
    taken, best = found.against_taken(), found.against_best()
    assert best.low[1] == pytest.approx(taken.low[1])
    assert best.high[1] == pytest.approx(taken.high[1])


def test_a_single_world_says_nothing():
    taken, best = made([[1], [2]]).against_taken(), made([[1], [2]]).against_best()
    assert np.isinf(taken.high[1])
    assert np.isinf(best.low).all()


def test_worlds_behind_the_last_do_not_count():
    one, two = made([[1, 2, 3, 6], [2, 3, 5, 8]]), made([[4, 6], [1, 1], [0, 3]], taken=1)
    both = join([one, two])
    assert both.points.shape == (5, 4)
    assert both.mean().tolist() == [3, 4.5, 5, 1, 1.5]
    assert both.end[2:, 2:].tolist() == [[-1, -1]] * 3
    assert np.allclose(both.against_taken().error[2:], two.against_taken().error)
    assert np.allclose(both.against_best().high[2:], two.against_best().high)
    assert np.allclose(both.share(0)[2:], 1)
    assert np.array_equal(both.of(1).points, two.points)


def test_intervals_cover_as_often_as_they_say():
    """Four actions, two of them best: the plain interval covers in 95 %, that against the best at least as often."""
    rng = np.random.default_rng(1)
    truth = np.array([0.0, 3.0, 3.0, -2.0])
    plain, best = [], []
    for _ in range(1000):
        common = rng.normal(0, 20, 60)
        points = np.rint(common + truth[:, None] + rng.normal(0, 8, (4, 60)))
        found = made(points)
        taken, others = found.against_taken(), found.against_best()
        plain.append((taken.low[1:] <= truth[1:] - truth[0]) & (truth[1:] - truth[0] <= taken.high[1:]))
        against = np.array([truth[i] - np.delete(truth, i).max() for i in range(4)])
        best.append((others.low <= against) & (against <= others.high))
    assert np.mean(plain) == pytest.approx(0.95, abs=0.012)
    assert (np.mean(best, axis=0) > 0.94).all()
