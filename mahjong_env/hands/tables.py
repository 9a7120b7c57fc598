"""Loads the shipped automata (see `mahjong_env.hands.build`) and expands them into one entry per code."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import NUM_HONOURS, RANKS

_PATH = Path(__file__).with_name("tables.npz")
_LENGTHS = {"suit": RANKS, "honours": NUM_HONOURS}


def load_states(programme: str, group: str) -> NDArray[np.uint16]:
    """Return the state of the automaton that every code leads to.

    Args:
        programme: "facts" or "distance".
        group: "suit" or "honours".

    Returns:
        [5**9 or 5**7] uint16 states by code.
    """
    states = np.zeros(1, np.uint16)
    with np.load(_PATH) as tables:
        for rank in range(_LENGTHS[group]):
            # A count at this rank is a more significant digit than all before it, hence a leading axis.
            states = tables[f"{programme}_{group}_{rank}"].take(states, axis=1).reshape(-1)
    return states


def load_table(name: str) -> NDArray[Any]:
    """Return one of the tables that `build.build` describes."""
    with np.load(_PATH) as tables:
        return np.asarray(tables[name])
