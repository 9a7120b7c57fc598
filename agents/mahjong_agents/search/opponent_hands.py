"""How near to a win the hands of others are by now: `Nearness` as counted from hands of the reference agent."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import VARIANTS, Rules
from mahjong_env.engine.nearness import Nearness

COUNTS_PATH: Final = Path(__file__).with_name("opponent_hands.npz")
"""What ``python -m mahjong_training.fitting.opponent_hands`` writes: [turns, melds, distances] counts, by variant."""
_FROM_NEIGHBOURS: Final = 20.0
"""Hands that count as seen at every turn and number of melds, as they were with any number of melds."""


@cache
def shipped_nearness(rules: Rules) -> Nearness | None:
    """Return how near hands are under these very rules, None if nobody has counted."""
    if VARIANTS.get(rules.name) != rules:
        return None
    with np.load(COUNTS_PATH) as counts:
        return from_counts(counts[rules.name]) if rules.name in counts else None


def from_counts(counts: NDArray[np.uint32]) -> Nearness:
    """Return chances from counts [turns, melds, distances]; where few were counted, those of all melds tell."""
    seen = counts.astype(np.float64)
    of_turn = seen.sum(axis=1)
    for turn in np.flatnonzero(of_turn.sum(axis=1) == 0):
        of_turn[turn] = of_turn[max(turn - 1, 0)]
    usual = of_turn / np.maximum(of_turn.sum(axis=1, keepdims=True), 1)
    seen += _FROM_NEIGHBOURS * usual[:, None]
    return Nearness(seen / seen.sum(axis=2, keepdims=True))
