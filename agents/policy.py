"""The agent that plays a learned policy; needs torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import PolicyFileError
from agents.inputs import policy_inputs
from agents.lookahead import look_ahead
from agents.policy_file import PolicyFile, find_policy
from mahjong_env import MissingExtraError, View

try:
    import torch
except ImportError as error:
    raise MissingExtraError("policies need torch: pip install 'mahjong-env[train]'") from error

from agents.network import NetworkSpec, PolicyNetwork

_MOST_ROWS = 4096  # at once, so that memory stays small


class PolicyAgent:
    """Plays what a network finds best.

    Attributes:
        name: folder and name of the file.
    """

    def __init__(self, place: str | Path, *, sample: bool = False, any_variant: bool = False) -> None:
        """Load a policy.

        Args:
            place: a policy file, a run folder (its ``best.zip``), or the name of a folder in ``runs/``.
            sample: draw actions with the network's probabilities instead of taking the most probable one.
            any_variant: also play variants that the policy was not trained for.

        Raises:
            PolicyFileError: there is no such file, or it cannot be used with this version.
        """
        path = find_policy(str(place))
        saved = PolicyFile.read(path)
        self.name = f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem
        self.name += ", sampled" if sample else ""
        self.variant: str | None = None if any_variant else saved.variant
        self.network = network_from(saved, path)
        self._sample = sample

    @classmethod
    def playing(cls, network: PolicyNetwork, *, name: str, sample: bool = False) -> PolicyAgent:
        """Return an agent that plays a network as it is now and will be; nothing is copied."""
        agent = cls.__new__(cls)
        agent.name, agent.variant, agent.network, agent._sample = name, None, network, sample
        return agent

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Ask the network; see `agents.Agent.act`.

        Raises:
            PolicyFileError: the policy was trained for another variant than the one played.
        """
        if self.variant not in (None, view.rules.name):
            raise PolicyFileError(
                f"policy {self.name} was trained for {self.variant}, not for {view.rules.name}; "
                "with ?any_variant=true it plays all the same"
            )
        inputs = policy_inputs(view, look_ahead(view))
        actions = np.empty(len(view), np.int64)
        for start in range(0, len(view), _MOST_ROWS):
            rows = slice(start, start + _MOST_ROWS)
            actions[rows] = self._choose(inputs[rows], view.action_mask[rows], rng)
        return actions

    def _choose(self, inputs: NDArray[np.int8], mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
        with torch.inference_mode():
            logits = self.network.forward_actor(torch.from_numpy(inputs).float()).numpy()
        # Even where huge weights give minus infinity, a legal action stands above the illegal ones.
        logits = np.where(mask, np.maximum(logits, np.finfo(np.float32).min), np.float32(-np.inf))
        if self._sample:  # the largest of logits with Gumbel noise is a draw from their distribution
            logits = logits + rng.gumbel(size=logits.shape)
        return logits.argmax(axis=1)


def network_from(saved: PolicyFile, path: Path) -> PolicyNetwork:
    """Build the network of a policy file.

    Raises:
        PolicyFileError: its weights do not fit its own sizes, or are no finite numbers.
    """
    try:
        spec = NetworkSpec(**saved.network)
        # Before anything is made in sizes that only the header names: they might take all memory.
        hidden = [len(array) for name, array in saved.weights.items() if name.startswith("trunk.") and "bias" in name]
        if spec.layers != len(hidden) or set(hidden) != {spec.width}:
            raise ValueError(f"{spec}, but hidden layers of {hidden}")
        if not all(np.isrealobj(array) and np.isfinite(array).all() for array in saved.weights.values()):
            raise ValueError("some are no finite real numbers")
        network = PolicyNetwork(spec)
        network.load_state_dict({name: torch.as_tensor(array) for name, array in saved.weights.items()})
    except (RuntimeError, TypeError, ValueError) as error:
        raise PolicyFileError(f"{path}: its weights do not fit its network ({error})") from error
    return network.eval()


def weights_of(network: PolicyNetwork) -> dict[str, NDArray[Any]]:
    """Return copies of a network's arrays, as `PolicyFile` keeps them."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in network.state_dict().items()}
