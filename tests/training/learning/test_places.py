"""Whole matches paid by place: what standings are worth, that it is paid hand by hand, and runs that learn from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy.critic import PRIVILEGED_FEATURES
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.inputs import TABLE_FACTS
from mahjong_agents.policy.network import ActionNetwork, prior, shapes
from mahjong_agents.policy.standing_inputs import Standing
from mahjong_env import make_engine, rules
from mahjong_training.errors import RewardError, TrainingError
from mahjong_training.evaluation.estimates import Estimate, weighted
from mahjong_training.evaluation.matches import measure
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.rewards import Paid, mean_places, pay, place
from mahjong_training.learning.run_folder import RunFolder, plot_curve
from mahjong_training.learning.self_play import LEARNER, _seating, play_hands
from training.learning.test_run import SMALL

HEBEI = rules("hebei")
MATCHES = replace(SMALL, match_hands=2, reward="place", hands=24, tables=8, critic_hands=8, evaluations=1, gate_deals=2)


@pytest.fixture(autouse=True)
def unit(monkeypatch):
    """Sigma, which takes seconds to measure."""
    for module in ("learning.rewards", "learning.run"):
        monkeypatch.setattr(f"mahjong_training.{module}.sigma", lambda rules: 4.0)


class TestMeanPlaces:
    def test_are_the_places_once_all_is_over(self):
        totals = np.array([[5, -7, 2, 0], [1, 1, -3, 1], [0, 0, 0, 0]])
        assert mean_places(totals, np.zeros(3, np.int64), 4.0).tolist() == [[1, 4, 2, 3], [2, 2, 4, 2], [2.5] * 4]

    def test_sum_to_the_same_and_know_nothing_of_a_long_future(self):
        totals = np.random.default_rng(0).integers(-30, 30, (50, 4))
        for left in (0, 1, 7):
            places = mean_places(totals, np.full(50, left), 4.0)
            assert places.sum(axis=1) == pytest.approx(10)
            assert (totals[np.arange(50), places.argmin(axis=1)] == totals.max(axis=1)).all()
        assert mean_places(totals, np.full(50, 10**9), 4.0) == pytest.approx(2.5, abs=0.001)

    def test_are_the_means_of_the_random_walk_that_they_are_said_to_be(self):
        rng = np.random.default_rng(1)
        hands = rng.normal(size=(20_000, 5, 3)) * 4.0
        hands = (hands - hands.mean(axis=2, keepdims=True)) * np.sqrt(3 / 2)  # sum to zero, spread as before
        start = np.array([6.0, 0.0, -6.0])
        ends = start + hands.sum(axis=1)
        simulated = 1 + (ends[:, None] > ends[:, :, None]).sum(axis=2).mean(axis=0)
        assert mean_places(start[None], np.array([5]), 4.0)[0] == pytest.approx(simulated, abs=0.02)


class TestPlace:
    def test_sums_to_the_place_over_a_match_and_to_zero_over_persons(self):
        won = np.array([[3, -1, -2], [-4, 6, -2], [0, 0, 0], [9, -10, 1]])
        before = won.cumsum(axis=0) - won
        left = np.arange(len(won))[::-1]
        ends = np.ones(len(won), np.bool_)

        def of(person):
            return pay(place, Paid(HEBEI, won[:, person], won, np.full(len(won), person), ends, before, left))

        paid = np.stack([of(person) for person in range(3)], axis=1)
        assert paid.sum(axis=1) == pytest.approx(0, abs=1e-6)
        assert paid.sum(axis=0) == pytest.approx([1, -1, 0], abs=1e-6)  # of the totals 8, -5, -3
        not_over = replace(Paid(HEBEI, won[:, 0], won, np.zeros(4, int), ends, before, left), ended=~ends)
        assert pay(place, not_over).tolist() == [0, 0, 0, 0]

    def test_is_of_matches(self):
        won = np.zeros((1, 3), int)
        with pytest.raises(RewardError, match="--match-hands"):
            pay(place, Paid(HEBEI, won[:, 0], won, np.zeros(1, int), np.ones(1, bool)))
        with pytest.raises(TrainingError, match="--match-hands"):
            ppo_run.PpoRun.check(replace(MATCHES, match_hands=1))
        # Before there is a folder, which would refuse the command once it is corrected.
        with pytest.raises(TrainingError, match="--match-hands must be at most 32,767, not 32768"):
            ppo_run.PpoRun.check(replace(MATCHES, match_hands=32_768))


def network(features=None):
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes(8, 7 if features else 0).items()}
    return ActionNetwork(arrays | {"prior": prior(claims=True)}, features)


def test_hands_of_a_match_follow_each_other_and_pay_its_places():
    played = play_hands(
        HEBEI, network(), [], tables=6, share=0, seed=[1], reward=place, match_hands=3, features=Standing(4.0)
    )
    totals = played.points.reshape(6, 3, 3)
    assert (totals.sum(axis=2) == 0).all()
    assert played.learner.shape == (18, 3)
    assert np.abs(totals).sum(axis=(1, 2)).all()
    paid = np.bincount(played.trajectory, weights=played.reward, minlength=54).reshape(6, 3, 3).sum(axis=1)
    decided = np.isin(np.arange(54), played.trajectory).reshape(6, 3, 3).all(axis=1)
    places = mean_places(totals.sum(axis=1), np.zeros(6, int), 4.0)
    assert decided.sum() > 12
    assert paid[decided] == pytest.approx((2 - places)[decided], abs=1e-5)
    # Decisions of a later hand are asked of the same network with another standing.
    first, last = (played.critic_inputs[played.trajectory // 3 % 3 == hand] for hand in (0, 2))
    of_others = 2 * len(PRIVILEGED_FEATURES)  # behind the standing
    standing = slice(-7 - of_others, -of_others)
    assert (first[:, standing][:, 0] == 2).all()
    assert not first[:6, standing][:, 1:].any()  # the first decision at each table, when nobody has been paid yet
    assert (last[:, standing][:, 0] == 0).all()
    assert last[:, standing][:, 1:].any()


def test_critics_are_told_of_seats_however_people_sit():
    """What others knew came in the order of persons: by Hebei's rotation, of no seat in particular."""
    played = play_hands(
        rules("hebei", rotation=True), network(), [], tables=2, share=0, seed=[1], match_hands=4, features=Standing(4.0)
    )
    table, told = played.critic_inputs[:, : len(TABLE_FACTS)], played.critic_inputs[:, len(TABLE_FACTS) + 7 :]
    told = told.reshape(len(played), 2, len(PRIVILEGED_FEATURES))
    known, names = told[..., -1] < 8, list(TABLE_FACTS)
    laid = table[:, [names.index(f"pungs of {slot}") for slot in (1, 3)]]  # as all can see
    np.testing.assert_array_equal(told[..., list(PRIVILEGED_FEATURES).index("own pungs")][known], laid[known])
    assert laid[known].any()


