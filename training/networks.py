"""The network of `agents.network` as a policy of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from agents.features import Features
from agents.network import NetworkSpec, PolicyNetwork
from training.config import Optimisation


class TablePolicy(MaskableActorCriticPolicy):
    """Logits and values straight from one `PolicyNetwork`, which can be saved and played without Stable-Baselines3."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        network: NetworkSpec,
        features: Features | None = None,
        **kwargs: Any,
    ) -> None:
        """Build the policy; what is not named here is `MaskableActorCriticPolicy`'s."""
        self._spec, self._features = network, features
        super().__init__(
            observation_space, action_space, lr_schedule, features_extractor_class=FlattenExtractor, **kwargs
        )

    @property
    def network(self) -> PolicyNetwork:
        """The network itself."""
        network = self.mlp_extractor
        assert isinstance(network, PolicyNetwork)
        return network

    def _build(self, lr_schedule: Schedule) -> None:
        # The base class would put two linear layers behind `mlp_extractor`; this network has its own heads.
        self.mlp_extractor = PolicyNetwork(self._spec, self._features)  # type: ignore[assignment]
        self.action_net = nn.Identity()
        self.value_net = nn.Identity()  # type: ignore[assignment]
        options = {"lr": lr_schedule(1)} | self.optimizer_kwargs
        self.optimizer = self.optimizer_class(self.parameters(), **options)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"network": self._spec, "features": self._features}


def new_learner(
    env: VecEnv, network: NetworkSpec, ppo: Optimisation, seed: int, features: Features | None = None
) -> MaskablePPO:
    """Make a MaskablePPO with a fresh network for some tables, whose inputs ``features`` adds to."""
    return MaskablePPO(
        TablePolicy,
        env,
        learning_rate=_falling(ppo.learning_rate),
        n_steps=ppo.steps_per_table,
        batch_size=min(ppo.batch_size, ppo.steps_per_table * env.num_envs),
        n_epochs=ppo.epochs,
        gamma=ppo.discount,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value,
        policy_kwargs={"network": network, "features": features},
        stats_window_size=2000,
        seed=seed,
        device="cpu",
    )


def _falling(begin: float) -> Callable[[float], float]:
    """Return a learning rate that falls linearly to a tenth; its argument falls from 1 to 0."""
    return lambda left: begin * (0.1 + 0.9 * left)
