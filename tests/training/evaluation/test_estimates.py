"""Intervals are right 95 times of 100: of skewed points, of few deals, and all looks of one that may stop together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.interval_coverage import POPULATIONS, matches, play, studies
from mahjong_agents import GreedyAgent
from mahjong_env import rules
from mahjong_training.config import EvaluateConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import command as evaluation_command
from mahjong_training.evaluation import lineups as designs
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.estimates import (
    FEWEST,
    Estimate,
    confidence,
    interval,
    looks,
    plain_json,
    ratio,
    share,
)
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.matches import Block, play_block
from mahjong_training.evaluation.results import summarise


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
        # Who has played alike so far need not play alike on the other deals.
        alike = evaluate(EvaluateConfig(variant="hebei", agents=("closed-greedy", "reference"), deals=142, until=0.2))
        assert (alike.deals, alike.results[0].of(0).points.half_width) == (142, 0)
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


# --- Intervals hold the truth 95 times of 100 -------------------------------------------------------------------------


SHARES = np.array([0, 5, 15, 30, 45, 60, 70, 80, 85, 90, 94, 97, 99, 100]) / 100
POINTS = np.array([-30, 0, 2, 6, 12, 24, 45, 90, 118, 189, 360, 380, 447, 837])


class OwnLots(GreedyAgent):
    """Greedy with lots of its own in every game: with those that games share it would never differ from itself."""

    def __init__(self, salt: int) -> None:
        super().__init__()
        self._salt = salt

    def act(self, view, rng):
        return super().act(view, np.random.default_rng([self._salt, *rng.integers(2**32, size=4)]))


def coverage(variant: str, matches: int, deals: int) -> dict[str, tuple[int, float]]:
    """How many of so many matches have an interval with 0 in it, and the mean half-width, with luck and without."""
    table = rules(variant)
    lineup = designs.one_against_copies(0, 1, table.people)
    agents = [OwnLots(1), OwnLots(2)]
    # Matches are cut from one evaluation: other deals each, and far fewer steps of the engine.
    played = play_block(table, agents, Block(lineup, 0, 0, matches * deals, "all", True), 4711)
    size = deals * len(designs.orders_of(lineup))
    found: dict[str, list[tuple[bool, float]]] = {"with luck": [], "luck taken off": []}
    for match in range(matches):
        arrays = {name: array[match * size : (match + 1) * size] for name, array in played.arrays().items()}
        own = summarise(table, lineup, [Played.of_arrays(arrays)]).of(0)
        for name, points in (("with luck", own.with_luck), ("luck taken off", own.points)):
            found[name].append((points.low <= 0 <= points.high, points.half_width))
    return {
        name: (sum(covered for covered, _ in of), float(np.mean([half for _, half in of])))
        for name, of in found.items()
    }


def great_hands(rng, shape):
    """Points a hand of deals, as skewed (2.8) as those of greedy against closed-greedy in Wuhan, by their quantiles."""
    return np.interp(rng.random(shape), SHARES, POINTS)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("deals", "covered", "most"), [(30, 0.925, 0.06), (60, 0.945, 0.035), (300, 0.945, 0.03)])
def test_skewed_points_are_covered_on_both_sides(deals, covered, most, sign):
    """Student's t holds the truth in 89.8, 92.3 and 94.5 of 100; 9.8, 7.1 and 4.0 of its intervals fall short."""
    truth = sign * float(np.sum(np.diff(SHARES) * (POINTS[1:] + POINTS[:-1]) / 2))
    low, high = interval(sign * great_hands(np.random.default_rng(deals), (8000, deals)))
    short, far = np.mean(high < truth), np.mean(low > truth)
    short, far = (short, far) if sign > 0 else (far, short)
    assert covered <= 1 - short - far <= 0.965
    assert short < most
    assert far > 0.005


@pytest.mark.parametrize("spread", [0, 0.6])
@pytest.mark.parametrize("differ", [2, 4, 8, 16])
@pytest.mark.parametrize("deals", [60, 300])
def test_equal_agents_who_play_alike_in_nearly_all_deals_are_seldom_told_apart(deals, differ, spread):
    """By skewness and n - 1 degrees of freedom alone, 16 to 18 of 100 would be with 2 or 4 deals, 10 with 8."""
    rng = np.random.default_rng([deals, differ])
    sizes = rng.choice([-1, 1], (6000, deals)) * rng.lognormal(0, spread, (6000, deals))
    low, high = interval(np.where(rng.random((6000, deals)) < differ / deals, sizes, 0))
    assert np.mean((low > 0) | (high < 0)) < 0.06


