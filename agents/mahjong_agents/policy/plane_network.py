"""A network over whole observations: logits for the 109 actions and a value.

Its inputs are those of `mahjong_agents.policy.plane_inputs`. This module needs torch; nothing imports it until such a
policy is loaded or trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import PolicyFileError
from mahjong_agents.policy.custom_features import Features, scales_of
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.inputs import Inputs
from mahjong_agents.policy.plane_inputs import (
    BEHIND_LIMIT,
    NEAREST_LIMIT,
    NUM_ACTIONS,
    OBSERVATION_SIZE,
    PIECES,
    PLANE_LENGTH,
    SIZE,
    policy_inputs,
)
from mahjong_env import MissingExtraError, View, action
from mahjong_env.observation.acceptance import look_ahead

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtraError("this policy needs torch: pip install 'mahjong-env[train]'") from error

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
        added: added inputs (`mahjong_agents.policy.custom_features`).
    """

    width: int = 256
    layers: int = 2
    added: int = 0


class PolicyNetwork(nn.Module):
    """A few dense layers over the observation, and weights shared by all actions for what is known of each action.

    logits[a] = dense(h)[a] + gate(h)[group of a, :] . facts(a): the facts of an action are how far behind the best
    action it leaves the hand (one-hot) and how many tiles would help after it; the gate lets the table decide how much
    speed counts.

    Attributes:
        spec: its sizes.
        features: what adds the inputs that are added.
    """

    scale: Tensor
    group: Tensor
    thresholds: Tensor
    added_scale: Tensor
    features: Features | None = None

    def __init__(self, spec: NetworkSpec, features: Features | None = None) -> None:
        """Build the network with fresh weights, for inputs to which ``features`` adds ``spec.added``."""
        super().__init__()
        self.spec, self.features = spec, features
        if spec.added:
            added_scale = np.ones(spec.added, np.float32) if features is None else scales_of(features)
            self.register_buffer("added_scale", torch.as_tensor(added_scale))
        scales = np.concatenate([1 / piece.spread(piece.scale) for piece in PIECES]).ravel()
        claims = np.ones(OBSERVATION_SIZE - scales.size)
        # The hand, which comes first, is shown as thresholds instead.
        scale = np.concatenate([scales, claims])[PLANE_LENGTH:].astype(np.float32)
        self.register_buffer("scale", torch.as_tensor(scale), persistent=False)
        group = np.searchsorted(_GROUP_STARTS, np.arange(NUM_ACTIONS), side="right") - 1
        self.register_buffer("group", torch.as_tensor(group), persistent=False)
        self.register_buffer("thresholds", torch.arange(1, _THRESHOLDS + 1).float(), persistent=False)
        size = OBSERVATION_SIZE + (_THRESHOLDS - 1) * PLANE_LENGTH + NUM_ACTIONS + NEAREST_LIMIT + 1
        sizes = [size + spec.added, *[spec.width] * spec.layers]
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

    def inputs(self, view: View) -> NDArray[np.int8]:
        """Return [n, F] int8 what the network is shown of n seats."""
        return policy_inputs(view, look_ahead(view), self.features)

    def foresee(self, view: View) -> NDArray[np.float32]:
        """Return [n] float32 the values of what n seats see."""
        with torch.inference_mode():
            inputs = torch.from_numpy(self.inputs(view)).to(self.scale.device).float()
            values: NDArray[np.float32] = self.forward_critic(inputs)[:, 0].cpu().numpy()
        return values

    def scores(self, inputs: Inputs) -> Tensor:
        """Return [n, 109] logits for what `inputs` returns; see `mahjong_agents.policy.torch_network`."""
        return self.forward_actor(inputs.per_decision["inputs"].float())

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
        ahead = inputs[:, OBSERVATION_SIZE:SIZE]
        behind, helping = ahead[:, :NUM_ACTIONS], ahead[:, NUM_ACTIONS:-1] / _HELP_SCALE
        near = nn.functional.one_hot(ahead[:, -1].long(), NEAREST_LIMIT + 1)
        added = [inputs[:, SIZE:] * self.added_scale] if self.spec.added else []
        hidden = self.trunk(torch.cat([hand.flatten(1).float(), planes, helping, near.float(), *added], dim=1))
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


def network_from(saved: PolicyFile, path: Path, features: Features | None = None) -> PolicyNetwork:
    """Build the network of a policy file.

    Args:
        saved: what is in the file.
        path: the file.
        features: what adds the inputs that are added.

    Raises:
        PolicyFileError: its weights do not fit its own sizes, or are no finite numbers; or it has other added inputs.
    """
    saved.check_features(path, features)
    try:
        spec = NetworkSpec(**saved.network)
        # Before anything is made in sizes that only the header names: they might take all memory.
        hidden = [len(array) for name, array in saved.weights.items() if name.startswith("trunk.") and "bias" in name]
        if spec.layers != len(hidden) or set(hidden) != {spec.width}:
            raise ValueError(f"{spec}, but hidden layers of {hidden}")
        if not all(np.isrealobj(array) and np.isfinite(array).all() for array in saved.weights.values()):
            raise ValueError("some are no finite real numbers")
        network = PolicyNetwork(spec, features)
        network.load_state_dict({name: torch.as_tensor(array) for name, array in saved.weights.items()})
    except (RuntimeError, TypeError, ValueError) as error:
        raise PolicyFileError(f"{path}: its weights do not fit its network ({error})") from error
    return network.eval()


def weights_of(network: PolicyNetwork) -> dict[str, NDArray[Any]]:
    """Return copies of a network's arrays, as `PolicyFile` keeps them."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in network.state_dict().items()}
