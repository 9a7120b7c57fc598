"""What all batches of tables are to Stable-Baselines3, wherever the tables are played."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from mahjong_agents import Agent
from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, SIZE
from mahjong_env import Rules
from mahjong_env.environments.agents import OpponentPool
from mahjong_training.learning.rewards import Reward

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
        """Tell whoever else plays these tables about the opponents and the rewards."""

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
