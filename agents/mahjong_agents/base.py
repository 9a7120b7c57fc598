"""What an agent is: something that chooses actions for many seats at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mahjong_env import AgentError, View

__all__ = ["GAMES_AT_ONCE", "Agent", "AgentError", "PolicyFileError", "games_at_once"]

GAMES_AT_ONCE: Final = 6000
"""Games that are played at once where nothing else is said: a greedy player takes two seconds for them."""


class PolicyFileError(AgentError):
    """A policy file that is missing, corrupt, or of another variant or another version."""


def check_numbers(name: str, scores: NDArray[Any]) -> None:
    """Check that a policy likes its actions by numbers.

    Raises:
        PolicyFileError: some are NaN, by which nothing can be chosen; the message names the policy.
    """
    if np.isnan(scores).any():
        raise PolicyFileError(f"policy {name} gives no numbers (NaN): its weights are too large, or damaged")


@runtime_checkable
class Agent(Protocol):
    """Chooses actions; everything that plays (tables, training, evaluation) asks only this.

    An agent keeps nothing between calls: a row of a view may belong to any game, and rows come in any order.

    One that is slow may have an attribute ``games_at_once``, see `games_at_once`.

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


def games_at_once(agents: Sequence[Agent]) -> int:
    """Return how many games of some agents are played at once, so that they take seconds and not hours.

    That many are a task of a worker, and what is lost if it is interrupted.

    Args:
        agents: who plays; the least of their attributes ``games_at_once`` counts, an int from 1.
    """
    return min([GAMES_AT_ONCE, *(max(1, int(getattr(agent, "games_at_once", GAMES_AT_ONCE))) for agent in agents)])
