"""Imitation: returns, and that the network comes to do what the teacher does."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import ANY

import numpy as np
import torch

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_env import rules
from mahjong_training.sb3 import warm_start as module
from mahjong_training.sb3.vec_env import RewardSpec, TableVecEnv
from mahjong_training.sb3.warm_start import collect, returns_to_go, try_out, warm_start


def tables(seed=1, scale=0.3):
    return TableVecEnv(rules("hebei"), 32, [RandomAgent()], seed=seed, reward=RewardSpec(scale))


def test_returns_run_to_the_end_of_each_episode():
    rewards = np.array([[1, 0], [2, 5], [4, 0], [8, 3]], np.float32)
    dones = np.array([[False, False], [True, False], [False, False], [False, True]])
    returns, complete = returns_to_go(rewards, dones, 1.0)
    np.testing.assert_array_equal(returns, [[3, 8], [2, 8], [12, 3], [8, 3]])
    np.testing.assert_array_equal(complete, [[True, True], [True, True], [False, True], [False, True]])
    discounted, _ = returns_to_go(rewards, dones, 0.5)
    assert discounted[0].tolist() == [2.0, 2.875]


def test_only_hands_that_ended_are_demonstrations():
    counted = []
    shown = collect(tables(), GreedyAgent(), 32 * 60, np.random.default_rng(0), counted.append)
    assert sum(counted) == 32 * 60
    assert 0.3 * 32 * 60 < len(shown) < 32 * 60
    assert shown.masks[np.arange(len(shown)), shown.actions].all()


SETTINGS = {"learning_rate": 3e-3, "value_weight": 0.5, "batch_size": 256, "seed": 0}
NOTHING_LEARNED = {"learning_rate": 0.0, "batch_size": 64}


def test_illegal_actions_have_no_part_in_what_is_imitated():
    network = PolicyNetwork(NetworkSpec(8, 1))
    (fit,) = warm_start(network, tables(), GreedyAgent(), decisions=32 * 30, epochs=1, **(SETTINGS | NOTHING_LEARNED))
    assert 1 < fit.cross_entropy < 3  # a fresh network: all legal actions alike; of all 109 it would be 4.7


class Bar:
    """A progress bar that keeps how far it came."""

    def __init__(self, title, total):
        self.title, self.total, self.done = title, total, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, decisions):
        self.done += decisions


def test_the_network_learns_to_do_what_the_teacher_does(monkeypatch):
    torch.manual_seed(0)
    network = PolicyNetwork(NetworkSpec(64, 1))
    bars = []
    monkeypatch.setattr(module, "progress_bar", lambda *told: bars.append(Bar(*told)) or bars[-1])
    fits = warm_start(network, tables(), GreedyAgent(), decisions=5000, epochs=4, **SETTINGS)
    passes = [f"imitating it, pass {number} of 4" for number in range(1, 5)]
    assert [bar.title for bar in bars] == ["collecting games of greedy", *passes]
    assert all(bar.total == bar.done > 4000 for bar in bars)
    assert len(fits) == 4
    assert fits[-1].cross_entropy < 0.5 * fits[0].cross_entropy
    assert fits[-1].value_loss < fits[0].value_loss
    # Decisions that were not learned from: the teacher throws one of equals by chance, and so half of them can agree.
    shown = collect(tables(seed=8), GreedyAgent(), 3000, np.random.default_rng(5))
    with torch.no_grad():
        logits, _ = network(torch.from_numpy(shown.inputs).float())
    chosen = logits.masked_fill(~torch.from_numpy(shown.masks), -1e8).argmax(1).numpy()
    assert (chosen == shown.actions).mean() > 0.7


def test_trials_rank_players_and_measure_the_spread_of_points():
    others = [RandomAgent(), GreedyAgent()]
    greedy = try_out(rules("hebei"), GreedyAgent(), others, seed=4, hands=300)
    chance = try_out(rules("hebei"), RandomAgent(), others, seed=4, hands=300)
    assert greedy.points > 0.5 > -0.5 > chance.points
    assert 1 < greedy.spread < 10
    doubled = try_out(rules("hebei", base_score=2), GreedyAgent(), others, seed=4, hands=300)
    assert 1.5 * greedy.spread < doubled.spread < 2.2 * greedy.spread
    assert try_out(rules("hebei"), GreedyAgent(), others, seed=4, hands=300) == replace(greedy, player=ANY)
