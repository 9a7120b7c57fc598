"""Annotations: an agent's reasons for its choices, short and plain, as records keep them (`GameRecord.notes`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS

Annotation = dict[str, Any]

_MOST: Final = 5
"""Actions of one choice that are written down: those that the agent held best."""
_LEAST_PROBABILITY: Final = 0.001


def annotate(
    key: str, count: int, row: NDArray[np.intp], action: NDArray[Any], number: NDArray[Any]
) -> list[Annotation | None]:
    """Return for each of some choices the numbers of its best actions, by their names; None where there is one action.

    Args:
        key: "probabilities", or "values" (points).
        count: choices.
        row: [m] the choice that an action belongs to.
        action: [m] numbers of actions.
        number: [m] their probabilities or values.
    """
    least = _LEAST_PROBABILITY if key == "probabilities" else -np.inf
    several = np.bincount(row, minlength=count) > 1
    notes: list[Annotation | None] = [{key: {}} if is_choice else None for is_choice in several]
    for at in np.lexsort((-number, row)).tolist():
        note = notes[row[at]]
        if note is not None and number[at] >= least and len(note[key]) < _MOST:
            note[key].setdefault(ACTIONS[int(action[at])], round(float(number[at]), 3))
    return notes
