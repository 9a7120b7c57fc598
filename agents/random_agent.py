"""The agent that every other agent should beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahjong_env import View


class RandomAgent:
    """Plays any legal action, all of them equally likely; wins and passes included."""

    name = "random"

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose uniformly; see `agents.Agent.act`."""
        return choose_among(view.action_mask, rng)


def choose_among(allowed: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose one True in every row, all of them equally likely.

    Args:
        allowed: [n, A] bool, at least one True in each row.
        rng: where chance comes from.

    Returns:
        [n] int64.
    """
    lots = rng.random(allowed.shape, np.float32)
    lots[~allowed] = -1.0
    return lots.argmax(axis=1)
