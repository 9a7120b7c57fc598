"""The batched engine as a Stable-Baselines3 `VecEnv`: a learner at each table, with the opponents played inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from mahjong_agents import Agent, look_ahead
from mahjong_agents.policy.plane_inputs import SIZE, policy_inputs
from mahjong_env import NUM_ACTIONS, ActionError, Engine, Rules
from mahjong_env.environments.agents import OpponentPool
from mahjong_env.environments.learning_seats import ROTATE, LearningSeats
from mahjong_training.learning.rewards import Paid, Reward, pay, points, potential
from mahjong_training.seeds import training_seed

Step = tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


def learner_spaces() -> tuple[spaces.Box, spaces.Discrete]:
    """Return the observation and action spaces of one table: [F] int8 inputs (`policy_inputs`), and 109 actions."""
    return spaces.Box(-128, 127, (SIZE,), np.int8), spaces.Discrete(NUM_ACTIONS)


class TableVecEnv(VecEnv):
    """B tables, each with one learner; an episode is one hand.

    All tables share their attributes. The core is that of the Gymnasium environments
    (`mahjong_env.environments.learning_seats`), which defines episodes and the points that a learner receives. The
    learner's place is drawn from the seed, and moves on by one with every episode. The agents at the other seats are
    drawn from ``opponents`` for every episode.

    When an episode ends, its ``info`` has ``episode`` (``r``: points of the hand, ``l``: the learner's decisions),
    ``is_success`` (whether the learner won), ``terminal_observation`` and ``TimeLimit.truncated``.

    Attributes:
        rules: the rules to play by.
        reward: the reward function.
        gamma: the discount of the reward's potential.
    """

    def __init__(
        self,
        rules: Rules,
        num_tables: int,
        opponents: Sequence[Agent],
        *,
        seed: int = 0,
        reward: Reward | None = None,
        gamma: float = 1.0,
        seat: int | str | None = ROTATE,
    ) -> None:
        """Set up the tables; `reset` deals.

        Args:
            rules: the rules to play by.
            num_tables: the number of tables (B).
            opponents: the agents that may sit at the other seats, all equally likely; an agent may be named several
                times.
            seed: the seed of the deals, the seats, and the opponents' choices.
            reward: computes rewards from the points that the learner receives; None for the points themselves. See
                `mahjong_training.learning.rewards`.
            gamma: the discount of the potential, if the reward has one.
            seat: the learner's place, if it is not to move; see `LearningSeats`.
        """
        self._seats = LearningSeats(rules, num_tables, opponents=OpponentPool(opponents), seat=seat, on_illegal="raise")
        self.render_mode = None  # VecEnv's constructor asks for it
        self.rules, self.reward, self.gamma = rules, reward or points, gamma
        super().__init__(num_tables, *learner_spaces())
        self.seed(seed)
        self._rng = np.random.default_rng(seed)
        self._all = np.arange(num_tables)
        self._chosen: NDArray[np.int64] = np.zeros(num_tables, np.int64)
        self._decisions = np.zeros(num_tables, np.int64)
        self._final_points = np.zeros((num_tables, self.engine.num_people), np.int64)
        self._infos: list[dict[str, Any]] = []
        self._mask = np.zeros((num_tables, NUM_ACTIONS), np.bool_)
        self._potential: NDArray[np.float32] | None = None

    @property
    def engine(self) -> Engine:
        """The engine that plays the games."""
        return self._seats.engine

    @property
    def learner(self) -> NDArray[np.int8]:
        """The places of the learners: [B] int8; a fresh array."""
        return self._seats.learner.copy()

    @property
    def opponents(self) -> list[Agent]:
        """The agents that may sit at the other seats, all equally likely; the list can be replaced at any time."""
        return list(cast("tuple[Agent, ...]", cast(OpponentPool, self._seats.opponents).agents))

    @opponents.setter
    def opponents(self, agents: Sequence[Agent]) -> None:
        self._seats.opponents = OpponentPool(agents)

    # --- The contract of VecEnv ---------------------------------------------------------------------------------
    def reset(self) -> NDArray[np.int8]:
        """Deal every table anew, from the seed if one was set with `seed`; return [B, F] int8 inputs."""
        seed = self._seeds[0]
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._seats.begin(self._all, self._rng, seed=None if seed is None else training_seed(seed))
        self._reset_seeds()
        self._decisions[:] = 0
        return self._observe()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the learners' actions for `step_wait`."""
        self._chosen = np.asarray(actions)

    def step_wait(self) -> Step:
        """Play the learners' actions, and then all other seats until every learner must decide again.

        Returns:
            [B, F] int8 inputs, [B] float32 rewards, [B] bool dones and a list of B infos, all of them fresh.

        Raises:
            ResetNeeded: the tables have not been reset yet.
            ActionError: an action is illegal, or there is not one for each table; nothing has changed.
        """
        if not self._seats.has_begun:
            raise ResetNeeded("call reset() before step()")
        learner, potential_before = self._seats.learner.astype(np.int64), self._potential
        self._infos = [{} for _ in range(self.num_envs)]
        self._decisions += 1
        try:
            self._seats.step(self._all, self._chosen, self._rng, on_end=self._end_episodes)
        except ActionError:  # nothing was played
            self._decisions -= 1
            raise
        inputs, dones = self._observe(), self._seats.ended.copy()
        totals = self.engine.points.astype(np.int64) - self.rules.starting_points
        totals[dones] = self._final_points[dones]
        rewards = pay(self.reward, Paid(self.rules, self._seats.earned.copy(), totals, learner, dones))
        if potential_before is not None and self._potential is not None:
            potential_after = np.where(dones, np.float32(0), self._potential)
            rewards += np.float32(self.gamma) * potential_after - potential_before
        return inputs, rewards, dones, self._infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return [B, 109] bool the legal actions of the learners."""
        return self._mask

    def record_to(self, path: str | Path) -> None:
        """Append the record of every hand to a file, starting with the hands that are just beginning."""
        self._seats.engine.record_to(path, self._seats.names)

    def close(self) -> None:
        """Close the file of records, if there is one."""
        self._seats.engine.close_record()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute once for each of the tables; all tables have the same value."""
        value = getattr(self, attr_name)  # AttributeError for unknown names: VecEnv.has_attr relies on it
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute for all tables, which cannot differ in it."""
        if indices is not None:
            raise ValueError("the tables of a batch share their attributes: indices must be None")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method once for all tables; its result [B, ...] has one row for each table."""
        result = getattr(self, method_name)(*args, **kwargs)
        # Stable-Baselines3 stacks what is returned here, which leaves an array unchanged.
        rows: list[Any] = result if indices is None else [result[index] for index in self._get_indices(indices)]
        return rows

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each of the tables, as no table is wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    # --- Episodes -----------------------------------------------------------------------------------------------
    def _end_episodes(self, tables: NDArray[np.intp]) -> None:
        """Store the infos of episodes that have ended at some tables, before new ones begin there."""
        seats = self._seats
        learner = seats.learner[tables]
        view = self.engine.view(games=tables, seats=learner)
        last = policy_inputs(view, look_ahead(view))
        self._final_points[tables] = self.engine.points[tables] - self.rules.starting_points
        points = self._final_points[tables, learner]
        for row, table in enumerate(tables.tolist()):
            self._infos[table] = {
                "terminal_observation": last[row],
                "TimeLimit.truncated": bool(seats.truncated[table]),
                "episode": {"r": int(points[row]), "l": int(self._decisions[table]), "t": 0.0},
                "is_success": (seats.last_hand(table) or {"winner": -1})["winner"] == learner[row],
            }
        self._decisions[tables] = 0

    def _observe(self) -> NDArray[np.int8]:
        view = self.engine.view()
        self._mask = view.action_mask
        self._potential = potential(self.reward, view)
        return policy_inputs(view, look_ahead(view))
