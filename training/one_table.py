"""One learning seat in a PettingZoo environment, one table at a time: the usual way, which the benchmark compares with.

Training does not use it: `training.vec_env` plays the same learner's part at hundreds of tables at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from agents import Agent, look_ahead
from agents.inputs import policy_inputs
from mahjong_env import Engine, Rules
from mahjong_env.environments.aec import MahjongAEC, wrapped
from mahjong_env.environments.players import choose_actions
from training.batch_env import learner_spaces

_GAME = np.zeros(1, np.intp)


class OneTableEnv(gymnasium.Env[Any, Any]):
    """A PettingZoo environment with a learner in one seat, for Stable-Baselines3's `DummyVecEnv`.

    Inputs, rewards (points until the next decision or the end), the learner's place and its opponents are as in
    `training.vec_env.TableVecEnv` without scale and shaping. Points from before the first decision belong to the first.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(self, rules: Rules, opponents: Sequence[Agent], *, seed: int = 0) -> None:
        """Set up a table.

        Args:
            rules: what is played.
            opponents: who may sit at the other seats, drawn anew for every hand.
            seed: of the deals, the seats, and the opponents' choices, if `reset` is given none.
        """
        self.observation_space, self.action_space = learner_spaces()
        self._opponents = list(opponents)
        self._bare = MahjongAEC(rules)
        self._env = wrapped(self._bare)
        self._seed: int | None = seed
        self._rng = np.random.default_rng(seed)
        self._learner = 0
        self._who = np.zeros(0, np.intp)

    @property
    def engine(self) -> Engine:
        """The game, as an engine of one."""
        return self._bare.engine

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin a hand; one that ends without a decision of the learner is dealt again."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._rng = seed, np.random.default_rng(seed)
        while True:
            self._env.reset(seed=self._seed)
            self._seed = None
            self._learner = int(self._rng.integers(len(self._bare.possible_agents)))
            self._who = self._rng.integers(len(self._opponents), size=len(self._bare.possible_agents))
            if not self._play_others():
                return self._observe(), {}

    def step(self, action: Any) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Play one action, and on until the learner is asked again or the hand is over."""
        self._env.step(int(action))
        over = self._play_others()
        name = self._bare.possible_agents[self._learner]
        return self._observe(), float(self._bare._cumulative_rewards[name]), over, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """[109] legal actions of the learner."""
        return self.engine.action_mask[0]

    def _play_others(self) -> bool:
        """Play until the learner is asked (False) or the hand is over (True)."""
        while True:
            person = int(self.engine.seat_to_act[0])
            if person in (self._learner, -1):
                return person == -1
            actions = choose_actions(self.engine, _GAME, self._opponents, self._who[[person]], self._rng)
            self._env.step(int(actions[0]))

    def _observe(self) -> NDArray[np.int8]:
        view = self.engine.view(seats=[self._learner])
        return policy_inputs(view, look_ahead(view))[0]
