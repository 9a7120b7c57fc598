"""A network over whole observations (`mahjong_agents.policy.plane_inputs`), with logits for 109 actions and a value.

It needs torch, and is imported only when such a policy is loaded or trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mahjong_agents.policy.inputs import GROUP_STARTS, Inputs
from mahjong_agents.policy.plane_inputs import (
    BEHIND_LIMIT,
    NEAREST_LIMIT,
    OBSERVATION_SIZE,
    PIECES,
    SIZE,
    policy_inputs,
)
from mahjong_agents.policy.torch_network import load_arrays
from mahjong_env import NUM_ACTIONS, View
from mahjong_env.observation.acceptance import look_ahead

_HAND: Final = 34  # numbers of the hand, which come first; the network sees them as thresholds
_THRESHOLDS: Final = 4
_HELP_SCALE: Final = 20
_GROUPS: Final = len(GROUP_STARTS)  # groups of actions that share the weights of the distance from a win


@dataclass(frozen=True)
class NetworkSpec:
    """The sizes of a network.

    Attributes:
        width: the number of units of each hidden layer.
        layers: the number of hidden layers, at least one.
    """

    width: int = 256
    layers: int = 2


class PolicyNetwork(nn.Module):
    """A few dense layers over the observation, and weights for the facts of each action that actions share.

    logits[a] = dense(h)[a] + gate(h)[group of a, :] . facts(a), where h is the last hidden layer. The facts of an
    action are how far behind the best action it leaves the hand (one-hot) and how many tiles would help after it. The
    gate lets the table decide how much speed counts.
    """

    scale: Tensor
    group: Tensor
    thresholds: Tensor

    def __init__(self, spec: NetworkSpec) -> None:
        """Build the network with newly initialised weights."""
        super().__init__()
        self.spec = spec
        scales = np.concatenate([1 / piece.spread(piece.scale) for piece in PIECES]).ravel()
        claims = np.ones(OBSERVATION_SIZE - scales.size)
        scale = np.concatenate([scales, claims])[_HAND:].astype(np.float32)
        self.register_buffer("scale", torch.as_tensor(scale), persistent=False)
        group = np.searchsorted(GROUP_STARTS, np.arange(NUM_ACTIONS), side="right") - 1
        self.register_buffer("group", torch.as_tensor(group), persistent=False)
        self.register_buffer("thresholds", torch.arange(1, _THRESHOLDS + 1).float(), persistent=False)
        size = OBSERVATION_SIZE + (_THRESHOLDS - 1) * _HAND + NUM_ACTIONS + NEAREST_LIMIT + 1
        layers: list[nn.Module] = []
        for before, after in pairwise([size, *[spec.width] * spec.layers]):
            layers += [_linear(before, after, np.sqrt(2)), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.dense = _linear(spec.width, NUM_ACTIONS)
        self.gate = _linear(spec.width, _GROUPS * (BEHIND_LIMIT + 1))
        self.value = _linear(spec.width, 1)

    @classmethod
    def of(cls, sizes: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> PolicyNetwork:
        """Build the network of a policy file.

        Raises:
            TypeError, ValueError: the weights do not fit the sizes.
        """
        spec = NetworkSpec(**sizes)
        # Check the sizes before building: the header alone might name sizes that take all memory.
        hidden = [len(array) for name, array in weights.items() if name.startswith("trunk.") and "bias" in name]
        if spec.layers != len(hidden) or set(hidden) != {spec.width}:
            raise ValueError(f"{spec}, but hidden layers of {hidden}")
        network = cls(spec)
        load_arrays(network, weights)
        return network

    def inputs(self, view: View) -> NDArray[np.int8]:
        """Return [n, F] int8 the inputs of the network for n seats."""
        return policy_inputs(view, look_ahead(view))

    def scores(self, inputs: Inputs) -> Tensor:
        """Return [n, 109] logits for what `inputs` returns; see `mahjong_agents.policy.torch_network`."""
        return self.forward_actor(inputs.per_decision["inputs"].float())

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return [n, 109] logits, without masking illegal actions, and [n, 1] values, for inputs [n, F] float."""
        hidden, facts = self._read(inputs)
        return self._logits(hidden, facts), self.value(hidden)

    def forward_actor(self, inputs: Tensor) -> Tensor:
        """Return the logits alone."""
        return self._logits(*self._read(inputs))

    def forward_critic(self, inputs: Tensor) -> Tensor:
        """Return the values alone."""
        value: Tensor = self.value(self._read(inputs)[0])
        return value

    def _read(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last hidden layer, and the facts of each action [n, 109, facts]."""
        hand = inputs[:, :_HAND, None] >= self.thresholds
        planes = inputs[:, _HAND:OBSERVATION_SIZE] * self.scale
        ahead = inputs[:, OBSERVATION_SIZE:SIZE]
        behind, helping = ahead[:, :NUM_ACTIONS], ahead[:, NUM_ACTIONS:-1] / _HELP_SCALE
        near = nn.functional.one_hot(ahead[:, -1].long(), NEAREST_LIMIT + 1)
        hidden = self.trunk(torch.cat([hand.flatten(1).float(), planes, helping, near.float()], dim=1))
        facts = torch.stack([*(behind == k for k in range(BEHIND_LIMIT)), helping], dim=2).float()
        return hidden, facts

    def _logits(self, hidden: Tensor, facts: Tensor) -> Tensor:
        gate = self.gate(hidden).view(len(hidden), _GROUPS, BEHIND_LIMIT + 1)
        logits: Tensor = self.dense(hidden) + (gate[:, self.group] * facts).sum(dim=2)
        return logits


def _linear(size: int, width: int, gain: float = 0.01) -> nn.Linear:
    """Return a layer with orthogonal initial weights; the default gain, for output layers, is near zero."""
    layer = nn.Linear(size, width)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
