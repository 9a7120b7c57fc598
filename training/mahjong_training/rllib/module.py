"""The network of `mahjong_agents.policy.plane_network` as a module of RLlib; illegal actions have no probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor

from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_training.rllib.environments import ACTION_MASK, OBSERVATIONS

_NEVER: Final = -1e9
"""The logit of what the mask forbids: its probability is exactly 0, and sums with it stay finite."""


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]  # Ray ships no types
    """Logits and values from one `PolicyNetwork`, which can be saved and played without RLlib.

    ``model_config["network"]``: ``width`` and ``layers``, see `mahjong_agents.policy.plane_network.NetworkSpec`.
    """

    network: PolicyNetwork

    def setup(self) -> None:
        """Build the network with fresh weights."""
        self.network = PolicyNetwork(NetworkSpec(**self.model_config["network"]))

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        logits = self.network.forward_actor(seen[OBSERVATIONS].float())
        return {Columns.ACTION_DIST_INPUTS: _masked(logits, seen[ACTION_MASK])}

    def _forward_train(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        seen = batch[Columns.OBS]
        logits, values = self.network(seen[OBSERVATIONS].float())
        return {Columns.ACTION_DIST_INPUTS: _masked(logits, seen[ACTION_MASK]), Columns.EMBEDDINGS: values}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """Return [n] values; ``embeddings`` are those that the forward pass has found already."""
        if embeddings is None:
            embeddings = self.network.forward_critic(batch[Columns.OBS][OBSERVATIONS].float())
        return embeddings.squeeze(-1)


def _masked(logits: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask > 0, logits, logits.new_tensor(_NEVER))
