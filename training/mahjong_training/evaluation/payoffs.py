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
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.estimates import FEWEST, Estimate
from mahjong_training.evaluation.results import LineupResult

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
    """

    agents: tuple[str, ...]
    by_deal: Matrix

    @classmethod
    def of(cls, agents: Sequence[str], results: Mapping[tuple[str, str], LineupResult]) -> Payoffs:
        """Return the pay-offs of agents, by the results of each alone among copies of each other one."""
        by_deal = np.zeros((len(agents), len(agents), next(iter(results.values())).deals))
        for (one, agent), (other, opponent) in permutations(enumerate(agents), 2):
            by_deal[one, other] = results[agent, opponent].points_per_hand(0)
        return cls(tuple(agents), by_deal)

    @cached_property
    def matrix(self) -> Matrix:
        """[k, k] the means over deals."""
        return self.by_deal.mean(axis=2)

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return for each agent, by name: its mean over opponents, Nash rating and Nash share, with 95 % intervals.

        And ``alpha_rank``, its share there, if OpenSpiel is installed. Intervals are percentiles of a bootstrap over
        deals, the same ones in all cells, and infinite where there are too few.
        """
        rng, deals = np.random.default_rng(_SEED), self.by_deal.shape[2]
        draws = rng.multinomial(deals, np.full(deals, 1 / deals), size=_RESAMPLES) if deals >= FEWEST else ()
        found = _columns(self.matrix)
        resampled = [_columns(self.by_deal @ (drawn / deals)) for drawn in draws]
        shares = alpha_rank(self.matrix)
        summary: dict[str, dict[str, Any]] = {}
        for number, agent in enumerate(self.agents):
            summary[agent] = {}
            for name, values in found.items():
                value, ends = float(values[number]), (-np.inf, np.inf)
                if resampled:
                    ends = np.quantile([one[name][number] for one in resampled], [0.025, 0.975])
                summary[agent][name] = Estimate(value, float(min(ends[0], value)), float(max(ends[1], value)))
            if shares is not None:
                summary[agent]["alpha_rank"] = float(shares[number])
        return summary


def _columns(matrix: Matrix) -> dict[str, Matrix]:
    mean = matrix.sum(axis=1) / (len(matrix) - 1)
    mixture = nash_mixture(matrix)
    return {"mean": mean, "nash_rating": antisymmetric(matrix) @ mixture, "nash_share": mixture}


def antisymmetric(matrix: Matrix) -> Matrix:
    """Return [k, k] what an agent wins as the one, less what the other wins as the one, halved."""
    return (matrix - matrix.T) / 2


def nash_mixture(matrix: Matrix) -> Matrix:
    """Return [k] the equilibrium of highest entropy of the game in which two choose agents and are paid by the matrix.

    Args:
        matrix: [k, k] points of the row against the column; its antisymmetric part is what is paid.
    """
    from scipy.optimize import LinearConstraint, minimize  # of an extra

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
    # With OpenSpiel's own noise of 0.01 agents that lose to all others keep shares of up to 3 %, by their order alone.
    return np.asarray(alpharank.compute([matrix], use_inf_alpha=True, inf_alpha_eps=1e-6)[2], np.float64)


@dataclass(frozen=True)
class _Colours:
    """Of a picture in a scheme: words, and cells from what loses most over nothing to what wins most."""

    words: str
    cells: tuple[str, str, str]
    on_strong: str
    on_weak: str


THEMES: Final = {
    "light": _Colours("#20242a", ("#b35806", "#ffffff", "#542788"), "#ffffff", "#20242a"),
    "dark": _Colours("#cfd3da", ("#8c4a00", "#23262b", "#5b4a9c"), "#ffffff", "#ffffff"),
}


def picture(tables: Mapping[str, Mapping[tuple[str, str], Estimate]], theme: str) -> str:
    """Return matrices as an SVG without a ground, ordered by Nash rating: colours by who wins, bold if that is clear.

    Args:
        tables: by the title of the variant: sigma a hand of one agent among copies of another, of every two of them.
        theme: one of `THEMES`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'mahjong-env[evaluate]'") from error
    colours = THEMES[theme]
    shades = LinearSegmentedColormap.from_list(theme, colours.cells)
    found = {title: tuple(dict.fromkeys(one for one, _ in table)) for title, table in tables.items()}
    columns = min(len(tables), 2)
    rows = -(-len(tables) // columns)
    size = max(map(len, found.values()))
    coloured = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    middle: dict[str, Any] = {"ha": "center", "va": "center", "size": 8}
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "payoffs"}
    with rc_context(settings | dict.fromkeys(coloured, colours.words)):
        figure = Figure(figsize=(columns * (2.2 + 0.62 * size), rows * (1.6 + 0.5 * size)), layout="constrained")
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in places[len(tables) :]:
            axes.set_axis_off()
        for axes, (title, table) in zip(places, tables.items(), strict=False):
            matrix = np.array([[0.0 if a == b else table[a, b].mean for b in found[title]] for a in found[title]])
            order = np.argsort(-_columns(matrix)["nash_rating"], kind="stable")
            agents, matrix = [found[title][number] for number in order], matrix[np.ix_(order, order)]
            limit = max(float(np.abs(matrix).max()), 1e-9)
            # By the root, so that small differences between strong agents are seen beside what they win from weak ones.
            shade = np.sign(matrix) * np.sqrt(np.abs(matrix) / limit)
            axes.pcolormesh(shade, cmap=shades, vmin=-1, vmax=1, edgecolors="none")
            axes.invert_yaxis()
            middles = np.arange(len(agents)) + 0.5
            axes.set_xticks(middles, agents, rotation=40, ha="right", parse_math=False)
            axes.set_yticks(middles, agents, parse_math=False)
            axes.set_title(title, parse_math=False)
            for (one, other), points in np.ndenumerate(matrix):
                if one != other:
                    text = axes.text(other + 0.5, one + 0.5, f"{round(points, 2) + 0.0:+.2f}", **middle)
                    text.set_color(colours.on_strong if abs(points) > 0.4 * limit else colours.on_weak)
                    clear = table[agents[one], agents[other]].is_clear_of_zero
                    text.set_weight("bold" if clear else "normal")
        figure.supylabel("one of")
        figure.supxlabel("among copies of (sigma a hand; bold: clear of zero)")
        data = io.StringIO()
        figure.savefig(data, format="svg", transparent=True, metadata={"Date": None})
    return data.getvalue()
