"""One game as a PettingZoo environment."""

import importlib
import pickle
import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state_space as check_state_space

import mahjong_env
from mahjong_agents import GreedyAgent
from mahjong_env import ACTIONS, VARIANTS, Deal, IllegalActionError, action
from mahjong_env.engine.phases import settle
from mahjong_env.environments.registration import ENTRY_MODULES, pettingzoo_id

# The two that PettingZoo has for every dictionary of observations.
UNAVOIDABLE = ("probably should be gymnasium.spaces.box", "Observation is not a NumPy array")


@pytest.fixture(params=sorted(ENTRY_MODULES))
def module(request):
    return importlib.import_module(f"mahjong_env.{request.param}")


@pytest.fixture
def hebei():
    return importlib.import_module("mahjong_env.hebei_v0")


def play(env, rng, until=10**9):
    """Plays at random; yields (agent, reward, info) as each agent is told."""
    for _, agent in zip(range(until), env.agent_iter(), strict=False):
        observation, reward, terminated, truncated, info = env.last()
        yield agent, reward, info
        is_over = terminated or truncated
        env.step(None if is_over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))


def test_every_variant_has_its_module():
    assert {variant for variant, _ in ENTRY_MODULES.values()} == set(VARIANTS)
    for name, (variant, version) in ENTRY_MODULES.items():
        assert version == VARIANTS[variant].version
        assert getattr(mahjong_env, name).raw_env().metadata["name"] == name
    with pytest.raises(AttributeError, match="nothing_v0"):
        mahjong_env.nothing_v0  # noqa: B018 the look-up is what is tested


# --- PettingZoo's own tests ---------------------------------------------------------------------------------


def test_api(module, capsys):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(module.env(), num_cycles=300)
    unexpected = [str(w.message) for w in caught if not any(known in str(w.message) for known in UNAVOIDABLE)]
    assert unexpected == []


@pytest.mark.filterwarnings("error")
def test_seeds(module):
    seed_test(module.env, num_cycles=300)


@pytest.mark.filterwarnings("error")
def test_rendering(module, capsys):
    render_test(module.env)
    assert "player_0" in capsys.readouterr().out


@pytest.mark.filterwarnings("error")
def test_states_lie_in_their_space(module):
    env = module.raw_env(num_hands=2)
    check_state_space(env)
    env.reset(seed=5)
    seen = set()
    for _ in play(env, np.random.default_rng(5)):
        state = env.state()
        assert env.state_space.contains(state)
        seen.add(state.tobytes())
    assert len(seen) > 50


def test_registry(module):
    if not hasattr(pettingzoo, "make"):
        pytest.skip("PettingZoo has a registry from 1.27 on")
    variant, version = ENTRY_MODULES[module.__name__.partition(".")[2]]
    env = pettingzoo.make("aec", pettingzoo_id(variant, version), num_hands=2)
    assert env.unwrapped.metadata["name"] == f"{variant}_v{version}"
    assert env.unwrapped.engine.num_hands == 2


def test_pickles(hebei):
    env = pickle.loads(pickle.dumps(hebei.raw_env(num_hands=3, all_pungs=2, render_mode="ansi")))
    assert (env.engine.num_hands, env.engine.rules.all_pungs, env.render_mode) == (3, 2, "ansi")


# --- The game inside ----------------------------------------------------------------------------------------


