"""Agents that are asked in words: functions by their address, batches, refusals, and the example."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import AgentError, make_agent
from mahjong_agents.text_agent import TextAgent
from mahjong_env import make_engine
from mahjong_env.cli import main
from mahjong_env.environments.agents import choose_actions
from mahjong_training import measure, one_against_copies
from support.positions import asked_in_mid_hand

EXAMPLE = Path(__file__).parents[2] / "notebooks" / "examples" / "text_agent.py"
ADDRESS = f"text:{EXAMPLE}:answer"


@pytest.fixture
def view():
    return asked_in_mid_hand("hebei", 20, 12)


def last(prompt):
    """Takes the last action of the list."""
    return re.findall(r"^(\d+): ", prompt, re.MULTILINE)[-1]


def last_of_all(prompts: list[str]):
    assert len(prompts) > 1
    return [last(prompt) for prompt in prompts]


class Stubborn:
    """Needs to be told twice."""

    def __init__(self):
        self.heard = []

    def __call__(self, prompt):
        self.heard.append(prompt)
        return "1" if prompt.count("That is refused") == 2 else "win now"


@pytest.mark.parametrize("function", [last, last_of_all])
def test_a_function_plays_one_by_one_or_all_at_once(function, view):
    wanted = view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)
    agent = TextAgent(function)
    assert agent.act(view, np.random.default_rng(0)).tolist() == wanted.tolist()
    assert agent.name == f"text:{function.__name__}"
    assert agent.refused == 0


def test_refusals_are_told_back(view):
    function = Stubborn()
    row = view.take(view.action_mask[:, 107] == 0).take([0])
    agent = TextAgent(function)
    assert agent.act(row, np.random.default_rng(0)) == row.action_mask.argmax()
    assert agent.refused == 2
    assert "You answered:\nwin now\nThat is refused: 'win' is not legal: " in function.heard[-1]
    assert function.heard[0].startswith("You play Hebei")
    with pytest.raises(AgentError, match="2 answers that were refused, the last because 'win' is not legal"):
        TextAgent(function, tries=2).act(row, np.random.default_rng(0))
    greedy = TextAgent(function, tries=2, otherwise="greedy")
    wanted = make_agent("greedy").act(row, np.random.default_rng(3))
    assert greedy.act(row, np.random.default_rng(3)) == wanted
    assert (greedy.refused, greedy.replaced) == (2, 1)


def test_where_one_action_is_legal_nobody_is_asked():
    engine = make_engine("hebei", 1, seed=1)
    engine.state.mask[0] = False
    engine.state.mask[0, 5] = True
    assert TextAgent(lambda prompt: 1 / 0).act(engine.view(), np.random.default_rng(0)) == 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_agent(f"text:{EXAMPLE}:reply"), "has no 'reply'; it offers answer"),
        (lambda: make_agent("text:nowhere.py:answer"), "there is no file nowhere.py"),
        (lambda: make_agent("text:answer"), "no function is called 'answer'; valid are file.py:function"),
        (lambda: make_agent("text"), "it needs 'function'"),
        (lambda: make_agent(f"{ADDRESS}?tries=0"), "tries is an integer from 1"),
        (lambda: make_agent(f"{ADDRESS}?otherwise=nobody"), "no agent is called 'nobody'"),
    ],
)
def test_what_cannot_be_made(make, message):
    with pytest.raises(AgentError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda prompt: None, r"answers \[None.*\], not a text"),
        (lambda prompt: {}["key"], "fails: KeyError: 'key'"),
    ],
)
def test_a_function_that_fails(function, message, view):
    with pytest.raises(AgentError, match=message):
        TextAgent(function).act(view, np.random.default_rng(0))


def test_as_many_answers_as_prompts(view):
    def too_few(prompts: list[str]) -> list[str]:
        return prompts[:1]

    with pytest.raises(AgentError, match=r"not a list of \d+ texts"):
        TextAgent(too_few).act(view, np.random.default_rng(0))


def test_the_example_plays_wherever_agents_are_named(capsys):
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 80
    agent = make_agent(ADDRESS)
    rules = make_engine("wuhan").rules
    found = measure(rules, [agent, make_agent("random")], one_against_copies(0, 1, rules.people), deals=2, seed=7)
    assert np.isfinite(found.of(0).points.mean)
    assert agent.refused == 0
    command = ["show", "--variant", "taiwan", "--seed", "1", "--agents", ADDRESS, "random", "random", "random"]
    assert main(command) == 0
    assert "the match is over" in capsys.readouterr().out
    engine = make_engine("hebei", 2, seed=1)
    games = np.arange(2)
    assert (choose_actions(engine, games, [agent], games * 0, np.random.default_rng(0)) >= 0).all()


def test_the_example_wins_hands(capsys):
    spec = importlib.util.spec_from_file_location("text_agent", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sum(module.main(6)) > 0
    assert "### Scoring table" in capsys.readouterr().out
