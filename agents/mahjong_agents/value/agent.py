"""The agent that plays for points: which action leaves the position that is worth most?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import annotations as thoughts
from mahjong_agents.annotations import Note
from mahjong_agents.greedy import reference_agent
from mahjong_agents.lookahead import WIN
from mahjong_agents.value.afterstates import Afterstates, Numbers, actions_but_wins
from mahjong_agents.value.model import OutcomeNetwork, read_network, shipped_network
from mahjong_agents.value.plan_value import PlanValueAgent
from mahjong_env import Rules, View

_ROWS: Final = 256
"""Rows that are looked at at once, so that their numbers fit into the cache."""


class ValueAgent:
    """Plays the action whose afterstate promises most points.

    What a position just after an action leads to, how likely a win and what it pays, how likely the discard is won on
    and what that costs, was learned from hands played under the variant's own scoring (`mahjong_agents.value.model`).
    Another action than the usual one, the reference agent's, is played only if it promises more by a margin. It always
    wins when it may. Under rules for which nothing was learned it plays as `PlanValueAgent`.

    Attributes:
        name: "value".
        games_at_once: see `mahjong_agents.base.games_at_once`.
    """

    games_at_once: Final = 1000

    def __init__(self, *, numbers: str = "shipped", margin: float | None = None) -> None:
        """Choose the numbers.

        Args:
            numbers: "shipped"; "none": it plays as `PlanValueAgent`; or a file that ``python -m
                mahjong_training.fitting.value_model`` has written. A file without numbers for the variant is an
                `AgentError` when it acts.
            margin: how many sigma another action must promise more than the usual one; None: as was found best.
        """
        self.name = PlanValueAgent.name if numbers == "none" else "value"
        self._numbers, self._margin = numbers, margin
        self._own: OutcomeNetwork | None = None

    @classmethod
    def of(cls, network: OutcomeNetwork) -> ValueAgent:
        """Make the agent that plays by this network."""
        agent = cls()
        agent._own = network
        return agent

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose what promises most; see `mahjong_agents.Agent.act`."""
        network = self._network(view.rules)
        if network is None:
            return PlanValueAgent().act(view, rng)
        return self._play(network, view, rng)

    def think(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Note | None]]:
        """Choose what promises most, and tell the points; see `mahjong_env.environments.agents.Thinker`."""
        network = self._network(view.rules)
        notes: list[Note | None] = [None] * len(view)
        if network is None:
            return PlanValueAgent().act(view, rng), notes
        return self._play(network, view, rng, notes), notes

    def _play(
        self, network: OutcomeNetwork, view: View, rng: np.random.Generator, notes: list[Note | None] | None = None
    ) -> NDArray[np.int64]:
        """Return [n] actions; ``notes`` [n] are filled in where they are wanted."""
        actions = reference_agent(view.rules).act(view, rng)
        margin = network.margin if self._margin is None else self._margin
        doubtful = np.flatnonzero(~view.action_mask[:, WIN] & (view.action_mask.sum(axis=1) > 1))
        for start in range(0, len(doubtful), _ROWS):
            rows = doubtful[start : start + _ROWS]
            left = actions_but_wins(view, rows)
            points = network(left.numbers()).points
            actions[rows] = _best(left, points + margin * (left.action == actions[left.row]))
            if notes is not None:
                told = thoughts.values(len(view), left.row, left.action, points * network.sigma)
                for row in rows.tolist():
                    notes[row] = told[row]
        return actions

    def _network(self, rules: Rules) -> OutcomeNetwork | None:
        if self._own is not None:
            return self._own
        if self._numbers == "none":
            return None
        return shipped_network(rules) if self._numbers == "shipped" else read_network(Path(self._numbers), rules.name)


def _best(left: Afterstates, worth: Numbers) -> NDArray[np.int64]:
    """Return the first best action of each row that has any; ``worth`` [m] is what the actions are worth."""
    first = np.flatnonzero(np.diff(left.row, prepend=-1))
    best = np.maximum.reduceat(worth, first)
    at = np.flatnonzero(worth == np.repeat(best, np.diff(first, append=len(worth))))
    at = at[np.unique(left.row[at], return_index=True)[1]]
    chosen: NDArray[np.int64] = left.action[at]
    return chosen
