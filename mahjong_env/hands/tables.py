"""Loading the shipped automata (see `tools/hand_tables.py`), and expanding them into one entry per code."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import BASE, NUM_HONOURS, RANKS

PATH = Path(__file__).with_name("tables.npz")


def load_table(name: str) -> NDArray[Any]:
    """Return one of the tables that `tools.hand_tables.build` describes."""
    with np.load(PATH) as tables:
        return np.asarray(tables[name])


def load_steps(programme: str, group: str) -> list[NDArray[np.uint16]]:
    """Return the automaton "facts" or "distance" of "suit" or "honours": by rank [counts, states] the next state."""
    with np.load(PATH) as tables:
        return [tables[f"{programme}_{group}_{rank}"] for rank in range(RANKS if group == "suit" else NUM_HONOURS)]


def states_by_code(steps: list[NDArray[np.uint16]]) -> NDArray[np.uint16]:
    """Return [5**9 or 5**7] the state that every code leads to."""
    states = np.zeros(1, np.uint16)
    for step in steps:
        # A count at this rank is a more significant digit than all before it, hence a leading axis.
        states = step[:BASE].take(states, axis=1).reshape(-1)
    return states
