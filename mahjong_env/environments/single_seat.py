"""One learning seat as a Gymnasium environment; agents play the other seats."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.types import BoolArray
from mahjong_env.drawing.table import person_name
from mahjong_env.engine.arguments import as_array
from mahjong_env.environments.arguments import (
    FLAT,
    in_form,
    observation_space,
    read_options,
    row_of,
)
from mahjong_env.environments.learning_seats import LearnersEnv
from mahjong_env.environments.render import RENDER_FPS, RENDER_MODES, game_svg, render_game
from mahjong_env.ruleset.questions import Rules

_GAME = np.zeros(1, np.intp)
_OPTIONS: Final = {"deal": "a mahjong_env.Deal, the start of the first hand"}


class SingleSeatEnv(LearnersEnv, gymnasium.Env[Any, np.int64]):
    """A table at which one seat learns: ``gymnasium.make("mahjong_env/<Variant>-v0")`` after ``import mahjong_env``.

    **Observation**: [C * 34] int8, the planes of `mahjong_env.OBSERVATION_PIECES`, flat; with ``observation="planes"``
    [C, 34]; with ``observation="dict"`` ``{"observation": [C, 34], "action_mask": [109]}``, both int8.

    **Action**: one of `mahjong_env.ACTIONS`. The legal ones are in ``info["action_mask"]`` (int8, for
    ``action_space.sample(mask)``) and in `action_masks` (bool, for MaskablePPO).

    **Reward**: the points that the seat receives until its next decision or the end of the match. The first reward
    includes what it received before its first decision, so that the rewards sum to what the match brought.

    **Episode**: a match of ``num_hands`` hands; matches that end before the seat is asked once are dealt anew.

    An illegal action ends the episode with ``info["illegal_action"]`` True and a reward that is worse than playing on
    (``illegal_reward``). With ``on_illegal="raise"`` it raises `mahjong_env.IllegalActionError` and changes nothing.

    **Infos**: ``info["seat"]`` is the learning person. When a hand has ended since the last decision,
    ``info["outcome"]`` describes it (see `mahjong_env.engine.outcome.hand_info`). With ``privileged=True``,
    ``info["privileged"]`` is what the learning person may not see, for critics: [C', 34] int8, the planes of
    `mahjong_env.PRIVILEGED_PIECES`.

    You can copy (`copy.deepcopy`) and pickle an environment in the middle of an episode; the copy continues as the
    original does.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # type: ignore[misc]

    def __init__(
        self,
        variant: str | Rules,
        *,
        observation: str = FLAT,
        privileged: bool = False,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        """Set up a table.

        Args:
            variant: a name in `mahjong_env.VARIANTS`, or rules.
            observation: "flat", "planes" or "dict".
            privileged: whether infos include what the learning person may not see.
            render_mode: None, "ansi" (text), "rgb_array" (a picture as pixels) or "human" (text, shown on the
                terminal; not in vector environments).
            **arguments: those of `LearningSeats`, and house rules.

        Raises:
            MahjongError: a value is not valid; the message lists the valid ones.
        """
        self._sit_down(variant, 1, observation, privileged, render_mode, arguments)
        self.observation_space = observation_space(self._form)
        self.action_space = Discrete(NUM_ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: the seed of the cards and of all randomness; None for the next hands of the same seed.
            options: "deal" may hold a `mahjong_env.Deal`.
        """
        chosen = read_options(options, _OPTIONS)
        self._seats.check_start(seed, chosen.get("deal"))
        super().reset(seed=seed)
        self._seats.begin(_GAME, self.np_random, seed=seed, deal=chosen.get("deal"))
        return self._answer()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one action, and then on until the seat is asked again or the match is over.

        Raises:
            IllegalActionError: the action is illegal, with ``on_illegal="raise"``; nothing has changed.
            AgentError: an opponent's answer cannot be played. The environment has to be reset.
            ResetNeeded: the episode is over.
        """
        if self._is_over:
            raise ResetNeeded("the episode is over: call reset() first")
        seats = self._seats
        seats.step(_GAME, as_array("actions", action).reshape(-1), self.np_random)
        observation, info = self._answer()
        if seats.illegal[0]:
            info["illegal_action"] = True
            return observation, float(seats.forfeited[0]), True, False, info
        truncated = bool(seats.truncated[0])
        return observation, float(seats.earned[0]), bool(seats.ended[0]) and not truncated, truncated, info

    def action_masks(self) -> BoolArray:
        """Return the legal actions: [109] bool, all False where the episode is over."""
        return self._masks()[0].view(np.bool_)

    def render(self) -> Any:
        """Render the table, all hands open, by render mode: as text, [804, 750, 3] uint8 pixels, or on the terminal."""
        seats = self._seats
        return render_game(self.engine, 0, self.render_mode, seats.last_hand(0), seats.last_receipt(0))

    def __repr__(self) -> str:
        waits = "to be reset" if self._is_over else f"{person_name(int(self._seats.learner[0]))} to act"
        return f"<{type(self).__name__} of {self.engine.rules.name}: {waits}>"

    def _repr_html_(self) -> str:
        return game_svg(self.engine, 0, self._seats.last_hand(0))

    def close(self) -> None:
        """Close the file of records, if there is one; an unfinished match is appended as it stands."""
        self._seats.engine.close_record()
        super().close()

    @property
    def _is_over(self) -> bool:
        seats = self._seats
        return not seats.has_begun or bool(seats.illegal[0]) or seats.engine.state.actor.item() < 0

    def _masks(self) -> Any:
        """Return the legal actions, [1, 109] int8: none after an illegal one, nor before the first reset."""
        masks = self._seats.action_masks(_GAME)
        if self._seats.illegal[0] or not self._seats.has_begun:
            masks[:] = 0
        return masks

    def _answer(self) -> tuple[Any, dict[str, Any]]:
        seats, masks = self._seats, self._masks()
        info: dict[str, Any] = {"action_mask": masks[0], "seat": int(seats.learner[0])}
        hand = seats.last_hand(0)
        if hand is not None:
            info["outcome"] = hand
        if self._privileged:
            info["privileged"] = seats.observe(_GAME, privileged=True)[0]
        if self.render_mode == "human":
            self.render()
        return row_of(self._form, in_form(self._form, seats.observe(_GAME), masks.copy()), 0), info
