"""Means of clustered results with their confidence intervals, and early stopping of comparisons.

docs/research/evaluation.md says how often the intervals contain the true value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import MissingExtraError

FEWEST: Final = 30
"""The fewest deals for an interval.

With 20 deals as skewed as Wuhan's an interval would contain the true mean in 93 of 100 cases, with 10 in 83.
"""
_ROUNDING: Final = 1e-9  # a spread that is a smaller share of another one than this counts as zero
_QUARTILE: Final = NormalDist().inv_cdf(0.75)


@dataclass(frozen=True)
class Estimate:
    """A mean and its interval, of 95 % unless stated otherwise, and infinite where there are too few deals for one."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The longer side of the interval: mean ± half_width contains all of it, and more if it is skewed."""
        return max(self.mean - self.low, self.high - self.mean)

    @property
    def is_clear_of_zero(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def over(self, unit: float) -> Estimate:
        """Return the estimate in another unit, given the size of that unit in the present one."""
        return Estimate(self.mean / unit, self.low / unit, self.high / unit)

    def text(self, decimals: int, unit: float = 1.0, sign: str = "") -> str:
        """Return "mean ± half_width", or "mean ± ?" without an interval, in a unit; ``sign="+"`` shows a plus sign."""
        mean = f"{round(self.mean / unit, decimals) + 0.0:{sign}.{decimals}f}"  # no negative zero
        half = self.half_width / unit
        return f"{mean} ± {half:.{decimals}f}" if np.isfinite(half) else f"{mean} ± ?"


def plain_json(data: Any, indent: int = 1) -> str:
    """Return data and estimates as JSON; infinite numbers, which JSON does not have, become null."""
    return json.dumps(_finite(data), indent=indent, ensure_ascii=False)


def _finite(data: Any) -> Any:
    if isinstance(data, Estimate):
        data = asdict(data)
    if isinstance(data, Mapping):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and np.isinf(data) else data


def ratio(totals: NDArray[Any], counts: NDArray[Any], confidence: float = 0.95) -> Estimate:
    """Estimate a ratio, such as points per hand, from independent clusters.

    One deal, with all the orders of seats in which it was played, is a cluster: its hands share their tiles and are
    far from independent. The interval is that of the mean of the cluster residuals ``total - mean * count`` (exact for
    clusters of equal counts, otherwise the usual linearisation of a ratio); see `interval`.

    Args:
        totals: [clusters] the total of each cluster, such as its points or wins.
        counts: [clusters] the number of hands in each cluster, or whatever else the totals are divided by. With fewer
            than `FEWEST` clusters that have any, the interval is infinite.
        confidence: the confidence of the interval; higher where it is one of several, see `confidence`.

    Returns:
        The sum of the totals divided by the sum of the counts, with its interval.
    """
    mean = float(totals.sum() / counts.sum())
    if np.count_nonzero(counts) < FEWEST:
        return Estimate(mean, -np.inf, np.inf)
    low, high = interval((totals - mean * counts) / counts.mean(), confidence)
    return Estimate(mean, mean + float(low), mean + float(high))


def mean(values: NDArray[Any], confidence: float = 0.95) -> Estimate:
    """Estimate the mean of independent values [n], one for each cluster; see `ratio`."""
    return ratio(values, np.ones(len(values)), confidence)


def share(totals: NDArray[Any], counts: NDArray[Any], confidence: float = 0.95) -> Estimate:
    """Estimate a share of hands, such as the hands won; as `ratio`, but the interval stays within 0 and 1.

    What happened in no hand, or in all of them, may still happen or fail to: deals that are all alike have no spread
    from which an interval would follow. The interval then reaches to the share at which such a result has just half of
    the probability that the interval leaves out, as in the exact interval of Clopper and Pearson (1934), if hands of
    one deal are always alike. It is wider than it need be if they are not.

    Args:
        totals: [clusters] in how many of its hands something happened, from 0 to the count.
        counts: [clusters] the number of hands in each cluster.
        confidence: as for `ratio`.
    """
    found, deals = ratio(totals, counts, confidence), np.count_nonzero(counts)
    if deals < FEWEST:
        return found
    if found.mean in (0, 1):
        rarest = 1 - ((1 - confidence) / 2) ** (1 / deals)
        return Estimate(0.0, 0.0, rarest) if found.mean == 0 else Estimate(1.0, 1 - rarest, 1.0)
    return Estimate(found.mean, max(found.low, 0.0), min(found.high, 1.0))


def interval(values: NDArray[Any], confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return intervals of the means of skewed values, as their lower and upper ends [...].

    The points of deals are skewed: a few valuable hands make up much of the mean, and Student's t misses the true mean
    far more often on their side. Its quantiles q are therefore bent by the cubic transformation of Hall (On the removal
    of skewness by transformation, 1992). Let S be the studentised mean, a the skewness over sqrt(n), and h the inverse
    of S + a S²/3 + a² S³/27 + a/6, which is nearly symmetric. The true mean then lies between the means that belong to
    h(-q) and h(q).

    Two precautions keep chance from passing for skewness or for certainty:

    - Skewness that rests on a single value is not counted. Points less luck have heavy tails on both sides, and one
      more extreme deal on one side would look like skewness.
    - Where two agents play alike in nearly all deals, the few others make the whole difference, and these may have the
      same sign by chance. So only that end of the skewness's own 50 % interval counts that is nearer to 0, and q has
      the degrees of freedom of the variance (`_freedom`).

    Args:
        values: [..., n] values, with n at least `FEWEST`.
        confidence: the confidence of the intervals.
    """
    n = values.shape[-1]
    mean = values.mean(axis=-1)
    away = values - mean[..., None]
    error = np.sqrt((away**2).sum(axis=-1) / (n - 1) / n)
    z = _standardised(away)
    bend, reach = _skewness(z) / np.sqrt(n), _t_quantile(_freedom(z), confidence)
    return mean - error * _unbent(reach, bend), mean - error * _unbent(-reach, bend)


def _unbent(y: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the s [...] for which s + bend s² / 3 + bend² s³ / 27 + bend / 6 = y; ``bend`` may be 0."""
    moved = y - bend / 6
    root = np.cbrt(1 + bend * moved)
    return 3 * moved / (root**2 + root + 1)


def _freedom(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [...] the degrees of freedom of the variance of standardised [..., n] values, n - 1 at most.

    For normal values this is n - 1. In general it is twice the squared variance over the variance of its estimate,
    which follows from the kurtosis (O'Neill, Some useful moment results in sampling problems, 2014). For k values among
    many zeros it is about 2 k.
    """
    n = z.shape[-1]
    return np.minimum(2 * n / np.maximum((z**4).mean(axis=-1) - (n - 3) / (n - 1), 2 * n / (n - 1)), n - 1)


def _skewness(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [...] a cautious skewness of standardised [..., n] values, no greater than without the largest value."""
    n = z.shape[-1]
    greatest = np.abs(z).argmax(axis=-1)[..., None]
    rest = _standardised(z[np.arange(n) != greatest].reshape(*z.shape[:-1], n - 1), _ROUNDING * np.abs(z).max(axis=-1))
    cubes, of_rest = z**3, (rest**3).mean(axis=-1)
    of_all, error = cubes.mean(axis=-1), cubes.std(axis=-1) / np.sqrt(n)
    smaller = np.minimum(np.maximum(np.abs(of_all) - _QUARTILE * error, 0), np.abs(of_rest))
    return np.where(of_all * of_rest > 0, np.sign(of_all) * smaller, 0)


def _standardised(values: NDArray[Any], least: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
    """Return [..., n] values scaled to mean 0 and spread 1, or zeros where their spread does not exceed ``least``."""
    away = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt((away**2).mean(axis=-1))
    return away / np.where(spread > least, spread, np.inf)[..., None]


def weighted(estimates: Sequence[tuple[float, Estimate]]) -> Estimate:
    """Return the weighted sum of independent estimates.

    The interval is that of Zou and Donner (2008), who recover variances from the limits of the parts. For a single
    estimate with weight 1 the result is that estimate.

    Args:
        estimates: pairs of a weight, from 0, and an estimate.
    """
    mean = sum(weight * one.mean for weight, one in estimates)
    below, above = (
        sqrt(sum((weight * side) ** 2 for weight, side in sides))
        for sides in (
            [(weight, one.mean - one.low) for weight, one in estimates],
            [(weight, one.high - one.mean) for weight, one in estimates],
        )
    )
    return Estimate(mean, mean - below, mean + above)


@cache
def student_t(freedom: int, confidence: float) -> float:
    """Return how many standard errors an interval extends to either side by Student's t, at this confidence."""
    return float(_t_quantile(freedom, confidence))


def _t_quantile(freedom: float | NDArray[np.float64], confidence: float) -> Any:
    return _scipy("stats").t.ppf(0.5 + confidence / 2, freedom)


def _scipy(module: str) -> Any:
    try:
        return import_module(f"scipy.{module}")
    except ImportError as error:
        raise MissingExtraError("intervals need scipy: pip install 'mahjong-env[evaluate]'") from error


# --- Stopping early --------------------------------------------------------------------------------------------------

_FIRST_LOOK: Final = 16  # the first look comes after a 16th of the deals, each further one after sqrt(2) times as many
_FEWEST_TO_LOOK: Final = 100  # with fewer deals, intervals of skewed points miss too often at such high confidences
_NODES: Final = 80


def looks(deals: int) -> tuple[int, ...]:
    """Return the numbers of deals after which to look at a result: at most nine looks, the last after all deals."""
    planned = [ceil(deals / sqrt(2) ** number) for number in range(9)]
    planned = [number for number in planned if number >= max(_FEWEST_TO_LOOK, deals / _FIRST_LOOK)]
    return tuple(sorted(set(planned))) or (deals,)


@cache
def confidence(planned: Sequence[int]) -> float:
    """Return the confidence of the interval at each look, such that the intervals of all looks hold jointly with 95 %.

    These are repeated confidence intervals (Jennison and Turnbull, 1984) with Pocock's boundary (1977), which is the
    same at every look. They hold at whichever look a comparison stops, for whatever reason. The boundary is found by
    the recursion of Armitage, McPherson and Rowe (1969).

    Args:
        planned: the numbers of deals at the planned looks, ascending; see `looks`.
    """
    if len(planned) == 1:
        return 0.95
    boundary = float(_scipy("optimize").brentq(lambda bound: _inside(planned, bound) - 0.95, 1.9, 4))
    return 1 - 2 * NormalDist().cdf(-boundary)


def _inside(planned: Sequence[int], bound: float) -> float:
    """Return the probability that a standardised sum with mean 0 is within the bound at every look."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    at = np.asarray(planned, np.float64) / planned[-1]
    density, before = None, np.zeros(1)
    for number, time in enumerate(at):
        reach = bound * sqrt(time)
        here = nodes * reach
        spread = sqrt(time - at[number - 1]) if number else sqrt(time)
        steps = np.exp(-0.5 * ((here[:, None] - before) / spread) ** 2) / (spread * sqrt(2 * np.pi))
        density = steps[:, 0] if density is None else steps @ density
        density, before = density * weights * reach, here
    return float(0 if density is None else density.sum())
