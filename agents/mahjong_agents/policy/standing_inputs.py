"""Added inputs for matches: how far the seat is ahead of the others, and how many hands are still to come.

``--features "mahjong_agents.policy.standing_inputs:Standing?unit=20"`` gives them to the small network and its critic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahjong_env import View

_OTHERS = ("the next player", "the player across", "the player before")
_STEPS = 16  # steps in a unit, as inputs are whole numbers
_MOST = 127


class Standing:
    """Makes seven numbers: the hands to come, and for each other slot, how far the seat is ahead of it.

    Each lead is given twice: in units, which tells whether one hand can turn it, and divided by the square root of the
    number of hands left, this one included, which tells how likely the rest of the match turns it. Empty slots are 0.
    """

    def __init__(self, unit: float) -> None:
        """Set the unit of the leads, in points: the sigma of the variant that is played."""
        if not 0 < unit < np.inf:
            raise ValueError(f"unit is a number of points above 0, not {unit}")
        self.unit = unit
        # Policy files keep the names. The unit is part of them, as the same numbers mean something else in another one.
        distances = {f"{what}ahead of {whom} by {unit:g}": 1 / _STEPS for what in ("", "surely ") for whom in _OTHERS}
        self.facts = {"hands to come": 1 / 8} | distances

    def __call__(self, view: View) -> NDArray[np.int64]:
        """Return [n, 7] integers from -127 to 127."""
        ahead = (view.points[:, :1] - view.points[:, 1:]) * (view.person[:, 1:] >= 0) / self.unit
        surely = ahead / np.sqrt(view.hands_to_come[:, None] + 1.0)
        shown = np.column_stack([view.hands_to_come, ahead * _STEPS, surely * _STEPS])
        return np.rint(shown.clip(-_MOST, _MOST)).astype(np.int64)