def test_the_standing_is_shown_by_slot():
    engine = make_engine("hebei", 2, seed=1, num_hands=4)
    engine.state.points[:] = [[8, -2, -6], [0, 0, 0]]
    view = engine.view(np.arange(2), np.array([0, 1]))
    shown = Standing(4.0)(view)
    assert shown[0, 0] == 3
    assert sorted(shown[0, 1:4].tolist()) == sorted([0, 40, 56])  # two and a half units, three and a half
    assert sorted(shown[0, 4:].tolist()) == sorted([0, 20, 28])  # over the root of four hands
    assert not shown[1, 1:].any()
    with pytest.raises(ValueError, match="above 0"):
        Standing(0)


def test_the_curve_shows_the_mean_place_and_what_equal_players_come_to(tmp_path, monkeypatch, capsys):
    drawn = []
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, file, **how: drawn.append(figure))
    run = ppo_run.run(replace(MATCHES, hands=2, tables=2, critic_hands=0, out=tmp_path / "run"))
    before, after = run.read_curve()
    assert {before["hands"], after["hands"]} == {"0", "2"}
    left, right = drawn[-1].axes
    assert left.get_ylabel() == "mean place in matches, 95 % intervals"
    means, middle = (line.get_ydata() for line in left.lines)
    assert list(means) == [float(row["mean_place"]) for row in (before, after)]
    assert all(1 < float(row["mean_place_low"]) < mean < 3 for row, mean in zip((before, after), means, strict=True))
    assert set(middle) == {2.0}
    assert left.get_ylim()[0] > left.get_ylim()[1]
    assert right.get_ylabel() == "hands won, %"
    told = capsys.readouterr().out
    assert f"against random: mean place {float(after['mean_place']):.2f} ± " in told


