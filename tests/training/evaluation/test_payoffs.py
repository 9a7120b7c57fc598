"""Pay-off matrices: equilibria that are known, and that copies and weak agents change nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mahjong_training.evaluation import standing
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.payoffs import Payoffs, alpha_rank, antisymmetric, nash_mixture, picture

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
DOMINATED = np.array([[0.0, 0.3, 0.9], [-0.2, 0, 0.5], [-0.8, -0.6, 0]])


def with_copy(matrix, number):
    """The same agents, and one of them once more."""
    order = [*range(len(matrix)), number]
    return matrix[np.ix_(order, order)]


class TestNash:
    def test_of_a_cycle_is_all_alike(self):
        assert nash_mixture(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-4)

    def test_is_the_agent_that_beats_all_others(self):
        assert nash_mixture(DOMINATED) == pytest.approx([1, 0, 0], abs=1e-6)

    def test_weighs_what_a_cycle_pays(self):
        """Rock wins twice as much from scissors: the one that rock loses to is then chosen half of the time."""
        paid = ROCK_PAPER_SCISSORS * np.array([[1, 1, 2], [1, 1, 1], [2, 1, 1]])
        assert nash_mixture(paid) == pytest.approx([1 / 4, 1 / 2, 1 / 4], abs=1e-4)

    @pytest.mark.parametrize("matrix", [ROCK_PAPER_SCISSORS, DOMINATED])
    @pytest.mark.parametrize("number", range(3))
    def test_a_copy_shares_and_changes_no_rating(self, matrix, number):
        before, after = nash_mixture(matrix), nash_mixture(with_copy(matrix, number))
        assert after[number] + after[3] == pytest.approx(before[number], abs=1e-4)
        assert after[number] == pytest.approx(after[3], abs=1e-4)
        ratings = antisymmetric(matrix) @ before
        assert (antisymmetric(with_copy(matrix, number)) @ after)[:3] == pytest.approx(ratings, abs=1e-4)

    def test_nobody_wins_from_it(self):
        rng = np.random.default_rng(5)
        for size in (2, 4, 7, 11):
            matrix = rng.normal(size=(size, size)) * rng.choice([0.01, 1, 50])
            mixture = nash_mixture(matrix)
            assert mixture.sum() == pytest.approx(1)
            assert (antisymmetric(matrix) @ mixture).max() < 1e-5 * np.abs(matrix).max()


class TestAlphaRank:
    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("open_spiel.python.egt.alpharank", reason="needs OpenSpiel")

    def test_of_a_cycle_is_all_alike(self):
        assert alpha_rank(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-3)

    def test_is_the_agent_that_beats_all_others(self):
        assert alpha_rank(DOMINATED)[0] > 0.95


class TestIntervals:
    def payoffs(self, deals):
        rng = np.random.default_rng(3)
        by_deal = rng.normal(1.0, 4.0, (3, 3, deals)) * ~np.eye(3, dtype=bool)[:, :, None]
        return Payoffs(("a", "b", "c"), by_deal)

    def test_of_means_are_those_of_the_sampling_error(self):
        payoffs = self.payoffs(2000)
        mean = payoffs.summary()["a"]["mean"]
        assert mean.mean == pytest.approx(payoffs.matrix[0].sum() / 2)
        error = payoffs.by_deal[0].sum(axis=0).std() / 2 / np.sqrt(2000)
        assert (mean.high - mean.low) / 2 == pytest.approx(1.96 * error, rel=0.2)

    def test_of_few_deals_are_none(self):
        mean = self.payoffs(20).summary()["a"]["mean"]
        assert (mean.low, mean.high) == (-np.inf, np.inf)


DUELS = {"Hebei $": {("a", "b"): Estimate(0.2, 0.1, 0.3), ("b", "a"): Estimate(-0.1, -0.3, 0.1)}}


class TestPicture:
    def test_names_agents_and_says_what_is_clear(self):
        drawn = picture(DUELS, "light")
        assert re.search(r"weight: 700[^>]*>\+0.20<", drawn)
        assert re.search(r">-0.10<|>\u22120.10<", drawn)
        assert not re.search(r"weight: 700[^>]*>.0.10<", drawn)
        assert {"a", "b", "Hebei $"} <= set(re.findall(r">([^<>]+)</text>", drawn))

    def test_is_the_same_every_time_and_has_no_ground(self):
        light, dark = (picture(DUELS, theme) for theme in ("light", "dark"))
        assert light == picture(DUELS, "light")
        assert "#cfd3da" in dark
        assert "#cfd3da" not in light
        assert 'style="fill: #ffffff; ' not in dark.partition('<g id="axes_1"')[0]


def test_a_matrix_is_of_those_who_have_all_met():
    met, half = Estimate(0.1, 0.0, 0.2), {"mean": 0.1, "low": 0.0, "high": 0.2}
    rows = {"hebei": {"greedy": {"duels": {"random": half}}, "random": {"duels": {"greedy": half}}, "value": {}}}
    assert standing.matrices(rows) == {"Hebei": {("greedy", "random"): met, ("random", "greedy"): met}}
    rows["hebei"]["value"] = {"duels": {"greedy": half}}
    assert set(standing.matrices(rows)["Hebei"]) == {("greedy", "random"), ("random", "greedy")}
