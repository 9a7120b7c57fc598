"""The contract of Stable-Baselines3's VecEnv, and what an episode is."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_agents.policy.plane_inputs import SIZE
from mahjong_env import IllegalActionError, MissingExtraError, rules
from mahjong_env.testing import random_actions
from mahjong_training.sb3.vec_env import TableVecEnv

OPPONENTS = (GreedyAgent(), RandomAgent())


def tables(num_tables=16, variant="hebei", seed=1, reward=None, **knobs):
    env = TableVecEnv(rules(variant, **knobs), num_tables, OPPONENTS, seed=seed, reward=reward)
    env.reset()
    return env


def greedy_steps(env, steps, seed=0):
    """Steps of a greedy learner: what came back, one tuple a step."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield env.step(GreedyAgent().act(env.engine.view(), rng))


def test_without_the_extra_the_pip_line_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("mahjong_training.sb3")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mahjong-env\[train,evaluate\]'"):
        import mahjong_training.sb3.vec_env  # noqa: F401


class TestContract:
    def test_everything_is_fresh_every_step(self):
        env = tables()
        rng = np.random.default_rng(0)
        kept = [(*env.step(random_actions(env.action_masks(), rng))[:3], env.action_masks()) for _ in range(30)]
        copies = [tuple(array.copy() for array in step) for step in kept]
        for _ in range(10):
            env.step(random_actions(env.action_masks(), rng))
        for step, copy in zip(kept, copies, strict=True):
            for array, before in zip(step, copy, strict=True):
                np.testing.assert_array_equal(array, before)
        assert len({id(step[0]) for step in kept}) == 30

    def test_what_is_refused_is_no_decision(self):
        env = TableVecEnv(rules("hebei"), 4, OPPONENTS)
        with pytest.raises(ResetNeeded):
            env.step(np.zeros(4, np.int64))
        env.reset()
        for _ in range(3):
            with pytest.raises(IllegalActionError):
                env.step(env.action_masks().argmin(axis=1))
        dones, steps = np.zeros(4, np.bool_), 0
        while not dones.any():
            *_, dones, infos = env.step(env.action_masks().argmax(axis=1))
            steps += 1
        assert all(infos[table]["episode"]["l"] == steps for table in np.flatnonzero(dones))

    def test_shapes_and_types(self):
        env = tables()
        observations, rewards, dones, infos = next(greedy_steps(env, 1))
        assert observations.shape == (16, SIZE)
        assert observations.dtype == env.observation_space.dtype == np.int8
        assert rewards.dtype == np.float32
        assert dones.dtype == np.bool_
        assert len(infos) == 16
        assert len({id(info) for info in infos}) == 16

    def test_masks_are_offered_the_way_maskable_ppo_asks_for_them(self):
        env = tables()
        assert is_masking_supported(env)
        masks = get_action_masks(env)
        np.testing.assert_array_equal(masks, env.engine.action_mask)
        assert masks.any(axis=1).all()
        assert is_masking_supported(VecMonitor(env))

    def test_attributes(self):
        env = tables()
        assert env.get_attr("rules") == [env.rules] * 16
        assert env.get_attr("rules", indices=[2, 3]) == [env.rules] * 2
        assert not env.has_attr("no_such_thing")
        with pytest.raises(AttributeError):
            env.get_attr("no_such_thing")
        assert env.env_is_wrapped(VecMonitor) == [False] * 16
        env.set_attr("opponents", [RandomAgent()])
        assert [agent.name for agent in env.opponents] == ["random"]
        with pytest.raises(ValueError, match="share their attributes"):
            env.set_attr("opponents", [], indices=0)

    def test_the_same_seed_gives_the_same_games(self):
        runs = []
        for _ in range(2):
            env = tables(seed=5)
            env.seed(9)
            first = env.reset()
            runs.append([first, *(np.concatenate([o.ravel(), r]) for o, r, _, _ in greedy_steps(env, 40))])
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one, other)
        env = tables(seed=5)
        env.seed(10)
        assert not np.array_equal(env.reset(), runs[0][0])

    def test_finished_episodes_carry_their_last_observation(self):
        env = tables(variant="taiwan")
        ended = 0
        for observations, _, dones, infos in greedy_steps(env, 120):
            for table in range(16):
                assert bool(infos[table]) == bool(dones[table])
                if dones[table]:
                    ended += 1
                    last = infos[table]["terminal_observation"]
                    assert last.shape == (SIZE,)
                    assert not np.array_equal(last, observations[table])
                    assert infos[table]["TimeLimit.truncated"] is False
        assert ended > 20
