"""The protocol of networks that play, and the small network of the shipped policies, which needs only numpy.

A researcher's own networks are torch modules (`mahjong_agents.policy.torch_network`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.inputs import ACTION_FACTS, TABLE_FACTS, Inputs, action_inputs
from mahjong_env import View

Device = Literal["auto", "cpu", "cuda"]
"""Where a network of torch computes; the small network always computes on the processor."""
ARCHITECTURE: Final = "actions"
"""The name that policy files give the small network."""

TIE: Final = 1e-4
"""Scores that differ by no more than this count as equal. The last bits of a sum depend on the processor and on how
many actions are scored at once, and would otherwise decide between actions with the same inputs."""

_MOST_ACTIONS: Final = 2048  # actions scored at once, so that their hidden units stay in a processor's cache


class Network(Protocol):
    """A network with fixed weights that scores legal actions."""

    def inputs(self, view: View) -> Inputs:
        """Return the inputs of the network for the seats of a view."""

    def scores(self, inputs: Inputs) -> NDArray[np.float32]:
        """Return [m] float32 the logits of all legal actions."""


FACT_SCALES: Final = np.array(list(ACTION_FACTS.values()), np.float32)

_GREEDY: Final = {
    "behind": -6.0,
    "help lacking": -2.5,
    # With a hundred unseen tiles, a win is declined if a draw of one of them would pay 1.4 times as much on average.
    "win": -6.0,
    "win pays": 17.7,
    "win declined": 5.0,
    "concealed kong": 1.0,
    "added kong": 1.0,
    "kong": 1.0,
    "chow": -3.0,
    "pung": -3.0,
}
_CLOSED: Final = {"chow": -30.0, "pung": -30.0, "kong": -30.0}


def table_scales(features: Features | None = None) -> NDArray[np.float32]:
    """Return [C + added] float32 the scales of the facts of the table, followed by those of the added inputs."""
    added = () if features is None else features.facts.values()
    return np.array([*TABLE_FACTS.values(), *added], np.float32)


def shapes(width: int, added: int = 0) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a network's arrays by name.

    Args:
        width: the number of units of both layers.
        added: the number of added inputs (`mahjong_agents.policy.custom_features`).
    """
    return {
        "prior": (len(ACTION_FACTS),),
        "facts": (len(ACTION_FACTS), width),
        "table": (len(TABLE_FACTS) + added, width),
        "bias": (width,),
        "hidden": (width, width),
        "hidden_bias": (width,),
        "out": (width,),
    }


def widened(weights: Mapping[str, NDArray[Any]], added: int) -> dict[str, NDArray[Any]]:
    """Return weights that take ``added`` inputs beside the table; the weights of inputs that they lacked are 0."""
    lacking = len(TABLE_FACTS) + added - len(weights["table"])
    return dict(weights) | {"table": np.pad(weights["table"], ((0, lacking), (0, 0)))}


def prior(*, claims: bool) -> NDArray[np.float32]:
    """Return [A] float32 linear weights that play like the greedy agents: nearest hand first, then most help.

    Unlike the greedy agents, they decline a win if the next draw would pay much more on average.
    """
    weights = _GREEDY | ({} if claims else _CLOSED)
    return np.array([weights.get(name, 0.0) for name in ACTION_FACTS], np.float32)


class ActionNetwork:
    """The small network in numpy.

    logit(action) = prior + out . relu(hidden . relu(actions + table)). The facts of an action and those of the table go
    through one layer each; the results are added and go through another layer. The prior is a linear function of the
    facts of the action alone; with nothing else, the network plays like the greedy agents.

    Attributes:
        weights: arrays by name, float32; see `shapes`.
        scaled: the same for unscaled inputs, which are small integers: the first layer contains their scales.
        features: the added inputs; None for none.
    """

    def __init__(self, weights: Mapping[str, NDArray[Any]], features: Features | None = None) -> None:
        """Make the network from its weights.

        Raises:
            ValueError: they do not fit a network over these inputs, or are not all finite real numbers.
        """
        width = len(weights.get("bias", ()))
        wanted = shapes(width, 0 if features is None else len(features.facts))
        found = {name: np.shape(array) for name, array in weights.items()}
        if found != wanted:
            raise ValueError(f"arrays {found}, not {wanted}")
        if not all(np.isrealobj(array) and np.isfinite(array).all() for array in weights.values()):
            raise ValueError("some are not finite real numbers")
        self.weights = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        scales = {"facts": FACT_SCALES[:, None], "prior": FACT_SCALES, "table": table_scales(features)[:, None]}
        self.scaled = self.weights | {name: self.weights[name] * scale for name, scale in scales.items()}
        self.features = features

    def inputs(self, view: View) -> Inputs:
        """Return the inputs of the network for the seats of a view."""
        return action_inputs(view, self.features)

    def scores(self, inputs: Inputs) -> NDArray[np.float32]:
        """Return [m] float32 the logits of all legal actions."""
        weights, facts = self.scaled, inputs.per_action["facts"]
        table = inputs.per_decision["table"].astype(np.float32) @ weights["table"] + weights["bias"]
        scores = np.empty(len(facts), np.float32)
        for start in range(0, len(facts), _MOST_ACTIONS):
            some = slice(start, start + _MOST_ACTIONS)
            actions = facts[some].astype(np.float32)
            hidden = _relu(actions @ weights["facts"] + table.take(inputs.row[some], axis=0))
            hidden = _relu(hidden @ weights["hidden"] + weights["hidden_bias"])
            scores[some] = hidden @ weights["out"] + actions @ weights["prior"]
        return scores


def _relu(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.maximum(numbers, 0, out=numbers)


def greatest_of_rows(values: NDArray[Any], row: NDArray[np.intp], tie: float = TIE) -> NDArray[np.intp]:
    """Return [n] the index of the first greatest value of each row.

    Args:
        values: [m] numbers.
        row: [m] their rows, ascending; every row from 0 to the last has at least one number.
        tie: how far below the greatest a value may lie and still count as one of the greatest.
    """
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    greatest = np.maximum.reduceat(values, starts)
    at = np.flatnonzero(values >= greatest.take(row) - tie)
    _, first = np.unique(row.take(at), return_index=True)
    return at.take(first)


def draw(scores: NDArray[np.float32], row: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return [n] the index of one action of each row, drawn with the probabilities that scores [m] give them."""
    # The largest logit after adding Gumbel noise is a draw from their distribution.
    noise = np.maximum(rng.random(len(scores), np.float32), np.float32(1e-12))
    return greatest_of_rows(scores - np.log(-np.log(noise)), row, tie=0.0)


def log_probabilities(scores: NDArray[np.float32], row: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return [m] the logarithms of the probabilities that scores [m] give the actions of each row."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    shifted = scores - np.maximum.reduceat(scores, starts).take(row)
    totals = np.add.reduceat(np.exp(shifted), starts)
    return shifted - np.log(totals).take(row)
