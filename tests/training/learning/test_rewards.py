"""Rewards of one's own: what they are told, what they may return, and that tables pay them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_training.errors import RewardError
from mahjong_training.learning.rewards import Paid, find_reward, pay, potential, try_reward
from mahjong_training.sb3.vec_env import TableVecEnv
from support.marks import variants


@pytest.fixture(autouse=True)
def unit(monkeypatch):
    """Sigma, which takes seconds to measure."""
    monkeypatch.setattr("mahjong_training.learning.rewards.sigma", lambda rules: 4.0)
    return 4.0


EXAMPLE = Path(__file__).parents[3] / "notebooks" / "examples" / "my_reward.py"
HEBEI = rules("hebei")


def paid(points, totals, person, ended):
    return Paid(HEBEI, *(np.array(each) for each in (points, totals, person, ended)))


SOME = paid([3, -8, 0], [[3, -1, -2], [2, 6, -8], [0, 0, 0]], [0, 2, 1], [False, True, True])


def test_what_was_paid():
    assert SOME.total.tolist() == [3, -8, 0]
    assert SOME.rank.tolist() == [1, 3, 2]
    assert len(SOME) == 3


def test_rewards_by_name(unit):
    wanted = {
        "points?scale=0.5": [1.5, -4, 0],
        "sigma": [3 / unit, -8 / unit, 0],
        "ranked": [0, -1, 0],
        "clipped?limit=1": [0.75, -1, 0],
    }
    for name, amounts in wanted.items():
        assert pay(find_reward(name), SOME) == pytest.approx(amounts)


def test_clipped_amounts_of_a_hand_sum_to_its_points_clipped(unit):
    totals = np.cumsum([9 * unit, -2 * unit, 4 * unit, -30 * unit])
    steps, clipped = np.diff(totals, prepend=0), find_reward("clipped?limit=2")
    amounts = [
        pay(clipped, Paid(HEBEI, np.array([step]), np.array([[total, -total, 0]]), np.array([0]), np.array([False])))
        for step, total in zip(steps, totals, strict=True)
    ]
    assert np.cumsum(amounts) == pytest.approx(np.clip(totals / unit, -2, 2))


def test_rewards_in_a_file(tmp_path):
    reward = find_reward(f"{EXAMPLE}:winning_counts?bonus=3")
    assert pay(reward, SOME) * HEBEI.sigma == pytest.approx([3, -8, 0], abs=1e-5)
    assert pay(reward, paid([5], [[5, -5, 0]], [0], [True])) == pytest.approx([5 / HEBEI.sigma + 3])
    assert potential(reward, None) is None
    patient = find_reward(f"{EXAMPLE}:Patient?weight=0.5")
    assert patient.weight == 0.5
    (tmp_path / "ready.py").write_text("double = lambda paid: 2 * paid.points\n", encoding="utf-8")
    with pytest.raises(RewardError):
        find_reward(f"{tmp_path / 'ready.py'}:missing")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gold", "valid are points, sigma, clipped"),
        ("clipped?limit=much", "'limit' is a number"),
        ("clipped?most=2", "no option 'most'"),
        ("distance?base=gold", "no reward is called 'gold'"),
        ("nowhere.py:reward", "there is no file nowhere.py"),
        (f"{EXAMPLE}:nothing", "it offers winning_counts, Patient"),
        (f"{EXAMPLE}:winning_counts?most=2", "no option 'most'; its options are: bonus"),
    ],
)
def test_rewards_that_there_are_not(text, told):
    with pytest.raises(ValueError, match=told):
        find_reward(text)


@pytest.mark.parametrize("limit", ["0", "-1", "nan"])
def test_a_limit_that_is_no_number_above_zero_is_refused(limit):
    with pytest.raises(RewardError, match="the limit of the reward 'clipped' is a number above 0, not"):
        try_reward(f"clipped?limit={limit}", HEBEI)


@pytest.mark.parametrize(
    "amounts", [0, [1.0, 2.0], [[1.0], [2.0], [3.0]], [1.0, np.nan, 0.0], [1.0, np.inf, 0.0], ["a", "b", "c"]]
)
def test_rewards_return_a_finite_number_for_each_learner(amounts):
    with pytest.raises(RewardError, match="3 finite numbers"):
        pay(lambda paid: amounts, SOME)


@pytest.mark.parametrize("reward", ["points", "clipped", "ranked", "distance", f"{EXAMPLE}:winning_counts"])
def test_rewards_that_work_pass_a_trial(reward):
    try_reward(reward, HEBEI)
    try_reward("place", HEBEI, match_hands=4)


def test_rewards_that_fail_do_so_in_a_trial():
    def shaped(paid):
        return paid.points

    shaped.potential = lambda view: view.num_melds
    for reward in (lambda paid: paid.points[:-1], shaped):
        with pytest.raises(RewardError, match="of 3 learners is 3 finite numbers"):
            try_reward(reward, HEBEI)
    with pytest.raises(RewardError, match="needs matches"):
        try_reward("place", HEBEI)


def test_only_functions_are_rewards():
    for wrong in (3, Paid, None):
        with pytest.raises(RewardError, match="something else"):
            find_reward(wrong)


def play(tables, steps, seed=1):
    """Greedy plays the learners' seats; rewards, dones and the sums of points of episodes that ended."""
    rng, greedy = np.random.default_rng(seed), make_agent("greedy")
    tables.reset()
    rewards, dones, ends = [], [], []
    for _ in range(steps):
        _, reward, done, infos = tables.step(greedy.act(tables.engine.view(), rng))
        rewards.append(reward)
        dones.append(done)
        ends.append([info["episode"]["r"] if "episode" in info else 0 for info in infos])
    return np.array(rewards), np.array(dones), np.array(ends)


def sums_of_hands(rewards, dones):
    """The sum of the rewards of each hand that ended, in order of tables."""
    found = []
    for column, ended in zip(rewards.T, dones.T, strict=True):
        stops = np.flatnonzero(ended) + 1
        found += [part.sum() for part in np.split(column, stops)[: len(stops)]]
    return np.array(found)


@pytest.mark.parametrize("variant", variants("hebei"))
def test_tables_pay_what_the_reward_says(variant, unit):
    tables = TableVecEnv(rules(variant), 8, [make_agent("greedy")], seed=3)
    plain, dones, ends = play(tables, 60)
    for name, expected in (
        ("sigma", lambda points: points / unit),
        ("clipped?limit=0.5", lambda points: np.clip(points / unit, -0.5, 0.5)),
    ):
        tables = TableVecEnv(rules(variant), 8, [make_agent("greedy")], seed=3, reward=find_reward(name))
        rewards, again, _ = play(tables, 60)
        assert (again == dones).all()
        assert sums_of_hands(rewards, dones) == pytest.approx(expected(sums_of_hands(plain, dones)), abs=1e-4)
    assert sums_of_hands(plain, dones).tolist() == ends.T[dones.T].tolist()


def test_a_potential_adds_what_no_decision_can_change():
    plain, dones, _ = play(TableVecEnv(HEBEI, 6, [make_agent("greedy")], seed=5), 60)
    reward = find_reward("distance?weight=0.5&base=points")
    shaped, again, _ = play(TableVecEnv(HEBEI, 6, [make_agent("greedy")], seed=5, reward=reward), 60)
    assert (again == dones).all()
    first = sums_of_hands(shaped, dones) - sums_of_hands(plain, dones)
    assert (first > 0).all()  # the distance of the first position
    assert (np.round(first / 0.5, 4) % 1 == 0).all()
