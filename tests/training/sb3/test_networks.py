"""The learner of Stable-Baselines3: the settings reach it, and what it learns is the network that is saved."""

from __future__ import annotations

import pytest
import torch

from mahjong_agents import make_agent
from mahjong_agents.policy.plane_network import NetworkSpec
from mahjong_env import rules
from mahjong_training.config import TrainSb3Config
from mahjong_training.sb3.networks import new_learner
from mahjong_training.sb3.vec_env import TableVecEnv


def learner(**settings):
    tables = TableVecEnv(rules("hebei"), 8, [make_agent("random")], seed=3)
    return new_learner(tables, NetworkSpec(16, 1), TrainSb3Config(variant="hebei", n_steps=4, **settings))


def test_settings_reach_the_learner():
    model = learner(gamma=0.9, gae_lambda=0.7, clip_range=0.3, vf_coef=0.4, ent_coef=0.05, n_epochs=2)
    assert (model.gamma, model.gae_lambda, model.vf_coef, model.ent_coef, model.n_epochs) == (0.9, 0.7, 0.4, 0.05, 2)
    assert model.clip_range(1.0) == 0.3


def test_the_learning_rate_falls_over_the_whole_run_however_often_it_goes_on():
    model = learner(learning_rate=1e-3, total_steps=64)
    rates = []
    for _ in range(2):
        rates.append(model.lr_schedule(1.0))
        model.learn(32, reset_num_timesteps=False)
        assert model.policy.optimizer.param_groups[0]["lr"] == model.lr_schedule(0.5)
    assert rates == [1e-3, pytest.approx(5.5e-4)]
    assert model.lr_schedule(1.0) == pytest.approx(1e-4)


def test_logits_and_values_are_those_of_the_network():
    model = learner()
    policy, seen = model.policy, torch.as_tensor(model.env.reset())
    masks = model.env.env_method("action_masks")
    actions = torch.as_tensor(masks.argmax(axis=1))
    values, log_probabilities, _ = policy.evaluate_actions(seen, actions, torch.as_tensor(masks))
    logits, wanted = policy.network(seen.float())
    logits = logits.masked_fill(~torch.as_tensor(masks), -torch.inf)
    torch.testing.assert_close(values, wanted)
    torch.testing.assert_close(log_probabilities, logits.log_softmax(1)[torch.arange(8), actions])
