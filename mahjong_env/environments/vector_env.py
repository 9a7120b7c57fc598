"""Many learning seats at once as a Gymnasium vector environment, on one batched engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import ActionError, RulesError
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Seeds
from mahjong_env.engine.arguments import as_array, check_count, fold_seeds
from mahjong_env.environments.arguments import (
    DICT,
    FLAT,
    check_form,
    check_privileged,
    in_form,
    observation_space,
    read_options,
    read_reset_mask,
    row_of,
)
from mahjong_env.environments.learning_seats import LearnersEnv
from mahjong_env.environments.render import RENDER_FPS, check_render_mode, render_game
from mahjong_env.ruleset.questions import Rules

Float64Array = NDArray[np.float64]
Step = tuple[Any, Float64Array, BoolArray, BoolArray, dict[str, Any]]

_OPTIONS: Final = {
    "deal": "a mahjong_env.Deal, the start of the first hand at every table",
    "reset_mask": "an array of booleans, the tables to reset",
}


class MahjongVectorEnv(LearnersEnv, VectorEnv[Any, Any, Any]):
    """``gymnasium.make_vec("mahjong_env/<Variant>-v0", num_envs=256)``: all tables are stepped at once.

    Spaces, rewards and arguments are those of `SingleSeatEnv`. ``autoreset_mode`` says what happens at a table whose
    episode ends (see `gymnasium.vector.AutoresetMode`):

    * ``SAME_STEP``, the default and the fastest: a new one begins in the same step. The observation is the new
      episode's first, the old one's last is in ``infos["final_obs"]`` and its info in ``infos["final_info"]``.
    * ``NEXT_STEP``: a new one begins in the next step, which ignores the table's action and pays nothing.
    * ``DISABLED``: none begins until ``reset(options={"reset_mask": mask})`` names the table.

    The cards of environment i depend on (seed, i, number of its hand) alone; the agents' chance and the learning seats
    come from one generator for the whole batch.
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
        """Set up tables.

        Args:
            num_envs: tables.
            variant: a name in `mahjong_env.VARIANTS`, or rules.
            observation: "flat", "planes" or "dict".
            privileged: whether infos have what the learning persons may not see.
            autoreset_mode: an `AutoresetMode`, or its name or value as a text: "same_step", "NextStep", ...
            render_mode: None, "ansi" (texts) or "rgb_array" (pictures as pixels).
            **arguments: those of `LearningSeats`, and house rules.

        Raises:
            MahjongError: a value that is not valid; the message lists those that are.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._form = check_form(observation)
        self._privileged = check_privileged(privileged)
        self._mode = _read_mode(autoreset_mode)
        check_count("num_envs", num_envs)
        self.metadata = type(self).metadata | {"autoreset_mode": self._mode}  # type: ignore[misc]
        self._sit_down(variant, num_envs, arguments)
        self.num_envs = num_envs
        self.single_observation_space = observation_space(self._form)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all: Games = np.arange(num_envs)
        self._has_begun = False
        self._finals: list[_Final] = []

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode at every table, or at some.

        Args:
            seed: one for all: table i's cards depend on it and on i; None: the next hands of the same seed. Or one, or
                None, for each table: it is then dealt what a single environment of that seed is dealt.
            options: "deal" may hold a `mahjong_env.Deal` for all tables that are reset; "reset_mask" may name these, as
                [num_envs] booleans, and the others stay as they are.

        Returns:
            The observations of all tables, and the infos of those that have been reset.
        """
        chosen = read_options(options, _OPTIONS)
        games = read_reset_mask(chosen.get("reset_mask"), self.num_envs)
        if not self._has_begun and games.size < self.num_envs:
            raise ResetNeeded("no table has begun: the first reset() is one of all tables")
        if isinstance(seed, Sequence | np.ndarray):
            folded = [each for each in fold_seeds(seed, self.num_envs) if each is not None]
            self.np_random = np.random.default_rng(folded) if folded else self.np_random
            seed = [seed[game] for game in games]
        else:
            super().reset(seed=seed)
        self._seats.begin(games, self.np_random, seed=seed, deal=chosen.get("deal"))
        self._has_begun = True
        return self._observe(self._all), self._infos(games)

    def step(self, actions: Any) -> Step:
        """Play one action at every table, and on until all learning seats are asked again.

        Args:
            actions: [num_envs] integers.

        Returns:
            Observations [num_envs, ...] int8, rewards float64, terminations, truncations, infos, in fresh arrays.

        Raises:
            IllegalActionError: an illegal action, with ``on_illegal="raise"``; nothing has changed.
            AgentError: an opponent's answer cannot be played. All tables have to be reset.
            ResetNeeded: the first reset is still to come; or, with ``DISABLED``, an episode is over.
        """
        seats = self._seats
        if not self._has_begun:
            raise ResetNeeded("call reset() before step()")
        self._finals = []
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
        """[num_envs, 109] bool legal actions, all False where an episode is over."""
        return self._masks(self._all).view(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """The tables, all hands open: texts, or [804, 750, 3] uint8 pixels each, by the render mode."""
        shown = range(self.num_envs if self.render_mode is not None else 1)
        frames = [render_game(self.engine, game, self.render_mode, self._seats.last_hand(game)) for game in shown]
        return tuple(frames) if self.render_mode is not None else None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.engine.rules.name}: {self.num_envs} tables>"

    def close_extras(self, **kwargs: Any) -> None:
        """Close the file of records, if there is one; matches that have not ended are appended as they stand."""
        # Gymnasium 1.1 closes what could not be built, too.
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

    def _unseen(self, games: Games) -> Int8Array | None:
        """[n, C', 34] what the learning persons may not see, where it is wanted."""
        return self._seats.observe(games, privileged=True) if self._privileged else None

    def _keep_final(self, games: Games) -> None:
        """Keep what is told of episodes that have ended, while it can still be looked at."""
        seats = self._seats
        masks = seats.action_masks(games)
        masks[seats.illegal[games]] = 0
        hands = {game: seats.last_hand(game) for game in games.tolist()}
        seen = in_form(self._form, seats.observe(games), masks)
        self._finals.append(_Final(games, seen, masks, seats.learner[games], self._unseen(games), hands))

    def _final_infos(self) -> dict[str, Any]:
        """``final_obs`` and ``final_info`` of the episodes that ended, as Gymnasium's vector environments have them."""
        if not self._finals:
            return {}
        last_seen, hands = np.full(self.num_envs, None, object), dict[int, Any]()
        for final in self._finals:
            hands |= final.hands
            for row, game in enumerate(final.games.tolist()):
                last_seen[game] = row_of(self._form, final.seen, row)
        games, _, masks, learner, hidden, _ = zip(*self._finals, strict=True)
        ended, unseen = np.concatenate(games), np.concatenate(hidden) if self._privileged else None
        parts = np.concatenate(masks), np.concatenate(learner), unseen
        told = self._laid_out(ended, *parts, self._seats.illegal[ended], hands)
        return self._held("final_obs", last_seen, ended) | self._held("final_info", told, ended)

    def _infos(self, games: Games) -> dict[str, Any]:
        """The infos of these games as they are now."""
        seats = self._seats
        # In the mode in which new episodes begin at once, an illegal action is told of the old one.
        illegal = seats.illegal[games] & (self._mode is not AutoresetMode.SAME_STEP)
        learner, unseen = seats.learner[games], self._unseen(games)
        return self._laid_out(games, self._masks(games), learner, unseen, illegal, seats.last_hands())

    def _laid_out(
        self,
        games: Games,
        masks: Int8Array,
        learner: Int8Array,
        unseen: Int8Array | None,
        illegal: BoolArray,
        hands: Mapping[int, Any],
    ) -> dict[str, Any]:
        """Infos of [n] games for all tables, each entry with its "_" entry that says for which games it holds."""
        all_masks = np.zeros((self.num_envs, NUM_ACTIONS), np.int8)
        seat, is_illegal = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.bool_)
        all_masks[games], seat[games], is_illegal[games] = masks, learner, illegal
        infos = self._held("action_mask", all_masks, games) | self._held("seat", seat, games)
        if unseen is not None:
            everywhere = np.zeros((self.num_envs, *unseen.shape[1:]), np.int8)
            everywhere[games] = unseen
            infos |= self._held("privileged", everywhere, games)
        if illegal.any():
            infos |= self._held("illegal_action", is_illegal, games[illegal])
        told = [game for game, hand in hands.items() if hand is not None and infos["_seat"][game]]
        if told:
            outcome = np.full(self.num_envs, None, object)
            for game in told:
                outcome[game] = hands[game]
            infos |= self._held("outcome", outcome, told)
        return infos

    def _held(self, name: str, values: Any, games: Any) -> dict[str, Any]:
        """An entry of the infos, and the one that says for which games it holds."""
        held = np.zeros(self.num_envs, np.bool_)
        held[games] = True
        return {name: values, f"_{name}": held}


class _Final(NamedTuple):
    """The ends of n episodes."""

    games: Games
    seen: Any
    masks: Int8Array
    learner: Int8Array
    unseen: Int8Array | None
    hands: dict[int, dict[str, Any] | None]


def _read_mode(mode: Any) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and mode.replace("_", "").lower() == known.value.lower():
            return known
    valid = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    raise RulesError(f"autoreset_mode={mode!r} is not valid; valid are {valid}, and gymnasium.vector.AutoresetMode")
