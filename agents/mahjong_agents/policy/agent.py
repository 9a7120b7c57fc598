"""The agent that plays a learned policy. The small networks that are shipped need only numpy, others need torch."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import Annotation, PolicyFileError, annotate
from mahjong_agents.greedy import reference_agent
from mahjong_agents.policy.custom_features import find_features
from mahjong_agents.policy.file import PLANES, SHIPPED, TORCH, PolicyFile, find_policy
from mahjong_agents.policy.inputs import Inputs
from mahjong_agents.policy.network import ActionNetwork, Device, Network, draw, greatest_of_rows, log_probabilities
from mahjong_env import VARIANTS, MahjongError, Rules, View
from mahjong_env.environments.agents import check_asked


class PolicyAgent:
    """Plays the action that a network rates best.

    Attributes:
        name: folder and name of the file; "policy:VARIANT" for a shipped one.
        network: the network; None for the policy that is shipped for the rules that are played.
    """

    network: Network | None

    def __init__(
        self,
        place: str | Path | None = None,
        *,
        sample: bool = False,
        any_variant: bool = False,
        features: str | None = None,
        network: str | None = None,
        device: Device = "auto",
    ) -> None:
        """Load a policy.

        Args:
            place: a variant, for the policy that is shipped for it; a policy file; a run folder (its ``best.zip``), or
                the name of a folder in ``runs/``. None: the policy that is shipped for the rules that are played, or
                the reference agent where there is none; no other argument can be given then.
            sample: draw actions with the network's probabilities instead of taking the most probable one.
            any_variant: also play variants that the policy was not trained for.
            features: the added inputs that it was trained with, if there are any
                (`mahjong_agents.policy.custom_features`).
            network: the class of the network that it was trained with, ``file.py:Class`` or ``module:Class``, if that
                is a researcher's own (`mahjong_agents.policy.torch_network`).
            device: where torch computes: auto (a GPU if there is one), cpu or cuda.

        Raises:
            PolicyFileError: there is no such file, it cannot be used with this version, or settings are given for no
                policy.
            MissingExtraError: the network needs torch, which is not installed.
        """
        self.name, self.network = "policy", None
        if place is None:
            if sample or any_variant or features or network or device != "auto":
                raise PolicyFileError("settings are those of a policy that is named, such as policy:NAME?sample=true")
            return
        path = find_policy(str(place))
        saved = PolicyFile.read(path)
        folder = "policy:" if path.parent == SHIPPED else f"{path.parent.name}/" if path.parent.name else ""
        self.name = f"{folder}{path.stem}{', sampled' if sample else ''}"
        self.variant: str | None = None if any_variant else saved.variant
        self.network = _network_from(saved, path, features, network, device)
        self._sample = sample

    @classmethod
    def playing(cls, network: Network, *, name: str, sample: bool = False) -> PolicyAgent:
        """Return an agent that plays a network as it is now and after later changes; nothing is copied."""
        agent = cls.__new__(cls)
        agent.name, agent.variant, agent.network, agent._sample = name, None, network, sample
        return agent

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the actions that the network rates best; see `mahjong_agents.Agent.act`.

        Raises:
            PolicyFileError: the policy was trained for another variant than the one played, or its scores are NaN.
            ActionError: a seat of the view is not to act.
        """
        return self.decide(view, rng)[0]

    def decide(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], Inputs | None]:
        """Choose as `act` does, and also return the inputs of the network, None if no network was asked."""
        if self.network is None:
            shipped = shipped_policy(view.rules)
            return shipped.decide(view, rng) if shipped else (reference_agent(view.rules).act(view, rng), None)
        inputs, scores = self._ask(self.network, view)
        return self._choose(len(view), inputs, scores, rng), inputs

    def explain(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Annotation | None]]:
        """Choose as `act` does, and give the probabilities; see `mahjong_env.environments.agents.ExplainingAgent`."""
        if self.network is None:
            shipped = shipped_policy(view.rules)
            return shipped.explain(view, rng) if shipped else (self.act(view, rng), [None] * len(view))
        inputs, scores = self._ask(self.network, view)
        chosen = self._choose(len(view), inputs, scores, rng)
        shares = np.exp(log_probabilities(scores, inputs.row))
        notes = annotate("probabilities", len(view), inputs.row, inputs.action, shares)
        return chosen, notes

    def scores(self, view: View) -> NDArray[np.float64] | None:
        """Return [n, 109] the network's score of each action, -inf for illegal ones; None if there is no network."""
        if self.network is None:
            shipped = shipped_policy(view.rules)
            return shipped.scores(view) if shipped else None
        inputs, scores = self._ask(self.network, view)
        liked = np.full(view.action_mask.shape, -np.inf)
        liked[inputs.row, inputs.action] = scores
        return liked

    def _ask(self, network: Network, view: View) -> tuple[Inputs, NDArray[np.float32]]:
        if self.variant not in (None, view.rules.name):
            raise PolicyFileError(
                f"policy {self.name} was trained for {self.variant}, not for {view.rules.name}; "
                "add ?any_variant=true to play it nevertheless"
            )
        inputs = network.inputs(view)
        scores = network.scores(inputs)
        if np.isnan(scores).any():
            raise PolicyFileError(f"policy {self.name} gives no numbers (NaN): its weights are too large, or damaged")
        return inputs, scores

    def _choose(
        self, seats: int, inputs: Inputs, scores: NDArray[np.float32], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        check_asked(np.bincount(inputs.row, minlength=seats))
        best = draw(scores, inputs.row, rng) if self._sample else greatest_of_rows(scores, inputs.row)
        return inputs.action[best].astype(np.int64)


@cache
def shipped_policy(rules: Rules) -> PolicyAgent | None:
    """Return the policy that is shipped for exactly these rules, None if there is none."""
    if not VARIANTS.without_house_rules(rules) or not (SHIPPED / f"{rules.name}.zip").is_file():
        return None
    return PolicyAgent(rules.name)


def _network_from(saved: PolicyFile, path: Path, features: str | None, own: str | None, device: str) -> Network:
    """Return the network of a policy file; a researcher's own code is named by the caller, never by the file."""
    added = None if features is None else find_features(features)
    saved.check_own(path, added, own)
    try:
        if saved.architecture not in (PLANES, TORCH):
            return ActionNetwork(saved.weights, added)
        from mahjong_agents.policy import torch_network

        if saved.architecture == TORCH:
            options = "&".join(f"{name}={text}" for name, text in saved.network.get("options", {}).items())
            module = torch_network.find_network(f"{own}?{options}")
            torch_network.load_arrays(module, saved.weights)
        else:
            from mahjong_agents.policy.plane_network import PolicyNetwork

            module = PolicyNetwork.of(saved.network, saved.weights)
        return torch_network.TorchNetwork(module.to(torch_network.find_device(device)).eval())
    except MahjongError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyFileError(f"{path}: its weights do not fit its network ({error})") from error
