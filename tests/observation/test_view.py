"""Views: worked out when asked, sealed off from the games behind them, and the same from every environment."""

from __future__ import annotations

import copy
import gc
import pickle
import types
import weakref
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from mahjong_env import VARIANTS, MahjongError, View, ViewError, make_engine, rules, wuhan_v0
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.state.arrays import State
from mahjong_env.state.flat import Flat
from mahjong_env.testing import random_actions
from mahjong_env.testing.play import choose_actions, view_differences
from mahjong_training import measure, one_against_copies
from support.positions import positions

RNG = np.random.default_rng
ALL = sorted(VARIANTS)


def arrays(view):
    return {name: getattr(view, name).copy() for name in View.array_names()}


def same(view, wanted):
    for name, array in wanted.items():
        np.testing.assert_array_equal(getattr(view, name), array, err_msg=name)


def step(engine):
    engine.step(random_actions(engine.action_mask, RNG(5)))


def snapshot_and_back(engine):
    before = engine.snapshot()
    step(engine)
    engine.restore(before)
    step(engine)


@pytest.mark.parametrize(
    "move",
    [
        step,
        lambda engine: engine.reset(seed=9),
        lambda engine: engine.reset(games=[1, 2]),
        lambda engine: engine.resample_hidden(0, RNG(1)),
        snapshot_and_back,
    ],
    ids=["step", "reset", "reset of some", "resample", "restore"],
)
@pytest.mark.parametrize("variant", ["hebei", "fuzhou"])
def test_a_view_stays_as_it_was(variant, move):
    engine = make_engine(variant, 20, seed=3, auto_reset=True)
    for _ in range(30):
        step(engine)
    wanted = arrays(engine.view())
    late, part = engine.view(), engine.view().take([4, 7])
    copied, thawed = copy.deepcopy(engine.view()), pickle.loads(pickle.dumps(engine.view()))
    move(engine)
    for view in (late, copied, thawed):
        same(view, wanted)
    same(part, {name: array[[4, 7]] for name, array in wanted.items()})
    np.testing.assert_array_equal(late.codes, copied.codes)


def test_what_nobody_asks_for_is_not_worked_out():
    view = make_engine("taiwan", 5, seed=0).view()
    assert view.hand.any()
    assert "hand" in vars(view)
    assert "observation" not in vars(view)
    with pytest.raises(AttributeError, match="no attribute 'hands'"):
        view.hands  # noqa: B018


@pytest.mark.parametrize("looks", [False, True], ids=["nothing asked", "asked"])
def test_views_do_not_keep_engines_in_memory(looks):
    """A cycle of references would keep them until garbage is collected: hundreds of MB in learning."""
    gc.disable()
    try:
        engine = make_engine("hebei", 4, seed=1)
        before, seen = weakref.ref(engine), engine.view()
        if looks:
            assert len(seen.take([0, 1]).hand) == 2
        step(engine)
        later = engine.view(seats=np.zeros(4, np.int64))
        del engine
        assert len(later) == len(seen) == 4
        del seen, later
        assert before() is None
    finally:
        gc.enable()


def test_views_that_are_no_longer_used_are_forgotten():
    engine = make_engine("wuhan", 2, seed=0)
    for _ in range(500):
        engine.view()
    gc.collect()
    assert len(engine._views) <= 64


# --- What attributes lead to -----------------------------------------------------------------------------------------

PACKAGES = ("mahjong_env", "agents", "training")
TABLES = (Engine, State, Flat, StepContext)


def reached(start: Any) -> Iterator[tuple[str, Any]]:
    """Every object that attributes, items and the bases of arrays lead to, with the way there."""
    todo, known = [("", start)], {}
    while todo:
        way, found = todo.pop()
        if id(found) in known:
            continue
        known[id(found)] = found  # kept, so that no other object gets its number
        yield way, found
        todo += [(f"{way}{step}", part) for step, part in _parts(found)]


def _parts(found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, np.ndarray):
        yield ".base", found.base
    elif isinstance(found, types.FunctionType):
        yield from ((f".{name}", getattr(found, name)) for name in ("__dict__", "__defaults__", "__kwdefaults__"))
    elif isinstance(found, types.MethodType):
        yield ".__self__", found.__self__
        yield ".__func__", found.__func__
    elif isinstance(found, dict | types.MappingProxyType):
        yield from ((f"[{key!r}]", value) for key, value in found.items())
    elif isinstance(found, list | tuple | set | frozenset):
        yield from ((f"[{place}]", value) for place, value in enumerate(found))
    elif type(found).__module__.partition(".")[0] in PACKAGES:
        yield from ((f".{name}", value) for name in dir(found) if (value := _attribute(found, name)) is not None)


