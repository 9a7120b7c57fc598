"""How likely a hand that is so far from a win will be completed before somebody else wins or the wall ends."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MOST_DISTANCE: Final = 9
MOST_TURNS: Final = 24
# Unseen tiles that bring a hand of greedy's nearer, at distances from 0 on.
_TYPICAL_HELP: Final = np.array([1.0, 5.5, 14.5, 25.0, 40.0, 58.0, 75.0, 85.0, 90.0, 95.0])


def pace_of(distance: NDArray[np.int8], help_tiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [k] how much more or fewer tiles help hands than usual at their distance."""
    return np.clip(help_tiles / _TYPICAL_HELP[np.clip(distance, 1, MOST_DISTANCE)], 0.1, 2.0)


def chance_to_win(
    distance: NDArray[np.int8],
    help_share: NDArray[np.float64],
    pace: NDArray[np.float64],
    unseen: NDArray[np.float64],
    claims: NDArray[np.float64],
    last_claims: NDArray[np.float64],
    turns: NDArray[np.float64],
    rivals: float,
    elapsed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the chance that hands are completed in time.

    Args:
        distance: [k] tiles short.
        help_share: [k] share of the unseen tiles that bring it nearer.
        pace: [k] how much more or less than usual will help further on, 1 for as much.
        unseen: [k] unseen tiles.
        claims: [k] tiles of others that the hand may claim, for each tile that it draws.
        last_claims: [k] the same for the tile that wins.
        turns: [k] draws that the seat may still have.
        rivals: chance that another seat wins between two draws at the end of the wall.
        elapsed: [k] share of the wall that has been drawn.

    Returns:
        [k] from 0 to 1.
    """
    distance = np.clip(distance, 1, MOST_DISTANCE)
    steps = np.arange(1, MOST_DISTANCE + 1)
    share = np.minimum(_TYPICAL_HELP[1 : MOST_DISTANCE + 1] * (pace / np.maximum(unseen, 1))[:, None], 0.9)
    share = np.where(steps == distance[:, None], help_share[:, None], share)
    tiles = 1 + np.where(steps == 1, last_claims[:, None], claims[:, None])
    step = 1 - (1 - share) ** tiles
    at = (steps == distance[:, None]).astype(np.float64)
    won = np.zeros(len(distance))
    for turn in range(min(MOST_TURNS, int(np.ceil(turns.max(initial=0))))):
        move = at * step * np.clip(turns - turn, 0, 1)[:, None]
        won += move[:, 0]
        at -= move
        at[:, :-1] += move[:, 1:]
        drawn = elapsed + (1 - elapsed) * np.minimum(turn / np.maximum(turns, 1), 1)
        at *= (1 - rivals * drawn)[:, None]
    return won
