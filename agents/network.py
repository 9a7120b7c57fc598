"""The network of learned policies: logits for the 109 actions and a value, from the inputs of `agents.inputs`.

This module needs torch; nothing imports it until a policy is loaded or trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from agents.inputs import BEHIND_LIMIT, NEAREST_LIMIT, NUM_ACTIONS, OBSERVATION_SIZE, PIECES, PLANE_LENGTH
from mahjong_env import action

_THRESHOLDS: Final = 4
_HELP_SCALE: Final = 20

# Actions that the distance to a win is weighed for alike.
_GROUP_STARTS: Final = tuple(
    action(name)
    for name in ("discard 1m", "concealed kong 1m", "added kong 1m", "chow low", "pung", "kong", "win", "pass")
)


@dataclass(frozen=True)
class NetworkSpec:
    """The sizes of a network.

    Attributes:
        width: units of each hidden layer.
        layers: hidden layers, at least one.
    """

    width: int = 256
    layers: int = 2


class PolicyNetwork(nn.Module):
    """A few dense layers over the observation, and weights shared by all actions for what is known of each action.

    logits[a] = dense(h)[a] + gate(h)[group of a, :] . facts(a): the facts of an action are how far behind the best
    action it leaves the hand (one-hot) and how many tiles would help after it; the gate lets the table decide how much
    speed counts.
    """

    scale: Tensor
    group: Tensor
    thresholds: Tensor

    def __init__(self, spec: NetworkSpec) -> None:
        """Build the network with fresh weights."""
        super().__init__()
        self.spec = spec
        self.register_buffer("scale", torch.as_tensor(_scales()), persistent=False)
        self.register_buffer("group", torch.as_tensor(_groups()), persistent=False)
        self.register_buffer("thresholds", torch.arange(1, _THRESHOLDS + 1).float(), persistent=False)
        sizes = [self._input_size(), *[spec.width] * spec.layers]
        layers: list[nn.Module] = []
        for size, next_size in pairwise(sizes):
            layer = nn.Linear(size, next_size)
            nn.init.orthogonal_(layer.weight, np.sqrt(2))
            nn.init.zeros_(layer.bias)
            layers += [layer, nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.dense = _small(nn.Linear(spec.width, NUM_ACTIONS))
        self.gate = _small(nn.Linear(spec.width, len(_GROUP_STARTS) * (BEHIND_LIMIT + 1)))
        self.value = _small(nn.Linear(spec.width, 1))

    @staticmethod
    def _input_size() -> int:
        return OBSERVATION_SIZE + (_THRESHOLDS - 1) * PLANE_LENGTH + NUM_ACTIONS + NEAREST_LIMIT + 1

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return [n, 109] logits, illegal actions not masked, and [n, 1] values, for inputs [n, F] float."""
        hidden, facts = self._read(inputs)
        return self._logits(hidden, facts), self.value(hidden)

    def forward_actor(self, inputs: Tensor) -> Tensor:
        """Return the logits alone."""
        hidden, facts = self._read(inputs)
        return self._logits(hidden, facts)

    def forward_critic(self, inputs: Tensor) -> Tensor:
        """Return the values alone."""
        hidden, _ = self._read(inputs)
        value: Tensor = self.value(hidden)
        return value

    def _read(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last hidden layer, and the facts of each action [n, 109, facts]."""
        hand = inputs[:, :PLANE_LENGTH, None] >= self.thresholds
        planes = inputs[:, PLANE_LENGTH:OBSERVATION_SIZE] * self.scale
        ahead = inputs[:, OBSERVATION_SIZE:]
        behind, helping = ahead[:, :NUM_ACTIONS], ahead[:, NUM_ACTIONS:-1] / _HELP_SCALE
        near = nn.functional.one_hot(ahead[:, -1].long(), NEAREST_LIMIT + 1)
        hidden = self.trunk(torch.cat([hand.flatten(1).float(), planes, helping, near.float()], dim=1))
        facts = torch.stack([*(behind == k for k in range(BEHIND_LIMIT)), helping], dim=2).float()
        return hidden, facts

    def _logits(self, hidden: Tensor, facts: Tensor) -> Tensor:
        gate = self.gate(hidden).view(len(hidden), len(_GROUP_STARTS), BEHIND_LIMIT + 1)
        logits: Tensor = self.dense(hidden) + (gate[:, self.group] * facts).sum(dim=2)
        return logits


def _small(layer: nn.Linear) -> nn.Linear:
    """Let an output begin near zero."""
    nn.init.orthogonal_(layer.weight, 0.01)
    nn.init.zeros_(layer.bias)
    return layer


def _scales() -> np.ndarray:
    """Return what the numbers behind the hand's plane are multiplied by, as declared: [OBSERVATION_SIZE - 34] float32.

    The hand is shown as thresholds instead.
    """
    scales = np.concatenate([1 / piece.spread(piece.scale) for piece in PIECES]).ravel()
    claims = np.ones(OBSERVATION_SIZE - scales.size)
    return np.concatenate([scales, claims])[PLANE_LENGTH:].astype(np.float32)


def _groups() -> np.ndarray:
    """Return the group of each action: [109] int64."""
    return np.searchsorted(_GROUP_STARTS, np.arange(NUM_ACTIONS), side="right") - 1
