"""What agents thought of their choices, as records keep it (`GameRecord.notes`): short and plain."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS

Note = dict[str, Any]

_MOST: Final = 5
"""Actions of one choice that are written down: those that the agent held best."""
_LEAST_SHARE: Final = 0.001


def probabilities(count: int, row: NDArray[np.intp], action: NDArray[Any], share: NDArray[Any]) -> list[Note | None]:
    """Return for each of ``count`` choices the probabilities of its most probable actions, None where there is one.

    Args:
        count: choices.
        row: [m] the choice that an action belongs to.
        action: [m] numbers of actions.
        share: [m] their probabilities.
    """
    return _noted("probabilities", count, row, action, share, least=_LEAST_SHARE)


def values(count: int, row: NDArray[np.intp], action: NDArray[Any], points: NDArray[Any]) -> list[Note | None]:
    """Return for each of ``count`` choices the points [m] that its best actions promise; see `probabilities`."""
    return _noted("values", count, row, action, points)


def _noted(
    what: str,
    count: int,
    row: NDArray[np.intp],
    action: NDArray[Any],
    number: NDArray[Any],
    *,
    least: float = -np.inf,
) -> list[Note | None]:
    several = np.bincount(row, minlength=count) > 1
    notes: list[Note | None] = [{what: {}} if is_choice else None for is_choice in several]
    for at in np.lexsort((-number, row)).tolist():
        note = notes[row[at]]
        if note is not None and number[at] >= least and len(note[what]) < _MOST:
            note[what].setdefault(ACTIONS[int(action[at])], round(float(number[at]), 3))
    return notes
