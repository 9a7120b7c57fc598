"""Inputs of critics, and the critics of the shipped policies, evaluated with numpy alone.

A critic estimates what a seat will be paid in the rest of the hand. It sees the table as that seat sees it. It may also
see how near a win the other seats are: in training, where hands are over before anything is learned from them, and in
search, which has dealt the hidden hands itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.inputs import TABLE_FACTS, Inputs, action_inputs
from mahjong_agents.policy.network import table_scales
from mahjong_env import VARIANTS, Rules, View

_TOLD: Final = (
    "best help",
    "closed",
    "wilds",
    "distance to one suit and honours",
    "distance to pungs",
    "best next help",
    "best wait by draw",
    "best wait by discard",
    "own pungs",
)
PRIVILEGED_FEATURES: Final[Mapping[str, float]] = {name: TABLE_FACTS[name] for name in _TOLD} | {"distance": 0.3}
"""The names of the H numbers that a critic may know of each other seat, with scales. The distance comes last."""
CRITICS_PATH: Final = Path(__file__).with_name("critics.npz")
"""The critics of the shipped policies, which ``python -m tools.fit critic`` writes."""

_TABLE: Final = list(TABLE_FACTS)
_COLUMNS: Final = [_TABLE.index(name) for name in _TOLD]
_DISTANCES: Final = [_TABLE.index(f"distance {distance}") for distance in range(8)]
_UNKNOWN: Final = 8  # stands for the distance of a seat that has not made a decision yet
_LAYERS: Final = ("first", "second", "last")


def critic_scales(others: int, features: Features | None = None) -> NDArray[np.float32]:
    """Return [C + added + others * H] float32 the scales of critic inputs."""
    return np.concatenate([table_scales(features), np.tile(list(PRIVILEGED_FEATURES.values()), others)], dtype="f4")


def table_rows(inputs: Inputs | None, view: View, features: Features | None = None) -> NDArray[np.int8]:
    """Return [n, C + added] int8 the facts of the table, followed by the added inputs.

    Args:
        inputs: the inputs of a network for the same view, if there are any; facts that they have are not computed
            again.
        view: what the n seats see.
        features: the added inputs; None for none.
    """
    table = None if inputs is None else inputs.per_decision.get("table")
    columns = len(_TABLE) + (0 if features is None else len(features.facts))
    if table is None or table.shape[1:] != (columns,) or table.dtype != np.int8:
        table = action_inputs(view, features).per_decision["table"]
    return table


class CriticInputs:
    """Makes the critic inputs of decisions; it follows the games to know the other seats."""

    def __init__(self, games: int, seats: int) -> None:
        """Begin with games in which nobody has made a decision yet."""
        self._of_seat = np.zeros((games, seats, len(PRIVILEGED_FEATURES)), np.int8)
        self.forget(np.arange(games))
        self._steps = np.arange(1, seats)

    def forget(self, games: NDArray[np.intp]) -> None:
        """Forget everything of some games, where the next hand begins."""
        self._of_seat[games] = 0
        self._of_seat[games, :, -1] = _UNKNOWN

    def note(self, games: NDArray[np.intp], seats: NDArray[np.intp], table: NDArray[np.int8]) -> None:
        """Note, from the facts of the table [n, C], how near a win seats [n] of games [n] are as they decide."""
        distance = table[:, _DISTANCES].argmax(axis=1).astype(np.int8)
        self._of_seat[games, seats] = np.column_stack([table[:, _COLUMNS], distance])

    def of(self, games: NDArray[np.intp], seats: NDArray[np.intp], table: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return [n, C + (S - 1) * H] int8 critic inputs of decisions.

        They are the table [n, C], followed by the privileged features of the other seats at their latest decisions,
        from the next seat on.
        """
        others = (seats[:, None] + self._steps) % self._of_seat.shape[1]
        of_others = self._of_seat[games[:, None], others]
        return np.concatenate([table, *np.moveaxis(of_others, 1, 0)], axis=1)


@dataclass(frozen=True)
class Critic:
    """The critic of a shipped policy, evaluated with numpy.

    Attributes:
        weights: the weights of three layers, [inputs, outputs] float32 each, for critic inputs without scaling.
        biases: the biases of these layers, [outputs] float32 each; the output is in points.
    """

    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __call__(self, critic_inputs: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return [n] the estimated points that seats will be paid from their decisions to the end of the hand."""
        hidden = critic_inputs.astype(np.float32)
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = np.maximum(hidden @ weights + biases, 0)
        return (hidden @ self.weights[-1] + self.biases[-1])[:, 0].astype(np.float64)

    def arrays(self, variant: str) -> dict[str, NDArray[Any]]:
        """Return the arrays of the critic by the names under which `read` finds them."""
        named = zip(_LAYERS, self.weights, self.biases, strict=True)
        return {
            f"{variant}_{layer}_{name}": array for layer, *both in named for name, array in zip("wb", both, strict=True)
        }

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], variant: str) -> Critic:
        """Make the critic of a variant from arrays by name."""
        weights, biases = (
            tuple(arrays[f"{variant}_{layer}_{name}"].astype(np.float32) for layer in _LAYERS) for name in "wb"
        )
        return cls(weights, biases)


@cache
def shipped_critic(rules: Rules) -> Critic | None:
    """Return the critic of the policy that is shipped for exactly these rules, None if there is none."""
    if not VARIANTS.without_house_rules(rules):
        return None
    with np.load(CRITICS_PATH) as arrays:
        return Critic.read(arrays, rules.name) if f"{rules.name}_first_w" in arrays else None
