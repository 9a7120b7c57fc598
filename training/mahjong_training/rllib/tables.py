"""Hands for RLlib: a batch of tables at which every seat is a learner, paid between its own decisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import look_ahead
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, SIZE, policy_inputs
from mahjong_env import Rules, make_engine
from mahjong_training.seeds import training_seed


class Situations(NamedTuple):
    """The decisions that are due at B tables: by whom [B], -1 where the hand is over, where all else is 0.

    ``inputs`` [B, F] are the network's, ``masks`` [B, A] legal actions, ``closer`` [B] what shaping adds to the reward.
    """

    person: NDArray[np.int8]
    inputs: NDArray[np.int8]
    masks: NDArray[np.int8]
    closer: NDArray[np.float32]


class Tables:
    """B tables that play hand after hand.

    Rewards are points times ``scale``. To them shaping adds ``shaping * (distance before - distance now)`` for the
    person who decides, with the distance to a win that its best action leaves; a hand that is over has distance 0, so
    that the best policy stays the same.
    """

    def __init__(self, rules: Rules, tables: int, *, seed: int, scale: float = 1.0, shaping: float = 0.0) -> None:
        """Deal one hand at each table."""
        self.rules, self.number = rules, tables
        self._scale, self._shaping = scale, np.float32(shaping)
        self.engine = make_engine(rules, tables, seed=training_seed(seed))
        # [B, P] of each person's last decision; NaN before its first one in the hand.
        self._distance = np.full((tables, rules.people), np.nan, np.float32)

    def deal(self, games: NDArray[np.intp], seed: int | None = None) -> None:
        """Deal tables [n] anew; with a seed, as the first hands of this seed, else the next ones."""
        self.engine.reset(seed=None if seed is None else training_seed(seed), games=games)
        self._distance[games] = np.nan

    def act(self, games: NDArray[np.intp], actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play actions [n] at tables [n]; return [n, P] rewards of the persons, [n] whether the hand is over."""
        result = self.engine.step(actions, games=games)
        gained = result.rewards.astype(np.float32) * np.float32(self._scale)
        # A hand that is over is at distance 0 for everybody who has decided in it.
        gained[result.done] += self._shaping * np.nan_to_num(self._distance[games[result.done]])
        return gained, result.done

    def observe(self) -> Situations:
        """Return what is to be decided at all tables; call it once after every `act` and every `deal`."""
        person = self.engine.seat_to_act.copy()
        inputs, masks = np.zeros((self.number, SIZE), np.int8), np.zeros((self.number, NUM_ACTIONS), np.int8)
        closer = np.zeros(self.number, np.float32)
        if (games := np.flatnonzero(person >= 0)).size:
            view = self.engine.view(games=games)
            ahead = look_ahead(view)
            inputs[games], masks[games] = policy_inputs(view, ahead), view.action_mask
            distance = ahead.distance.min(axis=1).astype(np.float32)
            closer[games] = self._shaping * np.nan_to_num(self._distance[games, person[games]] - distance)
            self._distance[games, person[games]] = distance
        return Situations(person, inputs, masks, closer)
