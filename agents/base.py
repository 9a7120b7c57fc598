"""What an agent is: something that chooses actions for many seats at once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mahjong_env import AgentError, View

__all__ = ["Agent", "AgentError", "PolicyFileError"]


class PolicyFileError(AgentError):
    """A policy file that is missing, corrupt, or of another variant or another version."""


@runtime_checkable
class Agent(Protocol):
    """Chooses actions; everything that plays (tables, training, evaluation) asks only this.

    An agent keeps nothing between calls: a row of a view may belong to any game, and rows come in any order.

    Attributes:
        name: what tables and plots call it.
    """

    name: str

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose one action for each row.

        Args:
            view: what n seats see; each of them is to act.
            rng: where chance comes from.

        Returns:
            [n] int64 actions, each of them legal.
        """
        ...