def test_is_the_engine_s_game(module):
    env = module.env(num_hands=2)
    env.reset(seed=11)
    engine = mahjong_env.make_engine(env.unwrapped.engine.rules, 1, num_hands=2, seed=11)
    rng = np.random.default_rng(0)
    told = np.zeros(engine.num_people, np.int64)
    for agent in env.agent_iter():
        person = int(agent.removeprefix("player_"))
        observation, reward, terminated, truncated, _ = env.last()
        told[person] += reward
        if terminated or truncated:
            env.step(None)
            continue
        assert person == engine.seat_to_act[0]
        assert observation["action_mask"].tolist() == engine.action_mask[0].tolist()
        assert np.array_equal(observation["observation"], engine.observe()[0])
        for other, name in enumerate(env.possible_agents):
            assert np.array_equal(env.observe(name)["observation"], engine.observe(seats=other)[0])
            assert env.observe(name)["action_mask"].any() == (other == person)
        chosen = int(GreedyAgent().act(engine.view(), rng)[0])
        env.step(chosen)
        result = engine.step([chosen])
        assert list(env.rewards.values()) == result.rewards[0].tolist()
    assert engine.seat_to_act[0] == -1
    assert told.tolist() == (engine.points[0] - engine.rules.starting_points).tolist()
    assert told.any(), "of hands in which nobody is paid nothing is learned"


def test_points_are_paid_in_the_step_that_owes_them(hebei):
    env = hebei.env()
    # hebei.md#kongs-are-paid-at-once: a concealed kong is paid 2 by every other player at once.
    env.reset(seed=1, options={"deal": Deal(hands=("1111m 258p 369s 1234z",), dealer=0)})
    env.step(action("concealed kong 1m"))
    assert env.rewards == {"player_0": 4, "player_1": -2, "player_2": -2}
    env.step(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])
    assert set(env.rewards.values()) == {0}


def test_nobody_acts_for_a_person_who_sits_out(hebei):
    env = hebei.env(rotation=True)
    env.reset(seed=4)
    assert env.agents == ["player_0", "player_1", "player_2", "player_3"]
    asked = dict.fromkeys(env.agents, 0)
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        if not terminated:
            asked[agent] += 1
            assert "player_3" in env.agents
        elif agent == "player_3":
            assert reward == 0
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if terminated else int(legal[0]))
    assert asked["player_3"] == 0
    assert min(asked[agent] for agent in ("player_0", "player_1", "player_2")) > 0


def test_a_match_goes_on_after_a_hand(hebei):
    env = hebei.env(num_hands=3)
    env.reset(seed=2)
    hands = {agent: [] for agent in env.possible_agents}
    for agent, _, info in play(env, np.random.default_rng(2)):
        if "outcome" in info:
            hands[agent].append(info["outcome"])
    told = next(iter(hands.values()))
    assert len(told) == 3
    assert all(seen == told for seen in hands.values()), "each person is told of each hand once"
    assert told[-1]["points"] == env.unwrapped.engine.points[0].tolist()
    assert env.unwrapped.engine.state.hand_in_match[0] == 2


def test_an_outcome_says_who_won(hebei):
    env = hebei.env()
    hand = "1112223334445m"
    env.reset(seed=3, options={"deal": Deal(hands=(hand + "5m", "", ""), dealer=0)})
    env.step(action("win"))
    outcome = env.infos["player_1"]["outcome"]
    assert (outcome["winner"], outcome["source"], outcome["from_seat"]) == (0, "draw", -1)
    assert dict(outcome["rows"])["All Pungs"] == 3
    assert outcome["payments"] == list(env.rewards.values())
    assert sum(outcome["payments"]) == 0 < outcome["value"]


def test_a_match_that_is_cut_short_is_truncated(monkeypatch):
    by_points = [v for v in VARIANTS.values() if "match_end" in v.knobs]
    if not by_points:
        pytest.skip("no variant ends its matches by points")
    monkeypatch.setattr(settle, "CUT_AFTER", 2)
    env = importlib.import_module(f"mahjong_env.{by_points[0].name}_v0").env(match_end="points", initial_points=10_000)
    env.reset(seed=1)
    for _ in play(env, np.random.default_rng(1), until=2000):
        if any(env.truncations.values()):
            break
    assert set(env.truncations.values()) == {True}
    assert set(env.terminations.values()) == {False}


def test_resetting_again_deals_the_next_hand(hebei):
    env = hebei.env()
    dealt = []
    for seed in (7, None, 7, None):
        env.reset(seed=seed)
        dealt.append(env.state().tobytes())
    assert dealt[0] == dealt[2]
    assert dealt[1] == dealt[3]
    assert dealt[0] != dealt[1]


