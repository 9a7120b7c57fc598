"""Loads the shipped automata (see `tools/hand_tables.py`) and expands them into one entry per code."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import BASE, NUM_HONOURS, RANKS

PATH = Path(__file__).with_name("tables.npz")
_LENGTHS = {"suit": RANKS, "honours": NUM_HONOURS}


def load_table(name: str) -> NDArray[Any]:
    """Return one of the tables that `build.build` describes."""
    with np.load(PATH) as tables:
        return np.asarray(tables[name])


def load_steps(programme: str, group: str) -> list[NDArray[np.uint16]]:
    """Return the steps of an automaton.

    Args:
        programme: "facts" or "distance".
        group: "suit" or "honours".

    Returns:
        For each rank [counts, states before] uint16, the state after a rank with that count of tiles.
    """
    with np.load(PATH) as tables:
        return [tables[f"{programme}_{group}_{rank}"] for rank in range(_LENGTHS[group])]


def states_by_code(steps: list[NDArray[np.uint16]]) -> NDArray[np.uint16]:
    """Return the state that every code leads to: [5**9 or 5**7] uint16 for the steps of `load_steps`."""
    states = np.zeros(1, np.uint16)
    for step in steps:
        # A count at this rank is a more significant digit than all before it, hence a leading axis.
        states = step[:BASE].take(states, axis=1).reshape(-1)
    return states
