"""Added inputs of one's own: found, checked, shown to a network, and named again by whoever loads its policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from mahjong_agents import AgentError, look_ahead, make_agent
from mahjong_agents.policy.custom_features import added_inputs, find_features
from mahjong_agents.policy.plane_inputs import SIZE, policy_inputs
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_env import VARIANTS, make_engine
from mahjong_training.sb3.vec_env import TableVecEnv

EXAMPLE = Path(__file__).parents[2] / "notebooks" / "examples" / "my_features.py"
REWARD = EXAMPLE.with_name("my_reward.py")


@pytest.mark.parametrize("variant", VARIANTS)
def test_they_stand_behind_the_inputs(variant):
    view = make_engine(variant, 5, seed=2).view()
    late = find_features(f"{EXAMPLE}:Late")
    inputs = policy_inputs(view, look_ahead(view), late)
    assert inputs.shape == (5, SIZE + 3)
    assert inputs.dtype == np.int8
    assert (inputs[:, :SIZE] == policy_inputs(view, look_ahead(view))).all()
    assert (inputs[:, SIZE:] == added_inputs(late, view)).all()
    assert (inputs[:, SIZE] == np.minimum(view.left, 127)).all()


def test_the_network_reads_them_at_their_scale():
    late = find_features(f"{EXAMPLE}:Late")
    torch.manual_seed(0)
    network = PolicyNetwork(NetworkSpec(width=16, layers=1, added=3), late)
    inputs = torch.from_numpy(network.inputs(make_engine("hebei", 4, seed=2).view())).float()
    values = network.forward_critic(inputs)
    changed = inputs.clone()
    changed[:, SIZE + 1] += 8
    assert not torch.allclose(network.forward_critic(changed), values)
    assert network.added_scale.tolist() == pytest.approx([1 / 70, 1 / 8, 1 / 8])


class Wrong:
    facts = {"one": 1.0, "two": 0.5}  # noqa: RUF012

    def __init__(self, returned):
        self.returned = returned

    def __call__(self, view):
        return self.returned


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (np.zeros((3, 1), int), r"\(3, 2\) integers"),
        (np.zeros((3, 2)), "float64"),
        (np.array([[1, 2], [3, 200], [0, 0]]), "'two' is 200"),
    ],
)
def test_what_they_return_is_checked(returned, told):
    with pytest.raises(AgentError, match=told):
        added_inputs(Wrong(returned), make_engine("hebei", 3, seed=1).view())


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ("late", "no class of added inputs is called 'late'"),
        (f"{EXAMPLE}:Early", "it offers Late"),
        (f"{EXAMPLE}:Late?fast=true", "no option 'fast'"),
        (3, "3 is no class of added inputs"),
        (lambda view: 0, "is no class of added inputs"),
    ],
)
def test_added_inputs_that_there_are_not(features, told):
    with pytest.raises(AgentError, match=told):
        find_features(features)


def test_tables_show_them():
    tables = TableVecEnv(VARIANTS["hebei"], 3, [make_agent("greedy")], features=find_features(f"{EXAMPLE}:Late"))
    inputs = tables.reset()
    assert inputs.shape == (3, SIZE + 3) == (3, *tables.observation_space.shape)
    for _ in range(60):
        inputs, _, dones, infos = tables.step(tables.action_masks().argmax(axis=1))
        for table in np.flatnonzero(dones):
            assert infos[table]["terminal_observation"].shape == (SIZE + 3,)
