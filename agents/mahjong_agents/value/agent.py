"""The agent that plays for points by a learned value of afterstates, and its network, evaluated with numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import Annotation, annotate
from mahjong_agents.greedy import reference_agent
from mahjong_agents.policy.network import greatest_of_rows
from mahjong_agents.value.afterstates import Numbers, actions_but_wins
from mahjong_agents.value.plan_value import PlanValueAgent, check_margin, decline_wins
from mahjong_env import VARIANTS, AgentError, Rules, View
from mahjong_env.basics.actions import WIN
from mahjong_env.basics.files import read_arrays
from mahjong_env.environments.agents import check_asked

_ROWS: Final = 256
"""Rows that are evaluated together, few enough for their numbers to fit into the cache."""
_TIE: Final = 1e-6
"""Points, in sigma, that differ by no more than this count as equal; see `mahjong_agents.policy.network.TIE`."""
MOST_BYTES: Final = 2**24
"""The most bytes of the arrays in a file of networks; those of the shipped one take 70,000."""
NUMBERS_PATH: Final = Path(__file__).with_name("model.npz")
_LAYERS: Final = ("first", "second", "last")


class ValueAgent:
    """Plays the action whose afterstate is worth most points.

    A small network, learned from hands under the variant's own scoring, estimates the probability and the points of a
    win and of a deal-in after each action (`OutcomeNetwork`). The agent departs from the reference agent's action only
    for one that is worth more by a margin. It declines a win only for a draw that pays more on average
    (`mahjong_agents.value.plan_value.decline_wins`). Where no network was learned for the rules, it plays as
    `PlanValueAgent` does.

    Attributes:
        name: "value".
        games_at_once: see `mahjong_agents.base.games_at_once`.
    """

    name = "value"
    games_at_once: Final = 1000

    def __init__(self, *, numbers: str | OutcomeNetwork | None = None, margin: float | None = None) -> None:
        """Choose the network.

        Args:
            numbers: the network, or a file that ``python -m tools.fit value-model`` has written; if the file has no
                network of the variant, acting raises `AgentError`. None for the network shipped for the rules played.
            margin: by how many sigma another action must be worth more than the reference agent's; None for the margin
                that was found best.

        Raises:
            AgentError: the margin is not a number from 0 to 1000.
        """
        if margin is not None:
            check_margin("value", margin)
        self._numbers, self._margin = numbers, margin

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the action that is worth most; see `mahjong_agents.Agent.act`.

        Raises:
            ActionError: a seat of the view is not to act.
        """
        return self._play(view, rng, None)

    def explain(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Annotation | None]]:
        """Choose as `act` does, and give the points; see `mahjong_env.environments.agents.ExplainingAgent`."""
        notes: list[Annotation | None] = [None] * len(view)
        return self._play(view, rng, notes), notes

    def _play(self, view: View, rng: np.random.Generator, notes: list[Annotation | None] | None) -> NDArray[np.int64]:
        """Return [n] actions; fill in ``notes`` [n] if they are wanted."""
        legal = view.action_mask.sum(axis=1)
        check_asked(legal)
        network = self._numbers
        if isinstance(network, str):
            network = read_network(Path(network), view.rules.name)
        network = network or shipped_network(view.rules)
        if network is None:
            return PlanValueAgent().act(view, rng)
        actions = reference_agent(view.rules).act(view, rng)
        decline_wins(view, actions)
        margin = network.margin if self._margin is None else self._margin
        doubtful = np.flatnonzero(~view.action_mask[:, WIN] & (legal > 1))
        for start in range(0, len(doubtful), _ROWS):
            rows = doubtful[start : start + _ROWS]
            left = actions_but_wins(view, rows)
            points = network(left.numbers()).points
            worth = points + margin * (left.action == actions[left.row])
            actions[rows] = left.action[greatest_of_rows(worth, np.searchsorted(rows, left.row), tie=_TIE)]
            if notes is not None:
                told = annotate("values", len(view), left.row, left.action, points * network.sigma)
                for row in rows.tolist():
                    notes[row] = told[row]
        return actions


class Outcome(NamedTuple):
    """What is expected after m actions; points are in sigma.

    Attributes:
        win: [m] probability of winning the hand.
        points_of_win: [m] points that the win will bring.
        deal_in: [m] probability that somebody wins on the discard at once.
        cost_of_deal_in: [m] points from now on in that case; below 0.
        rest: [m] points of everything else.
    """

    win: Numbers
    points_of_win: Numbers
    deal_in: Numbers
    cost_of_deal_in: Numbers
    rest: Numbers

    @property
    def points(self) -> Numbers:
        """The points from now to the end of the hand: [m]."""
        return self.win * self.points_of_win + self.deal_in * self.cost_of_deal_in + self.rest


@dataclass(frozen=True)
class OutcomeNetwork:
    """The network of one variant.

    Attributes:
        weights: the weights of three layers, [outputs, inputs] float32 each.
        biases: the biases of these layers, [outputs] float32 each.
        sigma: the number of points in one sigma.
        margin: by how many sigma another action must be worth more than the reference agent's.
    """

    weights: tuple[Numbers, ...]
    biases: tuple[Numbers, ...]
    sigma: float
    margin: float

    def __call__(self, numbers: Numbers) -> Outcome:
        """Return what is expected after m actions, given their `Afterstates.numbers` [m, F]."""
        hidden = numbers
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = np.maximum(hidden @ weights.T + biases, 0)
        found = hidden @ self.weights[-1].T + self.biases[-1]
        win, deal_in = (1 / (1 + np.exp(-found[:, column])) for column in (0, 2))
        return Outcome(win, found[:, 1], deal_in, found[:, 3], found[:, 4])

    def arrays(self, variant: str) -> dict[str, NDArray[Any]]:
        """Return the arrays of the network by the names under which `read` finds them."""
        arrays = {f"{variant}_scale": np.array([self.sigma, self.margin], np.float32)}
        for layer, weights, biases in zip(_LAYERS, self.weights, self.biases, strict=True):
            arrays |= {f"{variant}_{layer}_w": weights, f"{variant}_{layer}_b": biases}
        return arrays

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], variant: str) -> OutcomeNetwork:
        """Make the network of a variant from arrays by name."""
        weights, biases = (
            tuple(arrays[f"{variant}_{layer}_{name}"].astype(np.float32) for layer in _LAYERS) for name in "wb"
        )
        sigma, margin = arrays[f"{variant}_scale"].tolist()
        return cls(weights, biases, sigma, margin)


@cache
def shipped_network(rules: Rules) -> OutcomeNetwork | None:
    """Return the network that was learned under exactly these rules, None if there is none."""
    if not VARIANTS.without_house_rules(rules):
        return None
    with np.load(NUMBERS_PATH) as arrays:
        return OutcomeNetwork.read(arrays, rules.name) if f"{rules.name}_scale" in arrays else None


@cache
def read_network(path: Path, variant: str) -> OutcomeNetwork:
    """Read the network of a variant from a file that ``python -m tools.fit value-model`` has written.

    Raises:
        AgentError: the file cannot be read, or has no network of this variant.
    """
    try:
        return OutcomeNetwork.read(read_arrays(path.read_bytes(), MOST_BYTES), variant)
    except Exception as error:  # zipfile, zlib and numpy raise a dozen different kinds
        raise AgentError(f"{path} has no network of {variant} that can be read: {error}") from error
