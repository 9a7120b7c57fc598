"""Agents by name: registered ones, classes of one's own, options, and what is said of those that fail."""

import pickle
import sys
import textwrap

import gymnasium
import numpy as np
import pytest

import mahjong_agents
from mahjong_agents import make_agent
from mahjong_env import ActionError, AgentError, MahjongError, make_engine
from mahjong_env.basics import plugins
from mahjong_env.environments.agents import (
    ENTRY_POINTS,
    KIND,
    RandomAgent,
    agent_names,
    ask,
    choose_actions,
    find_agent,
    parse_address,
    read_value,
)

CAUTIOUS = textwrap.dedent(
    """
    from __future__ import annotations
    from typing import Literal
    import numpy as np
    from neighbour import PREFERRED

    class Cautious:
        def __init__(self, depth: int = 1, *, share: float = 0.5, fast: bool = False, label: str | None = None,
                     style: Literal["calm", "wild"] = "calm", other=None):
            self.given = (depth, share, fast, label, style, other)

        def act(self, view, rng):
            return view.action_mask.argmax(axis=1)

    def calm():
        return Cautious()

    def leave():
        raise SystemExit(3)

    class Picky:
        def __init__(self, place):
            raise RuntimeError("not today")

    class Idle:
        pass

    READY = Cautious(7)
    NUMBER = 3
    """
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module `cautious_mahjong`, on the path; all that it loads is forgotten again."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    (tmp_path / "cautious_mahjong.py").write_text(CAUTIOUS, encoding="utf-8")
    (tmp_path / "neighbour.py").write_text("PREFERRED = 1\n", encoding="utf-8")
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def install(folder, monkeypatch, distribution, **entries):
    """Install a distribution that registers agents: a folder of metadata on the path is one."""
    metadata = folder / f"{distribution}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", encoding="utf-8")
    lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
    (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{lines}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


# --- Names --------------------------------------------------------------------------------------------------


def test_there_is_one_registry():
    assert mahjong_agents.agent_names is agent_names
    assert {"random", "greedy", "policy"} <= set(agent_names())
    assert mahjong_agents.RandomAgent is RandomAgent is type(make_agent("random"))


def test_registered_agents_are_known_everywhere(folder, monkeypatch):
    install(folder, monkeypatch, "cautious", cautious="cautious_mahjong:Cautious")
    assert "cautious" in agent_names()
    assert make_agent("cautious:3?fast=true").given[:3] == (3, 0.5, True)
    env = gymnasium.make("mahjong_env/Hebei-v0", opponents=["cautious", "random"])
    env.reset(seed=1)
    assert make_agent("cautious").name == "Cautious", "tables and plots ask for a name"


@pytest.mark.parametrize("name", ["cautious", "random", "greedy"])
def test_a_name_taken_twice_is_an_error_that_names_both(name, folder, monkeypatch):
    install(folder, monkeypatch, "cautious", **{name: "cautious_mahjong:Cautious"})
    install(folder, monkeypatch, "other", cautious="elsewhere:Other")
    owners = {"random": "mahjong_env itself", "cautious": "other 1.2", "greedy": "mahjong-env"}
    for make in (find_agent, make_agent):
        with pytest.raises(AgentError, match=f"{name!r} is registered more than once") as caught:
            make(name)
        assert owners[name] in str(caught.value)
        assert "cautious 1.2 (cautious_mahjong:Cautious)" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Agent", "'broken', registered by faulty 1.2, cannot be loaded: .*no_such_module"),
        ("cautious_mahjong:Missing", "registered by faulty 1.2, cannot be loaded: .*AttributeError"),
        ("raises_at_once:Agent", "registered by faulty 1.2, cannot be loaded: .*ZeroDivisionError"),
        ("cautious_mahjong:NUMBER", "faulty 1.2 .* is made by calling 3"),
        ("cautious_mahjong:Idle", "is not an agent: it has no act"),
    ],
)
def test_a_broken_registration_is_an_error_that_names_its_distribution(value, message, folder, monkeypatch):
    (folder / "raises_at_once.py").write_text("1 / 0\n", encoding="utf-8")
    install(folder, monkeypatch, "faulty", broken=value)
    with pytest.raises(AgentError, match=message):
        find_agent("broken")
    assert find_agent("random").name == "random", "others are not concerned"


