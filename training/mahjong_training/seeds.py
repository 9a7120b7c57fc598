"""The ranges of seeds for each purpose, which keep the hands that are learned from apart from those measured on.

Users' seeds are numbers from 0 to 2**32 - 1. Each purpose maps them to a range of its own, so that the same number
stands for different hands in training, in an evaluation and in `env.reset`; docs/results.md lists the ranges. As the
ranges do not overlap, neither do the deals, which depend only on the seed, the game and the hand
(`mahjong_env.basics.chance`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

USER_SEEDS: Final = 2**32
"""Users' seeds are below this number."""
LUCK_SEED: Final = 2**32
SIGMA_SEED: Final = 2**32 + 1
_EVALUATION: Final = 2**33
_CURVE: Final = 2**34
_BLIND: Final = 2**40
_RESPONSE: Final = 2**45
_ENTRY: Final = 2**47
_GATE: Final = 2**50
_GATES: Final = 2**16
_TRAINING: Final = 2**56


def evaluation_seed(seed: int) -> int:
    """Return the seed from which an evaluation deals; a seed that is already in a range of its own is unchanged."""
    return _EVALUATION + seed if seed < USER_SEEDS else seed


def curve_seed(seed: int) -> int:
    """Return the seed of the deals on which a training run is measured while it learns."""
    return _CURVE + seed


def blind_seed(number: int) -> int:
    """Return the seed of a blind test, given its number."""
    return _BLIND + number


def response_seed(seed: int) -> int:
    """Return the seed of the deals on which a best response is tested, given the seed of its run."""
    return _RESPONSE + seed


def entry_seed(digest: str) -> int:
    """Return the seed of a submission to the leaderboard, given a digest in hexadecimal digits."""
    return _ENTRY + (int(digest, 16) & (2**46 - 1))


def gate_seed(seed: int, number: int) -> int:
    """Return the seed of a gate, given the run's seed and the number of the gate; seeds repeat after 2**16 gates."""
    return _GATE + _GATES * seed + number % _GATES


def training_seed(*numbers: int) -> int:
    """Return a seed for hands to learn from, given the seed of the run and further numbers, such as that of a part."""
    return _TRAINING + (int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]) >> 8)