# --- What users can get wrong -------------------------------------------------------------------------------


def test_an_illegal_action_raises_and_changes_nothing(hebei):
    env = hebei.env()
    env.reset(seed=1)
    before = env.unwrapped.engine.snapshot().to_bytes(), env.agent_selection, dict(env.rewards), env.state().tobytes()
    illegal = int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])
    with pytest.raises(
        IllegalActionError, match=rf"seat {env.agent_selection[-1]}.*{ACTIONS[illegal]}.*legal are 'discard"
    ):
        env.step(illegal)
    assert before == (
        env.unwrapped.engine.snapshot().to_bytes(),
        env.agent_selection,
        dict(env.rewards),
        env.state().tobytes(),
    )
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))


@pytest.mark.parametrize("wrong", [1.0, "discard 1m", None, [3]])
def test_an_action_is_one_integer(wrong, hebei):
    env = hebei.raw_env()
    env.reset(seed=1)
    with pytest.raises(mahjong_env.ActionError, match="1 integers"):
        env.step(wrong)


def test_the_wrappers_stand_guard(hebei):
    env = hebei.env()
    with pytest.raises(AssertionError, match="before step"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(109)


def test_deals(hebei):
    env = hebei.env()
    env.reset(seed=1, options={"deal": Deal(hands=("123456789m 1122z",), dealer=2), "unknown": 1})
    assert env.agent_selection == "player_2"
    assert env.observe("player_0")["observation"][0].tolist() == [1] * 9 + [0] * 18 + [2, 2] + [0] * 5
    with pytest.raises(mahjong_env.DealError, match=r"mahjong_env\.Deal"):
        env.reset(options={"deal": {"dealer": 1}})
    with pytest.raises(mahjong_env.DealError, match="fifth"):
        env.reset(options={"deal": Deal(hands=("11111m",))})
    assert env.agent_selection == "player_2", "a refused deal changes nothing"


@pytest.mark.parametrize(
    ("wrong", "valid"),
    [
        ({"render_mode": "rgb"}, "'ansi', 'rgb_array', 'human' and None"),
        ({"all_pungs": 4}, "3, 2"),
        ({"no_such_knob": 1}, "all_pungs"),
        ({"num_hands": 0}, "integer from 1"),
    ],
)
def test_wrong_arguments_name_the_valid_ones(wrong, valid, hebei):
    with pytest.raises(ValueError, match=valid):
        hebei.env(**wrong)


def test_unknown_agents_are_named(hebei):
    env = hebei.env()
    env.reset(seed=1)
    with pytest.raises(mahjong_env.MahjongError, match="player_0, player_1, player_2"):
        env.observe("player_3")


def test_rendering_without_a_mode_warns(hebei):
    env = hebei.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


# --- Privacy ------------------------------------------------------------------------------------------------


def test_the_state_knows_what_observations_hide(module):
    env = module.raw_env()
    env.reset(seed=6)
    for _ in play(env, np.random.default_rng(6), until=20):
        pass
    engine = env.engine
    seat = int(engine.seat_to_act[0])
    seen, state = env.observe(f"player_{seat}"), env.state()
    wall = engine.state.wall[0, engine.state.front[0] : engine.state.wall.shape[1] - engine.state.back[0]]
    start = engine.num_people * seen["observation"].size
    assert np.array_equal(state[start : start + len(wall)], wall)
    engine.resample_hidden(seat, np.random.default_rng(0))
    after = env.observe(f"player_{seat}")
    assert np.array_equal(seen["observation"], after["observation"])
    assert not np.array_equal(state, env.state())


def test_observations_are_fresh(hebei):
    env = hebei.env()
    env.reset(seed=1)
    first = env.observe("player_0")
    first["observation"][:] = 9
    first["action_mask"][:] = 1
    assert not np.array_equal(env.observe("player_0")["observation"], first["observation"])
    assert not env.observe("player_0")["action_mask"].all()