def test_a_checkout_needs_no_installation(folder, monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    assert make_agent("greedy").name == "greedy"
    assert plugins.distribution(plugins.installed(ENTRY_POINTS)["greedy"][0]) == "this checkout of mahjong-env"


def test_what_was_said_at_installation_gives_way_to_the_checkout(folder, monkeypatch):
    install(folder, monkeypatch, "Mahjong_Env", greedy="somewhere:Old", gone="somewhere:Gone")
    assert make_agent("greedy").name == "greedy"
    assert "gone" not in agent_names()
    monkeypatch.setattr(plugins, "_checkout", lambda: None)
    assert "gone" in agent_names(), "where there is no checkout, what is installed counts"


# --- Without packaging --------------------------------------------------------------------------------------


def test_a_class_in_a_module(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    agent = make_agent("cautious_mahjong:Cautious?share=1&label=x")
    assert (agent.name, agent.given[:4]) == ("Cautious", (1, 1.0, False, "x"))
    assert make_agent("cautious_mahjong:calm").name == "Cautious"
    assert make_agent("cautious_mahjong:READY").given[0] == 7


def test_a_class_in_a_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for place in ("cautious_mahjong.py", str(folder / "cautious_mahjong.py"), "./cautious_mahjong.py"):
        agent = make_agent(f"{place}:Cautious?style=wild")
        assert agent.given[4] == "wild"
    assert type(pickle.loads(pickle.dumps(agent))) is type(agent), "a worker process can be sent one"


def test_a_file_may_bear_the_name_of_a_module_that_is_something_else(folder):
    (folder / "random.py").write_text(
        "class Mine:\n    def act(self, view, rng):\n        return None\n", encoding="utf-8"
    )
    agent = make_agent(f"{folder}/random.py:Mine")
    assert type(agent).__name__ == "Mine"
    import random

    assert hasattr(random, "randrange")
    assert type(make_agent(f"{folder}/random.py:Mine")) is type(agent)


def test_an_object():
    mine = RandomAgent()
    assert find_agent(mine) is make_agent(mine) is mine


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", "no agent is called 'nobody'; valid are .*greedy.*, module:Class, file.py:Class"),
        ("no_such_module:Agent", "there is no module no_such_module; valid are .*greedy"),
        ("cautious_mahjong:Missing", "has no 'Missing'; it offers Cautious, calm"),
        ("cautious_mahjong:NUMBER", "NUMBER is 3, not a class"),
        ("cautious_mahjong:Idle", "is not an agent: it has no act"),
        ("cautious_mahjong:Picky?place=x", "cannot be made: RuntimeError: not today"),
        ("cautious_mahjong:Picky", "it needs 'place', as in cautious_mahjong:Picky"),
        ("missing.py:Agent", "there is no file missing.py"),
        ("missing.py", "there is no file missing.py"),
        ("cautious_mahjong.py", "a class is missing: write cautious_mahjong.py:NAME; it offers Cautious, calm"),
        ("cautious_mahjong.py:", "a class is missing: write cautious_mahjong.py:NAME; it offers Cautious, calm"),
        ("syntax.py:Agent", "syntax.py cannot be run: SyntaxError"),
        ("syntax:Agent", "syntax cannot be imported: SyntaxError"),
        ("leaves.py:Agent", "leaves.py cannot be run: SystemExit: 3"),
        ("leaves:Agent", "leaves cannot be imported: SystemExit: 3"),
        ("cautious_mahjong:leave", "cannot be made: SystemExit: 3"),
        ("nameless.py:Agent", "give its class a `name`, a text; none can be set"),
        ("greedy?claims=maybe", "'claims' is true or false, not 'maybe'"),
        ("greedy?claims=2", "'claims' is true or false, not '2'"),
        ("greedy?claim=true", "has no option 'claim'; its options are: claims"),
        ("greedy?claims", "options are written"),
        ("greedy?claims=true&claims=false", "'claims' is given twice"),
        ("greedy:fast", "it takes nothing after the colon, not 'fast'"),
        ("cautious_mahjong:Cautious?depth=1.5", "'depth' is an integer, not '1.5'"),
        ("cautious_mahjong:Cautious?share=much", "'share' is a number, not 'much'"),
        ("cautious_mahjong:Cautious?style=loud", "'style' is calm or wild, not 'loud'"),
        (3, "3 is not an agent"),
        (None, "None is not an agent"),
        (RandomAgent, r"RandomAgent is a class; give an agent, such as RandomAgent\(\)"),
    ],
)
def test_what_is_no_agent_is_an_error_that_says_what_is_valid(spec, message, folder, monkeypatch):
    (folder / "syntax.py").write_text("class Agent(:\n", encoding="utf-8")
    (folder / "leaves.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    nameless = "class Agent:\n    __slots__ = ()\n\n    def act(self, view, rng):\n        return None\n"
    (folder / "nameless.py").write_text(nameless, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    for make in (find_agent, make_agent):
        with pytest.raises(AgentError, match=message):
            make(spec)


def test_agents_are_named_with_an_argument_and_options():
    assert parse_address(KIND, "random") == ("random", {})
    assert parse_address(KIND, "policy:runs/a.zip?sample=true&temperature=0.5&note=a=b") == (
        "policy:runs/a.zip",
        {"sample": "true", "temperature": "0.5", "note": "a=b"},
    )
    assert [read_value(text) for text in ("None", "False", "12", "1e-3", "all")] == [None, False, 12, 0.001, "all"]


# --- What agents answer -------------------------------------------------------------------------------------


class Answers:
    name = "stubborn"

    def __init__(self, answer):
        self.answer = answer

    def act(self, view, rng):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(2), r"'stubborn' answered float64 of shape \(2,\) for 2 seats, the first of them in game 1, seat \d"),
        ([0, np.nan], r"'stubborn' answered nan in game 5, seat {seat}"),
        ([1, 2, 3], r"'stubborn' answered int64 of shape \(3,\) for 2 seats, the first of them in game 1"),
        ([[1], [2, 3]], "'stubborn' answered"),
        (None, "'stubborn' answered object"),
        (np.ma.array([0, 0], mask=True), "'stubborn' answered a masked array of int64"),
        (
            [0, 108],
            r"'stubborn' answered 'pass' \(108\) in game 5, seat {seat}, which is not legal there; legal",
        ),
        ([0, 200], "'stubborn' answered 200 in game 5"),
        ([0, -1], "'stubborn' answered -1 in game 5"),
    ],
)
def test_a_bad_answer_names_the_agent_the_game_and_the_seat(answer, message):
    engine = make_engine("hebei", 6, seed=1)
    games = np.array([1, 5])
    if isinstance(answer, list) and answer[0] == 0:
        answer = [int(engine.action_mask[1].argmax()), answer[1]]
    message = message.replace("{seat}", str(engine.seat_to_act[5]))
    with pytest.raises(AgentError, match=message):
        ask(Answers(answer), engine, games, np.random.default_rng(0))
    with pytest.raises(MahjongError, match="stubborn"):
        choose_actions(engine, games, [RandomAgent(), Answers(answer)], np.array([1, 1]), np.random.default_rng(0))


