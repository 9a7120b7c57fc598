"""The agent that plays for points: which action leaves the position that is worth most?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.afterstates import actions_but_wins
from agents.base import Agent
from agents.greedy import GreedyAgent
from agents.lookahead import WIN
from agents.outcomes import OutcomeNetwork, read_network, shipped_network
from agents.promise import PromiseAgent, pays_to_stay_closed
from mahjong_env import Rules, View

_ROWS: Final = 256
"""Rows that are looked at at once, so that their numbers fit into the cache."""


class ValueAgent:
    """Plays the action whose afterstate promises most points.

    What a position just after an action leads to, how likely a win and what it pays, how likely the discard is won on
    and what that costs, was learned from hands played under the variant's own scoring (`agents.outcomes`). Another
    action than the usual one, the better greedy's, is played only if it promises more by a margin. It always wins when
    it may. Under rules for which nothing was learned it plays as `PromiseAgent`.

    Attributes:
        name: "value".
        games_at_once: see `agents.base.games_at_once`.
    """

    games_at_once: Final = 1000

    def __init__(self, *, numbers: str = "shipped", margin: float | None = None) -> None:
        """Choose the numbers.

        Args:
            numbers: "shipped"; "none": it plays as `PromiseAgent`; or a file that ``python -m training.outcomes`` has
                written. A file without numbers for the variant is an `AgentError` when it acts.
            margin: how many sigma another action must promise more than the usual one; None: as was found best.
        """
        self.name = "promise" if numbers == "none" else "value"
        self._numbers, self._margin = numbers, margin
        self._own: OutcomeNetwork | None = None

    @classmethod
    def of(cls, network: OutcomeNetwork) -> ValueAgent:
        """Make the agent that plays by this network."""
        agent = cls()
        agent._own = network
        return agent

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose what promises most; see `agents.Agent.act`."""
        network = self._network(view.rules)
        if network is None:
            return PromiseAgent().act(view, rng)
        actions = usual_policy(view.rules).act(view, rng)
        margin = network.margin if self._margin is None else self._margin
        doubtful = np.flatnonzero(~view.action_mask[:, WIN] & (view.action_mask.sum(axis=1) > 1))
        for start in range(0, len(doubtful), _ROWS):
            rows = doubtful[start : start + _ROWS]
            actions[rows] = _best(network, view, rows, actions, margin)
        return actions

    def _network(self, rules: Rules) -> OutcomeNetwork | None:
        if self._own is not None:
            return self._own
        if self._numbers == "none":
            return None
        return shipped_network(rules) if self._numbers == "shipped" else read_network(Path(self._numbers), rules.name)


def usual_policy(rules: Rules) -> Agent:
    """Return the better greedy: it claims nothing where a closed hand is paid nearly twice an open one or more."""
    return GreedyAgent(claims=not pays_to_stay_closed(rules))


def _best(
    network: OutcomeNetwork, view: View, rows: NDArray[np.intp], usual: NDArray[np.int64], margin: float
) -> NDArray[np.int64]:
    """Return the best actions of some rows, each of which has at least two; ``usual`` [n] are ahead by the margin."""
    left = actions_but_wins(view, rows)
    worth = network(left.numbers()).points + margin * (left.action == usual[left.row])
    first = np.flatnonzero(np.diff(left.row, prepend=-1))
    best = np.maximum.reduceat(worth, first)
    at = np.flatnonzero(worth == np.repeat(best, np.diff(first, append=len(worth))))
    at = at[np.unique(left.row[at], return_index=True)[1]]
    chosen: NDArray[np.int64] = left.action[at]
    return chosen
