"""Rewards of your own: `mahjong-env train-sb3 --variant hebei --reward my_reward.py:Patient`.

See docs/rewards_and_features.md.
"""

from __future__ import annotations

import numpy as np

from mahjong_training.learning.rewards import Paid


def winning_counts(paid: Paid, bonus: float = 0.5) -> np.ndarray:
    """Pay the points in sigma, and a bonus for every hand with a gain: `my_reward.py:winning_counts?bonus=1`."""
    return paid.points / paid.rules.sigma + bonus * (paid.ended & (paid.total > 0))


class Patient:
    """Pays points, shaped in favour of closed hands: every meld of the learner lowers the potential."""

    def __init__(self, weight: float = 0.2) -> None:
        """Choose how much a meld weighs."""
        self.weight = weight

    def __call__(self, paid: Paid) -> np.ndarray:
        """Return [n] the points received."""
        return paid.points

    def potential(self, view) -> np.ndarray:
        """Return [n] the potentials of n positions."""
        return -self.weight * view.num_melds[:, 0]
