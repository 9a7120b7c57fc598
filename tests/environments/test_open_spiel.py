"""The variants as games of OpenSpiel: its own simulation, our engine beside it, its bots, and what a player knows."""

import pickle
import runpy
import subprocess
import sys

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import (
    ACTIONS,
    VARIANTS,
    IllegalActionError,
    MahjongError,
    MissingExtraError,
    RulesError,
    make_engine,
    rules,
)
from mahjong_env.basics.actions import PASS
from mahjong_env.state.arrays import Phase
from support.marks import everyday, variants

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms.ismcts import ISMCTSBot  # noqa: E402
from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator  # noqa: E402

from mahjong_env.environments import open_spiel  # noqa: E402

GREEDY = make_agent("greedy")
RECALL = pyspiel.IIGObservationType(perfect_recall=True)


def dealt(name, *digits):
    state = pyspiel.load_game(name).new_initial_state()
    for digit in digits:
        state.apply_action(digit)
    return state


def eager(state, rng):
    """Claims and kongs half of the time, so that all kinds of events come up."""
    legal = state.legal_actions()
    return int(rng.choice([action for action in legal if 33 < action < 108 and rng.random() < 0.5] or legal))


@pytest.mark.parametrize("variant", variants("hebei"))
def test_the_random_simulation_of_open_spiel(variant):
    pyspiel.random_sim_test(pyspiel.load_game(open_spiel.game_name(variant)), num_sims=1, serialize=True, verbose=False)


TABLES = [
    *((f"mahjong_{variant}", variant, {}) for variant in sorted(VARIANTS)),
    ("mahjong_hebei(rotation=True)", "hebei", {"rotation": True}),
    ("mahjong_hebei(players=4,cap=2)", "hebei", {"players": 4, "cap": 2}),
    ("mahjong_wuhan(cap=-1)", "wuhan", {"cap": None}),
]


@pytest.mark.parametrize("table", everyday(TABLES, TABLES[1:2] + TABLES[-3:]))
def test_the_same_deal_and_actions_in_the_engine(table):
    name, variant, knobs = table
    game, rng = pyspiel.load_game(name), np.random.default_rng(3)
    assert game.rules == rules(variant, **knobs)
    assert game.num_players() == game.rules.people
    moved = False
    for _ in range(3):
        digits = rng.integers(256, size=4).tolist()
        engine = make_engine(variant, seed=int.from_bytes(digits, "big"), **knobs)
        state, paid, length = dealt(name, *digits), np.zeros(game.num_players()), 0
        while not state.is_terminal():
            person = state.current_player()
            assert person == engine.seat_to_act[0]
            assert np.array_equal(state.legal_actions_mask(), engine.action_mask[0])
            assert state.returns() == [0.0] * game.num_players()
            seen = np.reshape(state.observation_tensor(person), game.observation_tensor_shape())
            assert np.array_equal(seen, engine.observe()[0])
            action = int(GREEDY.act(engine.view(), rng)[0]) if rng.random() < 0.9 else eager(state, rng)
            assert state.action_to_string(person, action) == ACTIONS[action]
            state.apply_action(action)
            paid += engine.step([action]).rewards[0]
            length += 1
        assert engine.seat_to_act[0] == -1
        assert state.returns() == paid.tolist() == state.rewards()
        assert length <= game.max_game_length()
        again = dealt(name, *state.history())
        assert (str(again), again.returns()) == (str(state), state.returns())
        moved |= bool(paid.any())
    assert moved


def knowledge(state, player):
    """All that a player is told of a state."""
    tensors = state.information_state_tensor(player), state.observation_tensor(player)
    return state.information_state_string(player), state.observation_string(player), tensors


@pytest.mark.parametrize("variant", variants("hebei", "fuzhou"))
def test_a_resampled_state_looks_the_same_and_can_be_played(variant):
    """As OpenSpiel's ResampleInfostateTest, for every player."""
    name, rng = open_spiel.game_name(variant), np.random.default_rng(5)
    sampler, changed = pyspiel.UniformProbabilitySampler(6, 0.0, 1.0), 0
    state = dealt(name, 1, 2, 3, 4)
    while not state.is_terminal():
        player = int(rng.integers(state.num_players()))
        if rng.random() < 0.2:
            other = state.resample_from_infostate(player, sampler)
            assert knowledge(other, player) == knowledge(state, player)
            assert other.current_player() == state.current_player()
            assert not other.history()  # the true one would tell the deal
            assert other.choices[player] == state.choices[player]
            assert not any(choices for person, choices in enumerate(other.choices) if person != player)
            changed += str(other) != str(state)
            twin = other.clone()
            while not other.is_terminal():
                action = eager(other, rng)
                other.apply_action(action)
                twin.apply_action(action)
            assert sum(other.returns()) == 0
            assert str(twin) == str(other)
        state.apply_action(eager(state, rng))
    assert changed > 3


