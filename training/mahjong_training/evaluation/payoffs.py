"""The pay-off matrix of some agents, all against all: ratings computed from it, and its picture.

A mean over opponents depends on which opponents happen to be included, and a rating such as Elo or openskill assumes
that strength is a single number. This module therefore computes two other ratings:

- Nash averaging (Balduzzi et al., Re-evaluating evaluation, 2018) weights opponents by the equilibrium of the game in
  which two players each choose an agent. Copies of an agent then change nothing, and weak agents do not count.
- alpha-rank (Omidshafiei et al., 2019) gives the shares in which agents persist in a population where those that win
  more take over.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.estimates import FEWEST, Estimate, interval
from mahjong_training.runtime.console import any_letters

if TYPE_CHECKING:
    from mahjong_training.evaluation.results import LineupResult

Matrix = NDArray[np.float64]

_RESAMPLES: Final = 200
_SEED: Final = 0


@dataclass(frozen=True)
class Payoffs:
    """What each of k agents wins alone against copies of each other agent.

    Attributes:
        agents: the names of the k agents.
        by_deal: [k, k, deals] points a hand of the row's agent among copies of the column's agent, on the same deals
            in all cells; 0 on the diagonal.
    """

    agents: tuple[str, ...]
    by_deal: Matrix

    @classmethod
    def of(cls, agents: Sequence[str], results: Mapping[tuple[str, str], LineupResult]) -> Payoffs:
        """Collect the pay-offs of agents from their results, each alone among copies of each other agent."""
        by_deal = np.zeros((len(agents), len(agents), next(iter(results.values())).deals))
        for (one, agent), (other, opponent) in permutations(enumerate(agents), 2):
            by_deal[one, other] = results[agent, opponent].points_per_hand(0)
        return cls(tuple(agents), by_deal)

    @cached_property
    def matrix(self) -> Matrix:
        """The means over deals: [k, k] points a hand."""
        return self.by_deal.mean(axis=2)

    def intervals(self) -> Matrix:
        """Return [k, k, 2] the 95 % intervals of the matrix; they are infinite where there are too few deals."""
        if self.by_deal.shape[2] < FEWEST:
            return np.broadcast_to([-np.inf, np.inf], (*self.matrix.shape, 2))
        return np.stack(interval(self.by_deal), axis=-1)

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return, by name, the mean over opponents, Nash rating and Nash share of each agent.

        These have 95 % intervals, the percentiles of a bootstrap over deals (with the same deals in all cells); they
        are infinite where there are too few deals. If OpenSpiel is installed, ``alpha_rank`` is the agent's share in
        alpha-rank.
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
    """Return [k, k] half the difference between what an agent wins among copies of another and the reverse."""
    return (matrix - matrix.T) / 2


def nash_mixture(matrix: Matrix) -> Matrix:
    """Return [k] the equilibrium with the highest entropy of the game in which two players each choose an agent.

    Args:
        matrix: [k, k] points of the row's agent against the column's. The game pays its antisymmetric part.
    """
    from scipy.optimize import LinearConstraint, minimize  # scipy belongs to an optional extra

    paid = antisymmetric(matrix)
    paid = paid / max(float(np.abs(paid).max()), 1e-12)
    size = len(paid)

    def negative_entropy(mixture: Matrix) -> float:
        return float((mixture * np.log(mixture + 1e-12)).sum())

    # A symmetric zero-sum game of two players has value 0: in equilibrium no agent wins from the mixture.
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
    """Return [k] the single-population alpha-rank shares in the limit of strong selection; None without OpenSpiel.

    Args:
        matrix: [k, k] points of the row's agent against the column's.
    """
    try:
        from open_spiel.python.egt import alpharank
    except ImportError:
        return None
    # With OpenSpiel's default noise of 0.01, agents that lose to all others get up to 3 %, just by their order.
    return np.asarray(alpharank.compute([matrix], use_inf_alpha=True, inf_alpha_eps=1e-6)[2], np.float64)


@dataclass(frozen=True)
class _Colours:
    """The colours of a picture in one scheme: of words, and of cells from greatest loss over zero to greatest gain."""

    words: str
    cells: tuple[str, str, str]
    on_strong: str
    on_weak: str


THEMES: Final = {
    "light": _Colours("#20242a", ("#b35806", "#ffffff", "#542788"), "#ffffff", "#20242a"),
    "dark": _Colours("#cfd3da", ("#8c4a00", "#23262b", "#5b4a9c"), "#ffffff", "#ffffff"),
}


def picture(tables: Mapping[str, Mapping[tuple[str, str], Estimate]], theme: str) -> str:
    """Draw pay-off matrices as an SVG with a transparent background.

    Agents are ordered by Nash rating, cells are coloured by who wins, and numbers that are clear of zero are bold.

    Args:
        tables: by the title of the variant, the sigma a hand of one agent among copies of another, for every pair.
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
            # The square root makes small differences between strong agents visible beside large wins from weak ones.
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
        with any_letters():
            figure.savefig(data, format="svg", transparent=True, metadata={"Date": None})
    return data.getvalue()
