"""Facts about a win that only some variants ask for, declared by the variants that ask; running points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

THE_WILD_KIND: Final = -1
MOST: Final = 1000
"""The most kongs in a row, hands of a streak, discards of a kind and the like: more than any game has."""


def is_count(value: Any) -> bool:
    """Whether this is an integer from 0 to `MOST`."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(0 <= value <= MOST)


@dataclass(frozen=True)
class Circumstance:
    """Something that a variant wants to know about a win: an argument of `score`, an option of the command line.

    Attributes:
        name: of the argument.
        about: what it means, for users.
        type: ``int``, a count from 0, or ``bool``.
        is_mark: whether it is counted for each seat while a hand is played (`Rules.marks`); else it says that the win
            was before the first turn, with the tile that is turned up (`Wins.opening`).
        discarded: the kind of which the winner has discarded that many, or `THE_WILD_KIND`.
        excludes: arguments of `score` that contradict it.
        chinese: how pages call it beside its count at a seat, if it is a mark.
        after_discard: what the mark is once its seat has discarded a tile: from what it was, the kind, and the wild
            kind, all arrays or plain numbers. None: it stays as it was.
    """

    name: str
    about: str
    type: type[int] | type[bool] = int
    is_mark: bool = True
    discarded: int | None = None
    excludes: tuple[str, ...] = ()
    chinese: str = ""
    after_discard: Callable[[Any, Any, Any], Any] | None = None

    def accepts(self, value: Any) -> bool:
        """Whether it can have this value."""
        return isinstance(value, bool | np.bool_) if self.type is bool else is_count(value)

    @property
    def valid(self) -> str:
        """The values that it can have, in words."""
        return "True or False" if self.type is bool else f"an integer from 0 to {MOST}"


MOST_POINTS: Final = 100_000_000
"""The most that anybody may have or lack: what is kept then fits 32 bits."""


def are_points(value: Any, number: int) -> bool:
    """Whether these are that many running points: integers within `MOST_POINTS`, in a list or an array."""
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(listed, list | tuple) or len(listed) != number:
        return False
    integers = all(isinstance(points, int | np.integer) and not isinstance(points, bool) for points in listed)
    return integers and all(-MOST_POINTS <= points <= MOST_POINTS for points in listed)
