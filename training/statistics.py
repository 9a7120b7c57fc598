"""Means of clustered results, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env import MissingExtraError


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, of 95 % if nothing else is said."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def is_clear_of_zero(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.low > 0 or self.high < 0


def ratio(totals: NDArray[Any], counts: NDArray[Any], confidence: float = 0.95) -> Estimate:
    """Estimate a total per count from independent clusters.

    One deal, with all the orders of seats in which it was played, is a cluster: its hands have the same tiles and are
    anything but independent. The variance is that of the cluster residuals ``total - mean * count`` (exact for
    clusters of equal counts, else the usual linearisation of a ratio), with Student's t.

    Args:
        totals: [clusters] what was counted in each cluster: points, wins.
        counts: [clusters] hands in each cluster.
        confidence: of the interval; higher where it is one of several, see `training.sequential`.

    Returns:
        The mean per hand; with a single cluster the interval is infinite.
    """
    clusters = len(totals)
    mean = float(totals.sum() / counts.sum())
    if clusters < 2:
        return Estimate(mean, -np.inf, np.inf)
    residuals = (totals - mean * counts) / counts.mean()
    error = float(np.sqrt((residuals**2).sum() / (clusters - 1) / clusters))
    half = _student_t(clusters - 1, confidence) * error
    return Estimate(mean, mean - half, mean + half)


def _student_t(freedom: int, confidence: float) -> float:
    """Return how many errors an interval of this confidence reaches to either side, by Student's t."""
    try:
        from scipy.stats import t
    except ImportError as error:
        raise MissingExtraError("intervals need scipy: pip install 'mahjong-env[evaluate]'") from error
    return float(t.ppf(0.5 + confidence / 2, freedom))
