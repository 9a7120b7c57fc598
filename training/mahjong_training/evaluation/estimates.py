"""Means of clustered results with their confidence intervals, and stopping a comparison early.

How often the intervals hold the truth stands in docs/research/evaluation.md.
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
"""Deals that an interval takes: with 20 as skewed as in Wuhan it would hold the truth in 93 of 100, with 10 in 83."""
_ROUNDING: Final = 1e-9  # a spread smaller than this share of another one
_QUARTILE: Final = NormalDist().inv_cdf(0.75)


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, of 95 % if nothing else is said; infinite where there are too few deals for one."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The longer side of the interval: mean ± half_width holds all of it, and more if it is skewed."""
        return max(self.mean - self.low, self.high - self.mean)

    @property
    def is_clear_of_zero(self) -> bool:
        """True if the interval does not contain 0."""
        return self.low > 0 or self.high < 0

    def over(self, unit: float) -> Estimate:
        """Return the same in another unit, which is so much of this one."""
        return Estimate(self.mean / unit, self.low / unit, self.high / unit)

    def text(self, decimals: int, unit: float = 1.0, sign: str = "") -> str:
        """Return "mean ± half_width" in a unit, or "mean ± ?" where there is no interval; ``sign="+"`` shows a plus."""
        mean = f"{round(self.mean / unit, decimals) + 0.0:{sign}.{decimals}f}"  # no negative zero
        half = self.half_width / unit
        return f"{mean} ± {half:.{decimals}f}" if np.isfinite(half) else f"{mean} ± ?"


def plain_json(data: Any, indent: int = 1) -> str:
    """Return data and estimates as JSON, which has no infinite numbers: ends of intervals that are none are null."""
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
    """Estimate a total per count from independent clusters.

    One deal, with all the orders of seats in which it was played, is a cluster: its hands have the same tiles and are
    anything but independent. The interval is that of the mean of the cluster residuals ``total - mean * count`` (exact
    for clusters of equal counts, else the usual linearisation of a ratio), see `interval`.

    Args:
        totals: [clusters] what was counted in each cluster: points, wins.
        counts: [clusters] hands in each cluster, or what else the total is shared out among; with fewer than `FEWEST`
            clusters that have any the interval is infinite.
        confidence: of the interval; higher where it is one of several, see `confidence`.
    """
    mean = float(totals.sum() / counts.sum())
    if np.count_nonzero(counts) < FEWEST:
        return Estimate(mean, -np.inf, np.inf)
    low, high = interval((totals - mean * counts) / counts.mean(), confidence)
    return Estimate(mean, mean + float(low), mean + float(high))


