"""The shipped prior over opponents' hands, from which `mahjong_env.engine.opponent_hands` draws determinizations."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from mahjong_env import VARIANTS, Rules
from mahjong_env.engine.opponent_hands import OpponentHands

COUNTS_PATH: Final = Path(__file__).with_name("opponent_hands.npz")
"""Counts [turns, melds, distances] of the reference agent's hands by variant; ``python -m tools.fit`` writes them."""
_FROM_NEIGHBOURS: Final = 20.0
"""Pseudo-counts for every turn and number of melds, distributed as the hands of that turn with any number of melds."""


@cache
def shipped_opponent_hands(rules: Rules) -> OpponentHands | None:
    """Return the prior that was counted under exactly these rules, None if there is none."""
    if not VARIANTS.without_house_rules(rules):
        return None
    with np.load(COUNTS_PATH) as counts:
        if rules.name not in counts:
            return None
        seen = counts[rules.name].astype(np.float64)
    of_turn = seen.sum(axis=1)
    for turn in np.flatnonzero(of_turn.sum(axis=1) == 0):
        of_turn[turn] = of_turn[max(turn - 1, 0)]
    usual = of_turn / np.maximum(of_turn.sum(axis=1, keepdims=True), 1)
    seen += _FROM_NEIGHBOURS * usual[:, None]
    return OpponentHands(seen / seen.sum(axis=2, keepdims=True))
