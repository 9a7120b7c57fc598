"""Where torch learns, by a device that is not there (`support.fake_device`): no test here needs a GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import ActionNetwork
from mahjong_agents.policy.torch_network import find_device
from mahjong_env import VARIANTS
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.learning import base_run, ppo
from mahjong_training.learning.base_run import read_checkpoint, write_checkpoint
from mahjong_training.learning.self_play import play_hands
from mahjong_training.sb3 import run as train
from support.fake_device import fake_device

PPO = TrainConfig(variant="hebei", teacher="greedy", width=4, batch_size=64, kl_coef=0.1, ent_coef=0.01)
TRAIN = TrainSb3Config(
    variant="hebei",
    teacher="greedy",
    reward="points?scale=0.5",
    tables=4,
    total_steps=32,
    width=4,
    layers=1,
    warm_start_steps=32,
    warm_start_epochs=1,
    opponents=("random", "self"),
    evaluations=2,
    evaluation_deals=1,
    evaluation_agents=("random",),
    n_steps=4,
)


class TestFindDevice:
    @pytest.mark.parametrize(
        ("asked", "there", "found"),
        [("auto", True, "cuda"), ("cuda", True, "cuda"), ("cpu", True, "cpu"), ("auto", False, "cpu")],
    )
    def test_is_the_one_that_is_asked_for(self, asked, there, found, monkeypatch):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
        assert find_device(asked) == torch.device(found)


def learned(device=None):
    """Return a learner after two updates."""
    learner = ppo.Learner(PPO, seats=3, unit=3.0, claims=True)
    if device is not None:
        parts = (learner.actor, learner.average, learner.reference, learner.critic)
        assert {array.device for part in parts for array in part.parameters()} == {device}
    for number in range(2):
        network = ActionNetwork(learner.weights())
        hands = play_hands(VARIANTS["hebei"], network, [], tables=2, share=0, seed=[number])
        learner.update(hands, number=number, progress=0.0)
        learner.refresh_reference()
    return learner


def test_ppo_learns_there_what_it_learns_here(monkeypatch):
    here = learned().average_weights()
    with fake_device() as device:
        monkeypatch.setattr(ppo, "find_device", lambda name: device)
        there = learned(device).average_weights()
    for name, array in here.items():
        assert type(there[name]) is np.ndarray
        np.testing.assert_array_equal(there[name], array)


@pytest.mark.thorough
def test_train_learns_there_what_it_learns_here(tmp_path, monkeypatch):
    here = train.run(replace(TRAIN, out=tmp_path / "here", device="cpu"))
    with fake_device() as device, monkeypatch.context() as patch:
        patch.setattr(train, "find_device", lambda name: device)
        patch.setattr(base_run, "write_checkpoint", lambda path, state: path.touch())
        devices = []
        measure = train.Sb3Run.measure

        def seen(run, *arguments, **options):
            devices.extend(array.device for array in run.network.parameters())
            devices.append(run.model.policy.optimizer.param_groups[0]["params"][0].device)
            measure(run, *arguments, **options)

        patch.setattr(train.Sb3Run, "measure", seen)
        there = train.run(replace(TRAIN, out=tmp_path / "there"))
    assert set(devices) == {device}
    for name in ("initial", "last"):
        np.testing.assert_equal(*(PolicyFile.read(getattr(run, name)).weights for run in (there, here)))


def test_a_checkpoint_of_a_gpu_is_read_without_one(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        # What torch writes of arrays on a GPU differs from this file in nothing but their place, which it names.
        patch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
        write_checkpoint(tmp_path / "checkpoint.pt", {"weights": torch.arange(3.0)})
    state = read_checkpoint(tmp_path / "checkpoint.pt")
    assert state["weights"].device == torch.device("cpu")
    assert state["weights"].tolist() == [0.0, 1.0, 2.0]
