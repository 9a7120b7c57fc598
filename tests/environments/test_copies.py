"""Copies of environments go on as the original does; what loses something of the game is found."""

import copy
import importlib
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import EzPickle

import mahjong_env
from mahjong_agents import GreedyAgent
from mahjong_env.environments.aec import MahjongAEC, wrapped
from mahjong_env.environments.agents import OpponentPool
from mahjong_env.environments.registration import ENTRY_MODULES
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.testing import ConformanceError, check_copies_of_environments, check_environment_copies

VARIANTS = sorted(variant for variant, _ in ENTRY_MODULES.values())


@pytest.mark.parametrize("variant", VARIANTS)
def test_copies_go_on_as_the_original_does(variant):
    check_copies_of_environments(variant)


@pytest.mark.parametrize(
    "make_env",
    [
        lambda: gymnasium.make("mahjong_env/Hebei-v0", opponents=[GreedyAgent(), "random"], num_hands=2),
        lambda: gymnasium.make("mahjong_env/Hebei-v0", observation="dict", rotation=True, num_hands=3),
        lambda: MahjongVectorEnv(3, "hebei", autoreset_mode="next_step", opponents=OpponentPool(["random", "greedy"])),
        lambda: gymnasium.make_vec("mahjong_env/Hebei-v0", num_envs=3, observation="planes", num_hands=2),
        lambda: mahjong_env.hangzhou_v0.env(num_hands=3, start="random"),
    ],
    ids=["agents", "rotation", "next step and a pool", "vector", "match"],
)
def test_copies_of_other_settings(make_env):
    check_environment_copies(make_env, every=9)


@pytest.mark.parametrize("make", ["env", "raw_env"])
@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_an_environment_that_was_not_reset_can_be_copied(make, way):
    env = way(getattr(importlib.import_module("mahjong_env.hebei_v0"), make)(num_hands=3, all_pungs=2))
    env.reset(seed=1)
    bare = env.unwrapped
    assert (bare.engine.num_hands, bare.engine.rules.all_pungs) == (3, 2)


def test_a_copy_is_a_game_of_its_own():
    env = MahjongAEC("hebei")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    before = env.state()
    for _ in range(5):
        twin.step(int(np.flatnonzero(twin.observe(twin.agent_selection)["action_mask"])[0]))
    assert np.array_equal(env.state(), before)
    twin.engine.restore(env.engine.snapshot())
    assert twin.agent_selection == env.agent_selection, "the copy's engine tells the copy"
    assert np.array_equal(env.state(), twin.state())


# --- Faults that the check has to find ------------------------------------------------------------------------


class MadeAnew(MahjongAEC, EzPickle):
    """Copies are made anew from the arguments: without the game."""

    def __init__(self, variant):
        EzPickle.__init__(self, variant)
        MahjongAEC.__init__(self, variant)

    __getstate__, __setstate__ = EzPickle.__getstate__, EzPickle.__setstate__


class ForgetsPayments(MahjongAEC):
    def __setstate__(self, state):
        super().__setstate__(state)
        self._cumulative_rewards = dict.fromkeys(self._cumulative_rewards, 0)


class SharesTheGame(MahjongAEC):
    def __deepcopy__(self, memo):
        twin = copy.copy(self)
        twin.infos = copy.deepcopy(self.infos)
        return twin


class CannotBePickled(MahjongAEC):
    def __init__(self, variant):
        super().__init__(variant)
        self.hook = lambda: None


class ForgetsChance(SingleSeatEnv):
    def __setstate__(self, state):
        self.__dict__ |= state
        self.np_random = np.random.default_rng(0)


class ForgetsWhatIsOwed(MahjongVectorEnv):
    def __setstate__(self, state):
        self.__dict__ |= state
        self._seats.learner = np.roll(self._seats.learner, 1)


@pytest.mark.parametrize(
    ("make_env", "message"),
    [
        (lambda: MadeAnew("hebei"), "copy.deepcopy"),
        (lambda: wrapped(MadeAnew("hebei")), "copy.deepcopy"),
        (lambda: ForgetsPayments("fuzhou"), "its cumulative rewards differs"),
        (lambda: SharesTheGame("hebei"), "copy.deepcopy after"),
        (lambda: CannotBePickled("hebei"), "pickle of the environment fails"),
        (lambda: ForgetsChance("hebei"), " differs"),
        (lambda: ForgetsWhatIsOwed(3, "hebei"), " differs"),
    ],
)
def test_faults_are_found(make_env, message):
    def check():
        for seed in range(8):
            check_environment_copies(make_env, seed=seed)

    with pytest.raises(ConformanceError, match=message):
        check()


# --- Going back to a snapshot of the engine ----------------------------------------------------------------------


def test_a_restored_engine_takes_its_environment_along():
    env = mahjong_env.hebei_v0.env()
    env.reset(seed=1)
    engine = env.unwrapped.engine

    def play(steps):
        seen = []
        for _ in range(steps):
            agent = env.agent_selection
            observation, _, terminated, truncated, _ = env.last()
            seen.append((agent, observation["observation"].tobytes(), observation["action_mask"].tobytes(), terminated))
            is_over = terminated or truncated
            env.step(None if is_over else int(np.flatnonzero(observation["action_mask"])[0]))
        return seen

    play(10)
    snapshot = engine.snapshot()
    first = play(30)
    engine.restore(snapshot)
    assert env.agent_selection == f"player_{engine.seat_to_act[0]}"
    assert set(env.rewards.values()) == {0}
    assert play(30) == first
    while env.agents:
        play(1)
    engine.restore(snapshot)
    assert play(30) == first, "from the end of a match as well"
    engine.step([int(np.flatnonzero(engine.action_mask[0])[0])])
    assert env.agent_selection == f"player_{engine.seat_to_act[0]}", "and after a step behind its back"
    engine.reset(seed=3)
    assert env.agent_selection == f"player_{engine.seat_to_act[0]}"


def test_an_engine_set_to_the_end_of_a_match_ends_it():
    env = MahjongAEC("hebei")
    env.reset(seed=1)
    while env.engine.seat_to_act[0] >= 0:
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    snapshot = env.engine.snapshot()
    env.reset()
    env.engine.restore(snapshot)
    assert all(env.terminations.values())
    for _ in range(3):
        env.step(None)
    assert env.agents == []
