"""RLlib's PPO learns a variant by self-play, in the environment of `make distributed`:

    python notebooks/examples/rllib_ppo.py hebei 10 runs/rllib.zip

This command learns for ten minutes, leaves a policy file, and says what the policy wins from random agents. If you
interrupt it, the same command resumes from the latest checkpoint, which lies beside the policy.

RLlib's runner for several agents steps one environment after another. `Runner` puts a batch of tables in their place,
which is four times as fast. Everything else that a runner does stays RLlib's.
"""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import asdict
from math import isnan
from pathlib import Path

import numpy as np
import ray
import torch
from gymnasium.spaces import Box, Dict, Discrete
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.vector.vector_multi_agent_env import VectorMultiAgentEnv

import mahjong_env
from mahjong_agents import look_ahead, make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_inputs import SIZE, policy_inputs
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_agents.policy.torch_network import arrays_of
from mahjong_env import NUM_ACTIONS
from mahjong_training import measure, one_against_copies, sigma
from mahjong_training.runtime.ray_cluster import connected
from mahjong_training.seeds import training_seed

BATCH = 8192  # decisions in an update
NETWORK = NetworkSpec(width=128, layers=1)
SHAPING = 0.3  # sigma for each tile that a hand comes nearer to a win
LEARNER = "learner"  # the one module that plays at every seat
NEVER = -1e9  # the logit of illegal actions: their probability is exactly 0, and sums with it stay finite


class Tables(VectorMultiAgentEnv):
    """Tables at which every seat learns, all stepped at once; an episode is one hand.

    The agent that has to decide is the only one with an observation. Rewards are points in sigma, and what shaping
    adds: how much nearer to a win the hand has come since the person's last decision. A hand that is over counts as
    distance 0, so the best policy stays the same. After the end of a hand, the next step deals the next one, and
    ignores the action for that table.
    """

    def __init__(self, variant, number, seed):
        rules, self.metadata = mahjong_env.rules(variant), {"autoreset_mode": "next_step"}
        self.num_envs, self.sigma = number, sigma(rules)
        self.engine = mahjong_env.make_engine(rules, number, seed=seed)
        self.distance = np.full((number, rules.people), np.nan, np.float32)  # at each person's last decision
        self.names = [f"player_{person}" for person in range(rules.people)]
        seen = Dict(
            {"observations": Box(-128, 127, (SIZE,), np.int8), "action_mask": Box(0, 1, (NUM_ACTIONS,), np.int8)}
        )
        one = MultiAgentEnv()  # RLlib asks it for the spaces of every table
        one.possible_agents = one.agents = self.names
        one.observation_spaces = self.single_observation_spaces = dict.fromkeys(self.names, seen)
        one.action_spaces = self.single_action_spaces = dict.fromkeys(self.names, Discrete(NUM_ACTIONS))
        self.single_observation_space = Dict(self.single_observation_spaces)
        self.single_action_space = Dict(self.single_action_spaces)
        self.envs = [one] * number

    def reset(self, *, seed=None, options=None):
        self.engine.reset()
        self.distance[:] = np.nan
        return self.seen()[0], [{} for _ in self.envs]

    def step(self, actions):
        over, live = (np.flatnonzero(self.engine.seat_to_act < 0), np.flatnonzero(self.engine.seat_to_act >= 0))
        paid = np.zeros(self.distance.shape, np.float32)
        if live.size:
            chosen = np.array([next(iter(actions[table].values())) for table in live.tolist()])
            result = self.engine.step(chosen, games=live)
            ended = live[result.done]
            paid[live] = result.rewards / self.sigma
            paid[ended] += SHAPING * np.nan_to_num(self.distance[ended])
        if over.size:
            self.engine.reset(games=over)
            self.distance[over] = np.nan
        shown, nearer = self.seen()
        rewards = [dict(zip(self.names, row, strict=True)) for row in (paid + nearer).tolist()]
        ends = [{"__all__": is_over} for is_over in (self.engine.seat_to_act < 0).tolist()]
        return shown, rewards, ends, [{"__all__": False} for _ in ends], [{} for _ in ends]

    def seen(self):
        """Return what is seen at every table (zeros by all once a hand is over), and [tables, P] what shaping adds."""
        person, nearer = self.engine.seat_to_act, np.zeros(self.distance.shape, np.float32)
        inputs, masks = np.zeros((len(person), SIZE), np.int8), np.zeros((len(person), NUM_ACTIONS), np.int8)
        if (live := np.flatnonzero(person >= 0)).size:
            view = self.engine.view(live)
            ahead = look_ahead(view)
            inputs[live], masks[live] = policy_inputs(view, ahead), view.action_mask
            place, distance = (live, person[live]), ahead.distance.min(axis=1)
            nearer[place] = SHAPING * np.nan_to_num(self.distance[place] - distance)
            self.distance[place] = distance
        rows = [{"observations": one, "action_mask": mask} for one, mask in zip(inputs, masks, strict=True)]
        asked = [self.names if who < 0 else [self.names[who]] for who in person.tolist()]
        return [dict.fromkeys(names, row) for names, row in zip(asked, rows, strict=True)], nearer