def test_a_player_remembers_its_choices_and_nobody_else_is_told_of_a_pass():
    state, rng, seen = dealt("mahjong_taiwan", 0, 0, 0, 5), np.random.default_rng(0), 0
    observer = state.get_game().make_py_observer(RECALL)
    while not state.is_terminal():
        player, legal = state.current_player(), state.legal_actions()
        if len(legal) > 1 and PASS in legal:
            passed, claimed = state.child(PASS), state.child(legal[0])
            assert passed.choices[player][-1][2] == PASS
            observer.set_from(passed, player)
            listed = observer.dict["choices"]
            assert listed[listed.any(axis=1)].tolist() == [list(choice) for choice in passed.choices[player]]
            listed = observer.dict["events"]
            assert np.array_equal(listed[listed.any(axis=1)], passed.engine.view(seats=player).events[0])
            for told in ("information_state_string", "information_state_tensor"):
                assert getattr(passed, told)(player) != getattr(claimed, told)(player)
            if passed.engine.state.phase[0] == Phase.CLAIM:  # another player is asked about the same tile
                seen += 1
                for other in {*range(4)} - {player, passed.current_player()}:
                    assert knowledge(passed, other) == knowledge(state, other)
        state.apply_action(int(rng.choice(legal)))
    assert seen


def test_what_is_refused_changes_nothing():
    state = dealt("mahjong_hebei")
    for digit in (256, -2):
        with pytest.raises(IllegalActionError, match=f"a digit of the deal is an integer from 0 to 255, not {digit}"):
            state.apply_action(digit)
    state = dealt("mahjong_hebei", 0, 0, 0, 7)
    player = state.current_player()
    before = knowledge(state, player), str(state), state.history()
    wrong = next(action for action in range(len(ACTIONS)) if action not in state.legal_actions())
    with pytest.raises(IllegalActionError, match="is not legal; legal are"):
        state.apply_action(wrong)
    assert (knowledge(state, player), str(state), state.history()) == before
    drawn = state.engine.view().drawn[0]
    state.apply_action(state.legal_actions()[0])
    assert state.choices[player] == [(drawn, -1, state.history()[-1])]


def test_states_are_copied_pickled_and_written():
    state, rng = dealt("mahjong_hangzhou(cap=128)", 9, 9, 9, 9), np.random.default_rng(1)
    for _ in range(25):
        state.apply_action(eager(state, rng))
    twins = [state.clone(), pickle.loads(pickle.dumps(state)), state.get_game().deserialize_state(state.serialize())]
    for twin in twins:
        assert (str(twin), twin.history(), twin.choices) == (str(state), state.history(), state.choices)
    state.apply_action(state.legal_actions()[0])
    assert all(str(twin) != str(state) for twin in twins)
    game = pickle.loads(pickle.dumps(state.get_game()))
    assert (str(game), game.rules) == (str(state.get_game()), state.get_game().rules)


@pytest.mark.parametrize("search", everyday([MCTSBot, ISMCTSBot], [ISMCTSBot]))
def test_search_of_open_spiel_plays(search):
    game, rng = pyspiel.load_game("mahjong_hebei"), np.random.RandomState(1)
    bot = search(game, evaluator=RandomRolloutEvaluator(1, rng), uct_c=4.0, max_simulations=3, random_state=rng)
    state, asked = dealt("mahjong_hebei", 0, 0, 0, 5), 0
    while not state.is_terminal():
        if state.current_player() == 0 and asked < 12:
            before, asked = str(state), asked + 1
            action = int(bot.step(state))
            assert str(state) == before
        else:
            action = int(rng.choice(state.legal_actions()))
        assert action in state.legal_actions()
        state.apply_action(action)
    assert asked
    assert sum(state.returns()) == 0


def test_parameters_are_the_knobs():
    assert str(pyspiel.load_game("mahjong_hebei")) == "mahjong_hebei()"
    assert pyspiel.load_game("mahjong_hebei", {"cap": 8}).get_parameters() == {"cap": 8}
    for text, error in {
        "cap=0": (RulesError, "cap=0 is not valid"),
        "players=7": (RulesError, "valid are 3, 4"),
        "nonsense=1": (pyspiel.SpielError, "Unknown parameter 'nonsense'"),
    }.items():
        with pytest.raises(error[0], match=error[1]):
            pyspiel.load_game(f"mahjong_hebei({text})")
    with pytest.raises(RulesError, match="a game of OpenSpiel is one hand"):
        pyspiel.load_game("mahjong_hangzhou(match_end=points)")


def test_what_is_not_provided_is_said():
    game = pyspiel.load_game("mahjong_hebei")
    with pytest.raises(RulesError, match="observations are of one player"):
        game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True, public_info=False))
    with pytest.raises(MahjongError, match="nothing has been dealt"):
        game.new_initial_state().resample_from_infostate(0, lambda: 0.5)
    assert game.make_py_observer(RECALL).dict.keys() == {"observation", "events", "choices"}


def test_without_open_spiel_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mahjong-env\[openspiel\]'"):
        runpy.run_path(open_spiel.__file__)


def test_python_ends_well_with_games_registered():
    code = "import pyspiel, mahjong_env.environments.open_spiel; print(pyspiel.load_game('mahjong_fuzhou'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("mahjong_fuzhou()\n", "")
