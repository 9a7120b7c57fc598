"""Line-ups: who meets whom and sits where, and the same deals in every order of seats."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, RandomAgent, base, make_agent
from mahjong_agents.search.agent import SearchAgent
from mahjong_env import VARIANTS, RulesError, make_engine, rules
from mahjong_env.environments.agents import choose_actions
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import matches
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.lineups import league, lineups, one_against_copies, orders_of, seated, two_against_two
from mahjong_training.evaluation.matches import (
    Block,
    begin_to_measure,
    measure,
    measured_sigma,
    play_block,
    play_out,
    sigma,
)
from mahjong_training.evaluation.results import summarise
from mahjong_training.runtime.executors import LocalExecutor
from mahjong_training.seeds import evaluation_seed
from support.own_agents import LastLegal

GREEDY, RANDOM = GreedyAgent(), RandomAgent()


class TestOneAgent:
    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    def test_one_agent_in_all_seats_has_a_mean_of_exactly_nothing(self, variant):
        table = rules(variant)
        result = measure(table, [RANDOM, GREEDY], (1,) * table.people, deals=30, seed=1)
        (standing,) = result.standings
        assert standing.points.mean == standing.points.low == standing.points.high == 0
        assert standing.seats == table.people
        assert (result.orders, result.deals, result.hands) == (1, 30, 30)
        assert standing.wins.mean * table.people + result.draws.mean == pytest.approx(1)


class Integers:
    """Any legal action, drawn in a way that games of a deal do not share."""

    name = "integers"

    def act(self, view, rng):
        return np.array([rng.choice(np.flatnonzero(mask)) for mask in view.action_mask])


class TestMeasure:
    def test_points_sum_to_nothing_and_every_hand_is_won_or_drawn(self):
        result = measure(rules("hebei"), [GREEDY, RANDOM], (0, 1, 1), deals=40, seed=5)
        greedy, others = result.standings
        assert greedy.points.mean + 2 * others.points.mean == pytest.approx(0)
        assert greedy.wins.mean + 2 * others.wins.mean + result.draws.mean == pytest.approx(1)
        assert result.hands == 120

    def test_all_orders_play_the_same_deals(self, monkeypatch):
        seen = []
        monkeypatch.setattr(matches, "play_out", lambda engine, *rest: seen.append(engine) or play_out(engine, *rest))
        measure(rules("hebei"), [GREEDY, RANDOM], (0, 1, 1), deals=8, seed=5)
        (engine,) = seen
        walls = engine.state.wall.reshape(8, 3, -1)
        assert (walls == walls[:, :1]).all()
        assert len({wall.tobytes() for wall in walls[:, 0]}) == 8
        np.testing.assert_array_equal(walls[:, 0], make_engine("hebei", 8, seed=evaluation_seed(5)).state.wall)

    def test_blocks_are_played_independently(self, monkeypatch):
        whole = measure(rules("hebei"), [GREEDY, RANDOM], (0, 1, 1), deals=10, seed=5)
        (block,) = matches.blocks((0, 1, 1), 10)
        played = matches.play_block(rules("hebei"), [GREEDY, RANDOM], block, 5)
        assert summarise(rules("hebei"), (0, 1, 1), [played]) == whole
        monkeypatch.setattr(base, "GAMES_AT_ONCE", 9)
        several = matches.blocks((0, 1, 1), 10)
        assert [(block.first, block.last) for block in several] == [(0, 3), (3, 6), (6, 9), (9, 10)]
        backwards = [matches.play_block(rules("hebei"), [GREEDY, RANDOM], block, 5) for block in several[::-1]]
        again = measure(rules("hebei"), [GREEDY, RANDOM], (0, 1, 1), deals=10, seed=5)
        assert summarise(rules("hebei"), (0, 1, 1), backwards[::-1]) == again
        # Lots follow from the deal; whatever else an agent asks chance for, each block has of its own.
        moved = several[1]._replace(number=2)
        for agents, same in (([RANDOM] * 2, True), ([Integers()] * 2, False)):
            points = [matches.play_block(rules("hebei"), agents, block, 5).points for block in (several[1], moved)]
            assert np.array_equal(*points) == same

    def test_slow_agents_have_small_blocks(self):
        class Slow(LastLegal):
            games_at_once = 9

        sizes = {
            lineup: [block.last - block.first for block in matches.blocks(lineup, 7, agents=[LastLegal(), Slow()])]
            for lineup in ((0, 0, 0), (0, 0, 1), (1, 1, 1))
        }
        assert sizes == {(0, 0, 0): [7], (0, 0, 1): [3, 3, 1], (1, 1, 1): [7]}
        assert SearchAgent(rollouts=10**6).games_at_once == SearchAgent(milliseconds=10**6).games_at_once == 1

    def test_a_late_block_is_dealt_alone(self, monkeypatch):
        """The deals of a block far behind are those of an engine that has all of them."""
        seen = []
        monkeypatch.setattr(matches, "play_out", lambda engine, *rest: seen.append(engine))
        matches.play_block(rules("wuhan"), [LastLegal()], matches.Block((0,) * 4, 3, 50, 52), 5)
        (engine,) = seen
        whole = make_engine("wuhan", 52, seed=evaluation_seed(5))
        assert engine.num_games == 2
        for name in ("wall", "hand", "dealer", "seed", "stream"):
            np.testing.assert_array_equal(getattr(engine.state, name), getattr(whole.state, name)[50:])

    def test_what_is_counted_is_what_the_engine_reports(self):
        engine = make_engine("hebei", 200, seed=3)
        twin = engine.select(np.arange(200))
        who = np.zeros((200, 3), np.intp)
        played = play_out(engine, [GREEDY], who, np.random.default_rng(1))
        rng = np.random.default_rng(1)
        winners, givers = np.full(200, -9), np.full(200, -9)
        while (live := np.flatnonzero(twin.seat_to_act >= 0)).size:
            result = twin.step(GREEDY.act(twin.view(games=live), rng), games=live)
            winners[result.outcome.game] = result.outcome.winner
            givers[result.outcome.game] = result.outcome.from_seat
        points = twin.points - twin.rules.starting_points
        np.testing.assert_array_equal(played.points, points)
        np.testing.assert_array_equal(played.hands, 1)
        np.testing.assert_array_equal(played.draws, winners == -1)
        for seat in range(3):
            np.testing.assert_array_equal(played.wins[:, seat], winners == seat)
            np.testing.assert_array_equal(played.deal_ins[:, seat], givers == seat)
            np.testing.assert_array_equal(played.self_draws[:, seat], (winners == seat) & (givers == -1))
        assert min((winners == -1).sum(), (givers >= 0).sum()) > 0

    def test_games_are_played_by_their_own_agents_and_random_is_asked_without_a_view(self):
        engine = make_engine("hebei", 12, seed=1)
        games = np.array([0, 1, 2, 4, 5, 6, 8, 9, 10])
        who = np.array([0, 1, 2] * 3)

        class Nth(LastLegal):
            """Takes the legal action of its own number."""

            def __init__(self, number):
                self.number = number

            def act(self, view, rng):
                np.testing.assert_array_equal(view.hand, engine.view(games=games[who == self.number]).hand)
                return [np.flatnonzero(mask)[self.number] for mask in view.action_mask]

        legal = [np.flatnonzero(mask) for mask in engine.action_mask[games]]
        actions = choose_actions(engine, games, [Nth(0), Nth(1), Nth(2)], who, None)
        np.testing.assert_array_equal(actions, [mask[number] for mask, number in zip(legal, who, strict=True)])
        asked = RANDOM.act(engine.view(games=games), np.random.default_rng(4))
        chosen = choose_actions(engine, games, [RANDOM], who * 0, np.random.default_rng(4))
        np.testing.assert_array_equal(chosen, asked)


class TestSigma:
    def test_is_what_the_variant_declares(self):
        assert sigma(rules("hebei")) == sigma(rules("hebei", shows_drawn=False)) == rules("hebei").sigma

    def test_is_measured_by_house_rules(self):
        found = sigma(rules("hebei", players=4))
        assert found == measured_sigma(rules("hebei", players=4)).mean
        assert sigma(rules("hebei", players=4)) is found
        assert found != sigma(rules("hebei"))

    def test_is_of_a_hand_also_where_games_are_matches(self):
        by_points = rules("hangzhou", match_end="points")
        assert measured_sigma(by_points, 1000).low < rules("hangzhou").sigma < measured_sigma(by_points, 1000).high

    def test_is_of_those_who_sit_at_the_table(self):
        both = [measured_sigma(rules("hebei", rotation=rotates), 300) for rotates in (True, False)]
        assert both[0] == both[1]  # with rotation a fourth person waits, and nothing else is otherwise

    def test_is_measured_of_a_variant_that_declares_none(self, monkeypatch):
        def declares_none(played):
            raise RulesError("none")

        monkeypatch.setattr(type(rules("hebei")), "sigma", property(declares_none))
        monkeypatch.setattr(matches, "measured_sigma", lambda rules: Estimate(4.0, 3.0, 5.0))
        assert sigma.__wrapped__(rules("hebei")) == 4

    def test_is_known_to_an_interval(self):
        few, more = (measured_sigma(rules("hebei"), deals) for deals in (200, 1000))
        assert few.low < few.mean < few.high
        assert more.low < sigma(rules("hebei")) < more.high
        assert 3 < more.mean < 4.2
        assert more.half_width < few.half_width

    def test_where_nobody_wins_it_is_a_point(self, monkeypatch):
        nobody_draws = rules("taiwan", dead_tiles=71)
        assert measured_sigma(nobody_draws, 200).mean == 0
        monkeypatch.setattr(matches, "measured_sigma", lambda rules: measured_sigma(rules, 200))
        assert sigma.__wrapped__(nobody_draws) == 1


# --- Line-ups and orders of seats: who meets whom, and who sits where, equally often --------------------------------


class TestBalancedSeatings:
    @pytest.mark.parametrize("people", [3, 4, 5])
    def test_everybody_sits_everywhere_and_behind_everybody_equally_often(self, people):
        orders = orders_of(tuple(range(people)), "balanced")
        assert len(orders) == (people if people % 2 == 0 else 2 * people) == len(set(orders))
        for place in range(people):
            assert len(set(Counter(order[place] for order in orders).values())) == 1
        behind = Counter(pair for order in orders for pair in pairwise(order))
        assert len(behind) == people * (people - 1)
        assert len(set(behind.values())) == 1

    def test_where_all_orders_are_as_few_they_are_all_played(self):
        assert orders_of((0, 1, 1, 1), "balanced") == orders_of((0, 1, 1, 1))
        assert orders_of((2, 2, 2), "balanced") == [(2, 2, 2)]
        assert len(orders_of((0, 0, 1, 2))) == 12
        assert len(orders_of((0, 0, 1, 2), "balanced")) == 4


class TestLeagues:
    @pytest.mark.parametrize(("agents", "people"), [(2, 3), (2, 4), (3, 4), (4, 4), (5, 3), (6, 4), (7, 4)])
    def test_small_ones_are_complete(self, agents, people):
        tables = league(agents, people)
        _check(tables, agents, people)
        met = Counter(pair for table in tables for pair in combinations(sorted(set(table)), 2))
        assert len(set(met.values())) == 1  # every two agents meet as often as any other two

    @pytest.mark.parametrize(("agents", "people"), [(8, 4), (9, 4), (13, 4), (13, 3), (30, 4), (31, 3)])
    def test_large_ones_stay_small_and_everybody_meets(self, agents, people):
        tables = league(agents, people)
        _check(tables, agents, people)
        pairs = agents * (agents - 1) / 2
        least = pairs / (people * (people - 1) / 2)
        assert len(tables) <= 2.5 * least

    def test_thirteen_fours_is_the_projective_plane(self):
        """There a cyclic design is perfect: everybody meets everybody exactly once."""
        assert len(league(13, 4)) == 13

    def test_two_against_two(self):
        assert two_against_two(0, 1, 4) == (0, 0, 1, 1)
        assert list(lineups("pairs", 3, 4)) == [(0, 0, 1, 1), (0, 0, 2, 2), (1, 1, 2, 2)]
        with pytest.raises(TrainingError, match=r"this table has 3.*--knob players=4"):
            two_against_two(0, 1, 3)

    @pytest.mark.parametrize(
        ("kind", "people", "message"), [("league", 4, "a league takes"), ("pairs", 4, "two against two takes")]
    )
    def test_one_agent_is_refused(self, kind, people, message):
        with pytest.raises(TrainingError, match=message):
            list(lineups(kind, 1, people))


def _check(tables, agents, people):
    assert len(set(tables)) == len(tables)
    assert {len(table) for table in tables} == {people}
    seats = np.bincount(np.concatenate(tables), minlength=agents)
    assert seats.min() == seats.max() > 0
    met = {pair for table in tables for pair in combinations(sorted(set(table)), 2)}
    assert len(met) == agents * (agents - 1) / 2


def test_in_turns_every_deal_is_played_in_the_next_order():
    played, lineup = rules("hebei"), (0, 1, 1)
    orders = orders_of(lineup)
    assert seated(lineup, np.arange(4), "turns").tolist() == [list(orders[number % 3]) for number in range(4)]
    agents = [make_agent("greedy"), make_agent("random")]
    found = measure(played, agents, lineup, deals=30, seed=3, seatings="turns")
    assert (found.orders, found.deals, found.hands) == (1, 30, 30)
    assert found.of(0).points.low > 0
    np.testing.assert_array_equal(found.points_by_deal(0) + found.points_by_deal(1), 0)
    # Blocks know which deals are theirs.
    parts = [play_block(played, agents, Block(lineup, 0, first, last, "turns"), 3) for first, last in ((0, 8), (8, 30))]
    assert summarise(played, lineup, parts, "turns").points_by_deal(0).tolist() == found.points_by_deal(0).tolist()
    how = {"seed": 3, "seatings": "turns"}
    later = begin_to_measure(LocalExecutor(), played, agents, lineup, deals=range(7, 30), **how)()
    assert later.points_by_deal(0).tolist() == found.points_by_deal(0)[7:].tolist()


def test_an_error_of_an_agent_itself_says_which_deals_were_played():
    class Fails:
        name = "fails"

        def act(self, view, rng):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as raised:
        measure(rules("hebei"), [RANDOM, Fails()], (0, 0, 1), deals=2, seed=5)
    asked, played = raised.value.__notes__
    assert asked.startswith("the agent 'fails' was asked for ")
    assert played == "deals 0 to 1 of seed 5 were being played"


def test_a_measurement_has_deals_and_single_hands():
    with pytest.raises(TrainingError, match="no deals"):
        begin_to_measure(LocalExecutor(), rules("hebei"), ["random"], (0, 0, 0), deals=range(3, 3), seed=1)
    with pytest.raises(TrainingError, match="no deals"):
        measure(rules("hebei"), [RANDOM], (0, 0, 0), deals=-2, seed=1)
    by_points = rules("hangzhou", match_end="points")
    with pytest.raises(TrainingError, match="a match that ends by points, not after a hand"):
        measure(by_points, [RANDOM], (0, 0, 0, 0), deals=2, seed=1)


@pytest.mark.parametrize("lineup", [(0, 1), (0, 1, 1, 1), (0, 1, 2), (0, -1, -1), ()])
def test_a_lineup_is_of_these_agents_at_this_table(lineup):
    with pytest.raises(TrainingError, match="each of 3 persons the number of an agent, 0 to 1, not"):
        measure(rules("hebei"), [GREEDY, RANDOM], lineup, deals=2, seed=1)


@pytest.mark.parametrize(("hands", "told"), [(0, "0 hands$"), (2, "2 hands with control variates")])
def test_luck_is_of_single_hands(hands, told):
    how = {"deals": 2, "seed": 1, "hands": hands, "control_variates": True}
    with pytest.raises(TrainingError, match=f"a game cannot have {told}"):
        measure(rules("hebei"), [RANDOM], (0, 0, 0), **how)


def test_a_misspelt_word_does_not_pass_for_the_default():
    with pytest.raises(TrainingError, match="seatings are all, balanced, turns, not 'turn'"):
        measure(rules("hebei"), [RANDOM], (0, 0, 0), deals=2, seed=1, seatings="turn")
    with pytest.raises(TrainingError, match="line-ups are duels, pairs, league, not 'leagues'"):
        lineups("leagues", 2, 3)


class TestOrders:
    def test_every_different_order_once(self):
        assert orders_of((0, 0, 0)) == [(0, 0, 0)]
        assert orders_of((1, 0, 0)) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
        assert len(orders_of((0, 1, 2))) == 6
        assert one_against_copies(2, 0, 4) == (2, 0, 0, 0)
