"""Line-ups and orders of seats: who meets whom, and who sits where, equally often."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.lineups import league, lineups, one_against_copies, orders_of, seated, two_against_two
from mahjong_training.evaluation.matches import Block, measure, play_block
from mahjong_training.evaluation.results import summarise


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


class TestOrders:
    def test_every_different_order_once(self):
        assert orders_of((0, 0, 0)) == [(0, 0, 0)]
        assert orders_of((1, 0, 0)) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
        assert len(orders_of((0, 1, 2))) == 6
        assert one_against_copies(2, 0, 4) == (2, 0, 0, 0)
