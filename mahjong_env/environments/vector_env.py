"""Many learning seats at once as a Gymnasium vector environment, on one batched engine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.learning_seats import LearningSeats
from mahjong_env.environments.render import check_render_mode, table_text, warn_without_render_mode
from mahjong_env.environments.single_seat import check_illegal_reward, flat_space
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

Float64Array = NDArray[np.float64]
Step = tuple[Int8Array, Float64Array, BoolArray, BoolArray, dict[str, Any]]


class MahjongVectorEnv(VectorEnv[Int8Array, Any, Any]):
    """``gymnasium.make_vec("mahjong_env/<Variant>-v0", num_envs=256)``: all tables are stepped at once.

    Spaces, rewards and arguments are those of `SingleSeatEnv`. An episode that ends is
    followed by a new one in the same step (`AutoresetMode.SAME_STEP`): the observation is the new episode's first,
    the old one's last is in ``infos["final_obs"]`` and its info in ``infos["final_info"]``. The cards of environment
    i depend on (seed, i, number of its hand) alone; the agents' chance and the learning seats come from one
    generator for the whole batch.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi"],
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        variant: str | Rules,
        *,
        opponents: Any = "random",
        seat: int | None = None,
        num_hands: int = 1,
        start: str | None = None,
        on_illegal: str = "end",
        illegal_reward: float = -1.0,
        render_mode: str | None = None,
        **knobs: Any,
    ) -> None:
        """Set up ``num_envs`` tables; the other arguments are those of `SingleSeatEnv`.

        Raises:
            MahjongError: a value that is not valid; the message lists those that are.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.illegal_reward = check_illegal_reward(illegal_reward)
        self._seats = LearningSeats(
            rules(variant, **knobs),
            num_envs,
            opponents=opponents,
            seat=seat,
            num_hands=num_hands,
            start=start,
            on_illegal=on_illegal,
        )
        self.num_envs = num_envs
        self.single_observation_space = flat_space()
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all: Games = np.arange(num_envs)

    @property
    def engine(self) -> Engine:
        """The games."""
        return self._seats.engine

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Begin an episode at every table.

        Args:
            seed: one for all: table i's cards depend on it and on i; None: the next hands of the same seed.
            options: "deal" may hold a `mahjong_env.Deal` for all tables; other keys are ignored.

        Raises:
            DealError: the deal cannot be dealt.
        """
        super().reset(seed=seed)
        self._seats.begin(self._all, self.np_random, seed=seed, deal=(options or {}).get("deal"))
        return self._seats.observe(self._all), self._infos(self._all)

    def step(self, actions: Any) -> Step:
        """Play one action at every table, and on until all learning seats are asked again.

        Args:
            actions: [num_envs] integers.

        Returns:
            Observations [num_envs, C * 34] int8, rewards float64, terminations, truncations, infos, in fresh arrays.

        Raises:
            ActionError: wrong shape or type.
            IllegalActionError: an illegal action, with ``on_illegal="raise"``; nothing has changed.
        """
        seats = self._seats
        illegal = seats.step(self._all, actions, self.np_random)
        truncated = seats.truncated & ~illegal
        over = illegal | (self.engine.seat_to_act < 0)
        rewards = np.where(illegal, self.illegal_reward, seats.earned)
        ended = np.flatnonzero(over)
        infos: dict[str, Any] = {}
        if ended.size:
            infos = self._final(ended, illegal)
            seats.begin(ended, self.np_random)
        infos |= self._infos(self._all)
        return seats.observe(self._all), rewards, over & ~truncated, truncated, infos

    def action_masks(self) -> BoolArray:
        """[num_envs, 109] bool legal actions."""
        return self._seats.action_masks(self._all).view(np.bool_)

    def render(self) -> tuple[str, ...] | None:
        """The tables as texts, all hands open."""
        if self.render_mode is None:
            warn_without_render_mode()
            return None
        ended = self._seats.last_hand
        return tuple(table_text(self.engine, game, outcome=ended.get(game)) for game in range(self.num_envs))

    def _final(self, ended: Games, illegal: BoolArray) -> dict[str, Any]:
        """``final_obs`` and ``final_info`` of the episodes that ended, as Gymnasium's vector environments have them."""
        is_final = np.zeros(self.num_envs, np.bool_)
        is_final[ended] = True
        last_seen = np.full(self.num_envs, None, object)
        for game, seen in zip(ended.tolist(), self._seats.observe(ended), strict=True):
            last_seen[game] = seen
        info = self._infos(ended)
        info["action_mask"][illegal] = 0
        if illegal.any():
            info |= {"illegal_action": illegal.copy(), "_illegal_action": illegal.copy()}
        return {"final_obs": last_seen, "_final_obs": is_final, "final_info": info, "_final_info": is_final.copy()}

    def _infos(self, games: Games) -> dict[str, Any]:
        """The infos of these games, each entry with its "_" entry that says for which games it holds."""
        seats, n = self._seats, self.num_envs
        held = np.zeros(n, np.bool_)
        held[games] = True
        masks = np.zeros((n, NUM_ACTIONS), np.int8)
        masks[games] = seats.action_masks(games)
        learner = np.where(held, seats.learner, 0).astype(np.int64)
        infos = {"action_mask": masks, "_action_mask": held, "seat": learner, "_seat": held.copy()}
        ended = [game for game in seats.last_hand if held[game]]
        if ended:
            outcome, has_outcome = np.full(n, None, object), np.zeros(n, np.bool_)
            for game in ended:
                outcome[game] = seats.last_hand[game]
                has_outcome[game] = True
            infos |= {"outcome": outcome, "_outcome": has_outcome}
        return infos
