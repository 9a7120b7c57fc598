"""Who deals from which seeds: what is measured must not have been played before.

Seeds of users are from 0 to 2**32 - 1. What nobody may play by accident is dealt from beyond that, where no seed of a
user can reach: the hands on which control variates are fitted, and the deals of blind tests.
"""

from __future__ import annotations

from typing import Final

USER_SEEDS: Final = 2**32
"""Seeds of users are below this (`training.sizes.check_seed`)."""
LUCK_SEED: Final = USER_SEEDS
"""Of the hands on which the weights of control variates are fitted."""
BLIND_SEEDS: Final = 2**40
"""Blind test number n is dealt from the seed ``BLIND_SEEDS + n``."""


def blind_seed(number: int) -> int:
    """Return the seed of a blind test."""
    return BLIND_SEEDS + number
