"""The policies of Stable-Baselines3: what the one that is held near a reference is paid for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mahjong_agents import make_agent
from mahjong_agents.policy.plane_network import NetworkSpec
from mahjong_env import rules
from mahjong_training.config import TrainSb3Config
from mahjong_training.sb3.networks import ReferencePolicy, new_learner
from mahjong_training.sb3.vec_env import TableVecEnv


def learner(**settings):
    tables = TableVecEnv(rules("hebei"), 8, [make_agent("random")], seed=3)
    return new_learner(
        tables, NetworkSpec(16, 1), TrainSb3Config(variant="hebei", n_steps=4, **settings), seed=0
    ), tables


def test_settings_reach_the_learner():
    model, _ = learner(
        gamma=0.9, gae_lambda=0.7, clip_range=0.3, vf_coef=0.4, ent_coef=0.05, n_epochs=2, learning_rate=1e-3
    )
    assert (model.gamma, model.gae_lambda, model.vf_coef, model.ent_coef, model.n_epochs) == (0.9, 0.7, 0.4, 0.05, 2)
    assert (model.clip_range(1.0), model.lr_schedule(1.0), model.lr_schedule(0.0)) == (0.3, 1e-3, pytest.approx(1e-4))


def test_what_is_maximised_beside_the_advantages():
    model, tables = learner(kl_coef=0.5, ent_coef=0.1)
    policy = model.policy
    assert isinstance(policy, ReferencePolicy)
    assert model.ent_coef == 1.0
    seen, masks = torch.as_tensor(tables.reset()), tables.action_masks()
    actions = torch.as_tensor(masks.argmax(axis=1))
    plain = super(ReferencePolicy, policy).evaluate_actions(seen, actions, torch.as_tensor(masks))
    at_first = policy.evaluate_actions(seen, actions, torch.as_tensor(masks))
    for one, other, factor in zip(plain, at_first, (1, 1, 0.1), strict=True):
        torch.testing.assert_close(factor * one.flatten(), other.flatten())  # nothing divides it from itself

    before = policy.get_distribution(seen, masks).distribution.probs.detach().double().numpy()
    with torch.no_grad():
        for weights in policy.network.parameters():
            weights += 0.3 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(1))
    now = policy.get_distribution(seen, masks).distribution
    probabilities, entropy = now.probs.detach().double().numpy(), now.entropy().detach().numpy()
    apart = [
        sum(p * np.log(p / q) for p, q, legal in zip(*row, strict=True) if legal and p > 0)
        for row in zip(probabilities, before, masks, strict=True)
    ]
    found = policy.evaluate_actions(seen, actions, torch.as_tensor(masks))[2].detach().numpy()
    assert max(apart) > 0.01
    np.testing.assert_allclose(found, 0.1 * entropy - 0.5 * np.array(apart), rtol=1e-3, atol=1e-4)

    policy.refresh_reference()
    found = policy.evaluate_actions(seen, actions, torch.as_tensor(masks))[2].detach().numpy()
    np.testing.assert_allclose(found, 0.1 * entropy, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("weight", "near"), [(0.0, False), (0.2, True)])
def test_a_reference_is_only_there_when_it_is_asked_for(weight, near):
    model, _ = learner(kl_coef=weight)
    assert isinstance(model.policy, ReferencePolicy) == near


def test_a_heavy_penalty_holds_the_policy_back():
    def moved(weight):
        model, tables = learner(kl_coef=weight, learning_rate=3e-3, n_epochs=8)
        seen, masks = torch.as_tensor(tables.reset()), tables.action_masks()
        before = model.policy.get_distribution(seen, masks).distribution.probs.detach().clone()
        model.learn(8 * 4 * 4)
        return float((model.policy.get_distribution(seen, masks).distribution.probs - before).detach().abs().max())

    assert moved(100.0) < 0.5 * moved(0.0)
