"""The network of `mahjong_agents.policy.plane_network` as a policy of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor, nn

from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_training.config import TrainSb3Config


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


class ReferencePolicy(TablePolicy):
    """A `TablePolicy` that is held near a reference: itself, as it was when `refresh_reference` was last called.

    MaskablePPO adds ``ent_coef`` times the mean of what is called entropy here to what it maximises. With ``ent_coef``
    1 that is ``entropy`` times the true entropy, less ``divergence`` times the divergence from the reference.
    """

    def __init__(self, *args: Any, entropy: float, divergence: float, **kwargs: Any) -> None:
        """Build the policy; what is not named here is `TablePolicy`'s.

        Args:
            args: see `TablePolicy`.
            entropy: weight of the entropy.
            divergence: weight of the divergence from the reference.
            kwargs: see `TablePolicy`.
        """
        self._entropy, self._divergence = entropy, divergence
        super().__init__(*args, **kwargs)
        self.refresh_reference()

    def refresh_reference(self) -> None:
        """Stay near what the policy is now, from now on."""
        # Not a module of this one: its weights are neither learned nor counted among the policy's.
        self._reference = (deepcopy(self.network).requires_grad_(False),)

    def reference_state(self) -> dict[str, Tensor]:
        """Return the weights of the reference, to go on with later."""
        state: dict[str, Tensor] = self._reference[0].state_dict()
        return state

    def load_reference(self, state: dict[str, Tensor]) -> None:
        """Take back what `reference_state` returned."""
        self._reference[0].load_state_dict(state)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return values [n, 1], log probabilities [n] of actions, and [n] what is maximised beside the advantages."""
        seen = self.extract_features(obs)
        assert isinstance(seen, Tensor)  # actor and critic share them
        logits, values = self.network(seen)
        distribution = self._get_action_dist_from_latent(logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        now: Any = distribution.distribution
        with torch.no_grad():
            then = MaskableCategorical(logits=self._reference[0].forward_actor(seen), masks=now.masks)
        apart = (now.probs * (now.logits - then.logits)).sum(-1)
        gained = self._entropy * now.entropy() - self._divergence * apart
        return values, distribution.log_prob(actions), gained

    def _get_constructor_parameters(self) -> dict[str, Any]:
        weights = {"entropy": self._entropy, "divergence": self._divergence}
        return super()._get_constructor_parameters() | weights


def new_learner(
    env: VecEnv,
    network: NetworkSpec,
    ppo: TrainSb3Config,
    seed: int,
    features: Features | None = None,
    device: torch.device | None = None,
) -> MaskablePPO:
    """Make a MaskablePPO with a fresh network for some tables.

    Args:
        env: the tables.
        network: the sizes of the network.
        ppo: settings.
        seed: of the weights and of all choices.
        features: what adds to the inputs.
        device: where it learns; None: the CPU.
    """
    near = ppo.kl_coef > 0
    policy: type[TablePolicy] = ReferencePolicy if near else TablePolicy
    kwargs: dict[str, Any] = {"network": network, "features": features}
    if near:
        kwargs |= {"entropy": ppo.ent_coef, "divergence": ppo.kl_coef}
    learner = MaskablePPO(
        policy,
        env,
        learning_rate=_falling(ppo.learning_rate),
        n_steps=ppo.n_steps,
        batch_size=min(ppo.batch_size, ppo.n_steps * env.num_envs),
        n_epochs=ppo.n_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=1.0 if near else ppo.ent_coef,
        vf_coef=ppo.vf_coef,
        policy_kwargs=kwargs,
        stats_window_size=2000,
        seed=seed,
        device=device or torch.device("cpu"),
    )
    if isinstance(learner.policy, ReferencePolicy):
        learner.policy.refresh_reference()  # where it learns: it was made on the CPU
    return learner


def _falling(begin: float) -> Callable[[float], float]:
    """Return a learning rate that falls linearly to a tenth; its argument falls from 1 to 0."""
    return lambda left: begin * (0.1 + 0.9 * left)
