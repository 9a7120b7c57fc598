"""What is counted of how hands were played, against a slow count, one game at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_env import ACTIONS, make_engine, rules
from mahjong_training.evaluation.hand_statistics import MELDS
from mahjong_training.evaluation.matches import measure, play_out
from mahjong_training.evaluation.results import summarise
from support.marks import variants


class Alone:
    """Plays greedy, every row by itself with the same lots, so that a game goes the same way in any batch."""

    name = "alone"

    def act(self, view, rng):
        rows = (view.take([row]) for row in range(len(view)))
        return np.concatenate([GreedyAgent().act(row, np.random.default_rng(0)) for row in rows])


def slow_count(variant, game, seed):
    """Turns, values and melds of one game, from the actions and the outcome alone."""
    engine = make_engine(variant, game + 1, seed=seed).select([game])
    turns, melds = Counter(), Counter()
    while engine.seat_to_act[0] >= 0:
        seat = int(engine.seat_to_act[0])
        action = ACTIONS[int(Alone().act(engine.view(), None)[0])]
        result = engine.step([ACTIONS.index(action)])
        if action.startswith("discard"):
            turns[seat] += 1
        if action.startswith("concealed kong"):
            melds[seat, "concealed_kongs"] += 1
        outcome = result.outcome
    return turns, melds, outcome


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_turns_values_and_rows_are_those_of_a_slow_count(variant):
    games = 5
    engine = make_engine(variant, games, seed=3)
    people = engine.num_people
    played = play_out(engine, [Alone()], np.zeros((games, people), np.intp), np.random.default_rng(0))
    names = [row.name for row in engine.rules.rows]
    for game in range(games):
        turns, melds, outcome = slow_count(variant, game, seed=3)
        winner, giver = int(outcome.winner[0]), int(outcome.from_seat[0])
        for person in range(people):
            counts = {name: int(array[game, person]) for name, array in played.counts.items()}
            has_won, has_given = person == winner, person == giver
            assert played.wins[game, person] == has_won
            assert counts["win_turns"] == (turns[person] + 1 if has_won else 0)
            assert counts["win_points"] == (outcome.payments[0, person] if has_won else 0)
            assert counts["deal_in_points"] == (-outcome.payments[0, person] if has_given else 0)
            assert counts["concealed_kongs"] == melds[person, "concealed_kongs"]
            assert counts["tenpai_turns"] <= turns[person]
            assert counts["tenpais"] or not counts["tenpai_turns"]
        rows = Counter(name for name, _ in outcome.rows[0]) if winner >= 0 else Counter()
        assert {names[number]: count for number, count in enumerate(played.rows[game].tolist()) if count} == rows


def test_melds_at_the_end_are_what_was_laid_down():
    engine = make_engine("hebei", 200, seed=5)
    who = np.zeros((200, 3), np.intp)
    played = play_out(engine, [GreedyAgent()], who, np.random.default_rng(0))
    for person in range(3):
        view = engine.view(seats=np.full(200, person))
        melds = sum(played.counts[name][:, person] for name in MELDS)
        np.testing.assert_array_equal(melds, view.num_melds[:, 0])
    assert all(played.counts[name].sum() > 0 for name in MELDS)


def test_where_people_sit_out_only_what_is_known_of_persons_is_counted():
    result = measure(rules("hebei", rotation=True), [GreedyAgent()], (0, 0, 0, 0), deals=20, seed=2)
    assert "turn_of_win" in result.of(0).details
    assert "tenpai" not in result.of(0).details


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_every_point_has_a_reason(variant):
    engine = make_engine(variant, 150, seed=4)
    before = engine.points
    who = np.random.default_rng(1).integers(0, 2, (150, engine.num_people))
    played = play_out(engine, [GreedyAgent(), RandomAgent()], who, np.random.default_rng(0))
    counts = played.counts
    won = sum(counts[name] for name in ("won_by_draw", "won_by_discard", "won_by_kongs"))
    reasons = ("lost_to_draws", "lost_by_deal_in", "lost_to_discards_of_others", "lost_to_kongs")
    np.testing.assert_array_equal(won - sum(counts[name] for name in reasons), engine.points - before)
    np.testing.assert_array_equal(counts["won_by_draw"] + counts["won_by_discard"], counts["win_points"])
    np.testing.assert_array_equal(counts["discard_wins"] + played.self_draws, played.wins)
    assert all((counts[name] >= 0).all() for name in (*reasons, "won_by_kongs"))
    assert counts["won_by_draw"].sum() > 0


def test_what_claims_lead_to_is_counted_apart():
    engine = make_engine("wuhan", 300, seed=4)
    who = np.zeros((300, 4), np.intp)
    played = play_out(engine, [GreedyAgent()], who, np.random.default_rng(0))
    counts = played.counts
    melds = counts["chows"] + counts["pungs"] + counts["exposed_kongs"] + counts["added_kongs"]
    np.testing.assert_array_equal(counts["claimed"], melds > 0)
    np.testing.assert_array_equal(counts["claimed"] + counts["closed"], 1)
    np.testing.assert_array_equal(counts["with_chow"], counts["chows"] > 0)
    turns = counts["claim_turns"][counts["claimed"] > 0]
    assert turns.min() >= 1
    assert turns.mean() < counts["win_turns"].sum() / played.wins.sum()
    np.testing.assert_array_equal(counts["dealt"].sum(axis=1), 1)
    result = summarise(rules("wuhan"), (0,) * 4, [played]).of(0)
    claimed, won = counts["claimed"], played.wins
    assert result.details["win_after_claim"].mean == pytest.approx((claimed * won).sum() / claimed.sum())
    assert result.details["win_as_dealer"].mean == pytest.approx((counts["dealt"] * won).sum() / 300)
