"""What afterstates lead to, learned from played hands: a win and its points, a deal-in and its cost, and the rest.

A small network a variant: two layers of rectified sums, then five numbers. `python -m
mahjong_training.fitting.value_model` learns it and writes ``outcomes.npz``; here it is read and evaluated with numpy
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.value.afterstates import Numbers
from mahjong_env import VARIANTS, AgentError, Rules
from mahjong_env.basics.files import read_arrays

MOST_BYTES: Final = 2**24
"""Of the arrays of a file of numbers; those of the shipped one take 70,000."""
NUMBERS_PATH: Final = Path(__file__).with_name("model.npz")
LAYERS: Final = ("first", "second", "last")


class Outcome(NamedTuple):
    """What is expected after m actions; points are in sigma.

    Attributes:
        win: [m] chance to win the hand.
        points_of_win: [m] what the win will bring.
        deal_in: [m] chance that the discard is won on at once.
        cost_of_deal_in: [m] points from now on if it is; below 0.
        rest: [m] everything else.
    """

    win: Numbers
    points_of_win: Numbers
    deal_in: Numbers
    cost_of_deal_in: Numbers
    rest: Numbers

    @property
    def points(self) -> Numbers:
        """[m] points from now to the end of the hand."""
        return self.win * self.points_of_win + self.deal_in * self.cost_of_deal_in + self.rest


@dataclass(frozen=True)
class OutcomeNetwork:
    """The network of one variant.

    Attributes:
        weights: for each of `LAYERS`, [outputs, inputs] float32.
        biases: for each of them, [outputs] float32.
        sigma: points that make one sigma.
        margin: how many sigma another action must promise more than the usual one.
    """

    weights: tuple[Numbers, ...]
    biases: tuple[Numbers, ...]
    sigma: float
    margin: float

    def __call__(self, numbers: Numbers) -> Outcome:
        """Return what is expected after the actions that `Afterstates.numbers` describes: [m, F]."""
        hidden = numbers
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            hidden = np.maximum(hidden @ weights.T + biases, 0)
        found = hidden @ self.weights[-1].T + self.biases[-1]
        win, deal_in = (1 / (1 + np.exp(-found[:, column])) for column in (0, 2))
        return Outcome(win, found[:, 1], deal_in, found[:, 3], found[:, 4])

    def arrays(self, variant: str) -> dict[str, NDArray[Any]]:
        """Return what `read` reads, by name."""
        parts = zip(LAYERS, self.weights, self.biases, strict=True)
        arrays = {
            f"{variant}_{layer}_{name}": part for layer, *both in parts for name, part in zip("wb", both, strict=True)
        }
        return {**arrays, f"{variant}_scale": np.array([self.sigma, self.margin], np.float32)}

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], variant: str) -> OutcomeNetwork:
        """Take the network of a variant out of arrays by name."""
        weights, biases = (
            tuple(arrays[f"{variant}_{layer}_{name}"].astype(np.float32) for layer in LAYERS) for name in "wb"
        )
        sigma, margin = arrays[f"{variant}_scale"].tolist()
        return cls(weights, biases, sigma, margin)


@cache
def shipped_network(rules: Rules) -> OutcomeNetwork | None:
    """Return the network that was learned under these very rules, None if there is none."""
    if VARIANTS.get(rules.name) != rules:
        return None
    with np.load(NUMBERS_PATH) as arrays:
        if f"{rules.name}_scale" not in arrays:
            return None
        return OutcomeNetwork.read(arrays, rules.name)


@cache
def read_network(path: Path, variant: str) -> OutcomeNetwork:
    """Read the network of a variant from a file that ``python -m mahjong_training.fitting.value_model`` has written.

    Raises:
        AgentError: the file cannot be read, or has no network of this variant.
    """
    try:
        return OutcomeNetwork.read(read_arrays(path.read_bytes(), MOST_BYTES), variant)
    except Exception as error:  # zipfile, zlib and numpy have a dozen kinds of their own
        raise AgentError(f"{path} has no network of {variant} that could be read: {error}") from error