def interval(values: NDArray[Any], confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and the upper ends [...] of intervals of the means of values [..., n], n at least `FEWEST`.

    Points of deals are skewed: a few great hands make much of the mean, and Student's t misses it far more often on
    their side. So its quantiles q are bent by the cubic transformation of Hall (On the removal of skewness by
    transformation, 1992): with S the studentised mean, a the skewness over sqrt(n) and h the inverse of
    S + a S²/3 + a² S³/27 + a/6, which is nearly symmetric, the mean lies between those of h(-q) and h(q).

    Skewness that rests on a single value is not counted: points less luck have heavy tails on both sides, and one great
    deal more on one of them would pass for skewness. Where two agents play alike in nearly all deals, a few make the
    whole difference, and that these are of one sign by chance must not pass for certainty: of skewness, that end of its
    interval of 50 % counts that is nearer to 0, and q has as many degrees of freedom as the variance has (`_freedom`).
    """
    n = values.shape[-1]
    mean = values.mean(axis=-1)
    away = values - mean[..., None]
    error = np.sqrt((away**2).sum(axis=-1) / (n - 1) / n)
    z = _standardised(away)
    bend, reach = _skewness(z) / np.sqrt(n), _t_quantile(_freedom(z), confidence)
    return mean - error * _unbent(reach, bend), mean - error * _unbent(-reach, bend)


def _unbent(y: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return s [...] with s + bend s² / 3 + bend² s³ / 27 + bend / 6 = y; it is 3 / bend (root - 1), also at 0."""
    moved = y - bend / 6
    root = np.cbrt(1 + bend * moved)
    return 3 * moved / (root**2 + root + 1)


def _freedom(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [...] the degrees of freedom of the variance of standardised [..., n] values, n - 1 at most.

    Of normal values these are n - 1; in general twice the squared variance over the variance of its estimate, which
    follows from the kurtosis (O'Neill, Some useful moment results in sampling problems, 2014). Of k values among many
    zeros they are about 2 k.
    """
    n = z.shape[-1]
    return np.minimum(2 * n / np.maximum((z**4).mean(axis=-1) - (n - 3) / (n - 1), 2 * n / (n - 1)), n - 1)


def _skewness(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [...] the skewness of standardised [..., n] values as far as it is sure; without the greatest if less."""
    n = z.shape[-1]
    greatest = np.abs(z).argmax(axis=-1)[..., None]
    rest = _standardised(z[np.arange(n) != greatest].reshape(*z.shape[:-1], n - 1), _ROUNDING * np.abs(z).max(axis=-1))
    cubes, of_rest = z**3, (rest**3).mean(axis=-1)
    of_all, error = cubes.mean(axis=-1), cubes.std(axis=-1) / np.sqrt(n)
    smaller = np.minimum(np.maximum(np.abs(of_all) - _QUARTILE * error, 0), np.abs(of_rest))
    return np.where(of_all * of_rest > 0, np.sign(of_all) * smaller, 0)


def _standardised(values: NDArray[Any], least: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
    """Return [..., n] values with mean 0 and spread 1; zeros where their spread is no more than the least [...]."""
    away = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt((away**2).mean(axis=-1))
    return away / np.where(spread > least, spread, np.inf)[..., None]


def weighted(estimates: Sequence[tuple[float, Estimate]]) -> Estimate:
    """Return the weighted sum of independent estimates, by weights from 0 on.

    Its interval is that of Zou and Donner (2008), who recover variances from the limits of the parts; of one estimate
    with weight 1 it is the estimate.
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
    """Return how many errors an interval of this confidence reaches to either side, by Student's t."""
    return float(_t_quantile(freedom, confidence))


def _t_quantile(freedom: float | NDArray[np.float64], confidence: float) -> Any:
    return _scipy("stats").t.ppf(0.5 + confidence / 2, freedom)


def _scipy(module: str) -> Any:
    try:
        return import_module(f"scipy.{module}")
    except ImportError as error:
        raise MissingExtraError("intervals need scipy: pip install 'mahjong-env[evaluate]'") from error


# --- Stopping early --------------------------------------------------------------------------------------------------

_FIRST_LOOK: Final = 16  # after a 16th of the deals; the next ones come after sqrt(2) times as many each
_FEWEST_TO_LOOK: Final = 100  # with fewer, skewed points have intervals that miss too often at so high confidences
_NODES: Final = 80


def looks(deals: int) -> tuple[int, ...]:
    """Return after how many deals one looks, at most nine times; the last time after all of them."""
    planned = [ceil(deals / sqrt(2) ** number) for number in range(9)]
    planned = [number for number in planned if number >= max(_FEWEST_TO_LOOK, deals / _FIRST_LOOK)]
    return tuple(sorted(set(planned))) or (deals,)


@cache
def confidence(planned: Sequence[int]) -> float:
    """Return the confidence of each interval, so that those of all planned looks (ascending) hold together with 95 %.

    These are repeated confidence intervals (Jennison and Turnbull, 1984) with Pocock's boundary (1977), the same at
    every look: they hold at whichever look one stops, for whatever reason. The boundary is found by the recursion of
    Armitage, McPherson and Rowe (1969).
    """
    if len(planned) == 1:
        return 0.95
    boundary = float(_scipy("optimize").brentq(lambda bound: _inside(planned, bound) - 0.95, 1.9, 4))
    return 1 - 2 * NormalDist().cdf(-boundary)


def _inside(planned: Sequence[int], bound: float) -> float:
    """Return the chance that a standardised sum is within the bound at every look, if its mean is 0."""
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