def test_a_curve_of_a_folder_with_a_chinese_name_gives_no_warnings(tmp_path):
    row = {"against": "贪心", "steps": "0", "points": "1", "points_low": "0", "points_high": "2", "wins": "0.5"}
    plot_curve([row], "训练", tmp_path / "curve.png", people=3)
    assert (tmp_path / "curve.png").exists()


def test_a_curve_from_before_there_were_places_goes_on(tmp_path):
    folder = RunFolder(tmp_path)
    plain = {"against": "random", "steps": 0, "points": 1, "points_low": 0, "points_high": 2, "wins": 0.5}
    folder.append_to_curve([plain])
    places = {"mean_place": 1.5, "mean_place_low": 1.25, "mean_place_high": 1.75}
    folder.append_to_curve([plain | {"steps": 32} | places])
    assert [row["mean_place"] for row in folder.read_curve()] == ["nan", "1.5"]
    plot_curve(folder.read_curve(), "a run", folder.curve_plot, people=3)
    folder.curve.write_text(folder.curve.read_text(encoding="utf-8").replace("1.25", "low"), encoding="utf-8")
    with pytest.raises(TrainingError, match="damaged"):
        folder.read_curve()


@pytest.mark.thorough
def test_runs_keep_what_their_policies_are_shown(tmp_path):
    whole = ppo_run.run(replace(MATCHES, out=tmp_path / "whole"))
    trained = PolicyFile.read(whole.last).training
    assert (trained["match_hands"], trained["reward"], trained["hands"]) == (2, "place", 24)
    assert trained["features"].endswith("Standing?unit=4")
    assert make_agent(f"policy:{whole.last}?features={trained['features']}").network.features.unit == 4


def test_a_gate_of_places_lets_the_better_pass():
    *players, reference = map(make_agent, ("greedy", "random", "closed-greedy"))
    gain, _ = ppo_run.gate(HEBEI, *players, [(1.0, reference)], deals=30, hands=3, seed=1, number=1)
    assert gain.low > 0.2
    same = measure(HEBEI, players[:1], (0, 0, 0), deals=2, hands=2, seed=1)
    assert same.places_by_deal(0) == pytest.approx([2, 2])
    assert same.mean_place(0).mean == pytest.approx(2)


def test_estimates_are_weighted():
    one, other = Estimate(1.0, 0.0, 3.0), Estimate(3.0, 2.0, 3.5)
    both = weighted([(0.5, one), (0.5, other)])
    assert (both.mean, both.low) == (2.0, pytest.approx(2 - 0.5**0.5))
    assert weighted([(1.0, one)]) == one


def test_opponents_are_drawn_by_their_odds():
    rng = np.random.default_rng(0)
    drawn = [int(_seating(1, HEBEI, 1, 3, 1.0, rng, (0.75, 0.0, 0.25)).max()) for _ in range(200)]
    assert 120 < drawn.count(1 + LEARNER) < 180
    assert drawn.count(2) == 0
    _seating(1, HEBEI, 1, 3, 1.0, rng, (0.3333333, 0.3333333, 0.3333333))  # as --opponent-odds may be


def test_the_learner_plays_at_every_table():
    """Where people take turns in sitting out, it is not who sits out a single hand."""
    rotating = rules("hebei", rotation=True)
    for hands, sits in ((1, {0, 1, 2}), (4, {0, 1, 2, 3})):
        who = _seating(200, rotating, hands, 1, 1.0, np.random.default_rng(0), None)
        assert (np.count_nonzero(who == LEARNER, axis=1) == 1).all()
        assert set((who == LEARNER).argmax(axis=1).tolist()) == sits
