"""Tables in worker processes: the same hands as in one process, errors that come back, and no process left over."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_agents.policy.torch_network import TorchNetwork
from mahjong_env import rules
from mahjong_training.errors import TrainingError, WorkerError
from mahjong_training.learning.curve import measure_learner
from mahjong_training.sb3.shards import ShardedVecEnv, new_tables, shard_seed
from mahjong_training.sb3.vec_env import RewardSpec, TableVecEnv
from mahjong_training.sb3.warm_start import collect

SPEC = RewardSpec(0.5, 0.3, 0.9)
OPPONENTS = (GreedyAgent(), RandomAgent())


def first_legal(masks):
    return masks.argmax(axis=1)


@pytest.fixture
def shards():
    env = ShardedVecEnv(rules("hebei"), 24, OPPONENTS, processes=2, seed=5, reward=SPEC)
    yield env
    env.close()


def alone(number):
    """What one worker plays, in this process."""
    return TableVecEnv(rules("hebei"), 12, OPPONENTS, seed=shard_seed(5, number), reward=SPEC)


def assert_plays_like(env, parts, steps):
    """Every number that a learner sees is the same; returns how many episodes ended."""
    ended = 0
    for _ in range(steps):
        np.testing.assert_array_equal(env.action_masks(), np.concatenate([part.action_masks() for part in parts]))
        results = [part.step(first_legal(part.action_masks())) for part in parts]
        together = env.step(first_legal(env.action_masks()))
        for place in range(3):
            np.testing.assert_array_equal(together[place], np.concatenate([result[place] for result in results]))
        infos = [info for result in results for info in result[3]]
        assert [sorted(info) for info in together[3]] == [sorted(info) for info in infos]
        for info, expected in zip(together[3], infos, strict=True):
            np.testing.assert_equal(info, expected)
            ended += bool(info)
    return ended


def test_every_worker_plays_as_it_would_alone(shards):
    parts = [alone(0), alone(1)]
    first = [part.reset() for part in parts]
    np.testing.assert_array_equal(shards.reset(), np.concatenate(first))
    assert not np.array_equal(*first)
    assert assert_plays_like(shards, parts, 60) > 20


def test_seeds_opponents_and_rewards_reach_the_workers(shards):
    shards.reset()
    shards.seed(9)
    shards.opponents = [RandomAgent()]
    shards.reward = RewardSpec(2.0)
    parts = [alone(0), alone(1)]
    for number, part in enumerate(parts):
        part.seed(shard_seed(9, number))
        part.opponents, part.reward = [RandomAgent()], RewardSpec(2.0)
    np.testing.assert_array_equal(shards.reset(), np.concatenate([part.reset() for part in parts]))
    assert assert_plays_like(shards, parts, 60) > 5


def test_the_contract_of_vec_env(shards):
    observations = shards.reset()
    assert is_masking_supported(shards)
    assert is_masking_supported(VecMonitor(shards))
    np.testing.assert_array_equal(get_action_masks(shards), shards.action_masks())
    assert shards.num_envs == len(observations) == 24
    assert shards.observation_space == alone(0).observation_space
    assert shards.action_space == alone(0).action_space
    assert shards.get_attr("rules", indices=[1, 20]) == [rules("hebei")] * 2
    assert not shards.has_attr("no_such_thing")
    kept = [(*shards.step(first_legal(shards.action_masks()))[:3], shards.action_masks()) for _ in range(6)]
    copies = [tuple(array.copy() for array in step) for step in kept]
    _, rewards, dones, infos = shards.step(first_legal(shards.action_masks()))
    assert (rewards.dtype, dones.dtype) == (np.float32, np.bool_)
    assert len({id(info) for info in infos}) == 24
    for step, copy in zip(kept, copies, strict=True):
        for array, before in zip(step, copy, strict=True):
            np.testing.assert_array_equal(array, before)


def test_a_network_that_learns_is_passed_on_when_it_is_assigned_anew(shards):
    network = PolicyNetwork(NetworkSpec(16, 1))
    shards.opponents = [PolicyAgent.playing(TorchNetwork(network), name="self")]
    before = shards.apply(weight_of_opponent)
    with_bias = network.value.bias.detach().numpy().item() + 1
    network.value.bias.data += 1
    assert shards.apply(weight_of_opponent) == before
    shards.opponents = shards.opponents
    assert shards.apply(weight_of_opponent) == [pytest.approx(with_bias)] * 2


def weight_of_opponent(tables, number):
    return tables.opponents[0].network.module.value.bias.item()


def test_demonstrations_are_those_of_the_workers(shards):
    rng = np.random.default_rng(4)
    told = []
    shown = collect(shards, GreedyAgent(), 1000, np.random.default_rng(4), told.append)
    seed = int(rng.integers(2**63))
    parts = [collect(alone(number), GreedyAgent(), 500, np.random.default_rng([seed, number])) for number in range(2)]
    for name in ("inputs", "masks", "actions", "returns"):
        np.testing.assert_array_equal(
            getattr(shown, name), np.concatenate([getattr(part, name) for part in parts]), name
        )
    assert told == [1008]  # whole rows of tables


@pytest.mark.thorough
def test_a_learner_is_measured_the_same_in_the_workers(shards):
    torch.manual_seed(1)
    learner = PolicyAgent.playing(TorchNetwork(PolicyNetwork(NetworkSpec(16, 1))), name="self", sample=True)
    others = [RandomAgent(), GreedyAgent(), GreedyAgent(claims=False)]
    here, there = (
        measure_learner(rules("hebei"), learner, others, deals=4, seed=3, play=play)
        for play in (None, shards.play_blocks)
    )
    assert here == there
    assert [result.lineup for result in here] == [(0, 1, 1), (0, 2, 2), (0, 3, 3)]


class TestErrors:
    def test_an_error_in_a_worker_is_raised_here_with_its_traceback(self, shards):
        shards.reset()
        actions = first_legal(shards.action_masks())
        actions[20] = np.flatnonzero(~shards.action_masks()[20])[0]
        with pytest.raises(WorkerError, match=r"in worker process 1: Traceback(.|\n)*in step(.|\n)*IllegalActionError"):
            shards.step(actions)

    def test_an_error_at_the_start(self):
        with pytest.raises(WorkerError, match=r"Traceback(.|\n)*there is no variant 'nonsense'"):
            ShardedVecEnv("nonsense", 4, OPPONENTS, processes=2)

    def test_agents_that_cannot_be_sent(self, shards):
        agent = GreedyAgent()
        agent.lock = threading.Lock()
        with pytest.raises(WorkerError, match="cannot be sent to worker processes"):
            shards.opponents = [agent]

    def test_agents_made_on_the_spot_can_be_sent(self, shards):
        class First:
            name = "first"

            def act(self, view, rng):
                return first_legal(view.action_mask)

        shards.opponents = [First()]
        parts = [alone(number) for number in range(2)]
        for part in parts:
            part.opponents = [First()]
        np.testing.assert_array_equal(shards.reset(), np.concatenate([part.reset() for part in parts]))

    def test_a_worker_that_dies(self, shards):
        shards.reset()
        processes = shards._workers.processes
        processes[1].kill()
        processes[1].join()
        with pytest.raises(WorkerError, match="a worker process ended before its work was done"):
            shards.step(first_legal(shards.action_masks()))
        assert not any(process.is_alive() for process in processes)
        with pytest.raises(WorkerError, match="have been closed"):
            shards.reset()
        shards.close()

    def test_tables_that_cannot_be_shared_out(self):
        with pytest.raises(TrainingError, match="10 tables cannot be shared out evenly among 4 processes"):
            ShardedVecEnv(rules("hebei"), 10, OPPONENTS, processes=4)


def test_nothing_is_left_after_closing(shards):
    processes = shards._workers.processes
    assert all(process.is_alive() for process in processes)
    shards.close()
    shards.close()
    assert [process.exitcode for process in processes] == [0, 0]


def test_an_interrupted_step_can_be_closed(shards):
    shards.reset()
    shards._is_waiting = True
    for remote in shards._workers.remotes:
        remote.send(("env_method", ("answer", ("apply", None), {})))
    shards.close()
    assert not any(process.is_alive() for process in shards._workers.processes)


def test_one_process_needs_no_worker():
    env = new_tables(rules("hebei"), 8, OPPONENTS, processes=1, seed=2)
    assert isinstance(env, TableVecEnv)
