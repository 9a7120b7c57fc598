"""The agent that plays a learned policy; of its two kinds of networks, those over whole observations need torch."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.annotations import Annotation, annotate
from mahjong_agents.base import PolicyFileError, check_numbers
from mahjong_agents.greedy import reference_agent
from mahjong_agents.policy.custom_features import Features, find_features
from mahjong_agents.policy.file import SHIPPED, PolicyFile, find_policy
from mahjong_agents.policy.inputs import ActionInputs
from mahjong_agents.policy.network import ARCHITECTURE, ActionNetwork, draw, greatest_of_rows, log_probabilities
from mahjong_env import VARIANTS, Rules, View

if TYPE_CHECKING:
    from mahjong_agents.policy.plane_network import PolicyNetwork


class PolicyAgent:
    """Plays what a network finds best.

    Attributes:
        name: folder and name of the file.
    """

    def __init__(
        self,
        place: str | Path | None = None,
        *,
        sample: bool = False,
        any_variant: bool = False,
        features: str | None = None,
    ) -> None:
        """Load a policy.

        Args:
            place: a variant, for the policy that is shipped for it; a policy file; a run folder (its ``best.zip``), or
                the name of a folder in ``runs/``. None: the policy that is shipped for the rules that are played, and
                the reference agent where there is none; the other arguments then say nothing.
            sample: draw actions with the network's probabilities instead of taking the most probable one.
            any_variant: also play variants that the policy was not trained for.
            features: the added inputs that it was trained with, if there are any
                (`mahjong_agents.policy.custom_features`).

        Raises:
            PolicyFileError: there is no such file, or it cannot be used with this version.
            MissingExtraError: the policy is a network over whole observations, and torch is not installed.
        """
        self.network: PolicyNetwork | ActionNetwork | None = None
        if place is None:
            self.name = "policy"
            return
        path = find_policy(str(place))
        saved = PolicyFile.read(path)
        self.name = f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem
        self.name += ", sampled" if sample else ""
        self.variant: str | None = None if any_variant else saved.variant
        self.network = _network_from(saved, path, None if features is None else find_features(features))
        self._sample = sample

    @classmethod
    def playing(cls, network: PolicyNetwork | ActionNetwork, *, name: str, sample: bool = False) -> PolicyAgent:
        """Return an agent that plays a network as it is now and will be; nothing is copied."""
        agent = cls.__new__(cls)
        agent.name, agent.variant, agent.network, agent._sample = name, None, network, sample
        return agent

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Ask the network; see `mahjong_agents.Agent.act`.

        Raises:
            PolicyFileError: the policy was trained for another variant than the one played, or gives no numbers.
        """
        if self.network is None:
            return (shipped_policy(view.rules) or reference_agent(view.rules)).act(view, rng)
        self._check_variant(view)
        if not isinstance(self.network, ActionNetwork):
            from mahjong_agents.policy.plane_network import choose

            return choose(self.network, view, rng, self.name, sample=self._sample)
        inputs = self.network.inputs(view)
        return self._choose(inputs, self._scores(self.network, inputs), rng)

    def explain(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Annotation | None]]:
        """Ask the network, and tell its probabilities; see `mahjong_env.environments.agents.ExplainingAgent`.

        Raises:
            PolicyFileError: the policy was trained for another variant than the one played, or gives no numbers.
        """
        if self.network is None:
            shipped = shipped_policy(view.rules)
            return shipped.explain(view, rng) if shipped else (self.act(view, rng), [None] * len(view))
        self._check_variant(view)
        if not isinstance(self.network, ActionNetwork):
            from mahjong_agents.policy.plane_network import choose, probabilities_of

            row, action = np.nonzero(view.action_mask)
            shares = probabilities_of(self.network, view, self.name)[row, action]
            actions = choose(self.network, view, rng, self.name, sample=self._sample)
            return actions, annotate("probabilities", len(view), row, action, shares)
        inputs = self.network.inputs(view)
        scores = self._scores(self.network, inputs)
        shares = np.exp(log_probabilities(scores, inputs.row))
        return self._choose(inputs, scores, rng), annotate(
            "probabilities", len(view), inputs.row, inputs.action, shares
        )

    def _scores(self, network: ActionNetwork, inputs: ActionInputs) -> NDArray[np.float32]:
        scores = network.scores(inputs)
        check_numbers(self.name, scores)
        return scores

    def _choose(self, inputs: ActionInputs, scores: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.int64]:
        best = draw(scores, inputs.row, rng) if self._sample else greatest_of_rows(scores, inputs.row)
        return inputs.action[best].astype(np.int64)

    def _check_variant(self, view: View) -> None:
        if self.variant not in (None, view.rules.name):
            raise PolicyFileError(
                f"policy {self.name} was trained for {self.variant}, not for {view.rules.name}; "
                "with ?any_variant=true it plays all the same"
            )

    def scores(self, view: View) -> NDArray[np.float64] | None:
        """Return [n, 109] how much the network likes each action, -inf for illegal ones; None if it cannot tell."""
        if self.network is None:
            shipped = shipped_policy(view.rules)
            return shipped.scores(view) if shipped else None
        if not isinstance(self.network, ActionNetwork):
            return None
        inputs = self.network.inputs(view)
        liked = np.full(view.action_mask.shape, -np.inf)
        liked[inputs.row, inputs.action] = self._scores(self.network, inputs)
        return liked


@cache
def shipped_policy(rules: Rules) -> PolicyAgent | None:
    """Return the policy that is shipped for these very rules, None if there is none."""
    if VARIANTS.get(rules.name) != rules or not (SHIPPED / f"{rules.name}.zip").is_file():
        return None
    return PolicyAgent(rules.name)


def _network_from(saved: PolicyFile, path: Path, features: Features | None) -> PolicyNetwork | ActionNetwork:
    if saved.architecture != ARCHITECTURE:
        from mahjong_agents.policy.plane_network import network_from

        return network_from(saved, path, features)
    saved.check_features(path, features)
    try:
        return ActionNetwork(saved.weights, features)
    except (TypeError, ValueError) as error:
        raise PolicyFileError(f"{path}: its weights do not fit its network ({error})") from error