class Runner(MultiAgentEnvRunner):
    def make_env(self):
        config = self.config
        seed = training_seed(config.seed, int(self.worker_index or 0))
        if self.worker_index and ray.get_runtime_context().was_current_actor_reconstructed:
            # It takes the place of a runner that died. With the same seed it would deal the same hands again.
            seed = training_seed(int(np.random.SeedSequence().generate_state(1)[0]))
        self.env = Tables(config.env, config.num_envs_per_env_runner, seed)
        self.num_envs, self._needs_initial_reset = self.env.num_envs, True


class Module(TorchRLModule, ValueFunctionAPI):
    """Logits and values of a network that policy files can hold, so that the result is played without RLlib."""

    def setup(self):
        self.network = PolicyNetwork(NETWORK)

    def _forward(self, batch, **kwargs):
        seen = batch[Columns.OBS]
        logits = self.network.forward_actor(seen["observations"].float())
        return {Columns.ACTION_DIST_INPUTS: torch.where(seen["action_mask"] > 0, logits, NEVER)}

    def compute_values(self, batch, embeddings=None):
        return self.network.forward_critic(batch[Columns.OBS]["observations"].float()).squeeze(-1)


def ppo(variant, *, runners=1, tables=64, seed=0):
    """Return settings that were good for a first quarter of an hour. With 0 runners, the learner's process plays."""
    module = MultiRLModuleSpec(rl_module_specs={LEARNER: RLModuleSpec(module_class=Module)})
    return (
        PPOConfig()
        .environment(variant, disable_env_checking=True)  # RLlib's own checks do not support vectors
        .env_runners(
            env_runner_cls=Runner,
            num_env_runners=runners,
            num_envs_per_env_runner=tables,
            rollout_fragment_length="auto",
            sample_timeout_s=1800,  # after a minute RLlib would learn from nothing and not say so
        )
        .multi_agent(policies={LEARNER}, policy_mapping_fn=lambda *agent, **more: LEARNER, count_steps_by="env_steps")
        .rl_module(rl_module_spec=module)
        .training(
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            train_batch_size_per_learner=BATCH,
            minibatch_size=BATCH // 4,
            num_epochs=4,
            clip_param=0.2,
            vf_clip_param=1e6,
            entropy_coeff=0.01,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .debugging(seed=seed, log_level="ERROR")
    )


def decisions_of(found):
    """Return the number of decisions that an update has learned from; 0 while no runner is alive."""
    steps = float(found.get("env_runners", {}).get("num_env_steps_sampled", 0))
    return 0 if isnan(steps) else int(steps)


def learn(variant, minutes, out, *, runners=1, tables=64):
    """Learn and write the policy; return the number of decisions that it has learned from."""
    folder = out.with_suffix(".checkpoints")
    whole = sorted(folder.glob("[0-9]*"))  # named by the decisions and seconds so far
    decisions, seconds = map(int, whole[-1].name.split("-")) if whole else (0, 0)
    # With the number of decisions as its seed, a resumed run is dealt other hands.
    algorithm = ppo(variant, runners=runners, tables=tables, seed=decisions).build_algo()
    if whole:
        algorithm.restore_from_path(str(whole[-1].absolute()))
        print(f"going on after {seconds} s and {decisions:,} decisions", flush=True)
    start = time.monotonic() - seconds
    while (seconds := int(time.monotonic() - start)) < 60 * minutes:
        if not (made := decisions_of(algorithm.train())):
            time.sleep(1)  # every runner has died, and is being started again
            continue
        decisions += made
        shutil.rmtree(folder / "new", ignore_errors=True)
        algorithm.save_to_path(str((folder / "new").absolute()))
        (folder / "new").rename(folder / f"{decisions:012d}-{int(time.monotonic() - start)}")
        for old in sorted(folder.glob("[0-9]*"))[:-1]:
            shutil.rmtree(old)
        print(f"{seconds:6} s  {decisions:9,} decisions", flush=True)
    rules, weights = mahjong_env.rules(variant), arrays_of(algorithm.get_module(LEARNER).network)
    told = {"with": "RLlib's PPO", "steps": decisions}
    out.parent.mkdir(parents=True, exist_ok=True)
    PolicyFile(rules.name, rules.version, asdict(NETWORK), weights, rules.knobs, training=told).write(out)
    algorithm.stop()
    shutil.rmtree(folder)
    return decisions


if __name__ == "__main__":
    variant, minutes, out = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    with connected("local", workers=2):
        decisions = learn(variant, minutes, out)
    rules, agents = mahjong_env.rules(variant), [make_agent(f"policy:{out}"), make_agent("random")]
    found = measure(rules, agents, one_against_copies(0, 1, rules.people), deals=1000, seed=0)
    print(f"{decisions:,} decisions: {found.of(0).points.text(3, sign='+')} points a hand against random agents")
