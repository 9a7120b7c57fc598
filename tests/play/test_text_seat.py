"""The environment of one seat in words."""

import copy
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mahjong_env import ACTIONS, ActionError, RulesError
from mahjong_env.environments.registration import ENTRY_MODULES, text_id
from mahjong_env.play.words import UnclearAnswerError
from support.marks import variants

HEBEI = "mahjong_env/Hebei-text-v0"


@pytest.mark.parametrize("variant", variants("hebei", "hangzhou"))
def test_the_checker_of_gymnasium_and_whole_matches(variant):
    identity = text_id(variant, dict(ENTRY_MODULES.values())[variant])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(identity, disable_env_checker=True).unwrapped)
    words, numbers = gymnasium.make(identity, num_hands=2), gymnasium.make(identity.replace("-text", ""), num_hands=2)
    observation, info = words.reset(seed=5)
    _, same = numbers.reset(seed=5)
    rng, over, results = np.random.default_rng(5), False, 0
    while not over:
        assert words.observation_space.contains(observation), set(observation) - words.observation_space.character_set
        assert (info["action_mask"] == same["action_mask"]).all()
        chosen = int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, *wanted, same = numbers.step(chosen)
        observation, *found, info = words.step(f"I think it is time to {ACTIONS[chosen]}.")
        results += observation.startswith(("you win", "player_", "the hand is drawn"))
        assert found == wanted
        over = found[1]
    assert results >= 1


def test_the_instructions_come_with_the_first_observation():
    env = gymnasium.make(HEBEI, seat=0, base_score=2)
    observation, info = env.reset(seed=0)
    assert info["instructions"] == env.unwrapped.instructions
    assert "base_score=2" in info["instructions"]
    assert "you may\n1: " in observation


def test_what_is_refused_plays_nothing_and_is_asked_again():
    env = gymnasium.make(HEBEI, seat=0, tries=3)
    observation, _ = env.reset(seed=0)
    before = env.unwrapped.engine.snapshot().to_bytes()
    again, reward, terminated, truncated, told = env.step("chow low")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert again == f"refused: {told['refused']}\n{observation}"
    assert "there is nothing to claim" in told["refused"]
    assert env.unwrapped.engine.snapshot().to_bytes() == before
    assert env.step("what?")[0].startswith("refused: 'what?' names no action")
    env.unwrapped.reset(seed=0)
    assert env.observation_space.contains(env.step("好吧 \N{THUMBS UP SIGN}")[0])
    played = env.step("1")  # which begins anew to count
    assert "refused" not in played[-1]
    for _ in range(2):
        assert not env.step("what?")[2]
    last, reward, terminated, _, told = env.step("what?")
    assert terminated
    assert told["illegal_action"]
    assert reward == pytest.approx(-3 * env.unwrapped.engine.rules.sigma)
    assert last == "the episode is over: too many answers have been refused"


def test_the_last_refusal_may_be_an_error():
    env = gymnasium.make(HEBEI, seat=0, tries=1, on_illegal="raise")
    env.reset(seed=0)
    before = env.unwrapped.engine.snapshot().to_bytes()
    with pytest.raises(UnclearAnswerError, match="names no action"):
        env.step("what?")
    assert env.unwrapped.engine.snapshot().to_bytes() == before
    assert not env.step("1")[2]


def test_wrong_arguments():
    with pytest.raises(RulesError, match="tries is an integer from 1"):
        gymnasium.make(HEBEI, tries=0)
    with pytest.raises(RulesError, match="the observation of this environment is text"):
        gymnasium.make(HEBEI, observation="dict")
    env = gymnasium.make(HEBEI, disable_env_checker=True)
    env.reset(seed=0)
    with pytest.raises(ActionError, match="an answer is text"):
        env.step(3)


def test_a_copy_goes_on_as_the_original():
    env = gymnasium.make(HEBEI, seat=0)
    env.reset(seed=0)
    env.step("what?")
    twin = copy.deepcopy(env)
    for said in ("what?", "1", "2", "what?"):
        one, other = env.step(said), twin.step(said)
        assert one[:4] == other[:4]
