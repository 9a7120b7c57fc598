"""Imitation, and the learner of Stable-Baselines3: what both learn is the network that is saved."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_env import rules
from mahjong_training.config import TrainSb3Config
from mahjong_training.learning.rewards import find_reward
from mahjong_training.sb3.networks import new_learner
from mahjong_training.sb3.vec_env import TableVecEnv
from mahjong_training.sb3.warm_start import imitate, play_decisions, returns_to_go


def played(decisions, seed=1):
    tables = TableVecEnv(rules("hebei"), 32, [RandomAgent()], seed=seed, reward=find_reward("points?scale=0.3"))
    return play_decisions(tables, GreedyAgent(), decisions, np.random.default_rng(seed))


def fitted(network, decisions, **settings):
    usual = {"epochs": 1, "learning_rate": 3e-3, "vf_coef": 0.5, "batch_size": 256}
    return imitate(network, decisions, **usual | settings, rng=np.random.default_rng(0))


def test_returns_run_to_the_end_of_each_episode():
    rewards = np.array([[1, 0], [2, 5], [4, 0], [8, 3]], np.float32)
    dones = np.array([[False, False], [True, False], [False, False], [False, True]])
    returns, complete = returns_to_go(rewards, dones, 1.0)
    np.testing.assert_array_equal(returns, [[3, 8], [2, 8], [12, 3], [8, 3]])
    np.testing.assert_array_equal(complete, [[True, True], [True, True], [False, True], [False, True]])
    discounted, _ = returns_to_go(rewards, dones, 0.5)
    assert discounted[0].tolist() == [2.0, 2.875]


def test_only_hands_that_ended_are_imitated():
    shown = played(32 * 60)
    number = len(shown["action"])
    assert 0.3 * 32 * 60 < number < 32 * 60
    assert shown["mask"][np.arange(number), shown["action"]].all()


def test_nothing_is_learned_from_no_hand():
    assert fitted(PolicyNetwork(NetworkSpec(8, 1)), played(32)) == []


def test_illegal_actions_have_no_part_in_what_is_imitated():
    ((cross_entropy, _),) = fitted(PolicyNetwork(NetworkSpec(8, 1)), played(32 * 30), learning_rate=0.0, batch_size=64)
    assert 1 < cross_entropy < 3  # a fresh network: all legal actions alike; of all 109 it would be 4.7


def test_the_network_learns_to_do_what_the_teacher_does():
    torch.manual_seed(0)
    network = PolicyNetwork(NetworkSpec(64, 1))
    first, *_, last = fitted(network, played(5000), epochs=4)
    assert last[0] < 0.5 * first[0]
    assert last[1] < first[1]
    # Decisions that were not learned from: the teacher throws one of equals by chance, and so half of them can agree.
    shown = played(3000, seed=8)
    with torch.no_grad():
        logits, _ = network(torch.from_numpy(shown["inputs"]).float())
    chosen = logits.masked_fill(~torch.from_numpy(shown["mask"]), -1e8).argmax(1).numpy()
    assert (chosen == shown["action"]).mean() > 0.7


# --- The learner -----------------------------------------------------------------------------------------------------


def learner(**settings):
    tables = TableVecEnv(rules("hebei"), 8, [RandomAgent()], seed=3)
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
