"""The batched engine as a Stable-Baselines3 `VecEnv`: one learning seat a table, all others played inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, look_ahead
from mahjong_agents.lookahead import FAR, Lookahead
from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, policy_inputs
from mahjong_env import Engine, Rules, View
from mahjong_env import rules as read_rules
from mahjong_env.environments.agents import OpponentPool
from mahjong_env.environments.learning_seats import ROTATE, LearningSeats
from mahjong_training.learning.rewards import Paid, pay, potential
from mahjong_training.sb3.batch_env import BatchVecEnv, RewardSpec, Step
from mahjong_training.seeds import training_seed

__all__ = ["RewardSpec", "TableVecEnv"]


class TableVecEnv(BatchVecEnv):
    """B tables, each with one learner; an episode is one hand.

    The core is that of the Gymnasium environments (`mahjong_env.environments.learning_seats`): it says what an episode
    is and what the learner is paid. The learner's place is drawn from the seed and moves on by one with every episode,
    whoever else sits there is drawn from ``opponents`` for every episode.

    Episodes that end carry in their ``info``: ``episode`` (r points of the hand, l decisions), ``is_success`` (the
    learner won), ``terminal_observation`` and ``TimeLimit.truncated``.
    """

    def __init__(
        self,
        rules: Rules,
        num_tables: int,
        opponents: Sequence[Agent],
        *,
        seed: int = 0,
        reward: RewardSpec | None = None,
        seat: int | str | None = ROTATE,
        features: Features | None = None,
        record: str | Path | None = None,
    ) -> None:
        """Set up the tables; `reset` deals.

        Args:
            rules: what is played.
            num_tables: B.
            opponents: who may sit at the other seats, all equally likely; an agent may be named several times.
            seed: of the deals, the seats, and the opponents' choices.
            reward: what the learner is paid.
            seat: the learner's place, if it is not to move; see `LearningSeats`.
            features: what is added to its inputs.
            record: a file to which the record of every hand is appended.
        """
        self._seats = LearningSeats(
            read_rules(rules),
            num_tables,
            opponents=OpponentPool(opponents),
            seat=seat,
            on_illegal="raise",
            record=record,
        )
        super().__init__(rules, num_tables, opponents, reward, features)
        self._final_points = np.zeros((num_tables, self.engine.num_people), np.int64)
        self._potential: tuple[object, NDArray[np.float32] | None] = (None, None)
        self._first_seed: int | None = seed
        self._rng = np.random.default_rng(seed)
        self._all = np.arange(num_tables)
        self._chosen: NDArray[np.int64] = np.zeros(num_tables, np.int64)
        self._decisions = np.zeros(num_tables, np.int64)
        self._infos: list[dict[str, Any]] = []
        self._mask = np.zeros((num_tables, NUM_ACTIONS), np.bool_)
        self._distance = np.zeros(num_tables, np.float32)

    @property
    def engine(self) -> Engine:
        """The games."""
        return self._seats.engine

    @property
    def learner(self) -> NDArray[np.int8]:
        """[B] int8 the learners' places; a fresh array."""
        return self._seats.learner.copy()

    def _pass_on(self) -> None:
        self._seats.opponents = OpponentPool(self._opponents)

    # --- The contract of VecEnv ---------------------------------------------------------------------------------
    def reset(self) -> NDArray[np.int8]:
        """Deal every table anew; a seed given with `seed` is used now."""
        seed = self._seeds[0]
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        given = self._first_seed if seed is None else seed
        self._seats.begin(self._all, self._rng, seed=None if given is None else training_seed(given))
        self._first_seed = None
        self._reset_seeds()
        self._decisions[:] = 0
        return self._observe()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the learners' actions."""
        self._chosen = np.asarray(actions)

    def step_wait(self) -> Step:
        """Play the learners' actions, then all others until every learner must decide again.

        Returns:
            [B, F] int8 inputs, [B] float32 rewards, [B] bool dones, infos: all of them fresh.
        """
        before, (of, potential_before), learner = self._distance, self._potential, self.learner
        self._infos = [{} for _ in range(self.num_envs)]
        self._decisions += 1
        self._seats.step(self._all, self._chosen, self._rng, on_end=self._end_episodes)
        inputs = self._observe()
        dones = self._seats.ended.copy()
        rewards = self._earned(learner, dones) * np.float32(self.reward.scale)
        shaped_by, potential_after = self._potential
        if potential_before is not None and potential_after is not None and of is shaped_by:
            ahead = np.where(dones, np.float32(0), potential_after)
            rewards += np.float32(self.reward.scale) * (np.float32(self.reward.discount) * ahead - potential_before)
        if self.reward.shaping:
            after = np.where(dones, 0.0, self._distance)
            rewards += np.float32(self.reward.shaping) * (before - self.reward.discount * after).astype(np.float32)
        return inputs, rewards, dones, self._infos

    def _earned(self, learner: NDArray[np.int8], dones: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return [B] what the reward makes of the points that these learners were paid in the step."""
        earned = self._seats.earned
        if self.reward.function is None:
            return earned.astype(np.float32)
        totals = self.engine.points.astype(np.int64) - self.rules.starting_points
        totals[dones] = self._final_points[dones]
        return pay(self.reward.function, Paid(self.rules, earned.copy(), totals, learner.astype(np.int64), dones))

    def action_masks(self) -> NDArray[np.bool_]:
        """[B, 109] legal actions of the learners."""
        return self._mask

    def close(self) -> None:
        """Close the file of records, if there is one."""
        self._seats.engine.close_record()

    # --- Episodes -----------------------------------------------------------------------------------------------
    def _end_episodes(self, tables: NDArray[np.intp]) -> None:
        """Say how the episodes of these tables have ended, before new ones begin there."""
        seats = self._seats
        learner = seats.learner[tables]
        view = self.engine.view(games=tables, seats=learner)
        last = policy_inputs(view, _no_actions(len(tables)), self.features)
        self._final_points[tables] = self.engine.points[tables] - self.rules.starting_points
        points = self._final_points[tables, learner]
        for row, table in enumerate(tables.tolist()):
            self._infos[table] = {
                "terminal_observation": last[row],
                "TimeLimit.truncated": bool(seats.truncated[table]),
                "episode": {"r": int(points[row]), "l": int(self._decisions[table]), "t": 0.0},
                "is_success": seats.last_winner(table) == learner[row],
            }
        self._decisions[tables] = 0

    def _observe(self) -> NDArray[np.int8]:
        view: View = self.engine.view()
        self._mask = view.action_mask
        ahead = look_ahead(view)
        self._distance = ahead.distance.min(axis=1).astype(np.float32)
        function = self.reward.function
        if function is not None:
            self._potential = function, potential(function, view)
        return policy_inputs(view, ahead, self.features)


def _no_actions(n: int) -> Lookahead:
    """Return what `look_ahead` finds for n seats without a legal action, as at tables where the hand is over."""
    return Lookahead(np.full((n, NUM_ACTIONS), FAR, np.int8), np.zeros((n, NUM_ACTIONS), np.int16))