@pytest.mark.parametrize("differ", [1, 2, 3])
def test_a_few_deals_of_one_sign_are_no_certainty(differ):
    """Where both signs are as likely, two or three deals are all of one sign in 50 and 25 of 100 matches."""
    for deals in (FEWEST, 200, 5000):
        found = ratio(np.arange(deals) < differ, np.ones(deals))
        assert not found.is_clear_of_zero


def test_what_happened_in_few_deals_has_no_interval():
    """A worth per event is known from those deals alone in which it happened."""
    counts = np.zeros(1000, np.int64)
    counts[: FEWEST - 1] = 1
    assert ratio(3.0 * counts, counts) == Estimate(3.0, -np.inf, np.inf)
    counts[FEWEST] = 1
    assert np.isfinite(ratio(np.arange(1000) * counts, counts).half_width)


@pytest.mark.parametrize(("deals", "rate"), [(FEWEST, 0.01), (100, 0.01), (100, 0.001), (1000, 0.001)])
@pytest.mark.parametrize("alike", [True, False])
def test_what_happened_in_no_hand_may_still_happen(deals, rate, alike):
    """At least 93 of 100 intervals hold the share, whether the three hands of a deal are all alike or independent."""
    events = np.random.default_rng(4).random((1000, deals, 3)) < rate
    totals = 3 * events[..., 0] if alike else events.sum(axis=2)
    found = [share(one, np.full(deals, 3)) for one in totals]
    assert np.mean([one.low <= rate <= one.high for one in found]) >= 0.93
    assert all(0 <= one.low <= one.mean <= one.high <= 1 for one in found)
    others = [share(3 - one, np.full(deals, 3)) for one in totals]
    assert [one.high for one in others] == pytest.approx([1 - one.low for one in found])
    assert [one.low for one in others] == pytest.approx([1 - one.high for one in found])


def test_the_interval_of_what_happened_in_no_hand_is_that_of_clopper_and_pearson():
    exact = stats.binomtest(0, 40).proportion_ci(0.95, method="exact")
    found = share(np.zeros(40), np.ones(40))
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("deals", [1, 2, FEWEST - 1])
def test_so_few_deals_carry_no_interval(deals):
    found = ratio(great_hands(np.random.default_rng(1), deals), np.ones(deals))
    assert (found.low, found.high, found.half_width) == (-np.inf, np.inf, np.inf)
    assert not found.is_clear_of_zero
    assert share(np.zeros(deals), np.ones(deals)) == Estimate(0.0, -np.inf, np.inf)


def test_a_single_deal_makes_no_skewness():
    """Else heavy tails on both sides, as points less luck have them, would be taken for skewed ones."""
    even = np.random.default_rng(2).normal(0, 1, (2000, 60))
    even[:, 0] = 12
    low, high = interval(even)
    mean = even.mean(axis=1)
    assert np.mean((high - mean) / (mean - low)) == pytest.approx(1, abs=0.05)


def test_the_interval_turns_round_with_the_points():
    points = great_hands(np.random.default_rng(3), (50, 40))
    low, high = interval(points)
    assert (low < points.mean(axis=1)).all()
    assert np.mean((high - points.mean(axis=1)) / (points.mean(axis=1) - low)) > 1.3  # farther where the tail is
    np.testing.assert_allclose(interval(-points), (-high, -low))
    np.testing.assert_allclose(interval(3 * points + 7), (3 * low + 7, 3 * high + 7))
    constant = interval(np.full(40, 2.5))
    assert (float(constant[0]), float(constant[1])) == (2.5, 2.5)


@pytest.mark.thorough
def test_greedy_against_closed_greedy_in_wuhan():
    """A real difference, of great skewness; 95 of 100, give or take 2 (3 with 30 deals): the population is small."""
    (points,) = play(POPULATIONS["wuhan, greedy"], 600).values()
    for deals in (30, 60, 200):
        short, far = matches(points, deals, 4000)
        assert (0.92 if deals == 30 else 0.93) < 1 - short - far < 0.97
        assert min(short, far) > 0.005
    short, far = studies(points, 500, 2000)
    assert 0.03 < short + far < 0.07


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_a_real_difference_in_thousands_of_matches(name):
    for points in play(POPULATIONS[name], 2000).values():
        for deals in (30, 60, 100, 200, 300, 1000):
            assert sum(matches(points, deals, 10_000)) == pytest.approx(0.05, abs=0.016)
        assert sum(studies(points, 500, 4000)) == pytest.approx(0.05, abs=0.016)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["fuzhou", "hangzhou", "hebei", "taiwan", "wuhan"])
def test_an_agent_against_itself_in_several_hundred_matches(variant):
    """95 of 100, give or take 2: a standard deviation of 500 matches is 1."""
    found = coverage(variant, 500, 60)
    for covered, _ in found.values():
        assert 465 <= covered <= 485
    assert found["luck taken off"][1] < found["with luck"][1]
