"""Every legal action on the same worlds: what is played, what is counted, and what may not be known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mahjong_env import ActionError, Deal, action, make_engine, rules
from mahjong_training.analysis.action_values import ActionValues, End, evaluate_actions, join
from mahjong_training.errors import TrainingError
from support.marks import variants
from support.positions import in_mid_hand


def positions(variant, games=6, moves=12, seed=3):
    engine = in_mid_hand(variant, games, moves, "greedy", seed=seed, auto_reset=False)
    return engine, np.flatnonzero(engine.seat_to_act >= 0)


def made(points, taken=0, positions=1):
    """Positions whose actions 0, 1, ... brought these points."""
    points, actions = np.asarray(points, np.int32), len(points) // positions
    return ActionValues(
        rules("hebei"),
        np.zeros(positions, np.int8),
        np.full(positions, taken),
        np.full(positions, points.shape[1]),
        np.repeat(np.arange(positions), actions),
        np.tile(np.arange(actions), positions),
        points,
        np.zeros(points.shape, np.int8),
    )


def test_what_better_choices_bring_is_not_too_high():
    """Where all actions are worth the same, the best of them looks better in its own worlds, and not in others."""
    rng, actions, worlds = np.random.default_rng(5), 10, 64
    positions = np.repeat(np.arange(300), actions)
    points = rng.normal(0, 50, (len(positions), worlds)).astype(np.int32)
    points[positions >= 200] += 10 * (np.arange(len(positions)) % actions)[positions >= 200, None]  # the first is worst
    found = made(points, positions=300)
    mean, error = found.gain()
    same, different = mean[:200], mean[200:]
    assert abs(same.mean()) < 3 * np.hypot.reduce(error[:200]) / 200 < 2
    assert found.against_best().mean.reshape(300, actions)[:200, 0].mean() < -8  # what costs look like
    assert 80 < different.mean() < 90  # the best one brings 90, and is not always chosen
    fewer = replace(found, worlds=np.full(300, 3), points=points[:, :3], end=found.end[:, :3])
    assert np.isinf(fewer.gain()[1]).all()


@pytest.mark.parametrize("variant", variants("fuzhou"))
def test_every_legal_action_is_played_in_every_world(variant):
    engine, live = positions(variant)
    before = engine.snapshot()
    found = evaluate_actions(engine, live, worlds=5)
    assert np.array_equal(np.stack([found.position, found.action], axis=1), np.argwhere(engine.action_mask[live]))
    assert np.array_equal(found.seat, engine.seat_to_act[live])
    assert found.points.shape == found.end.shape == (len(found.action), 5)
    assert np.array_equal(found.worlds, np.full(len(live), 5))
    assert ((found.end >= 0) & (found.end <= 4)).all()
    assert engine.snapshot().to_bytes() == before.to_bytes()  # the positions are left as they are
    differences = found.differences()
    assert np.array_equal(~np.isnan(differences), engine.action_mask[live])
    assert (differences[np.arange(len(live)), found.taken] == 0).all()
    assert np.array_equal(evaluate_actions(engine, live, worlds=5).points, found.points)
    assert not np.array_equal(evaluate_actions(engine, live, worlds=5, seed=1).points, found.points)


def test_a_win_is_worth_what_it_pays_and_passing_is_not():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("123456789m 11p 55s 5s",), dealer=0))
    found = evaluate_actions(engine, worlds=40)
    win = int(np.flatnonzero(found.action == action("win"))[0])
    assert found.taken[0] == action("win")  # what greedy does
    result = engine.select([0]).step([action("win")])
    assert (found.points[win] == result.rewards[0, 0]).all()
    assert (found.end[win] == End.SELF_DRAWN).all()
    others = np.arange(len(found.action)) != win
    assert found.against_best().low[win] > 0
    assert (found.against_taken().high[others] < 0).all()
    engine.step([action("win")])
    with pytest.raises(TrainingError, match="game 0 is over"):
        evaluate_actions(engine)


def test_how_hands_end_agrees_with_what_they_pay():
    engine, live = positions("hebei", 12, 30)
    found = evaluate_actions(engine, live, worlds=10)
    assert set(np.unique(found.end)) == set(End)
    assert (
        found.points[np.isin(found.end, (End.SELF_DRAWN, End.WON_ON_TILE))].mean()
        > 1
        > -1
        > found.points[found.end == End.DEALT_IN].mean()
    )
    assert np.allclose(sum(found.share(end) for end in range(5)), 1)


@pytest.mark.parametrize("variant", variants("hangzhou"))
def test_what_is_hidden_has_no_part_in_it_but_in_hindsight(variant):
    engine, live = positions(variant)
    other = engine.select(np.arange(engine.num_games))
    other.resample_hidden(engine.seat_to_act[live], np.random.default_rng(5), games=live)
    assert not np.array_equal(engine.state.wall[live], other.state.wall[live])
    found, again = (evaluate_actions(one, live, worlds=8) for one in (engine, other))
    assert np.array_equal(found.points, again.points)
    assert np.array_equal(found.taken, again.taken)
    found, again = (evaluate_actions(one, live, worlds=4, hindsight=True) for one in (engine, other))
    assert not np.array_equal(found.points, again.points)


def test_one_agent_for_each_person():
    engine, live = positions("hebei", 3, 8)
    found = evaluate_actions(engine, live, worlds=6, agents=["random", "greedy", "closed-greedy"])
    assert found.points.any()
    assert not np.array_equal(found.points, evaluate_actions(engine, live, worlds=6).points)


@pytest.mark.thorough
def test_budgets():
    engine, live = positions("hebei", 5, 14)
    narrow = evaluate_actions(engine, live, worlds=200, width=1.5)
    half = np.zeros(len(live))
    compared = narrow.against_taken()
    np.maximum.at(half, narrow.position, (compared.high - compared.low) / 2)
    assert ((half <= 1.5) | (narrow.worlds == 200)).all()
    assert len(np.unique(narrow.worlds)) > 1  # each position stops by itself
    assert (evaluate_actions(engine, live, worlds=100_000, milliseconds=1).worlds == 64).all()  # the first round


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"worlds": 0}, "worlds are an integer from 1"),
        ({"worlds": True}, "worlds are an integer from 1"),
        ({"width": 0.0}, "width is a number above 0"),
        ({"milliseconds": -1}, "milliseconds is a number above 0"),
        ({"milliseconds": float("nan")}, "milliseconds is a number above 0"),
        ({"width": "x"}, "width is a number above 0, not 'x'"),
        ({"seed": -1}, "seed is an integer from 0"),
        ({"seed": 1.5}, "seed is an integer from 0, not 1.5"),
        ({"agents": ["greedy", "greedy"]}, "agents are one for all seats, or 3"),
        ({"taken": [0]}, "the actions taken are"),
        ({"taken": [-1] * 5}, "position 0: the action taken"),
        ({"games": []}, "no position is named"),
    ],
)
def test_what_cannot_be(settings, said):
    engine = make_engine("hebei", 5, seed=3)
    with pytest.raises(TrainingError, match=said):
        evaluate_actions(engine, **settings)


def test_games_are_named_as_in_views():
    engine = make_engine("hebei", 4, seed=7)
    mask = np.array([False, True, True, False])
    found, again = (evaluate_actions(engine, games, worlds=2) for games in (mask, [1, 2]))
    assert len(found.taken) == 2
    assert np.array_equal(found.points, again.points)
    assert len(evaluate_actions(engine, [1, 1], worlds=2).taken) == 2
    for wrong in (mask[:3], [-1], [4], [1.0]):
        with pytest.raises(ActionError):
            evaluate_actions(engine, wrong, worlds=2)


# --- The numbers that are made of worlds: by hand, and by trying whether the intervals cover -------------------------


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

    one_other = made([[1, 2, 3, 6], [2, 3, 5, 8]])  # the same interval then
    taken, best = one_other.against_taken(), one_other.against_best()
    assert (best.low[1], best.high[1]) == (pytest.approx(taken.low[1]), pytest.approx(taken.high[1]))
    one_world = made([[1], [2]])  # says nothing
    assert np.isinf(one_world.against_taken().high[1])
    assert np.isinf(one_world.against_best().low).all()


def test_worlds_behind_the_last_do_not_count():
    one, two = made([[1, 2, 3, 6], [2, 3, 5, 8]]), made([[4, 6], [1, 1], [0, 3]], taken=1)
    both = join([one, two])
    assert both.points.shape == (5, 4)
    assert both.mean().tolist() == [3, 4.5, 5, 1, 1.5]
    assert both.end[2:, 2:].tolist() == [[-1, -1]] * 3
    assert np.allclose(both.against_taken().error[2:], two.against_taken().error)
    assert np.allclose(both.against_best().high[2:], two.against_best().high)
    assert np.allclose(both.share(0)[2:], 1)


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
