"""One learning seat as a Gymnasium environment."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import mahjong_env
from mahjong_env import NUM_ACTIONS, Deal, IllegalActionError, MahjongError, action
from mahjong_env.environments.agents import RandomAgent, agent_names, choose_at_random
from mahjong_env.environments.registration import ENTRY_MODULES, gymnasium_id

IDS = sorted(gymnasium_id(*entry) for entry in ENTRY_MODULES.values())
HEBEI = "mahjong_env/Hebei-v0"

pytestmark = pytest.mark.filterwarnings("error:::gymnasium")


class Recorder(RandomAgent):
    """Plays at random, and keeps the views it was given."""

    def __init__(self):
        self.views = []

    def act(self, view, rng):
        self.views.append(view)
        return super().act(view, rng)


class LastLegal:
    """Always takes the last legal action: wins, passes, and else discards honours."""

    def act(self, view, rng):
        return NUM_ACTIONS - 1 - view.action_mask[:, ::-1].argmax(axis=1)


def play(env, rng, episodes):
    """Plays at random; yields the sum of rewards, the last info and the number of decisions of each episode."""
    for _ in range(episodes):
        _, info = env.reset()
        total, decisions, over = 0.0, 0, False
        while not over:
            choice = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, terminated, truncated, info = env.step(choice)
            total, decisions, over = total + reward, decisions + 1, terminated or truncated
        yield total, info, decisions


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_s_checker(name, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped)
        check_env(gymnasium.make(name, seat=0, num_hands=2).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_stable_baselines_checker(name):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gymnasium.make(name).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_returns_are_the_points_of_the_person(name):
    env = gymnasium.make(name, num_hands=2)
    env.reset(seed=3)
    engine = env.unwrapped.engine
    for total, info, decisions in play(env, np.random.default_rng(3), 5):
        assert decisions > 0
        assert total == engine.points[0, info["seat"]] - engine.rules.starting_points
        assert info["outcome"]["points"] == engine.points[0].tolist()
        assert not info["action_mask"].any()


def test_masks_agree():
    env = gymnasium.make(HEBEI)
    _, info = env.reset(seed=1)
    bare = env.unwrapped
    assert info["action_mask"].dtype == np.int8
    assert bare.action_masks().dtype == np.bool_
    assert (
        bare.action_masks().tolist() == bare.engine.action_mask[0].tolist() == info["action_mask"].astype(bool).tolist()
    )
    assert bare.engine.seat_to_act[0] == info["seat"]
    assert info["action_mask"][env.action_space.sample(info["action_mask"])]


def test_the_observation_is_what_the_seat_sees():
    env = gymnasium.make(HEBEI, seat=1)
    observation, _ = env.reset(seed=1)
    engine = env.unwrapped.engine
    assert observation.tolist() == engine.observe(seats=1)[0].ravel().tolist()
    assert env.observation_space.shape == (np.prod(engine.observation_shape),)


def test_the_seat_is_drawn_for_each_episode_or_fixed():
    env = gymnasium.make(HEBEI)
    env.reset(seed=1)
    assert {env.reset()[1]["seat"] for _ in range(40)} == {0, 1, 2}
    env = gymnasium.make(HEBEI, seat=2)
    env.reset(seed=1)
    assert {env.reset()[1]["seat"] for _ in range(10)} == {2}


def test_a_person_who_sits_out_is_no_learner_of_a_single_hand():
    env = gymnasium.make(HEBEI, rotation=True)
    env.reset(seed=1)
    assert {env.reset()[1]["seat"] for _ in range(40)} == {0, 1, 2}
    with pytest.raises(ValueError, match="0 to 2"):
        gymnasium.make(HEBEI, rotation=True, seat=3)
    env = gymnasium.make(HEBEI, rotation=True, seat=3, num_hands=4, opponents=LastLegal())
    assert env.reset(seed=1)[1]["seat"] == 3, "in a match he comes in when somebody has won"
    assert env.unwrapped.engine.state.hand_in_match[0] > 0


# --- Illegal actions ----------------------------------------------------------------------------------------


def test_an_illegal_action_ends_the_episode():
    env = gymnasium.make(HEBEI, illegal_reward=-2)
    _, info = env.reset(seed=1)
    observation, reward, terminated, truncated, after = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert (reward, terminated, truncated) == (-2 * mahjong_env.rules("hebei").sigma, True, False)
    assert after["illegal_action"] is True
    assert not after["action_mask"].any()
    assert env.observation_space.contains(observation)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step(0)
    _, info = env.reset()
    assert "illegal_action" not in info
    assert info["action_mask"].any()


def test_an_illegal_action_raises_where_that_is_wanted():
    env = gymnasium.make(HEBEI, on_illegal="raise")
    _, info = env.reset(seed=1)
    before = env.unwrapped.engine.snapshot().to_bytes()
    with pytest.raises(IllegalActionError, match="legal are"):
        env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert env.unwrapped.engine.snapshot().to_bytes() == before
    env.step(int(np.flatnonzero(info["action_mask"])[0]))


@pytest.mark.parametrize("wrong", [0.5, "win", [1, 2]])
def test_an_action_is_one_integer(wrong):
    env = gymnasium.make(HEBEI).unwrapped
    env.reset(seed=1)
    with pytest.raises(mahjong_env.ActionError, match="1 integers"):
        env.step(wrong)


# --- Rewards ------------------------------------------------------------------------------------------------


def test_points_from_before_the_first_decision_come_with_the_first_reward():
    class Kong(LastLegal):
        def act(self, view, rng):
            kong = action("concealed kong 1m")
            return np.where(view.action_mask[:, kong], kong, super().act(view, rng))

    # Seat 0 deals, and declares a kong for which seat 1 pays 2 before it is asked for the first time.
    env = gymnasium.make(HEBEI, seat=1, opponents=Kong())
    deal = Deal(hands=("1111m 258p 369s 1234z", "258m 147p 147s 1234z"), dealer=0)
    _, info = env.reset(seed=1, options={"deal": deal})
    engine = env.unwrapped.engine
    assert engine.points[0, 1] == engine.rules.starting_points - 2
    assert env.step(int(np.flatnonzero(info["action_mask"])[0]))[1] == -2
    reward = env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))[1]
    assert reward == engine.points[0, 1] - engine.rules.starting_points + 2


# --- Opponents ----------------------------------------------------------------------------------------------


def test_opponents_see_only_their_own_side():
    other = Recorder()
    env = gymnasium.make(HEBEI, seat=0, opponents=other)
    env.reset(seed=1)
    assert sum(decisions for _, _, decisions in play(env, np.random.default_rng(1), 3)) > 20
    assert len(other.views) > 50
    assert all(len(view) == 1 and view.action_mask.any() for view in other.views)
    assert sum(int(view.hand.sum()) % 3 == 2 for view in other.views) > 0


def test_a_list_names_the_agent_of_each_other_seat():
    first, second = Recorder(), Recorder()
    env = gymnasium.make(HEBEI, seat=2, opponents=[first, second])
    env.reset(seed=1, options={"deal": Deal(hands=("1m" * 4, "2m" * 4, "3m" * 4), dealer=0)})
    env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
    assert first.views[0].hand[0, 0] == 4, "seat 0 comes after seat 2"
    assert second.views[0].hand[0, 1] == 4


def test_an_agent_may_be_a_name():
    assert "random" in agent_names()
    env = gymnasium.make(HEBEI, opponents=["random", RandomAgent()])
    env.reset(seed=1)
    assert len(list(play(env, np.random.default_rng(1), 1))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": "nobody"}, "no agent is called 'nobody'; valid are .*random"),
        ({"opponents": "random:slow"}, "'random:slow': nothing is expected behind the colon"),
        ({"opponents": "random?depth=2"}, "has no option 'depth'; its options are: none"),
        ({"opponents": "random?depth"}, "option=value"),
        ({"opponents": 3}, "3 is no agent"),
        ({"opponents": RandomAgent}, "give an agent, such as RandomAgent\\(\\)"),
        ({"opponents": ["random"]}, "list of 2"),
        ({"seat": 3}, "0 to 2"),
        ({"seat": "east"}, "0 to 2"),
        ({"seat": True}, "0 to 2"),
        ({"illegal_reward": float("nan")}, "is a finite number"),
        ({"observation": "pixels"}, "'flat', 'planes', 'dict'"),
        ({"opponent": "random"}, "Did you mean 'opponents'.*arguments are: opponents, seat, .*knobs are: .*all_pungs"),
        ({"on_illegal": "ignore"}, "'end', 'raise'"),
        ({"illegal_reward": "much"}, "is a finite number"),
        ({"render_mode": "svg"}, "'ansi', 'rgb_array', 'human' and None"),
        ({"no_such_knob": 1}, "all_pungs"),
    ],
)
def test_wrong_arguments_name_the_valid_ones(arguments, message):
    with pytest.raises(ValueError, match=message):
        mahjong_env.environments.single_seat.SingleSeatEnv("hebei", **arguments)


def test_an_agent_s_bad_answer_is_its_own():
    class Wrong:
        name = "wrong"

        def act(self, view, rng):
            return np.zeros((2, 2))

    env = gymnasium.make(HEBEI, opponents=Wrong(), seat=0)
    env.reset(seed=1, options={"deal": Deal(dealer=0)})
    discard = int(np.flatnonzero(env.unwrapped.action_masks())[0])
    with pytest.raises(MahjongError, match="agent 'wrong' answered float64"):
        env.step(discard)


def test_random_choice_is_uniform_among_legal_actions():
    mask = np.zeros((30_000, NUM_ACTIONS), np.bool_)
    mask[:, [3, 50, 108]] = True
    mask[::2, 3] = False
    chosen = choose_at_random(mask, np.random.default_rng(0))
    assert mask[np.arange(len(mask)), chosen].all()
    assert np.allclose(np.bincount(chosen[1::2], minlength=NUM_ACTIONS)[[3, 50, 108]] / 15_000, 1 / 3, atol=0.02)
    assert np.allclose(np.bincount(chosen[::2], minlength=NUM_ACTIONS)[[50, 108]] / 15_000, 1 / 2, atol=0.02)
    with pytest.raises(mahjong_env.ActionError, match="row 1"):
        choose_at_random(np.array([[True], [False]]), np.random.default_rng(0))


# --- Deals and rendering ------------------------------------------------------------------------------------


def test_a_deal_that_the_seat_never_sees_is_refused():
    env = gymnasium.make(HEBEI, seat=1, opponents=LastLegal())
    hand = Deal(hands=("111222333444m 55m",), dealer=0)
    with pytest.raises(mahjong_env.DealError, match="asked once"):
        env.reset(seed=1, options={"deal": hand})
    with pytest.raises(mahjong_env.DealError, match=r"mahjong_env\.Deal"):
        env.reset(options={"deal": 3})


def test_rendering(capsys):
    env = gymnasium.make(HEBEI, render_mode="ansi")
    env.reset(seed=1)
    assert "player_2" in env.render()
    assert capsys.readouterr().out == ""
    env = gymnasium.make(HEBEI, render_mode="human")
    env.reset(seed=1)
    assert env.render() is None
    assert "player_2" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="render_mode"):
        mahjong_env.environments.single_seat.SingleSeatEnv("hebei").render()
