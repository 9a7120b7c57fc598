"""Results: differences on the same deals, the verdict in a sentence, and what is counted of how hands were played."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, RandomAgent, make_agent
from mahjong_env import ACTIONS, make_engine, rules
from mahjong_training.config import EvaluateConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import standing
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.estimates import Estimate, ratio
from mahjong_training.evaluation.hand_statistics import MELDS, Played
from mahjong_training.evaluation.lineups import one_against_copies, orders_of
from mahjong_training.evaluation.matches import measure, play_out
from mahjong_training.evaluation.results import Evaluation, difference, shares_of_places, summarise
from support.marks import variants


class TestDifference:
    def test_what_deals_bring_by_themselves_cancels(self):
        played, agents = rules("hebei"), [GreedyAgent(), RandomAgent(), GreedyAgent(claims=False)]
        results = [measure(played, agents, one_against_copies(agent, 1, 3), deals=60, seed=4) for agent in (0, 2)]
        gain = difference(results[1], 2, results[0], 0)
        points = [result.of(agent).points for result, agent in zip(results, (0, 2), strict=True)]
        assert gain.mean == pytest.approx(points[1].mean - points[0].mean)
        by_deal = results[1].points_by_deal(2) / 3 - results[0].points_by_deal(0) / 3
        error = by_deal.std(ddof=1) / np.sqrt(60)
        assert 2.001 * error <= gain.half_width < 2.1 * error
        paired = ratio(by_deal, np.ones(60))
        assert (gain.low, gain.high) == pytest.approx((paired.low, paired.high))
        same = difference(results[0], 0, results[0], 0)
        assert (same.mean, same.half_width) == (0, 0)

    def test_other_deals_are_refused(self):
        played, agents = rules("hebei"), [GreedyAgent(), RandomAgent()]
        few, more = (measure(played, agents, (0, 1, 1), deals=deals, seed=4) for deals in (2, 3))
        with pytest.raises(TrainingError, match="cannot be compared deal by deal"):
            difference(few, 0, more, 0)


def test_points_over_all_tables_are_clustered_by_deal():
    config = EvaluateConfig(variant="wuhan", agents=("greedy", "random"), lineups="league", deals=30)
    found = evaluate(config)
    (result,) = found.results
    assert found.overall(0) == result.of(0).points
    found = evaluate(replace(config, agents=("greedy", "random", "closed-greedy")))
    shares = [(r.of(0).points.mean, r.orders * r.of(0).seats) for r in found.results]
    weighted = sum(mean * weight for mean, weight in shares) / sum(weight for _, weight in shares)
    assert found.overall(0).mean == pytest.approx(weighted)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("points", "sentence"),
        [
            (Estimate(0.2, 0.064, 0.33), "mine wins 0.050 ± 0.034 sigma a hand more than greedy: better (95 %)"),
            (Estimate(-0.2, -0.336, -0.07), "mine wins 0.050 ± 0.034 sigma a hand less than greedy: worse (95 %)"),
            (
                Estimate(0.2, 0.04, 0.48),
                "mine wins 0.050 (0.010 to 0.120) sigma a hand more than greedy: better (95 %)",
            ),
            (
                Estimate(0.2, -0.1, 0.4),
                "mine against greedy: +0.050 ± 0.075 sigma a hand; no difference could be shown",
            ),
            (
                Estimate(-0.2, -np.inf, np.inf),
                "mine against greedy: -0.050 sigma a hand; too few deals to say how sure that is",
            ),
        ],
    )
    def test_say_whether_by_how_much_and_how_sure(self, points, sentence):
        found = Evaluation(rules("hebei"), ("mine", "greedy"), 100, 0, (), 4.0)
        assert found.verdict(points, "greedy") == sentence

    def test_are_about_the_first_agent_alone_among_copies_of_each_other_one(self):
        found = evaluate(EvaluateConfig(variant="hebei", agents=("greedy", "random", "closed-greedy"), deals=40))
        first, second = found.verdicts()
        expected = found.against(0, 1).of(0).points.over(found.sigma)
        verdict, _, shares = first.partition("; ")
        assert verdict == f"greedy wins {expected.text(3)} sigma a hand more than random: better (95 %)"
        own = found.against(0, 1).of(0)
        assert shares == f"of 100 hands it wins {own.wins.text(1, 0.01)}, deals in {own.deal_ins.text(1, 0.01)}"
        assert second.startswith("greedy against closed-greedy: ")
        assert found.as_json()["verdicts"] == [first, second]

    def test_give_the_share_of_the_ceiling_among_copies_of_the_reference_agent(self):
        played, agents = rules("hebei"), [make_agent("policy"), make_agent("closed-greedy")]
        result = measure(played, agents, (0, 1, 1), deals=80, seed=0)
        found = Evaluation(played, ("mine", "closed-greedy"), 80, 0, (result,), 4.0)
        (verdict,) = found.verdicts()
        _, ceiling = standing.ceiling("hebei")
        share = result.of(0).points.mean / found.sigma / ceiling.mean
        assert f": better (95 %); {100 * share:.0f} % of the ceiling; of 100 hands" in verdict
        for other in (
            replace(found, agents=("mine", "greedy")),
            replace(found, rules=rules("hebei", base_score=2)),
        ):
            (verdict,) = other.verdicts()
            assert ": better (95 %); of 100 hands" in verdict

    def test_of_pairs_and_leagues(self):
        agents = ("random", "greedy")
        (pairs,) = evaluate(EvaluateConfig(variant="wuhan", agents=agents, deals=40, lineups="pairs")).verdicts()
        assert "less than greedy: worse (95 %); of 100 hands it wins " in pairs
        found = evaluate(EvaluateConfig(variant="hebei", agents=agents, deals=40, lineups="league"))
        average = np.mean([found.overall(agent).mean for agent in range(2)])
        less = (average - found.overall(0).mean) / found.sigma
        (league,) = found.verdicts()
        assert league.startswith(f"random wins {less:.3f} ")
        assert league.endswith("less than the average of the 2 agents: worse (95 %)")
        assert evaluate(EvaluateConfig(variant="hebei", agents=("random",), deals=2)).verdicts() == []


def test_places_are_shared_by_persons_of_equal_points():
    points = np.array([[5, -5, 0], [1, 1, -2], [0, 0, 0]])
    zeros, none = np.zeros_like(points), np.zeros(3, np.int64)
    played = Played(none, points, zeros, zeros, zeros, none, {}, np.zeros((3, 0), np.int64), np.zeros(0, np.uint8))
    # Agent 0 sits first, last and in the middle, as the orders of seats go.
    orders = [order.index(0) for order in orders_of((0, 1, 1))]
    assert orders == [0, 1, 2]
    found = shares_of_places((0, 1, 1), [played], "all")
    np.testing.assert_allclose(found, [np.mean([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]], axis=0)])
    found = shares_of_places((0, 1, 1), [played], "all", agent=1)
    np.testing.assert_allclose(found, [np.mean([[0, 0.5, 0.5], [0.25, 0.25, 0.5], [1 / 3, 1 / 3, 1 / 3]], axis=0)])


# --- What is counted of how hands were played, against a slow count ---------------------------------------------------


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


@pytest.mark.parametrize("seatings", ["all", "turns"])
def test_a_hand_that_somebody_sits_out_is_none_of_his(seatings):
    """With or without a fourth person who waits, an agent wins as much in a hand."""
    played, agents = rules("hebei", rotation=True), [GreedyAgent(), RandomAgent()]
    result = measure(played, agents, (0, 1, 1, 1), deals=200, seed=2, seatings=seatings)
    alone = measure(rules("hebei"), agents, (0, 1, 1), deals=200, seed=2, seatings=seatings)
    assert result.of(0).wins.mean == pytest.approx(alone.of(0).wins.mean, abs=0.08)
    assert result.of(0).points.mean == pytest.approx(alone.of(0).points.mean, rel=0.15 if seatings == "all" else 0.4)
    assert result.points_per_hand(0).mean() == pytest.approx(result.of(0).points.mean)
    assert result.seat_hands_by_deal(0).sum() + result.seat_hands_by_deal(1).sum() == 3 * result.hands
    assert result.of(0).points.mean == pytest.approx(-3 * result.of(1).points.mean)
    assert difference(result, 0, result, 0).mean == 0


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
