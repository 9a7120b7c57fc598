"""A configuration of RLlib's PPO that learns a variant, and what it learned as a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any, Final

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_network import NetworkSpec, weights_of
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.rllib.environments import BatchedRunner, register
from mahjong_training.rllib.module import MaskedModule

BATCH: Final = 8192
"""Decisions of an update."""
LEARNER: Final = "learner"
"""The one module that plays at every seat."""


def ppo(
    variant: str,
    *,
    scale: float,
    knobs: tuple[str, ...] = (),
    runners: int = 1,
    tables: int = 64,
    seed: int = 0,
    network: NetworkSpec | None = None,
) -> Any:
    """Return a PPOConfig, tuned for a first quarter of an hour: self-play at every seat, shaped by distance.

    Args:
        variant: what is learned.
        scale: of the rewards: one divided by the spread of a hand's points.
        knobs: house rules, as ``NAME=VALUE``.
        runners: processes that play; 0: the learner's own.
        tables: tables of each of them, stepped at once.
        seed: of the deals, the weights and all choices.
        network: its sizes.
    """
    register()
    spec = network or NetworkSpec(128, 1)
    return (
        PPOConfig()
        .environment(
            f"mahjong_env/{variant}",
            env_config={"knobs": list(knobs), "scale": scale, "shaping": 0.3, "seed": seed},
            disable_env_checking=True,  # RLlib's own checks know no vectors
        )
        .env_runners(
            env_runner_cls=BatchedRunner,
            num_env_runners=runners,
            num_envs_per_env_runner=tables,
            rollout_fragment_length="auto",
            sample_timeout_s=1800,  # after a minute RLlib would learn from nothing and not say so
        )
        .multi_agent(policies={LEARNER}, policy_mapping_fn=_everybody, count_steps_by="env_steps")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    LEARNER: RLModuleSpec(module_class=MaskedModule, model_config={"network": asdict(spec)})
                }
            )
        )
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


def _everybody(agent: str, *arguments: Any, **more: Any) -> str:
    return LEARNER


def decisions_of(found: Mapping[str, Any]) -> int:
    """Return how many decisions an update has learned from, by what ``train`` says; 0 while no runner is alive."""
    steps = float(found.get("env_runners", {}).get("num_env_steps_sampled", 0))
    return 0 if isnan(steps) else int(steps)


def write_policy(algorithm: Any, variant: str, path: Path, *, knobs: tuple[str, ...] = (), decisions: int = 0) -> None:
    """Write what an algorithm has learned as a policy file, for ``policy:FILE`` wherever agents are named."""
    network = algorithm.get_module(LEARNER).network
    rules = read_rules(variant, knobs)
    policy = PolicyFile(
        variant=rules.name,
        variant_version=rules.version,
        network=asdict(network.spec),
        weights=weights_of(network),
        knobs=rules.knobs,
        training={"with": "RLlib's PPO", "steps": decisions},
    )
    policy.write(path)
