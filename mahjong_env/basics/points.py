"""Running points, as they are given."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

MOST_POINTS: Final = 100_000_000
"""The most that anybody may have or lack: what is kept then fits 32 bits."""


def are_points(value: Any, number: int) -> bool:
    """Whether these are so many running points: integers within `MOST_POINTS`, in a list or an array."""
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(listed, list | tuple) or len(listed) != number:
        return False
    integers = all(isinstance(points, int | np.integer) and not isinstance(points, bool) for points in listed)
    return integers and all(-MOST_POINTS <= points <= MOST_POINTS for points in listed)
