"""Views from every environment: those of the engine behind it, for the seat that learns or the agent that is named."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from mahjong_env import MahjongError, wuhan_v0
from mahjong_env.testing.play import view_differences


def test_pettingzoo():
    env = wuhan_v0.env()
    env.reset(seed=3)
    for _ in range(40):
        for person, agent in enumerate(env.possible_agents):
            view = env.view(agent)
            assert len(view) == 1
            assert view_differences(view, env.unwrapped.engine.view(seats=person)) == []
            assert np.array_equal(view.observation[0], env.observe(agent)["observation"])
        assert env.view(env.agent_selection).worlds(2, np.random.default_rng(0)).num_games == 2
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    with pytest.raises(MahjongError, match="there is no agent 'nobody'; the agents are player_0"):
        env.view("nobody")


def test_one_learning_seat():
    env = gymnasium.make("mahjong_env/Wuhan-v0", seat=2)
    _, info = env.reset(seed=3)
    for _ in range(10):
        view = env.unwrapped.view()
        assert view.own_person.tolist() == [2]
        assert view.action_mask[0].tolist() == info["action_mask"].astype(bool).tolist()
        assert view.worlds(3, np.random.default_rng(0)).num_games == 3
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        if over:
            _, info = env.reset()


def test_many_learning_seats():
    envs = gymnasium.make_vec("mahjong_env/Wuhan-v0", num_envs=5)
    _, infos = envs.reset(seed=3)
    for _ in range(10):
        view = envs.unwrapped.view()
        assert view.own_person.tolist() == infos["seat"].tolist()
        assert np.array_equal(view.action_mask, infos["action_mask"].astype(bool))
        _, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
