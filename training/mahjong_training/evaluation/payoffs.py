"""The pay-off matrix of some agents, everybody against everybody: what it says of who is strong, and its picture.

A mean over opponents depends on who happens to be among them, and a rating such as Elo or openskill takes for granted
that strength is one number. Nash averaging (Balduzzi et al., Re-evaluating evaluation, 2018) weighs opponents by the
equilibrium of the game in which one chooses an agent, so that copies of an agent change nothing and weak ones do not
count; alpha-rank (Omidshafiei et al., 2019) gives the shares in which agents stay where those that win more take over.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.estimates import FEWEST, Estimate

Matrix = NDArray[np.float64]

_RESAMPLES: Final = 200
_SEED: Final = 0


@dataclass(frozen=True)
class Payoffs:
    """What each of k agents wins alone against copies of each other one.

    Attributes:
        agents: their names [k].
        by_deal: [k, k, deals] points a hand of the agent of the row among copies of that of the column, by deal, all
            on the same deals; 0 on the diagonal.
        clear: [k, k] bool whether the interval of the mean is clear of zero.
    """

    agents: tuple[str, ...]
    by_deal: Matrix
    clear: NDArray[np.bool_]

    @cached_property
    def matrix(self) -> Matrix:
        """[k, k] the means over deals."""
        return self.by_deal.mean(axis=2)

    @cached_property
    def _resampled(self) -> list[Matrix]:
        """Matrices of deals that are drawn with replacement, the same ones in all cells."""
        rng, deals = np.random.default_rng(_SEED), self.by_deal.shape[2]
        draws = rng.multinomial(deals, np.full(deals, 1 / deals), size=_RESAMPLES) if deals >= FEWEST else ()
        return [self.by_deal @ (drawn / deals) for drawn in draws]

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return for each agent, by name: its mean over opponents, Nash rating and Nash share, with 95 % intervals.

        And ``alpha_rank``, its share there, if OpenSpiel is installed. Intervals are percentiles of a bootstrap over
        deals, infinite where there are too few.
        """
        found = [_standing(matrix) for matrix in (self.matrix, *self._resampled)]
        shares = alpha_rank(self.matrix)
        summary: dict[str, dict[str, Any]] = {}
        for number, agent in enumerate(self.agents):
            columns = {name: _estimate([one[name][number] for one in found]) for name in found[0]}
            summary[agent] = columns | ({} if shares is None else {"alpha_rank": float(shares[number])})
        return summary


def _standing(matrix: Matrix) -> dict[str, Matrix]:
    mean = matrix.sum(axis=1) / (len(matrix) - 1)
    mixture = nash_mixture(matrix)
    return {"mean": mean, "nash_rating": antisymmetric(matrix) @ mixture, "nash_share": mixture}


def _estimate(values: Sequence[float]) -> Estimate:
    first, *resampled = values
    low, high = np.quantile(resampled, [0.025, 0.975]) if resampled else (-np.inf, np.inf)
    return Estimate(float(first), float(min(low, first)), float(max(high, first)))


def antisymmetric(matrix: Matrix) -> Matrix:
    """Return [k, k] what an agent wins as the one, less what the other wins as the one, halved."""
    return (matrix - matrix.T) / 2


def nash_mixture(matrix: Matrix) -> Matrix:
    """Return [k] the equilibrium of highest entropy of the game in which two choose agents and are paid by the matrix.

    Args:
        matrix: [k, k] points of the row against the column; its antisymmetric part is what is paid.
    """
    paid = antisymmetric(matrix)
    paid = paid / max(float(np.abs(paid).max()), 1e-12)
    size = len(paid)

    def negative_entropy(mixture: Matrix) -> float:
        return float((mixture * np.log(mixture + 1e-12)).sum())

    # A symmetric game of two whose pay-offs sum to zero is worth 0: in equilibrium no agent wins from the mixture.
    constraints = [LinearConstraint(paid, -np.inf, 0.0), LinearConstraint(np.ones((1, size)), 1.0, 1.0)]
    found = minimize(
        negative_entropy,
        np.full(size, 1 / size),
        jac=lambda mixture: np.log(mixture + 1e-12) + mixture / (mixture + 1e-12),
        bounds=[(0.0, 1.0)] * size,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    mixture = np.clip(found.x, 0, 1)
    return np.asarray(mixture / mixture.sum(), np.float64)


def alpha_rank(matrix: Matrix) -> Matrix | None:
    """Return [k] the shares of alpha-rank in one population, in the limit of strong selection; None without OpenSpiel.

    Args:
        matrix: [k, k] points of the row against the column.
    """
    try:
        from open_spiel.python.egt import alpharank
    except ImportError:
        return None
    return np.asarray(alpharank.compute([matrix], use_inf_alpha=True)[2], np.float64)


def picture(tables: Mapping[str, Payoffs], units: Mapping[str, float]) -> bytes:
    """Return the matrices as a PNG: agents in the order of their means, colours by who wins, bold where that is clear.

    Args:
        tables: by the title of the variant.
        units: the sigma of each, in points.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'mahjong-env[evaluate]'") from error
    columns = min(len(tables), 2)
    rows = -(-len(tables) // columns)
    size = max(len(table.agents) for table in tables.values())
    figure = Figure(figsize=(columns * (2.2 + 0.62 * size), rows * (1.6 + 0.5 * size)), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in places[len(tables) :]:
        axes.set_axis_off()
    for axes, (title, table) in zip(places, tables.items(), strict=False):
        order = np.argsort(-table.matrix.sum(axis=1), kind="stable")
        matrix = table.matrix[np.ix_(order, order)] / units[title]
        limit = max(float(np.abs(matrix).max()), 1e-9)
        # By the root, so that small differences between strong agents are seen beside what they win from weak ones.
        shade = np.sign(matrix) * np.sqrt(np.abs(matrix) / limit)
        axes.imshow(shade, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
        names = [table.agents[number] for number in order]
        axes.set_xticks(range(len(names)), names, rotation=40, ha="right", parse_math=False)
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.set_title(title, parse_math=False)
        for (one, other), points in np.ndenumerate(matrix):
            if one != other:
                clear = table.clear[order[one], order[other]]
                colour = "white" if abs(points) > 0.5 * limit else "black"
                weight = "bold" if clear else "normal"
                axes.text(other, one, f"{points:+.2f}", ha="center", va="center", color=colour, weight=weight, size=8)
    figure.supylabel("one of")
    figure.supxlabel("among copies of (sigma a hand; bold: clear of zero)")
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=140)
    return data.getvalue()