def _attribute(found: Any, name: str) -> Any:
    try:
        return getattr(found, name)
    except Exception:  # a property that has no value here
        return None


def ways_to_the_table(start: Any, engine: Engine) -> list[str]:
    """The ways to anything that holds games, or that shares its memory with these games."""
    memory = engine.state.arrays().values()
    return [
        way
        for way, found in reached(start)
        if isinstance(found, TABLES)
        or (isinstance(found, np.ndarray) and any(np.shares_memory(found, array) for array in memory))
    ]


@pytest.mark.parametrize("variant", ALL)
def test_no_attribute_of_a_view_leads_to_its_table(variant):
    """All arrays that attributes lead to are parts of no game, and are the same with other hidden tiles."""
    engine = positions(variant)
    other = engine.select(np.arange(engine.num_games))
    other.resample_hidden(engine.seat_to_act, RNG(11))
    ours, theirs = (
        [(way, found) for way, found in reached(each.view()) if isinstance(found, np.ndarray)]
        for each in (engine, other)
    )
    for (way, one), (same_way, two) in zip(ours, theirs, strict=True):
        assert way == same_way
        np.testing.assert_array_equal(one, two, err_msg=way)
    fresh, kept = engine.view(), engine.view()
    kept.keep()
    for view in (fresh, fresh.take([3, 1]), kept, kept.take([2]), engine.view(seats=1)):
        assert ways_to_the_table(view, engine) == []
    engine.step(choose_actions(engine, RNG(0)))
    assert ways_to_the_table(fresh, engine) == []


def test_worlds_lead_to_their_own_tables_alone():
    engine = positions("hebei")
    worlds = engine.view().worlds(2, RNG(0))
    assert ways_to_the_table(worlds, worlds)
    memory = engine.state.arrays().values()
    for way, found in reached(worlds):
        assert found is not engine, way
        assert not isinstance(found, np.ndarray) or not any(np.shares_memory(found, each) for each in memory), way


class Looks:
    """Plays the first legal action, and looks for tables in all that it is given."""

    name, asked = "looks", 0

    def act(self, view, rng):
        for _, found in [*reached(view), *reached(rng)]:
            assert not hasattr(found, "wall")
            assert not hasattr(found, "seat_to_act")
            assert not hasattr(found, "wall_order")
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


def test_no_agent_that_is_evaluated_sees_more_than_a_view():
    Looks.asked = 0
    measure(rules("hebei"), [Looks(), Looks()], one_against_copies(0, 1, 3), deals=1, seed=1)
    assert Looks.asked
    with pytest.raises(AssertionError):
        Looks().act(Holds(make_engine("hebei", 1, seed=1).hidden()), None)


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


def test_whoever_holds_the_engine_knows_which_games_a_view_shows():
    engine = positions("hebei")
    view = engine.view([5, 2, 7]).take([2, 0])
    games, moves = engine.games_of(view)
    assert games.tolist() == [7, 5]
    assert moves.tolist() == engine.moves(games).tolist()
    with pytest.raises(ViewError, match="was not taken of this engine"):
        make_engine("hebei", 24, seed=3).games_of(view)


# --- From environments ----------------------------------------------------------------------------------------------
def test_pettingzoo():
    env = wuhan_v0.env()
    env.reset(seed=3)
    for _ in range(40):
        for person, agent in enumerate(env.possible_agents):
            view = env.view(agent)
            assert view_differences(view, env.unwrapped.engine.view(seats=person)) == []
            assert np.array_equal(view.observation[0], env.observe(agent)["observation"])
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    with pytest.raises(MahjongError, match="there is no agent 'nobody'; the agents are player_0"):
        env.view("nobody")


def test_learning_seats():
    env, envs = gymnasium.make("mahjong_env/Wuhan-v0", seat=2), gymnasium.make_vec("mahjong_env/Wuhan-v0", num_envs=5)
    (_, info), (_, infos) = env.reset(seed=3), envs.reset(seed=3)
    for _ in range(10):
        view, views = env.unwrapped.view(), envs.unwrapped.view()
        assert view.own_person.tolist() == [2]
        assert view.action_mask[0].tolist() == info["action_mask"].astype(bool).tolist()
        assert views.own_person.tolist() == infos["seat"].tolist()
        assert np.array_equal(views.action_mask, infos["action_mask"].astype(bool))
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        _, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        if over:
            _, info = env.reset()