def test_an_error_of_an_agent_itself_is_raised_with_a_note_that_names_it():
    class Fails(Answers):
        def act(self, view, rng):
            return 1 // self.answer

        def explain(self, view, rng):
            return self.act(view, rng), []

    engine, games, rng = make_engine("hebei", 6, seed=1), np.array([3, 5]), np.random.default_rng(0)
    for thoughts in (None, {}):
        with pytest.raises(ZeroDivisionError) as raised:
            ask(Fails(0), engine, games, rng, thoughts)
        note = f"the agent 'stubborn' was asked for 2 seats, the first of them in game 3, seat {engine.seat_to_act[3]}"
        assert raised.value.__notes__ == [note]


def test_an_agent_that_leaves_python_is_an_error_that_names_it():
    class Leaves(Answers):
        def act(self, view, rng):
            sys.exit(self.answer)

    engine, games, rng = make_engine("hebei", 6, seed=1), np.array([3, 5]), np.random.default_rng(0)
    seat = engine.seat_to_act[3]
    message = rf"'stubborn' was asked for 2 seats, the first .* game 3, seat {seat}, and called sys.exit\(0\)"
    with pytest.raises(AgentError, match=message):
        ask(Leaves(0), engine, games, rng)


@pytest.mark.parametrize("name", ["random", "value", "policy", "policy:hebei?sample=true"])
def test_seats_that_are_not_asked_have_no_action(name):
    engine = make_engine("hebei", 4, seed=1)
    seen = engine.view(seats=(engine.seat_to_act + np.array([0, 0, 1, 0])) % 3)
    with pytest.raises(ActionError, match="row 2 of the mask allows no action: nobody is to act there"):
        make_agent(name).act(seen, np.random.default_rng(1))
