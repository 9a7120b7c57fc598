"""One learning seat as a Gymnasium environment; agents play the others."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete, Space

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import RulesError
from mahjong_env.basics.types import BoolArray, Int8Array
from mahjong_env.engine.arguments import as_array
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.learning_seats import LearningSeats
from mahjong_env.environments.render import check_render_mode, table_text, warn_without_render_mode
from mahjong_env.observation.planes import SHAPE
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

_GAME = np.zeros(1, np.intp)


def flat_space() -> Space[Any]:
    """The space of one flat observation: [C * 34] int8."""
    return Box(-128, 127, (SHAPE[0] * SHAPE[1],), np.int8)


def check_illegal_reward(value: Any) -> float:
    """``illegal_reward`` as a number; `RulesError` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise RulesError(f"illegal_reward is a number, not {value!r}")
    return float(value)


class SingleSeatEnv(gymnasium.Env[Int8Array, np.int64]):
    """A table at which one seat learns: ``gymnasium.make("mahjong_env/<Variant>-v0")`` after ``import mahjong_env``.

    **Observation**: [C * 34] int8, the planes of `mahjong_env.OBSERVATION_PIECES`, flat. **Action**: one of
    `mahjong_env.ACTIONS`; legal ones are in ``info["action_mask"]`` (int8, for ``action_space.sample(mask)``) and in
    `action_masks` (bool, for MaskablePPO). **Reward**: points that the seat receives until its next decision or the
    end. **Episode**: a match of ``num_hands`` hands; hands that end before the seat is asked once are dealt anew.

    An illegal action ends the episode with ``illegal_reward`` and ``info["illegal_action"]`` True, or raises
    `mahjong_env.IllegalActionError` with ``on_illegal="raise"`` (nothing has changed then). When a hand has ended since
    the last decision, ``info["outcome"]`` says how (see `hand_info.hand_info`). ``info["seat"]`` is the
    learning person.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "human"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
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
        """Set up a table.

        Args:
            variant: a name in `mahjong_env.VARIANTS`, or rules.
            opponents: who plays the other seats: "random", a name in the entry-point group `mahjong_env.agents`, an
                object with ``act(view, rng)``, or a list of one for each other seat, the next one first.
            seat: the learning person; None: drawn for each episode.
            num_hands: hands of a match.
            start: see `mahjong_env.make_engine`.
            on_illegal: "end" or "raise".
            illegal_reward: the reward of an illegal action with "end".
            render_mode: None, "ansi" (text) or "human" (the same, printed).
            **knobs: house rules of the variant.

        Raises:
            MahjongError: a value that is not valid; the message lists those that are.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.illegal_reward = check_illegal_reward(illegal_reward)
        self._seats = LearningSeats(
            rules(variant, **knobs),
            1,
            opponents=opponents,
            seat=seat,
            num_hands=num_hands,
            start=start,
            on_illegal=on_illegal,
        )
        self.observation_space = flat_space()
        self.action_space = Discrete(NUM_ACTIONS)
        self._is_over = True

    @property
    def engine(self) -> Engine:
        """The game, as an engine of one."""
        return self._seats.engine

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: of cards and chance; None: the next hands of the same seed.
            options: "deal" may hold a `mahjong_env.Deal`; other keys are ignored.

        Raises:
            DealError: the deal cannot be dealt.
        """
        super().reset(seed=seed)
        self._seats.begin(_GAME, self.np_random, seed=seed, deal=(options or {}).get("deal"))
        self._is_over = False
        return self._answer()

    def step(self, action: Any) -> tuple[Int8Array, float, bool, bool, dict[str, Any]]:
        """Play one action, and on until the seat is asked again or the match is over.

        Raises:
            ActionError: not an integer.
            IllegalActionError: an illegal action, with ``on_illegal="raise"``.
            ResetNeeded: the episode is over.
        """
        if self._is_over:
            raise ResetNeeded("the episode is over: call reset() first")
        seats = self._seats
        illegal = bool(seats.step(_GAME, as_array("actions", action).reshape(-1), self.np_random)[0])
        over = bool(self.engine.seat_to_act[0] < 0)
        truncated = bool(seats.truncated[0])
        self._is_over = over or illegal
        observation, info = self._answer()
        if illegal:
            info["illegal_action"] = True
            info["action_mask"][:] = 0
            return observation, self.illegal_reward, True, False, info
        return observation, float(seats.earned[0]), over and not truncated, truncated, info

    def action_masks(self) -> BoolArray:
        """[109] bool legal actions, all False where the episode is over."""
        if self._is_over:
            return np.zeros(NUM_ACTIONS, np.bool_)
        return self._seats.action_masks(_GAME)[0].view(np.bool_)

    def render(self) -> str | None:
        """The table as text, all hands open; with "human" it is printed instead."""
        if self.render_mode is None:
            warn_without_render_mode()
            return None
        text = table_text(self.engine, outcome=self._seats.last_hand.get(0))
        if self.render_mode == "human":
            print(text)
            return None
        return text

    def _answer(self) -> tuple[Int8Array, dict[str, Any]]:
        seats = self._seats
        info: dict[str, Any] = {"action_mask": seats.action_masks(_GAME)[0], "seat": int(seats.learner[0])}
        if 0 in seats.last_hand:
            info["outcome"] = seats.last_hand[0]
        if self.render_mode == "human":
            self.render()
        return seats.observe(_GAME)[0], info
