"""Agents in processes of their own: they play as they do without, and there is no table to read."""

from __future__ import annotations

import pickle
import textwrap

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.base import games_at_once
from mahjong_agents.shared_chance import RowChance, SharedChance
from mahjong_env import VARIANTS, AgentError, make_engine
from mahjong_env.environments.agents import choose_actions
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure
from observation.test_worlds import positions

AGENTS = textwrap.dedent(
    """
    import gc, inspect, os, sys
    import numpy as np
    from mahjong_agents import GreedyAgent
    from mahjong_env.state.arrays import State

    class Moody:
        # Has a state, and draws in all ways: by rows, one by one, normal ones.
        name, games_at_once = "moody", 50

        def __init__(self, liking: int = 3):
            self.asked, self.liking = 0, liking

        def act(self, view, rng):
            self.asked += 1
            mood = rng.random(view.action_mask.shape) + rng.normal() + rng.integers(self.liking) * (self.asked % 3)
            return np.where(view.action_mask, mood, -np.inf).argmax(axis=1)

    class Failing:
        def act(self, view, rng):
            return view.origin.engine.action_mask.argmax(axis=1)

    class Dying:
        def act(self, view, rng):
            os._exit(7)

    class Words:
        def act(self, view, rng):
            return [object()] * len(view)

    class Short:
        def act(self, view, rng):
            return [0.5]

    class Digs:
        # Finds whatever tables there are in its process, and says which tiles the next seat holds there.
        def act(self, view, rng):
            tables = [each for each in gc.get_objects() if isinstance(each, State)]
            assert tables
            assert not any("--seed" in each for each in sys.argv)
            assert rng.bit_generator.seed_seq.entropy != 12345
            raise RuntimeError([table.hand.tolist() for table in tables])

    class Cheat:
        # Greedy, but it tries its discards on the table that it digs up, and makes none that somebody wins with.
        name = "cheat"

        def act(self, view, rng):
            actions = GreedyAgent().act(view, rng)
            origin = inspect.getclosurevars(vars(view)["_ask"]).nonlocals["origin"]
            for row in np.flatnonzero(actions < 34):
                legal = np.flatnonzero(view.action_mask[row, :34])
                tried = origin.engine.select(np.repeat(origin.games[row], len(legal)))
                tried.step(legal)
                safe = ~tried.action_mask[:, 107]
                if safe.any() and not safe[legal == actions[row]].all():
                    actions[row] = legal[safe][0]
            return actions

    class Picky:
        def __init__(self):
            raise RuntimeError("not today")
    """
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "isolated_agents.py"
    path.write_text(AGENTS, encoding="utf-8")
    return path


def played(variant, spec, deals=4):
    rules = VARIANTS[variant]
    agents = [make_agent(spec), make_agent("greedy")]
    return measure(rules, agents, one_against_copies(0, 1, rules.people), deals=deals, seed=7), agents[0]


def same(variant, spec, deals=4):
    inside, agent = played(variant, spec, deals)
    apart, isolated = played(variant, f"isolated:{spec}", deals)
    assert isolated.name == f"isolated:{agent.name}"
    assert games_at_once([isolated]) == games_at_once([agent])
    assert inside == apart
    for one, two in zip(inside.totals, apart.totals, strict=True):
        assert one.tobytes() == two.tobytes()


def test_an_agent_with_a_state_plays_as_it_does_without(file):
    same("hebei", f"{file}:Moody?liking=5")


@pytest.mark.thorough
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_greedy_plays_as_it_does_without(variant):
    same(variant, "greedy", deals=3)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "spec",
    ["notebooks/examples/search_agent.py:SearchAgent?worlds=2", "search?rollouts=16&actions=2&plans=1&base=greedy"],
)
def test_an_agent_that_searches_plays_as_it_does_without(spec):
    """Worlds of the worlds that go over are those of the table, and all chance is the same afterwards."""
    inside, apart = make_agent(spec), make_agent(f"isolated:{spec}")
    for variant in ("fuzhou", "hebei", "taiwan"):
        engine = positions(variant, games=4, steps=20, seed=12)
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        for _ in range(2):
            actions = inside.act(engine.view(), one)
            assert actions.tolist() == apart.act(engine.view(), other).tolist()
            engine.step(actions)
        assert one.bit_generator.state == other.bit_generator.state


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Failing", r"AttributeError: 'View' object has no attribute 'origin' \(.*isolated_agents.py, line 2\d\)"),
        *(
            pytest.param(*failure, marks=pytest.mark.thorough)
            for failure in (
                ("Dying", r"the process of the agent '.*Dying' has ended \(exit code 7\)"),
                ("Words", r"Words', in a process of its own: AttributeError: 'object' object"),
                ("Short", r"'isolated:Short' answered float64 of shape \(1,\) for 2 seats"),
                ("Picky", r"Picky', in a process of its own: .*RuntimeError: not today"),
            )
        ),
    ],
)
def test_what_fails_there_is_said_here(file, name, message):
    engine, rng = make_engine("hebei", 2, seed=1), np.random.default_rng(12345)
    games, before = np.arange(2), engine.snapshot().to_bytes()
    with pytest.raises(AgentError, match=message):
        choose_actions(engine, games, [make_agent(f"isolated:{file}:{name}")], games * 0, rng)
    assert engine.snapshot().to_bytes() == before


def test_an_agent_that_digs_finds_tables_that_are_made_up(file, monkeypatch):
    monkeypatch.setattr("sys.argv", ["evaluate", "--seed", "5"])
    engine = make_engine("hebei", 1, seed=1)
    agent = make_agent(f"isolated:{file}:Digs")
    with pytest.raises(AgentError, match="RuntimeError: ") as raised:
        agent.act(engine.view(), np.random.default_rng(12345))
    person, hands = int(engine.seat_to_act[0]), engine.state.hand[0].tolist()
    told = str(raised.value)
    assert str(hands[person]) in told
    assert str(hands[(person + 1) % 3]) not in told
    assert str(hands[(person + 2) % 3]) not in told


@pytest.mark.thorough
def test_an_agent_that_cheats_gains_nothing_there(file):
    """The agent of twenty lines, by the way that Python leaves open: it hardly ever deals in, until it is isolated."""
    inside, _ = played("taiwan", f"{file}:Cheat", 30)
    apart, _ = played("taiwan", f"isolated:{file}:Cheat", 30)
    honest = apart.of(1).deal_ins
    assert inside.of(0).deal_ins.high < honest.low
    assert apart.of(0).deal_ins.high > honest.mean


def test_chance_of_rows_is_pickled_with_its_rows():
    keys = np.array([3, 5], np.uint64)
    chance = SharedChance(np.random.SeedSequence(4)).decide(keys)
    chance.random((2, 3))
    twin = pickle.loads(pickle.dumps(chance))
    assert isinstance(twin, SharedChance)
    rows = RowChance(np.random.SFC64(3), np.array([1, 0, 1]), 2)
    other = pickle.loads(pickle.dumps(rows))
    for one, two, shape in ((chance, twin, (2, 4)), (chance, twin, (5,)), (rows, other, (3, 2)), (rows, other, (7,))):
        assert one.random(shape).tobytes() == two.random(shape).tobytes()


def test_shared_chance_does_not_tell_its_seed():
    """Whoever knows the seed of an evaluation can deal all of it."""
    chance = SharedChance(np.random.SeedSequence([20_000, 1, 0]))
    assert not np.isin(20_000, np.asarray(chance.bit_generator.seed_seq.entropy))
    other = SharedChance(np.random.SeedSequence([20_000, 1, 1]))
    assert chance.integers(2**60) != other.integers(2**60)
