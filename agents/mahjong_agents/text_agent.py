"""An agent that asks a function in words, for language models and other programs that answer in text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, get_origin

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import make_agent, make_own
from mahjong_env import AgentError, View
from mahjong_env.environments.agents import Kind, agent_name
from mahjong_env.play.words import UnclearAnswerError, instructions, prompt, read_answer

_FUNCTION: Final = Kind(
    "function",
    "a function",
    AgentError,
    "__call__",
    lambda found: callable(found) and not isinstance(found, type),
    lambda: "file.py:function, module:function",
)


class TextAgent:
    """Tells a function the rules and the table, and plays what it answers: ``text:file.py:function``.

    The function takes one prompt and returns one answer, both text. If its first argument is annotated as a list
    (``list[str]``), it takes the prompts of all seats that are asked at once and returns as many answers. An answer
    that cannot be played is returned to the function with the reason, and the question is asked again. Where only one
    action is legal, the function is not asked.

    Attributes:
        name: "text:" and the name of the function.
        games_at_once: see `mahjong_agents.base.games_at_once`.
        refused: the number of answers refused so far.
        replaced: the number of decisions that ``otherwise`` has made so far.
    """

    games_at_once = 32

    def __init__(self, function: str | Callable[..., Any], *, tries: int = 3, otherwise: str | None = None) -> None:
        """Find the function.

        Args:
            function: the function, or its address, ``file.py:function`` or ``module:function``.
            tries: how many answers the function may give to one question.
            otherwise: the agent that decides if all of them are refused; None makes this an error.

        Raises:
            AgentError: there is no such function or agent, or ``tries`` is below 1.
        """
        if tries < 1:
            raise AgentError(f"tries is an integer from 1, not {tries}")
        self._function: Callable[..., Any] = make_own(_FUNCTION, function)
        self._otherwise = None if otherwise is None else make_agent(otherwise)
        self._tries, self.refused, self.replaced = tries, 0, 0
        self.name = f"text:{getattr(self._function, '__name__', type(self._function).__name__)}"
        first = next(iter(inspect.signature(self._function, eval_str=True).parameters.values()), None)
        wanted = None if first is None else get_origin(first.annotation) or first.annotation
        self._takes_all = isinstance(wanted, type) and issubclass(wanted, Sequence) and not issubclass(wanted, str)

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose one action for each row, as the class describes."""
        actions: NDArray[np.int64] = view.action_mask.argmax(axis=1).astype(np.int64)
        asked = np.flatnonzero(view.action_mask.sum(axis=1) > 1).tolist()
        told = instructions(view.rules)
        prompts = {row: f"{told}\n{prompt(view, row)}" for row in asked}
        for _ in range(self._tries):
            left, refusals = [], {}
            for row, answer in zip(asked, self._ask([prompts[row] for row in asked]), strict=True):
                try:
                    actions[row] = read_answer(answer, view, row)
                except UnclearAnswerError as refusal:
                    left.append(row)
                    refusals[row] = refusal
                    prompts[row] += f"\n\nYou answered:\n{answer}\nThat is refused: {refusal}\nAnswer again."
            asked, self.refused = left, self.refused + len(left)
            if not asked:
                return actions
        if self._otherwise is None:
            raise AgentError(
                f"the agent {self.name!r} gave {self._tries} answers that were refused, the last because "
                f"{refusals[asked[0]]}; with ?otherwise=AGENT that agent decides instead"
            )
        self.replaced += len(asked)
        actions[asked] = self._otherwise.act(view.take(asked), rng)
        return actions

    def _ask(self, prompts: list[str]) -> list[str]:
        """Return the answers of the function; raise `AgentError` if it fails, or does not answer each in text."""
        try:
            answers = self._function(prompts) if self._takes_all else [self._function(text) for text in prompts]
        except Exception as error:  # somebody else's code may raise anything
            raise AgentError(f"the agent {agent_name(self)!r} fails: {type(error).__name__}: {error}") from error
        is_list = isinstance(answers, Sequence) and not isinstance(answers, str) and len(answers) == len(prompts)
        if not is_list or not all(isinstance(answer, str) for answer in answers):
            wanted = f"a list of {len(prompts)} texts" if self._takes_all else "a text"
            raise AgentError(f"the agent {agent_name(self)!r} answers {answers!r}, not {wanted}")
        return list(answers)
