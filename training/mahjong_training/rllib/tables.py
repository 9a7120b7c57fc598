"""Hands for RLlib: a batch of tables at which every seat is a learner, each paid between its own decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import look_ahead
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, SIZE, policy_inputs
from mahjong_env import Rules, make_engine
from mahjong_training.seeds import training_seed


@dataclass(frozen=True)
class Situations:
    """What seats see that have to decide.

    Attributes:
        person: [n] who has to decide, -1 where the hand is over.
        inputs: [n, F] int8 what the network is shown, 0 where the hand is over.
        masks: [n, A] int8 the legal actions, 0 where the hand is over.
        closer: [n] float32 what the shaping pays that person for having come here.
    """

    person: NDArray[np.int8]
    inputs: NDArray[np.int8]
    masks: NDArray[np.int8]
    closer: NDArray[np.float32]


class Tables:
    """B tables that play hand after hand.

    Rewards are points times a scale. To them shaping adds ``weight * (distance before - distance now)`` for whoever
    decides, with the distance to a win that its best action leaves; a hand that is over has distance 0, so that the
    best policy stays the same.
    """

    def __init__(self, rules: Rules, tables: int, *, seed: int, scale: float = 1.0, shaping: float = 0.0) -> None:
        """Set the tables up, dealt.

        Args:
            rules: what is played, one hand an episode.
            tables: B.
            seed: of the deals.
            scale: of the points.
            shaping: weight of the distance to a win.
        """
        self.rules, self.number = rules, tables
        self._scale, self._shaping = scale, shaping
        self.engine = make_engine(rules, tables, seed=training_seed(seed))
        self._distance = np.zeros((tables, rules.people), np.float32)
        self._has_decided = np.zeros((tables, rules.people), np.bool_)

    def deal(self, games: NDArray[np.intp], seed: int | None = None) -> None:
        """Deal tables anew; with a seed, as the first hands of this seed, else the next ones."""
        self.engine.reset(seed=None if seed is None else training_seed(seed), games=games)
        self._distance[games] = 0
        self._has_decided[games] = False

    def act(self, games: NDArray[np.intp], actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play an action at each of some tables.

        Args:
            games: [n] tables where somebody has to decide.
            actions: [n] what they do.

        Returns:
            [n, P] float32 what persons gained, [n] bool whether the hand is over.
        """
        result = self.engine.step(actions, games=games)
        gained = result.rewards.astype(np.float32) * np.float32(self._scale)
        over = np.flatnonzero(result.done)
        # A hand that is over is at distance 0 for everybody who has had one.
        gained[over] += np.float32(self._shaping) * self._distance[games[over]]
        return gained, result.done

    def observe(self) -> Situations:
        """Return what is to be decided at all tables; call it once after every `act` and every `deal`."""
        person = self.engine.seat_to_act.copy()
        games = np.flatnonzero(person >= 0)
        inputs = np.zeros((self.number, SIZE), np.int8)
        masks = np.zeros((self.number, NUM_ACTIONS), np.int8)
        closer = np.zeros(self.number, np.float32)
        if games.size:
            view = self.engine.view(games=games)
            ahead = look_ahead(view)
            inputs[games], masks[games] = policy_inputs(view, ahead), view.action_mask
            closer[games] = self._come_closer(games, person[games], ahead.distance.min(axis=1).astype(np.float32))
        return Situations(person, inputs, masks, closer)

    def _come_closer(
        self, games: NDArray[np.intp], seats: NDArray[np.int8], distance: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Note the distances of those who decide now, and return what the shaping pays for the change."""
        before = np.where(self._has_decided[games, seats], self._distance[games, seats], distance)
        self._distance[games, seats] = distance
        self._has_decided[games, seats] = True
        return np.float32(self._shaping) * (before - distance)
