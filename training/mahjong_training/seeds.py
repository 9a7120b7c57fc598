"""Which seeds deal what: hands that are learned from are never those that are measured.

Seeds of users are numbers from 0 to 2**32 - 1. Each purpose has a range of its own, so that the same number names
other hands in training, in an evaluation and at `env.reset`; docs/results.md lists them. The ranges do not meet, and
with them no deals do: these follow from the seed, the game and the hand (`mahjong_env.basics.chance`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

USER_SEEDS: Final = 2**32
"""Seeds of users are below this."""
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
    """Return the seed that an evaluation deals from; one that has a range of its own already stays as it is."""
    return _EVALUATION + seed if seed < USER_SEEDS else seed


def curve_seed(seed: int) -> int:
    """Return the seed of what a training run is measured on while it learns."""
    return _CURVE + seed


def blind_seed(number: int) -> int:
    """Return the seed of a blind test."""
    return _BLIND + number


def response_seed(seed: int) -> int:
    """Return the seed of what a best response is tested on, by that of its run."""
    return _RESPONSE + seed


def entry_seed(digest: str) -> int:
    """Return the seed of a submission to the leaderboard, by a digest in hexadecimal digits."""
    return _ENTRY + (int(digest, 16) & (2**46 - 1))


def gate_seed(seed: int, number: int) -> int:
    """Return the seed of a gate of a run with a seed; after 2**16 gates they begin again."""
    return _GATE + _GATES * seed + number % _GATES


def training_seed(*numbers: int) -> int:
    """Return a seed for hands that are learned from, by the seed of the run and the numbers of its part."""
    return _TRAINING + (int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]) >> 8)
