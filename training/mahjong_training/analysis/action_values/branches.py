"""What the actions of some positions brought, world by world, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, MissingExtraError, Rules

ENDS: Final = ("drawn", "won by draw", "won on another's tile", "dealt in", "won by others")
"""How a hand ended for the person who acted; the last is a win of somebody else that this person gave no tile for."""

DRAWN: Final = 0
SELF_DRAWN: Final = 1
WON_ON_TILE: Final = 2
DEALT_IN: Final = 3
OTHERS_WON: Final = 4

_CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Comparison:
    """Paired differences of m actions.

    Attributes:
        mean: [m] float64.
        low, high: [m] float64 the ends of 95 % intervals.
        error: [m] float64 standard errors of the means.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def half_width(self) -> NDArray[np.float64]:
        """[m] half the length of the intervals."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Branches:
    """The m legal actions of n positions, each played on the worlds of its position.

    Attributes:
        rules: what is played.
        seat: [n] int8 the person who is to act.
        taken: [n] int64 the action that the others are compared with: the one that was played, or else the agent's.
        worlds: [n] int64 worlds that were played.
        position: [m] intp positions, ascending.
        action: [m] int64 actions, ascending within a position.
        points: [m, W] int32 what the person gained from here to the end of the hand; world w is the same for all
            actions of a position. Only the first ``worlds`` of a position count; behind them stand zeros.
        end: [m, W] int8 how the hand ended for the person, see `ENDS`; -1 behind the last world.
    """

    rules: Rules
    seat: NDArray[np.int8]
    taken: NDArray[np.int64]
    worlds: NDArray[np.int64]
    position: NDArray[np.intp]
    action: NDArray[np.int64]
    points: NDArray[np.int32]
    end: NDArray[np.int8]

    @property
    def reference(self) -> NDArray[np.intp]:
        """[m] for each action the place of the action of its position that was taken."""
        of_position = np.flatnonzero(self.action == self.taken[self.position])
        return of_position[self.position]

    @property
    def wins(self) -> NDArray[np.bool_]:
        """[m, W] whether the person won."""
        won: NDArray[np.bool_] = (self.end == SELF_DRAWN) | (self.end == WON_ON_TILE)
        return won

    def mean(self) -> NDArray[np.float64]:
        """[m] mean points from here to the end of the hand."""
        means: NDArray[np.float64] = self.points.sum(axis=1) / self.worlds[self.position]
        return means

    def share(self, *ends: int) -> NDArray[np.float64]:
        """[m] share of worlds that ended in one of these ways."""
        shares: NDArray[np.float64] = np.isin(self.end, ends).sum(axis=1) / self.worlds[self.position]
        return shares

    def against_taken(self, values: NDArray[Any] | None = None) -> Comparison:
        """Compare every action with the one that was taken, world by world.

        Args:
            values: [m, W] what is compared, zero behind the last world; None: points.

        Returns:
            [m] differences (zero for the action taken) with 95 % intervals by Student's t, each for itself.
        """
        of_action = np.asarray(self.points if values is None else values, np.float64)
        return self._summary(of_action - of_action[self.reference])

    def against_best(self) -> Comparison:
        """Compare every action with the best of the others of its position; a position of one action with itself.

        Which action is best is not known but estimated from the same worlds. So each interval holds whichever it is:
        it is put together from the differences to all other actions, at 95 % for all of them at once (Bonferroni).
        It is wider than one between two actions that were named before.

        Returns:
            [m] points less those of the best other action: positive for the best. ``error`` is the standard error of
            the difference to the action that the others' best seems to be.
        """
        mean, low, high, error = np.zeros((4, len(self.action)))
        for first, last in self._ranges():
            if last - first > 1:
                own = slice(first, last)
                worlds = int(self.worlds[self.position[first]])
                mean[own], low[own], high[own], error[own] = _against_best(self.points[own, :worlds])
        return Comparison(mean, low, high, error)

    def dense(self, values: NDArray[np.float64], fill: float = np.nan) -> NDArray[np.float64]:
        """Spread [m] values over all actions: [n, 109], ``fill`` where an action is not legal."""
        table = np.full((len(self.taken), len(ACTIONS)), fill)
        table[self.position, self.action] = values
        return table

    def differences(self) -> NDArray[np.float64]:
        """[n, 109] paired mean differences of points to the action taken, NaN where an action is not legal."""
        return self.dense(self.against_taken().mean)

    def of(self, position: int) -> Branches:
        """Return one of the positions by itself."""
        own, worlds = self.position == position, int(self.worlds[position])
        alone = slice(position, position + 1)
        return Branches(
            self.rules,
            self.seat[alone],
            self.taken[alone],
            self.worlds[alone],
            np.zeros(int(own.sum()), np.intp),
            self.action[own],
            self.points[own, :worlds],
            self.end[own, :worlds],
        )

    def _ranges(self) -> list[tuple[int, int]]:
        starts = np.searchsorted(self.position, np.arange(len(self.taken) + 1))
        return list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))

    def _summary(self, differences: NDArray[np.float64]) -> Comparison:
        number = self.worlds[self.position]
        mean = differences.sum(axis=1) / number
        squares = (differences**2).sum(axis=1) - number * mean**2
        error = np.sqrt(np.maximum(squares, 0) / np.maximum(number - 1, 1) / number)
        half = np.where(number > 1, _t(_CONFIDENCE, number - 1) * error, np.inf)
        half[np.arange(len(half)) == self.reference] = 0
        return Comparison(mean, mean - half, mean + half, error)


def join(parts: list[Branches]) -> Branches:
    """Return the positions of several results as one, in order."""
    most = max(part.points.shape[1] for part in parts)
    starts = np.cumsum([0, *(len(part.taken) for part in parts)])

    def wide(values: NDArray[Any], fill: int) -> NDArray[Any]:
        return np.pad(values, ((0, 0), (0, most - values.shape[1])), constant_values=fill)

    return Branches(
        rules=parts[0].rules,
        seat=np.concatenate([part.seat for part in parts]),
        taken=np.concatenate([part.taken for part in parts]),
        worlds=np.concatenate([part.worlds for part in parts]),
        position=np.concatenate([part.position + start for part, start in zip(parts, starts, strict=False)]),
        action=np.concatenate([part.action for part in parts]),
        points=np.concatenate([wide(part.points, 0) for part in parts]),
        end=np.concatenate([wide(part.end, -1) for part in parts]),
    )


def _against_best(points: NDArray[np.int32]) -> tuple[NDArray[np.float64], ...]:
    """Return mean, low, high and error [k] for the actions of one position, whose points [k, W] are given."""
    number, worlds = points.shape
    mean = points.mean(axis=1)
    centred = points - mean[:, None]
    products = centred @ centred.T / max(worlds - 1, 1)
    spread = np.diag(products)
    error = np.sqrt(np.maximum(spread[:, None] + spread - 2 * products, 0) / worlds)
    difference = mean[:, None] - mean
    if worlds > 1:  # 5 % are shared among the differences of an action to all others
        half = _t(1 - (1 - _CONFIDENCE) / (number - 1), np.array(worlds - 1)) * error
    else:
        half = np.full_like(error, np.inf)
    itself = np.eye(number, dtype=np.bool_)
    low, high = (np.where(itself, np.inf, difference + sign * half).min(axis=1) for sign in (-1, 1))
    best = np.where(itself, np.inf, difference).argmin(axis=1)
    every = np.arange(number)
    return difference[every, best], low, high, error[every, best]


def _t(confidence: float, freedom: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the quantiles of Student's t that enclose so much."""
    try:
        from scipy.stats import t
    except ImportError as error:
        raise MissingExtraError("intervals need scipy: pip install 'mahjong-env[evaluate]'") from error
    return np.asarray(t.ppf(0.5 + confidence / 2, np.maximum(freedom, 1)), np.float64)
