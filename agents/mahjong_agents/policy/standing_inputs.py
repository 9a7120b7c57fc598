"""Added inputs for matches: how far the seat is ahead of the others, and how many hands are still to come.

``--features "mahjong_agents.policy.standing_inputs:Standing?unit=20"`` shows them to the small network and its critic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahjong_env import View

_OTHERS = ("the next player", "the player across", "the player before")
_STEPS = 16  # of a unit, and of a spread: what is shown are whole numbers
_MOST = 127


class Standing:
    """Seven numbers: hands to come, and for each other slot how far ahead of it the seat is.

    Distances are shown twice: in units, which says what one hand can turn, and over the root of the hands that are
    left, this one among them, which says how likely the rest of the match turns it. Empty slots are 0.
    """

    def __init__(self, unit: float) -> None:
        """Take the unit of distances, in points: the sigma of what is played."""
        if not 0 < unit < np.inf:
            raise ValueError(f"unit is a number of points above 0, not {unit}")
        self.unit = unit
        # The unit is in the names, which policy files keep: by another one the same numbers mean something else.
        distances = {f"{what}ahead of {whom} by {unit:g}": 1 / _STEPS for what in ("", "surely ") for whom in _OTHERS}
        self.facts = {"hands to come": 1 / 8} | distances

    def __call__(self, view: View) -> NDArray[np.int64]:
        """Return [n, 7] integers from -127 to 127."""
        ahead = (view.points[:, :1] - view.points[:, 1:]) * (view.person[:, 1:] >= 0) / self.unit
        surely = ahead / np.sqrt(view.hands_to_come[:, None] + 1.0)
        shown = np.column_stack([view.hands_to_come, ahead * _STEPS, surely * _STEPS])
        return np.rint(shown.clip(-_MOST, _MOST)).astype(np.int64)
