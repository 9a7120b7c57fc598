"""The network of `mahjong_agents.policy.plane_network` as a Stable-Baselines3 policy, and the learner that uses it."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_training.config import TrainSb3Config


class TablePolicy(MaskableActorCriticPolicy):
    """A policy whose logits and values come from one `PolicyNetwork`, which also plays without Stable-Baselines3."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        network: NetworkSpec,
        **kwargs: Any,
    ) -> None:
        """Build the policy around a network of these sizes; see `MaskableActorCriticPolicy` for other arguments."""
        self._spec = network
        super().__init__(
            observation_space, action_space, lr_schedule, features_extractor_class=FlattenExtractor, **kwargs
        )

    @property
    def network(self) -> PolicyNetwork:
        """The network that gives logits and values."""
        network = self.mlp_extractor
        assert isinstance(network, PolicyNetwork)
        return network

    def _build(self, lr_schedule: Schedule) -> None:
        # The base class would add two linear layers after `mlp_extractor`, but this network has heads of its own.
        self.mlp_extractor = PolicyNetwork(self._spec)  # type: ignore[assignment]
        self.action_net = nn.Identity()
        self.value_net = nn.Identity()  # type: ignore[assignment]
        options = {"lr": lr_schedule(1)} | self.optimizer_kwargs
        self.optimizer = self.optimizer_class(self.parameters(), **options)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"network": self._spec}


def new_learner(
    env: VecEnv,
    network: NetworkSpec,
    config: TrainSb3Config,
    device: torch.device | str = "cpu",
) -> MaskablePPO:
    """Make a MaskablePPO with a fresh network.

    Args:
        env: the tables to learn at.
        network: the sizes of the network.
        config: the hyperparameters and the seed.
        device: the device on which torch computes.
    """

    def learning_rate(_: float) -> float:
        """Return the learning rate, which falls linearly to a tenth over the whole run.

        Stable-Baselines3's own progress, the argument, counts from where learning was resumed, not from the beginning.
        """
        done = 0 if learner is None else learner.num_timesteps
        return config.learning_rate * (1 - 0.9 * min(1.0, done / config.goal))

    learner: MaskablePPO | None = None
    learner = MaskablePPO(
        TablePolicy,
        env,
        learning_rate=learning_rate,
        n_steps=config.n_steps,
        batch_size=min(config.batch_size, config.n_steps * env.num_envs),
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        policy_kwargs={"network": network},
        stats_window_size=2000,
        seed=config.seed,
        device=device,
    )
    return learner
