"""An environment of one learning seat whose observations and actions are text, for language models."""

from __future__ import annotations

import string
from typing import Any, Final

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Text

from mahjong_env.basics.errors import ActionError, RulesError
from mahjong_env.drawing.text import Reader, chinese_names, outcome_text
from mahjong_env.engine.arguments import check_count
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.play.words import CHINESE, UnclearAnswerError, instructions, prompt, read_answer
from mahjong_env.ruleset.questions import Rules

_LONGEST: Final = 2**14  # the most characters of an observation, and of an answer
_MOST_DICE, _MOST_STREAK = 36, 99


class TextSeatEnv(SingleSeatEnv):
    """`SingleSeatEnv` in words: ``gymnasium.make("mahjong_env/<Variant>-text-v0")`` after ``import mahjong_env``.

    **Observation**: what the seat sees, what has happened, and the legal actions by number and name, as text
    (`mahjong_env.play.words.prompt`). If a hand has ended since the last decision, its result comes first.
    ``info["instructions"]`` has the rules on a page or two.

    **Action**: an answer in words, which is read leniently (`mahjong_env.play.words.read_answer`).

    Rewards and episodes are those of `SingleSeatEnv`.

    If an answer names no action, or one that is not legal, nothing is played: the observation says why and asks again,
    with reward 0 and ``info["refused"]``. After ``tries`` such answers in a row, the last one counts as an illegal
    action (``on_illegal``, ``illegal_reward``; with "raise" it raises `UnclearAnswerError`).
    """

    def __init__(
        self, variant: str | Rules, *, tries: int = 3, render_mode: str | None = None, **arguments: Any
    ) -> None:
        """Set up a table.

        Args:
            variant: a name in `mahjong_env.VARIANTS`, or rules.
            tries: how many answers to one question may be refused; the last of them counts as an illegal action.
            render_mode: see `SingleSeatEnv`.
            **arguments: those of `mahjong_env.environments.learning_seats.LearningSeats`, and house rules.

        Raises:
            MahjongError: a value is not valid; the message lists the valid ones.
        """
        check_count("tries", tries)
        if "observation" in arguments:
            raise RulesError("the observation of this environment is text; planes are those of the one without 'text'")
        self.tries, self._refused = int(tries), 0
        super().__init__(variant, render_mode=render_mode, **arguments)
        rules = self.engine.rules
        self.instructions = instructions(rules)
        words = [words for streak in range(_MOST_STREAK) for words in rules.deal_words(streak, _MOST_DICE)]
        words += [rules.chinese, *chinese_names(rules).values()]  # the page of another distribution need not have them
        alphabet = {*string.printable, *self.instructions, *"".join(words), *CHINESE, *"庄东南西北"}
        self.observation_space = Text(_LONGEST, charset=frozenset(alphabet))
        answers: Any = Text(_LONGEST, charset=frozenset({*string.printable, *CHINESE}))  # the parent's are numbers
        self.action_space = answers

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode (see `SingleSeatEnv.reset`); the info has the instructions."""
        self._refused = 0
        observation, info = super().reset(seed=seed, options=options)
        return observation, info | {"instructions": self.instructions}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Read an answer, play it, and go on until the seat is asked again or the match is over.

        Raises:
            ActionError: the answer is not text.
            UnclearAnswerError: the last of ``tries`` answers is refused, with ``on_illegal="raise"``; the match is
                unchanged.
            AgentError: an opponent's answer cannot be played. The environment has to be reset.
            ResetNeeded: the episode is over.
        """
        if not isinstance(action, str):
            raise ActionError(f"an answer is text, such as 'discard 5m', not {action!r}")
        if self._is_over:
            raise ResetNeeded("the episode is over: call reset() first")
        try:
            number = read_answer(action, self.view())
        except UnclearAnswerError as refusal:
            self._refused += 1
            if self._refused < self.tries:
                observation, info = self._answer()
                known = self.observation_space.character_set  # type: ignore[attr-defined]
                quoted = "".join(letter if letter in known else "?" for letter in str(refusal))
                return f"refused: {quoted}\n{observation}", 0.0, False, False, info | {"refused": str(refusal)}
            self._refused = 0
            if self._seats.on_illegal == "raise":
                raise
            number = int(self.action_masks().argmin())  # the first illegal action stands for the refused answer
        self._refused = 0
        return super().step(np.int64(number))

    def _answer(self) -> tuple[str, dict[str, Any]]:
        _, info = super()._answer()
        if self._seats.illegal[0]:
            return "the episode is over: too many answers have been refused", info
        hand = self._seats.last_hand(0)
        view = self.view()
        told = [] if hand is None else [outcome_text(hand, Reader(int(view.own_person[0])), self.engine.rules)]
        return "\n".join([*told, prompt(view)]), info
