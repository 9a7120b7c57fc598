"""What a standing within a match is worth where the place counts: the mean of the places that it will lead to.

The rest of a match is taken for a random walk: in each hand that is still to come, the difference between two persons
moves by a normal number of mean zero, whose variance is that among greedy players. One person then ends before another
with a chance that has a closed form, and its mean place is one more than the persons who are expected before it.
Nothing is fitted but sigma. Where the model is wrong, a hand is paid too much or too little of what it did to the
place; the sum over a match is the place itself all the same, and the last hand is paid exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mean_places(totals: NDArray[np.int64], hands_left: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """Return [n, P] the places, from 1, that persons can expect; the P of a row sum to P (P + 1) / 2.

    Args:
        totals: [n, P] points in the match so far.
        hands_left: [n] hands that are still to be played; 0: the places are final, and equal persons share theirs.
        sigma: the standard deviation of what a person wins in a hand.
    """
    from scipy.special import ndtr  # of an extra: the settings of `train` are read without it

    people = totals.shape[1]
    behind = (totals[:, None, :] - totals[:, :, None]).astype(np.float64)  # [n, one, other]: the other has so much more
    # Points sum to zero, so that two persons' correlate by -1 / (P - 1).
    spread = sigma * np.sqrt(2 * people / (people - 1) * hands_left)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(spread > 0, ndtr(behind / spread), (np.sign(behind) + 1) / 2)
    return 1 + before.sum(axis=2) - 0.5  # less oneself, of whom half is before
