"""Stopping early: all looks together are right 95 times of 100, whatever makes one stop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mahjong_training.config import EvaluateConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import command as evaluation_command
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.estimates import Estimate, confidence, interval, looks, plain_json, ratio

WORDS = ("evaluate", "--variant", "hebei", "--agents", "greedy", "random")


class TestLooks:
    def test_are_few_and_end_with_all_deals(self):
        assert looks(1600) == (100, 142, 200, 283, 400, 566, 800, 1132, 1600)
        assert looks(300) == (107, 150, 213, 300)
        assert looks(100) == (100,)
        assert looks(1) == (1,)

    @pytest.mark.parametrize(("number", "published"), [(2, 2.178), (3, 2.289), (5, 2.413), (8, 2.512), (10, 2.555)])
    def test_the_boundary_is_pococks(self, number, published):
        """Jennison and Turnbull, Group Sequential Methods (2000), table 2.1: equal steps, two-sided 5 %."""
        from statistics import NormalDist

        level = confidence(tuple(range(100, 100 * number + 1, 100)))
        assert NormalDist().inv_cdf(0.5 + level / 2) == pytest.approx(published, abs=0.001)

    def test_a_single_look_is_the_usual_interval(self):
        assert confidence((500,)) == 0.95

    @pytest.mark.thorough
    def test_some_interval_misses_as_seldom_as_they_say(self):
        """2000 studies of skewed deals, in each of which one stops as soon as the truth seems refuted."""
        planned = looks(1600)
        deals = np.random.default_rng(1).gamma(2, 1, (2000, planned[-1])) - 2
        missed, naive = np.zeros((2, len(deals)), np.bool_)
        for number in planned:
            for found, level in ((missed, confidence(planned)), (naive, 0.95)):
                low, high = interval(deals[:, :number], level)
                found |= (low > 0) | (high < 0)
        assert 70 <= missed.sum() <= 130  # 100 give or take 3 standard deviations
        assert naive.sum() > 250  # what looking without a plan does


class TestStopping:
    def test_as_soon_as_it_is_clear(self, monkeypatch):
        played = []
        plain = evaluation_command.play_block
        monkeypatch.setattr(evaluation_command, "play_block", lambda *a, **k: played.append(a[2]) or plain(*a, **k))
        config = EvaluateConfig(variant="hebei", agents=("greedy", "random"), deals=500, until_clear=True)
        found = evaluate(config)
        assert found.deals == looks(500)[0] == max(block.last for block in played)
        assert all(standing.points.is_clear_of_zero for result in found.results for standing in result.standings)
        # The same deals as without stopping, with wider intervals.
        whole = evaluate(EvaluateConfig(variant="hebei", agents=("greedy", "random"), deals=found.deals))
        one, other = found.results[0].of(0).points, whole.results[0].of(0).points
        assert one.mean == other.mean
        assert 1.2 < one.half_width / other.half_width < 1.5

    @pytest.mark.thorough
    def test_as_soon_as_it_is_narrow(self):
        config = EvaluateConfig(variant="hebei", agents=("greedy", "random"), deals=400, until=0.2)
        found = evaluate(config)
        points = [standing.points for result in found.results for standing in result.standings]
        assert max(one.half_width for one in points) <= 0.2 * found.sigma
        assert found.deals < 400
        never = evaluate(EvaluateConfig(variant="hebei", agents=("greedy", "random"), deals=60, until=0.01))
        assert never.deals == 60


def test_narrowness_is_asked_of_leagues_as_a_whole():
    config = EvaluateConfig(
        variant="wuhan", agents=("greedy", "random"), lineups="league", deals=64, until=0.5, seatings="balanced"
    )
    found = evaluate(config)
    assert found.overall(0).half_width <= 0.5 * found.sigma or found.deals == 64
    with pytest.raises(TrainingError, match="a league takes"):
        evaluate(EvaluateConfig(variant="wuhan", agents=("greedy",), lineups="league"))


class TestRatio:
    def test_equal_clusters_have_the_interval_of_their_means(self):
        totals = np.random.default_rng(0).gamma(2, 4, 50)
        found = ratio(totals, np.full(50, 3))
        low, high = interval(totals / 3)
        assert (found.mean, found.low, found.high) == pytest.approx((totals.mean() / 3, low, high))
        assert found.half_width == pytest.approx(high - totals.mean() / 3)  # the longer side
        symmetric = np.concatenate([totals, -totals]) / 3
        low, high = stats.t.interval(0.95, 99, 0, stats.sem(symmetric))
        assert interval(symmetric) == pytest.approx((low, high))

    def test_what_is_printed_holds_the_interval(self):
        skewed = Estimate(1.0, 0.7, 1.5)
        assert skewed.text(2, sign="+") == "+1.00 ± 0.50"
        assert skewed.text(1, 0.1) == "10.0 ± 5.0"
        assert Estimate(-0.0001, -0.1, 0.2).text(2) == "0.00 ± 0.20"
        assert Estimate(1.0, -np.inf, np.inf).text(2, sign="+") == "+1.00 ± ?"
        assert (
            plain_json({"of": [Estimate(1.0, -np.inf, np.inf).low, (1, None)]}, 0)
            == '{\n"of": [\nnull,\n[\n1,\nnull\n]\n]\n}'
        )

    def test_hands_of_one_deal_are_not_taken_for_independent(self):
        deals = np.random.default_rng(0).normal(0, 1, 100)
        clustered = ratio(3 * deals, np.full(100, 3))  # three hands of a deal that all came to the same
        naive = ratio(np.repeat(deals, 3), np.ones(300))
        assert clustered.half_width == pytest.approx(np.sqrt(3) * naive.half_width, rel=0.02)
