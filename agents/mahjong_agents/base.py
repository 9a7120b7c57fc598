"""The interface of agents, the making of agents from their names, and what agents share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, AgentError, View
from mahjong_env.environments.agents import Kind, agent_names, find_agent, find_maker, make, parse_address

__all__ = [
    "GAMES_AT_ONCE",
    "Agent",
    "AgentError",
    "Annotation",
    "PolicyFileError",
    "agent_names",
    "annotate",
    "games_at_once",
    "make_agent",
    "make_own",
]

GAMES_AT_ONCE: Final = 6000
"""The number of games played at once by default; a greedy player takes two seconds for them."""
Annotation = dict[str, Any]
"""An agent's reasons for a choice, short and plain, as records keep them (`GameRecord.notes`)."""
_MOST_ACTIONS: Final = 5
"""The number of actions of one choice that are written down: those that the agent rated best."""
_LEAST_PROBABILITY: Final = 0.001


class PolicyFileError(AgentError):
    """A policy file that is missing, corrupt, or of another variant or another version."""


@runtime_checkable
class Agent(Protocol):
    """Chooses actions; everything that plays (tables, training, evaluation) needs only this interface.

    An agent keeps no state between calls: a row of a view may belong to any game, and rows come in any order.

    A slow agent may have an attribute ``games_at_once``; see `games_at_once`.

    Attributes:
        name: its name in tables and plots.
    """

    name: str

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose one action for each row.

        Args:
            view: the views of n seats, each of which is to act.
            rng: the source of randomness.

        Returns:
            [n] int64 actions, each of them legal.
        """
        ...


def games_at_once(agents: Sequence[Agent]) -> int:
    """Return how many games of some agents to play at once, so that a batch of them takes seconds and not hours.

    This is the size of a worker's task, which is lost as a whole if it is interrupted. It is the smallest of the
    agents' attributes ``games_at_once``, an int from 1.
    """
    return min([GAMES_AT_ONCE, *(max(1, int(getattr(agent, "games_at_once", GAMES_AT_ONCE))) for agent in agents)])


def annotate(
    key: str, count: int, row: NDArray[np.intp], action: NDArray[Any], number: NDArray[Any]
) -> list[Annotation | None]:
    """Return, for each choice, the numbers of its best actions by name; None where there is only one action.

    Args:
        key: "probabilities", or "values" (points).
        count: the number of choices.
        row: [m] the choice that an action belongs to.
        action: [m] numbers of actions.
        number: [m] their probabilities or values.
    """
    least = _LEAST_PROBABILITY if key == "probabilities" else -np.inf
    several = np.bincount(row, minlength=count) > 1
    notes: list[Annotation | None] = [{key: {}} if is_choice else None for is_choice in several]
    for at in np.lexsort((-number, row)).tolist():
        note = notes[row[at]]
        if note is not None and number[at] >= least and len(note[key]) < _MOST_ACTIONS:
            note[key].setdefault(ACTIONS[int(action[at])], round(float(number[at]), 3))
    return notes


def make_agent(spec: Any) -> Agent:
    """Make an agent from a short text; an agent is returned as it is.

    Args:
        spec: ``NAME``, ``NAME:ARGUMENT``, ``module:Class`` or ``file.py:Class``, any of them with
            ``?option=value&option=value`` behind it: "random", "search?rollouts=64", "policy:runs/hebei/best.zip",
            "my_agents.py:Cautious"; see `mahjong_env.environments.agents.find_agent`.

    Raises:
        AgentError: there is no such agent, it cannot be loaded, or it does not take this argument or option.
        PolicyFileError: the policy file cannot be used.
        MissingExtraError: the agent needs packages that are not installed; the message names the ``pip install`` line.
    """
    return cast(Agent, find_agent(spec))


def make_own(kind: Kind, spec: Any) -> Any:
    """Return what a text names (``module:Class`` or ``file.py:Class``, with options behind it), or an object as it is.

    Raises:
        MahjongError: there is nothing of this name, it cannot be made, or it is not of this kind.
    """
    found = spec
    if isinstance(spec, str):
        address, options = parse_address(kind, spec)
        maker = find_maker(kind, spec, address)
        if maker is None:
            raise kind.error(f"no {kind.word} is called {spec!r}; valid are {kind.valid()}")
        found = make(kind, spec, maker, None, options)
    if not kind.is_made(found):
        raise kind.error(f"{found!r} cannot be used as {kind.article}; valid are {kind.valid()}")
    return found
