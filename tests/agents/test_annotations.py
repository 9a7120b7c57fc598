"""What agents tell of their choices: the same game is played, and every number is about a legal action."""

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_agents.base import annotate
from mahjong_env.environments.agents import ExplainingAgent, ask
from mahjong_env.records import GameRecord, Recorder, replay_points


def played(variant, agents, *, thoughts):
    """The record of a hand, and how many decisions each agent had to take."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=5), np.random.default_rng(5)
    found, choices = [], np.zeros(len(agents), int)
    recorder = Recorder(engine, lambda *records: found.extend(records), thoughts=thoughts)
    while (seat := int(engine.seat_to_act[0])) >= 0:
        choices[seat] += engine.action_mask[0].sum() > 1
        recorder.step(ask(agents[seat], engine, np.zeros(1, np.intp), rng, recorder.thoughts))
    return found[0], choices


@pytest.mark.parametrize(
    ("variant", "spec", "key"),
    [
        ("wuhan", "policy:wuhan", "probabilities"),
        ("wuhan", "policy:wuhan?sample=true", "probabilities"),
        ("taiwan", "value", "values"),
        pytest.param("hebei", "search?rollouts=16&likely=0", "values", marks=pytest.mark.thorough),
    ],
)
def test_agents_tell_and_play_the_same(variant, spec, key):
    people = mahjong_env.rules(variant).people
    agents = [make_agent(spec)] * people
    assert isinstance(agents[0], ExplainingAgent)
    (silent, _), (told, choices) = (played(variant, agents, thoughts=thoughts) for thoughts in (False, True))
    assert told.actions == silent.actions
    assert not silent.notes
    assert 0.5 * choices.sum() < len(told.notes) <= choices.sum()
    again = GameRecord.from_json(told.to_json())
    assert again == told
    assert replay_points(again) == told.points
    for number, note in told.notes.items():
        assert set(note) == {key}
        assert 1 <= len(note[key]) <= 5
        numbers = list(note[key].values())
        assert numbers == sorted(numbers, reverse=True)
        if key == "probabilities":
            assert sum(numbers) <= 1.003
            if "sample" not in spec:
                assert mahjong_env.ACTIONS[told.actions[number]] == next(iter(note[key]))
    assert len(told.to_json()) < len(silent.to_json()) + 200 * choices.sum()


def test_agents_that_cannot_tell_say_nothing():
    told, _ = played("hebei", [make_agent("greedy")] * 3, thoughts=True)
    assert not told.notes


def test_notes_name_the_best_actions_of_real_choices():
    row, action = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 108, 2, 3])
    assert annotate("probabilities", 3, row, action, np.array([0.25, 0.75, 1.0, 0.9999, 0.0001])) == [
        {"probabilities": {"discard 2m": 0.75, "discard 1m": 0.25}},
        None,
        {"probabilities": {"discard 3m": 1.0}},
    ]
    assert annotate("values", 3, row, action, np.array([1.0, 2.0, 0.0, -1.0, -2.0]))[2] == {
        "values": {"discard 3m": -1.0, "discard 4m": -2.0}
    }
