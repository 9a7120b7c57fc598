"""Loads the shipped automata (see `mahjong_env.hands.build`) and expands them into one entry per code."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import NUM_HONOURS, RANKS

_LENGTHS = {"suit": RANKS, "honours": NUM_HONOURS}


def load_states(programme: str, group: str) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Return the state that every code leads to, and what the states are worth.

    Args:
        programme: "facts" or "distance".
        group: "suit" or "honours".

    Returns:
        States [5**9 or 5**7] uint16 by code, and values [states, ...] uint8 as `build.build` describes them.
    """
    with np.load(Path(__file__).with_name("tables.npz")) as tables:
        states = np.zeros(1, np.uint16)
        for rank in range(_LENGTHS[group]):
            # A count at this rank is a more significant digit than all before it, hence a leading axis.
            states = tables[f"{programme}_{group}_{rank}"][:, states].reshape(-1)
        return states, tables[f"{programme}_{group}_values"]
