"""Views have no attribute that leads to the games behind them, and worlds nothing that tells of them."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from mahjong_env import ViewError, make_engine, wuhan_v0
from mahjong_env.testing.play import choose_actions
from observation.test_worlds import ALL, positions
from support.reach import reached, ways_to_the_table


@pytest.mark.parametrize("variant", ALL)
def test_no_attribute_of_a_view_leads_to_its_table(variant):
    engine = positions(variant)
    fresh, kept = engine.view(), engine.view()
    part = fresh.take([3, 1])
    kept.keep()
    for view in (fresh, part, kept, kept.take([2]), engine.view(seats=1)):
        assert ways_to_the_table(view, engine) == []
    engine.step(choose_actions(engine, np.random.default_rng(0)))
    assert ways_to_the_table(fresh, engine) == []


class Looks:
    """Plays the first legal action, and looks for tables in all that it is given."""

    name, asked = "looks", 0

    def act(self, view, rng):
        for _, found in [*reached(view), *reached(rng)]:
            assert not hasattr(found, "wall")
            assert not hasattr(found, "seat_to_act")
        type(self).asked += 1
        return view.action_mask.argmax(axis=1)


def test_environments_hand_out_views_without_their_tables():
    env = wuhan_v0.env()
    env.reset(seed=3)
    assert ways_to_the_table(env.view(env.agent_selection), env.unwrapped.engine) == []
    seat = gymnasium.make("mahjong_env/Wuhan-v0", opponents=Looks())
    seat.reset(seed=3)
    assert Looks.asked
    assert ways_to_the_table(seat.unwrapped.view(), seat.unwrapped.engine) == []
    seats = gymnasium.make_vec("mahjong_env/Wuhan-v0", num_envs=3, opponents=Looks())
    seats.reset(seed=3)
    assert ways_to_the_table(seats.unwrapped.view(), seats.unwrapped.engine) == []


class Holds:
    """A view that leads to its table: what the checks above must find."""

    __module__ = "mahjong_env.broken"

    def __init__(self, held):
        self.held = held


def test_ways_that_are_there_are_found():
    engine = make_engine("hebei", 2, seed=0)
    assert ways_to_the_table(Holds({"a": [engine]}), engine)
    assert ways_to_the_table(Holds(engine.moves), engine)
    assert ways_to_the_table(Holds(engine.state.hand[0, 1, 3:5]), engine)


@pytest.mark.parametrize("variant", ALL)
def test_what_arrays_of_a_view_are_parts_of_tells_nothing_either(variant):
    """All arrays that attributes lead to are the same with other hidden tiles behind them."""
    engine = positions(variant)
    other = engine.select(np.arange(engine.num_games))
    other.resample_hidden(engine.seat_to_act, np.random.default_rng(11))
    ours, theirs = (
        [(way, found) for way, found in reached(each.view()) if isinstance(found, np.ndarray)]
        for each in (engine, other)
    )
    assert [way for way, _ in ours] == [way for way, _ in theirs]
    for (way, one), (_, two) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=way)


def test_an_agent_that_tries_its_discards_on_the_table_cannot():
    """The agent of twenty lines: it played each discard on a copy of the live table, and kept those that were safe."""

    class TriesOnTheTable:
        name = "tries on the table"

        def act(self, view, rng):
            engine = view.origin.engine.select(view.origin.games)
            return engine.action_mask.argmax(axis=1)

    engine = make_engine("hebei", 4, seed=1)
    with pytest.raises(AttributeError, match="'View' object has no attribute 'origin'"):
        TriesOnTheTable().act(engine.view(), np.random.default_rng(0))


def test_worlds_lead_to_their_own_tables_alone():
    engine = positions("hebei")
    worlds = engine.view().worlds(2, np.random.default_rng(0))
    assert ways_to_the_table(worlds, worlds)
    memory = engine.state.arrays().values()
    for way, found in reached(worlds):
        assert found is not engine, way
        assert not isinstance(found, np.ndarray) or not any(np.shares_memory(found, each) for each in memory), way


@pytest.mark.parametrize("variant", ALL)
def test_worlds_do_not_say_which_deal_they_come_from(variant):
    """The number of a game in its seed, and of its hand, with a seed that is known, are all tiles."""
    engine = positions(variant, num_hands=3)
    assert len(set(engine.state.stream.tolist())) > 1
    worlds = engine.view().worlds(2, np.random.default_rng(0)).state
    assert not worlds.stream.any()
    assert not worlds.hands_dealt.any()
    assert not np.isin(worlds.seed, engine.state.seed).any()


def test_whoever_holds_the_engine_knows_which_games_a_view_shows():
    engine = positions("hebei")
    view = engine.view([5, 2, 7]).take([2, 0])
    games, moves = engine.games_of(view)
    assert games.tolist() == [7, 5]
    assert moves.tolist() == engine.moves(games).tolist()
    with pytest.raises(ViewError, match="was not taken of this engine"):
        make_engine("hebei", 24, seed=3).games_of(view)
