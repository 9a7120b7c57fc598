"""Who plays the seats that do not learn: agents by name or as objects, and the built-in random one.

An agent is any object with ``act(view, rng)``, which answers [n] actions for a `mahjong_env.View` of n seats. This
package knows no agents but `RandomOpponent`; names are looked up in the entry-point group `mahjong_env.agents`, which
any distribution may fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from inspect import signature
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from mahjong_env.basics.errors import ActionError, MahjongError
from mahjong_env.basics.types import BoolArray, Int64Array
from mahjong_env.observation.view import View

ENTRY_POINTS: Final = "mahjong_env.agents"
"""The entry-point group in which distributions announce agents."""


@runtime_checkable
class Opponent(Protocol):
    """Anything that can sit at a table."""

    def act(self, view: View, rng: np.random.Generator) -> Any:
        """Choose [n] legal actions for the n seats of a view."""
        ...


class RandomOpponent:
    """Plays uniformly among the legal actions."""

    name = "random"

    def act(self, view: View, rng: np.random.Generator) -> Int64Array:
        """Choose [n] actions."""
        return choose_at_random(view.action_mask, rng)


def choose_at_random(mask: BoolArray, rng: np.random.Generator) -> Int64Array:
    """One legal action for each row, uniformly.

    Args:
        mask: [n, 109] bool legal actions; every row has one.
        rng: where chance comes from; n numbers are drawn, whatever the masks.

    Returns:
        [n] int64 actions.

    Raises:
        ActionError: a row without a legal action.
    """
    n, width = mask.shape
    legal = np.flatnonzero(mask)
    count = np.bincount(legal // width, minlength=n)
    if not count.all():
        raise ActionError(f"row {int(count.argmin())} of the mask allows no action: nobody is to act there")
    first = count.cumsum() - count
    chosen: Int64Array = legal[first + (rng.random(n) * count).astype(np.int64)] % width
    return chosen


def agent_names() -> tuple[str, ...]:
    """The names that `find_agent` knows, sorted."""
    return tuple(sorted({"random", *(entry.name for entry in entry_points(group=ENTRY_POINTS))}))


def find_agent(agent: Any) -> Opponent:
    """The agent of a name, or the object itself.

    Args:
        agent: an object with ``act(view, rng)``, "random", or a name of the entry-point group `mahjong_env.agents`,
            with what `parse_agent` reads behind it, as in "policy:runs/x/best.zip".

    Raises:
        MahjongError: neither (the message lists the names that are known), or the agent does not take what is behind
            its name.
    """
    if isinstance(agent, str):
        name, arguments, options = parse_agent(agent)
        made: Opponent = _call(agent, _maker(name), arguments, options)
        return made
    if isinstance(agent, type) or not isinstance(agent, Opponent):
        raise _unknown(agent)
    return agent


def parse_agent(text: str) -> tuple[str, list[str], dict[str, Any]]:
    """Read ``NAME``, ``NAME:ARGUMENT``, ``NAME?option=value&option=value`` or ``NAME:ARGUMENT?option=value``.

    Returns:
        The name; at most one argument; the options, their values as `read_value` reads them.

    Raises:
        MahjongError: options that are written otherwise.
    """
    address, _, query = text.partition("?")
    name, colon, argument = address.partition(":")
    options = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise MahjongError(f"agent {text!r}: options are written ?option=value&option=value, not {part!r}")
        options[key] = read_value(value)
    return name.strip(), [argument] if colon else [], options


def read_value(text: str) -> Any:
    """A value that is written as text: None, true, false, a number, or the text itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _maker(name: str) -> Any:
    if name == "random":
        return RandomOpponent
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        return entry.load()
    raise _unknown(name)


def _call(text: str, maker: Any, arguments: list[str], options: dict[str, Any]) -> Any:
    try:
        signature(maker).bind(*arguments, **options)
    except TypeError as error:
        raise MahjongError(f"agent {text!r}: {error}; it takes {signature(maker)}") from None
    return maker(*arguments, **options)


def _unknown(agent: Any) -> MahjongError:
    return MahjongError(f"no agent is {agent!r}; valid are {', '.join(agent_names())}, and objects with act(view, rng)")


def find_opponents(opponents: Any, number: int) -> list[Opponent]:
    """One agent for each of the other persons at a table.

    Args:
        opponents: one agent for all (see `find_agent`), or a list of one for each, the next person's first.
        number: how many they are.

    Returns:
        ``number`` agents; one that was given for all is the same object everywhere.

    Raises:
        MahjongError: an unknown agent, or a list of another length.
    """
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        if len(opponents) != number:
            raise MahjongError(
                f"opponents are one agent, or a list of {number} (one for each other seat), not {opponents!r}"
            )
        # The same name twice is one agent, which then answers for both seats at once.
        named = {agent: find_agent(agent) for agent in opponents if isinstance(agent, str)}
        return [named[agent] if isinstance(agent, str) else find_agent(agent) for agent in opponents]
    return [find_agent(opponents)] * number
