"""RLlib's PPO for a variant: a configuration, a module with action masks, and what it learned as a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any, Final

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_agents.policy.torch_network import arrays_of
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.rllib.environments import ACTION_MASK, OBSERVATIONS, BatchedRunner, register

BATCH: Final = 8192
"""Decisions of an update."""
LEARNER: Final = "learner"
"""The one module that plays at every seat."""
_NEVER: Final = -1e9
"""The logit of what the mask forbids: its probability is exactly 0, and sums with it stay finite."""


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]  # Ray ships no types
    """Logits and values of one `PolicyNetwork`, which can be saved and played without RLlib.

    ``model_config["network"]``: ``width`` and ``layers``, see `mahjong_agents.policy.plane_network.NetworkSpec`.
    """

    network: PolicyNetwork

    def setup(self) -> None:
        """Build the network with fresh weights."""
        self.network = PolicyNetwork(NetworkSpec(**self.model_config["network"]))

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        logits = self.network.forward_actor(seen[OBSERVATIONS].float())
        return {Columns.ACTION_DIST_INPUTS: torch.where(seen[ACTION_MASK] > 0, logits, _NEVER)}

    def _forward_train(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        logits, values = self.network(seen[OBSERVATIONS].float())
        masked = torch.where(seen[ACTION_MASK] > 0, logits, _NEVER)
        return {Columns.ACTION_DIST_INPUTS: masked, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """Return [n] values; ``embeddings`` are those that the forward pass has found already."""
        if embeddings is None:
            embeddings = self.network.forward_critic(batch[Columns.OBS][OBSERVATIONS].float())
        return embeddings.squeeze(-1)


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

    Rewards are points times ``scale``, which is best one divided by sigma. ``runners`` processes (0: the learner's own)
    step ``tables`` tables each at once. ``knobs`` are house rules, as ``NAME=VALUE``.
    """
    register()
    model = {"network": asdict(network or NetworkSpec(128, 1))}
    module = RLModuleSpec(module_class=MaskedModule, model_config=model)
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
        .multi_agent(policies={LEARNER}, policy_mapping_fn=lambda *agent, **more: LEARNER, count_steps_by="env_steps")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={LEARNER: module}))
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


def decisions_of(found: Mapping[str, Any]) -> int:
    """Return how many decisions an update has learned from, by the result of ``train``; 0 while no runner is alive."""
    steps = float(found.get("env_runners", {}).get("num_env_steps_sampled", 0))
    return 0 if isnan(steps) else int(steps)


def write_policy(algorithm: Any, variant: str, path: Path, *, knobs: tuple[str, ...] = (), decisions: int = 0) -> None:
    """Write what an algorithm of `ppo` has learned as a policy file, for ``policy:FILE`` wherever agents are named."""
    network, rules = algorithm.get_module(LEARNER).network, read_rules(variant, knobs)
    told = {"with": "RLlib's PPO", "steps": decisions}
    weights = arrays_of(network)
    PolicyFile(rules.name, rules.version, asdict(network.spec), weights, rules.knobs, training=told).write(path)
