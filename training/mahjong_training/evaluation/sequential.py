"""Stopping a comparison as soon as it is decided, with intervals that are true all the same.

Whoever looks again and again, and stops when an interval looks good, is wrong more often than one time in twenty if the
intervals are those of a single look. Here the looks are planned, after so many deals each, and every look has an
interval so much wider that all of them together cover the truth 95 times of 100: repeated confidence intervals
(Jennison and Turnbull, 1984) with Pocock's boundary (1977), the same at every look. So they hold at whichever look one
stops, for whatever reason. The boundary is found by the recursion of Armitage, McPherson and Rowe (1969).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import ceil, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from mahjong_env import MissingExtraError

_FIRST: Final = 16
"""The first look comes after a 16th of the deals, the next ones after sqrt(2) times as many each."""
_FEWEST: Final = 100
"""Deals before the first look: with fewer, skewed points have intervals that miss too often at so high confidences."""
_NODES: Final = 80


def looks(deals: int) -> tuple[int, ...]:
    """Return after how many deals one looks, at most nine times; the last time after all of them."""
    planned = [ceil(deals / sqrt(2) ** number) for number in range(9)]
    planned = [number for number in planned if number >= max(_FEWEST, deals / _FIRST)]
    return tuple(sorted(set(planned))) or (deals,)


@cache
def confidence(planned: Sequence[int]) -> float:
    """Return the confidence of each interval, so that all of them hold together with 95 %.

    Args:
        planned: a tuple of deals, ascending: when one looks.
    """
    if len(planned) == 1:
        return 0.95
    try:
        from scipy.optimize import brentq
    except ImportError as error:
        raise MissingExtraError("intervals need scipy: pip install 'mahjong-env[evaluate]'") from error
    boundary = float(brentq(lambda bound: _inside(planned, bound) - 0.95, 1.9, 4))
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
