"""Many learning seats at once as a Gymnasium vector environment, on one batched engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import ActionError, RulesError
from mahjong_env.basics.types import BoolArray, Float64Array, Games, Int8Array, Seeds
from mahjong_env.engine.arguments import as_array, check_count, fold_seeds
from mahjong_env.environments.arguments import (
    DICT,
    FLAT,
    in_form,
    observation_space,
    read_options,
    read_reset_mask,
    row_of,
)
from mahjong_env.environments.learning_seats import LearnersEnv
from mahjong_env.environments.render import RENDER_FPS, render_game
from mahjong_env.ruleset.questions import Rules

Step = tuple[Any, Float64Array, BoolArray, BoolArray, dict[str, Any]]

_OPTIONS: Final = {
    "deal": "a mahjong_env.Deal, the start of the first hand at every table",
    "reset_mask": "an array of booleans, the tables to reset",
}


class MahjongVectorEnv(LearnersEnv, VectorEnv[Any, Any, Any]):
    """Many tables, stepped together: ``gymnasium.make_vec("mahjong_env/<Variant>-v0", num_envs=256)``.

    Spaces, rewards and arguments are those of `SingleSeatEnv`. ``autoreset_mode`` says what happens at a table whose
    episode ends (see `gymnasium.vector.AutoresetMode`):

    * ``SAME_STEP``, the default and the fastest: a new episode begins in the same step. The observation is the first
      of the new episode; the last one of the old episode is in ``infos["final_obs"]``, and its info in
      ``infos["final_info"]``.
    * ``NEXT_STEP``: a new episode begins in the next step, which ignores the table's action and pays nothing.
    * ``DISABLED``: no episode begins until ``reset(options={"reset_mask": mask})`` names the table.

    The cards of environment i depend only on (seed, i, number of its hand). The agents' randomness and the learning
    seats come from one generator for the whole batch.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        variant: str | Rules,
        *,
        observation: str = FLAT,
        privileged: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        """Set up the tables.

        Args:
            num_envs: the number of tables.
            variant: a name in `mahjong_env.VARIANTS`, or rules.
            observation: "flat", "planes" or "dict".
            privileged: whether infos include what the learning persons may not see.
            autoreset_mode: an `AutoresetMode`, or its name or value as a text: "same_step", "NextStep", ...
            render_mode: None, "ansi" (texts) or "rgb_array" (pictures as pixels).
            **arguments: those of `LearningSeats`, and house rules.

        Raises:
            MahjongError: a value is not valid; the message lists the valid ones.
        """
        self._mode = _read_mode(autoreset_mode)
        check_count("num_envs", num_envs)
        self.metadata = type(self).metadata | {"autoreset_mode": self._mode}  # type: ignore[misc]
        self._sit_down(variant, num_envs, observation, privileged, render_mode, arguments)
        self.num_envs = num_envs
        self.single_observation_space = observation_space(self._form)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all: Games = np.arange(num_envs)
        self._final: dict[str, Any] = {}  # infos and last observations of the episodes that end in a step
        self._last_seen: NDArray[Any] = np.full(num_envs, None, object)

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode at every table, or at some of them.

        Args:
            seed: one seed for all tables (the cards of table i depend on it and on i), or None for the next hands of
                the same seed. Or a list with one of these for each table: a table with a seed of its own is dealt what
                a single environment of that seed is dealt.
            options: "deal" may hold a `mahjong_env.Deal` for all tables that are reset; "reset_mask" may name these, as
                [num_envs] booleans, and the other tables stay as they are.

        Returns:
            The observations of all tables, and the infos of those that have been reset.
        """
        chosen = read_options(options, _OPTIONS)
        games = read_reset_mask(chosen.get("reset_mask"), self.num_envs)
        if not self._seats.has_begun and games.size < self.num_envs:
            raise ResetNeeded("no table has begun: the first reset() must be of all tables")
        if isinstance(seed, Sequence | np.ndarray):
            folded = [each for each in fold_seeds(seed, self.num_envs) if each is not None]
            self._seats.check_start(None, chosen.get("deal"))
            self.np_random = np.random.default_rng(folded) if folded else self.np_random
            seed = [seed[game] for game in games]
        else:
            self._seats.check_start(seed, chosen.get("deal"))
            super().reset(seed=seed)
        self._seats.begin(games, self.np_random, seed=seed, deal=chosen.get("deal"))
        return self._observe(self._all), self._infos(games)

    def step(self, actions: Any) -> Step:
        """Play one action at every table, and then on until all learning seats are asked again.

        Args:
            actions: [num_envs] integers.

        Returns:
            Observations [num_envs, ...] int8, rewards float64, terminations, truncations, infos, in fresh arrays.

        Raises:
            IllegalActionError: an action is illegal, with ``on_illegal="raise"``; nothing has changed.
            AgentError: an opponent's answer cannot be played. All tables have to be reset.
            ResetNeeded: the environment has not been reset yet; or, with ``DISABLED``, an episode is over.
        """
        seats = self._seats
        if not self._seats.has_begun:
            raise ResetNeeded("call reset() before step()")
        self._final, self._last_seen = {}, np.full(self.num_envs, None, object)
        if self._mode is AutoresetMode.SAME_STEP:
            seats.step(self._all, actions, self.np_random, on_end=self._keep_final)
        else:
            self._step_or_begin(actions)
        rewards = np.where(seats.illegal, seats.forfeited, seats.earned)
        truncated = seats.truncated.copy()
        infos = self._final_infos() | self._infos(self._all)
        return self._observe(self._all), rewards, seats.ended & ~truncated, truncated, infos

    def _step_or_begin(self, actions: Any) -> None:
        is_over = self._seats.illegal | (self.engine.seat_to_act < 0)
        if not is_over.any():
            self._seats.step(self._all, actions, self.np_random)
            return
        over, playing = np.flatnonzero(is_over), np.flatnonzero(~is_over)
        if self._mode is AutoresetMode.DISABLED:
            raise ResetNeeded(
                f"the episodes at the tables {', '.join(map(str, over.tolist()))} are over: call "
                'reset(options={"reset_mask": mask}) first'
            )
        chosen = as_array("actions", actions)
        if chosen.shape != (self.num_envs,):
            raise ActionError(f"actions are {self.num_envs} integers (one for each game), not of shape {chosen.shape}")
        self._seats.step(playing, chosen[playing], self.np_random, beginning=over)

    def action_masks(self) -> BoolArray:
        """Return the legal actions: [num_envs, 109] bool, all False where an episode is over."""
        return self._masks(self._all).view(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Render the tables with all hands open, by render mode: as texts, or as [804, 750, 3] uint8 pixels each."""
        shown, seats = range(self.num_envs if self.render_mode is not None else 1), self._seats
        frames = [
            render_game(self.engine, game, self.render_mode, seats.last_hand(game), seats.last_receipt(game))
            for game in shown
        ]
        return tuple(frames) if self.render_mode is not None else None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.engine.rules.name}: {self.num_envs} tables>"

    def close_extras(self, **kwargs: Any) -> None:
        """Close the file of records, if there is one; unfinished matches are appended as they stand."""
        # Gymnasium 1.1 also closes environments whose construction failed.
        if "_seats" in vars(self):
            self._seats.engine.close_record()

    # --- What is answered -----------------------------------------------------------------------------------------
    def _masks(self, games: Games) -> Int8Array:
        masks = self._seats.action_masks(games)
        if self._mode is not AutoresetMode.SAME_STEP:  # where new episodes begin at once, they may play
            masks[self._seats.illegal[games]] = 0
        return masks

    def _observe(self, games: Games) -> Any:
        masks = self._masks(games) if self._form == DICT else np.zeros((0, NUM_ACTIONS), np.int8)
        return in_form(self._form, self._seats.observe(games), masks)

    def _keep_final(self, games: Games) -> None:
        """Keep the observations and infos of episodes that have ended, while they can still be read."""
        seats = self._seats
        masks = seats.action_masks(games)
        masks[seats.illegal[games]] = 0
        seen = in_form(self._form, seats.observe(games), masks)
        for row, game in enumerate(games.tolist()):
            self._last_seen[game] = row_of(self._form, seen, row)
        hands = {game: seats.last_hand(game) for game in games.tolist()}
        self._tell(self._final, games, masks, seats.illegal[games], hands)

    def _final_infos(self) -> dict[str, Any]:
        """Return ``final_obs`` and ``final_info`` of the episodes that ended, in the format of Gymnasium."""
        if not self._final:
            return {}
        ended = self._final["_seat"]
        told = {"final_obs": self._last_seen, "_final_obs": ended.copy()}
        return told | {"final_info": self._final, "_final_info": ended.copy()}

    def _infos(self, games: Games) -> dict[str, Any]:
        """Return the infos of these games as they are now."""
        # In the mode in which new episodes begin at once, an illegal action belongs to the old one.
        illegal = self._seats.illegal[games] & (self._mode is not AutoresetMode.SAME_STEP)
        infos: dict[str, Any] = {}
        self._tell(infos, games, self._masks(games), illegal, self._seats.last_hands())
        return infos

    def _tell(
        self, infos: dict[str, Any], games: Games, masks: Int8Array, illegal: BoolArray, hands: Mapping[int, Any]
    ) -> None:
        """Add the infos of [n] games to those of all tables; ``hands`` are those that have ended, by game."""
        seats = self._seats
        self._enter(infos, "action_mask", games, masks)
        self._enter(infos, "seat", games, seats.learner[games].astype(np.int64))
        if self._privileged:
            self._enter(infos, "privileged", games, seats.observe(games, privileged=True))
        if illegal.any():
            self._enter(infos, "illegal_action", games[illegal], illegal[illegal])
        told = [game for game, hand in hands.items() if hand is not None and infos["_seat"][game]]
        if told:
            outcomes = np.empty(len(told), object)
            outcomes[:] = [hands[game] for game in told]
            self._enter(infos, "outcome", told, outcomes)

    def _enter(self, infos: dict[str, Any], name: str, games: Any, rows: NDArray[Any]) -> None:
        """Enter rows [n, ...] of [n] games, and in the entry with a "_" that these games have a value."""
        if name not in infos:
            nothing = None if rows.dtype == object else 0
            infos[name] = np.full((self.num_envs, *rows.shape[1:]), nothing, rows.dtype)
            infos[f"_{name}"] = np.zeros(self.num_envs, np.bool_)
        infos[name][games] = rows
        infos[f"_{name}"][games] = True


def _read_mode(mode: Any) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and mode.replace("_", "").lower() == known.value.lower():
            return known
    valid = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    raise RulesError(f"autoreset_mode={mode!r} is not valid; valid are {valid}, and gymnasium.vector.AutoresetMode")
