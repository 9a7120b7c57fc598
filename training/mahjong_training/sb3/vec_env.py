"""The batched engine as a Stable-Baselines3 `VecEnv`: one learning seat a table, all others played inside."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from mahjong_agents import Agent, look_ahead
from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, SIZE, policy_inputs
from mahjong_env import Engine, Rules, View
from mahjong_env import rules as read_rules
from mahjong_env.environments.agents import OpponentPool
from mahjong_env.environments.learning_seats import ROTATE, LearningSeats
from mahjong_env.observation.acceptance import FAR, Lookahead
from mahjong_training.learning.rewards import Paid, Reward, pay, potential
from mahjong_training.seeds import training_seed

Step = tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


@dataclass(frozen=True)
class RewardSpec:
    """What the learner is paid.

    Attributes:
        scale: the reward is the points that its person receives, until it decides again, times this.
        shaping: weight of the potential -distance to a win, which adds ``shaping * (distance before - discount *
            distance after)``; the potential of a finished hand is 0, so that the best policy stays the same.
        discount: the learner's discount factor, which the shaping needs.
        function: what is made of the points before they are scaled; None: nothing. See
            `mahjong_training.learning.rewards`.
    """

    scale: float = 1.0
    shaping: float = 0.0
    discount: float = 1.0
    function: Reward | None = None


def learner_spaces(features: Features | None = None) -> tuple[spaces.Box, spaces.Discrete]:
    """Return the spaces of one table: [F] int8 inputs, those that are added included, and 109 actions."""
    added = 0 if features is None else len(features.facts)
    return spaces.Box(-128, 127, (SIZE + added,), np.int8), spaces.Discrete(NUM_ACTIONS)


class BatchVecEnv(VecEnv):
    """B tables that share their rules, their opponents and their rewards, so that they share their attributes too."""

    def __init__(
        self,
        rules: Rules,
        num_tables: int,
        opponents: Sequence[Agent],
        reward: RewardSpec | None,
        features: Features | None = None,
    ) -> None:
        """Take down what is played, by whom, and for what.

        Args:
            rules: what is played.
            num_tables: B.
            opponents: who may sit at the other seats, all equally likely; an agent may be named several times.
            reward: what the learner is paid.
            features: what is added to its inputs.
        """
        self.features = features
        self.render_mode = None  # VecEnv's constructor asks for it
        self.rules = rules
        self._opponents = list(opponents)
        self._reward = reward or RewardSpec()
        super().__init__(num_tables, *learner_spaces(features))

    @property
    def opponents(self) -> list[Agent]:
        """Who may sit at the other seats, all equally likely; to be replaced as a whole, at any time."""
        return self._opponents

    @opponents.setter
    def opponents(self, agents: Sequence[Agent]) -> None:
        self._opponents = list(cast("tuple[Agent, ...]", OpponentPool(agents).agents))
        self._pass_on()

    @property
    def reward(self) -> RewardSpec:
        """What the learner is paid; it may be replaced at any time."""
        return self._reward

    @reward.setter
    def reward(self, spec: RewardSpec) -> None:
        self._reward = spec
        self._pass_on()

    def _pass_on(self) -> None:
        """Pass the opponents and the rewards on to the processes that play these tables."""

    @abstractmethod
    def action_masks(self) -> NDArray[np.bool_]:
        """[B, 109] legal actions of the learners."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The same attribute for each of the tables asked about."""
        value = getattr(self, attr_name)  # AttributeError for unknown names: VecEnv.has_attr relies on it
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute for all tables; they cannot differ."""
        if indices is not None:
            raise ValueError("the tables of a batch share their attributes: indices must be None")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method once; a [B, ...] result has one row for each table."""
        result = getattr(self, method_name)(*args, **kwargs)
        # Stable-Baselines3 stacks what it gets here, which leaves an array as it is.
        rows: list[Any] = result if indices is None else [result[index] for index in self._get_indices(indices)]
        return rows

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False] * len(list(self._get_indices(indices)))


class TableVecEnv(BatchVecEnv):
    """B tables, each with one learner; an episode is one hand.

    The core is that of the Gymnasium environments (`mahjong_env.environments.learning_seats`): it says what an episode
    is and what the learner is paid. The learner's place is drawn from the seed and moves on by one with every episode,
    each other seat's agent is drawn from ``opponents`` for every episode.

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
