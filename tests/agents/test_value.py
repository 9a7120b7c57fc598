"""Value: what actions leave is described alike however rows are ordered, and the agent plays what promises most."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mahjong_agents import AgentError, GreedyAgent, make_agent
from mahjong_agents.greedy import reference_agent
from mahjong_agents.value.afterstates import TYPE_OF, Afterstates, actions_but_wins
from mahjong_agents.value.agent import Outcome, OutcomeNetwork, ValueAgent, read_network, shipped_network
from mahjong_agents.value.plan_value import PlanValueAgent, win_probability
from mahjong_env import VARIANTS, Deal, action, make_engine, rules
from mahjong_env.basics.actions import PASS, PUNG, WIN
from mahjong_env.observation.acceptance import look_ahead
from mahjong_training.evaluation.matches import measure, sigma
from support.positions import in_mid_hand
from tools.fit import collect

ALL = sorted(VARIANTS)


def some_network(variant, *, margin=0.0, seed=0):
    """A network whose weights are noise, for as many inputs as the variant has."""
    view = make_engine(variant, 1).view()
    inputs = actions_but_wins(view, np.array([0])).numbers().shape[1]
    rng, sizes = np.random.default_rng(seed), (inputs, 64, 32, 5)
    weights = tuple(rng.normal(0, size**-0.5, (after, size)).astype(np.float32) for size, after in pairwise(sizes))
    return OutcomeNetwork(weights, tuple(np.zeros(len(part), np.float32) for part in weights), 4.0, margin)


@pytest.mark.parametrize("variant", ALL)
def test_afterstates_are_every_legal_action_but_wins(variant):
    view = in_mid_hand(variant, 24, 40).view()
    left = actions_but_wins(view, np.arange(len(view)))
    listed = np.zeros_like(view.action_mask)
    listed[left.row, left.action] = True
    expected = view.action_mask.copy()
    expected[:, WIN] = False
    np.testing.assert_array_equal(listed, expected)
    assert (np.diff(left.row) >= 0).all()


@pytest.mark.parametrize("variant", ALL)
def test_distances_are_those_of_the_lookahead(variant):
    view = in_mid_hand(variant, 24, 40).view()
    left, ahead = actions_but_wins(view, np.arange(len(view))), look_ahead(view)
    expected = ahead.distance[left.row, left.action]
    np.testing.assert_array_equal(left.distance, np.maximum(expected, 1))
    nearest = ahead.distance.min(axis=1)[left.row]
    # The lookahead counts what helps for the nearest actions only, and not for complete hands.
    at = np.flatnonzero((expected == nearest) & (left.shanten.distance > 0) & (left.type == 0))
    np.testing.assert_array_equal(left.help[at], ahead.help[left.row, left.action][at])


@pytest.mark.parametrize("variant", ALL)
def test_numbers_are_small_and_do_not_depend_on_their_neighbours(variant):
    view = in_mid_hand(variant, 24, 40).view()
    left = actions_but_wins(view, np.arange(len(view)))
    numbers = left.numbers()
    assert numbers.dtype == np.float32
    assert np.isfinite(numbers).all()
    assert np.abs(numbers).max() < 12
    order = np.random.default_rng(0).permutation(len(left.row))
    other = Afterstates(view, left.row[order], left.action[order]).numbers()
    np.testing.assert_allclose(other, numbers[order], atol=1e-6)


def test_a_claim_makes_a_meld_and_a_pass_does_not():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("1m", "11m 258m 147p 258s 12z", "369m"), dealer=0))
    engine.step([action("discard 1m")])
    view = engine.view()
    left = Afterstates(view, np.array([0, 0]), np.array([PUNG, PASS]))
    assert left.num_melds.tolist() == [1, 0]
    assert left.tiles.sum(axis=1).tolist() == [11, 13]
    assert TYPE_OF[[PUNG, PASS]].tolist() == [4, 6]


def test_points_are_chances_times_points():
    parts = [np.array([value], np.float32) for value in (0.25, 2.0, 0.1, -3.0, 0.05)]
    assert Outcome(*parts).points[0] == pytest.approx(0.25 * 2 - 0.1 * 3 + 0.05)


def test_it_plays_what_promises_most_unless_the_usual_action_is_within_the_margin():
    view = in_mid_hand("hebei", 24, 40).view()
    network = some_network("hebei")
    left = actions_but_wins(view, np.arange(len(view)))
    points = network(left.numbers()).points
    chosen = ValueAgent(numbers=network).act(view, np.random.default_rng(0))
    asked = np.flatnonzero(~view.action_mask[:, WIN] & (view.action_mask.sum(axis=1) > 1))
    assert asked.size > 5
    for row in asked:
        of_row = np.flatnonzero(left.row == row)
        assert points[of_row][left.action[of_row] == chosen[row]] == points[of_row].max()
    usual = reference_agent(view.rules).act(view, np.random.default_rng(0))
    assert (chosen != usual).any()
    careful = ValueAgent(numbers=some_network("hebei", margin=100.0)).act(view, np.random.default_rng(0))
    np.testing.assert_array_equal(careful, usual)


def test_it_wins_when_it_may():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("123m 456m 789m 123p 55p", "", ""), dealer=0))
    assert ValueAgent(numbers=some_network("hebei")).act(engine.view(), np.random.default_rng(0)) == action("win")


def test_house_rules_have_no_numbers():
    assert shipped_network(rules("hebei", all_pungs=2)) is None


def test_a_network_is_read_as_it_was_written(tmp_path):
    network = some_network("fuzhou", margin=0.03)
    np.savez_compressed(tmp_path / "numbers.npz", **network.arrays("fuzhou"))
    read = read_network(tmp_path / "numbers.npz", "fuzhou")
    numbers = np.random.default_rng(0).normal(size=(5, network.weights[0].shape[1])).astype(np.float32)
    np.testing.assert_array_equal(read(numbers).points, network(numbers).points)
    assert (read.sigma, read.margin) == (4.0, pytest.approx(0.03))


def test_a_file_without_numbers(tmp_path):
    (tmp_path / "no.npz").write_bytes(b"no")
    np.savez_compressed(tmp_path / "bomb.npz", hebei_scale=np.zeros(2**25, np.int8))
    (tmp_path / "torn.npz").write_bytes((tmp_path / "bomb.npz").read_bytes()[:-30])
    np.savez(tmp_path / "shape.npz", **some_network("hebei").arrays("hebei") | {"hebei_scale": np.zeros(())})
    view = make_engine("hebei", 1, seed=0).view()
    for name in ("no.npz", "missing.npz", "bomb.npz", "torn.npz", "shape.npz"):
        with pytest.raises(AgentError, match=r"has no network of hebei") as refused:
            ValueAgent(numbers=str(tmp_path / name)).act(view, np.random.default_rng(0))
        assert "allow_pickle" not in str(refused.value)


# --- Plan value ------------------------------------------------------------------------------------------------------


def test_chances_fall_with_distance_and_rise_with_help_and_time():
    def chance(distance, share, turns):
        one = np.ones(1)
        return win_probability(np.array([distance]), 90 * share * one, 90 * one, 1.0, one, one * turns, 0.3 * one)[0]

    assert 0 < chance(4, 0.4, 12) < chance(2, 0.4, 12) < chance(2, 0.4, 16) < 1
    assert chance(2, 0.1, 12) < chance(2, 0.2, 12)
    assert chance(3, 0.4, 2) == 0


@pytest.mark.thorough
def test_beats_greedy_in_wuhan():
    result = measure(rules("wuhan"), [GreedyAgent(), PlanValueAgent(samples=2)], (1, 0, 0, 0), deals=60, seed=70)
    assert result.of(1).points.low > 0


# --- What tools.fit makes of hands ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (f"{agent}?margin={value}", f"{agent}: margin is a number from 0 to 1000, not")
            for agent in ("value", "plan-value")
            for value in ("nan", "inf", "-1")
        ),
        *(
            (f"plan-value?samples={value}", "plan-value: samples is an integer from 1 to 1000, not")
            for value in ("0", "-1", "1001")
        ),
    ],
)
def test_settings_that_cannot_be(text, message):
    with pytest.raises(AgentError, match=message):
        make_agent(text)


def test_samples_are_whole():
    with pytest.raises(AgentError, match=r"samples is an integer from 1 to 1000, not 0\.5"):
        PlanValueAgent(samples=0.5)
