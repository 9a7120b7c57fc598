"""One learning seat at one table: the usual way, which the benchmark compares with.

Training does not use it: `mahjong_training.sb3.vec_env` plays the same learner's part at hundreds of tables at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, look_ahead
from mahjong_agents.policy.plane_inputs import policy_inputs
from mahjong_env import Engine, Rules
from mahjong_env.environments.agents import OpponentPool
from mahjong_env.environments.learning_seats import ROTATE, LearningSeats
from mahjong_training.sb3.vec_env import learner_spaces

_GAME = np.zeros(1, np.intp)


class OneTableEnv(gymnasium.Env[Any, Any]):
    """One table with a learner, for Stable-Baselines3's `DummyVecEnv`.

    The core is that of `mahjong_env.environments.single_seat.SingleSeatEnv`, with the inputs of the learners' networks:
    rewards, the learner's place and its opponents are as in `mahjong_training.sb3.vec_env.TableVecEnv` without scale
    and shaping.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self, rules: Rules, opponents: Sequence[Agent], *, seed: int = 0, seat: int | str | None = ROTATE
    ) -> None:
        """Set up a table.

        Args:
            rules: what is played.
            opponents: who may sit at the other seats, drawn anew for every hand.
            seed: of the deals, the seats, and the opponents' choices, if `reset` is given none.
            seat: the learner's place, if it is not to move; see `LearningSeats`.
        """
        self.observation_space, self.action_space = learner_spaces()
        self._seats = LearningSeats(rules, 1, opponents=OpponentPool(opponents), seat=seat, on_illegal="raise")
        self._seed: int | None = seed
        self._rng = np.random.default_rng(seed)

    @property
    def engine(self) -> Engine:
        """The game, as an engine of one."""
        return self._seats.engine

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a hand; one that ends without a decision of the learner is dealt again."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._rng = seed, np.random.default_rng(seed)
        self._seats.begin(_GAME, self._rng, seed=self._seed)
        self._seed = None
        return self._observe(), {}

    def step(self, action: Any) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Play one action, and on until the learner is asked again or the hand is over."""
        seats = self._seats
        seats.step(_GAME, np.asarray(action).reshape(-1), self._rng)
        truncated = bool(seats.truncated[0])
        return self._observe(), float(seats.earned[0]), bool(seats.ended[0]) and not truncated, truncated, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """[109] legal actions of the learner."""
        return self.engine.action_mask[0]

    def _observe(self) -> NDArray[np.int8]:
        view = self.engine.view(seats=self._seats.learner)
        return policy_inputs(view, look_ahead(view))[0]
