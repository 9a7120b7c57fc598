"""Networks as torch modules: a researcher's own, found by their address, and the class that plays them in batches.

A module can be played and trained if it has two methods; ``notebooks/examples/attention_network.py`` is an example::

    class Linear(torch.nn.Module):
        def __init__(self, width: int = 64): ...

        def inputs(self, view):
            return {"hand": view.hand}

        def scores(self, inputs):
            return self.layer(inputs.per_decision["hand"].float())

``inputs`` returns what the network is to see of the n decisions of a view, in numpy: an array [n, ...], several of them
by name, or `Inputs`, which may have arrays of the m legal actions as well. ``scores`` takes the same as `Inputs` of
tensors on the module's device. It returns logits: either [n, 109] for all actions, of which the illegal ones are
ignored, or [m] for the legal actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import make_own
from mahjong_agents.policy.inputs import Inputs
from mahjong_agents.policy.network import Device
from mahjong_env import ACTIONS, AgentError, MissingExtraError, View
from mahjong_env.environments.agents import Kind, parse_address

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtraError("this policy needs torch: pip install 'mahjong-env[train]'") from error

DEVICES: Final = get_args(Device)
_MOST_DECISIONS: Final = 4096  # decisions scored at once, which keeps memory small


def _is_network(one: Any) -> bool:
    return isinstance(one, nn.Module) and all(callable(getattr(one, name, None)) for name in ("inputs", "scores"))


_KIND: Final = Kind(
    "network",
    "a network",
    AgentError,
    "scores",
    _is_network,
    lambda: "module:Class, file.py:Class, and in Python torch modules with methods inputs and scores",
)


def find_network(network: Any) -> nn.Module:
    """Return a new module of the name in a text (`mahjong_agents.base.make_own`), or a copy of a given module.

    Raises:
        AgentError: there is nothing of this name, it cannot be made, or it is not a network.
    """
    found: nn.Module = deepcopy(make_own(_KIND, network))  # a text may name a module that exists already
    return found


def network_header(address: str) -> dict[str, Any]:
    """Return the header by which a policy file names a network: its ``class`` and the ``options`` it is made with."""
    name, options = parse_address(_KIND, address)
    return {"class": name, "options": options}


def find_device(name: str) -> torch.device:
    """Return the device that a setting means; ``auto`` is a GPU if there is one.

    Raises:
        AgentError: there is no device of this name, or this machine has none.
    """
    if name not in DEVICES:
        raise AgentError(f"device is {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise AgentError("device cuda: torch finds no such device here; auto uses whatever there is")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def arrays_of(module: nn.Module) -> dict[str, NDArray[Any]]:
    """Return copies of a module's arrays by name, as policy files keep them."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def load_arrays(module: nn.Module, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Load arrays by name into a module.

    Raises:
        ValueError: they do not fit this module.
    """
    try:
        module.load_state_dict({name: torch.as_tensor(np.asarray(array)) for name, array in arrays.items()})
    except (RuntimeError, TypeError) as error:
        raise ValueError(" ".join(str(error).split())) from error


def inputs_of(module: nn.Module, view: View) -> Inputs:
    """Return the inputs that a module makes of a view.

    Raises:
        AgentError: they are not arrays of the decisions and of their legal actions.
    """
    found: Any = module.inputs(view)  # type: ignore[operator]
    if isinstance(found, np.ndarray):
        found = {"inputs": found}
    if isinstance(found, Mapping):
        row, action = np.nonzero(view.action_mask)
        found = Inputs(row, action, {}, found)
    if not isinstance(found, Inputs):
        raise AgentError(f"inputs of a network are an array, arrays by name, or Inputs, not {type(found).__name__}")
    for arrays, length in ((found.per_decision, len(view)), (found.per_action, len(found.row))):
        for name, array in arrays.items():
            if np.shape(array)[:1] != (length,):
                raise AgentError(f"the input {name!r} of a network has shape {np.shape(array)}, not [{length}, ...]")
    return found


def score_actions(module: nn.Module, inputs: Inputs) -> Tensor:
    """Return [m] the logits of the legal actions, for inputs that are tensors.

    Raises:
        AgentError: the module does not return [m] or [n, 109].
    """
    scores: Tensor = module.scores(inputs)  # type: ignore[operator]
    if scores.ndim == 2 and scores.shape[1] == len(ACTIONS):
        scores = scores[inputs.row, inputs.action]
    if scores.shape != inputs.row.shape:
        raise AgentError(
            f"scores of a network are [m] or [n, {len(ACTIONS)}], not {list(scores.shape)} (m = {len(inputs.row)})"
        )
    return scores


class TorchNetwork:
    """A torch module that plays, with its weights of the moment, in batches on its own device."""

    def __init__(self, module: nn.Module) -> None:
        """Take a module; nothing is copied."""
        self.module = module

    def inputs(self, view: View) -> Inputs:
        """Return the inputs of the network for the seats of a view."""
        return inputs_of(self.module, view)

    def scores(self, inputs: Inputs) -> NDArray[np.float32]:
        """Return [m] float32 the logits of all legal actions."""
        device = next(self.module.parameters()).device
        decisions = int(inputs.row[-1]) + 1 if len(inputs.row) else 0
        scores = np.empty(len(inputs.row), np.float32)
        with torch.no_grad():
            for start in range(0, decisions, _MOST_DECISIONS):
                end = start + _MOST_DECISIONS
                first, last = np.searchsorted(inputs.row, [start, end])
                part = inputs.of_actions(slice(first, last))
                per_decision = {name: array[start:end] for name, array in part.per_decision.items()}
                part = Inputs(part.row - start, part.action, part.per_action, per_decision)
                tensors = part.map(lambda array: torch.from_numpy(np.ascontiguousarray(array)).to(device))
                scores[first:last] = score_actions(self.module, tensors).float().cpu().numpy()
        # Huge weights may give minus infinity; some action must be the best nevertheless.
        return np.maximum(scores, np.finfo(np.float32).min)
