"""The codes of hands, one integer for each suit, by which the tables are addressed.

A hand is four groups of kinds: characters (kinds 0-8), dots (9-17), bamboo (18-26) and honours (27-33).
The code of a group is the number whose base-5 digits are the counts of its kinds, the first kind least
significant. A tile that enters or leaves a hand therefore changes one code by ``POWER[kind]``, and an engine
keeps codes up to date with ``codes[game, seat, SUIT[kind]] += POWER[kind]``.

Base 5 holds counts of 0 to 4. Wild tiles are taken out of a hand before it is coded.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

NUM_KINDS = 34
NUM_GROUPS = 4
RANKS = 9
NUM_HONOURS = 7
HONOUR_GROUP = 3
BASE = 5
SUIT_CODES = BASE**RANKS

SUIT: NDArray[np.int8] = (np.arange(NUM_KINDS) // RANKS).astype(np.int8)
"""[34] int8: the group of each kind, 0-2 the suits and 3 the honours."""

POWER: NDArray[np.int32] = (BASE ** (np.arange(NUM_KINDS) % RANKS)).astype(np.int32)
"""[34] int32: what one tile of each kind adds to the code of its group."""

TABLE_OFFSET: NDArray[np.intp] = np.array([0, 0, 0, SUIT_CODES], np.intp)
"""[4] intp: the tables hold the entries of all suit codes, then those of all honour codes."""

# [34, 4] POWER in the column of the kind's group. Codes are exact in single precision (they are below 2**24), and
# numpy multiplies matrices of floats several times faster than those of integers.
_POWER_BY_GROUP = (POWER[:, None] * (SUIT[:, None] == np.arange(NUM_GROUPS))).astype(np.float32)

for _constant in (SUIT, POWER, TABLE_OFFSET):
    _constant.flags.writeable = False


def split_wilds(counts: NDArray[np.int8], wild: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return [n, ..., 34] hands without their wild tiles, and [n, ...] how many these were.

    Args:
        counts: [n, ..., 34] int8 tiles of each kind; left as they are.
        wild: [n] the wild kind of each row, -1 for none.
    """
    natural, wilds = counts.copy(), np.zeros(counts.shape[:-1], np.int8)
    some = np.flatnonzero(wild >= 0)
    wilds[some] = natural[some, ..., wild[some]]
    natural[some, ..., wild[some]] = 0
    return natural, wilds


def encode(counts: NDArray[Any]) -> NDArray[np.int32]:
    """Return [..., 4] int32 the codes of characters, dots, bamboo and honours, for counts [..., 34] from 0 to 4."""
    codes: NDArray[np.int32] = (np.asarray(counts, np.float32) @ _POWER_BY_GROUP).astype(np.int32)
    return codes


def split_groups(by_kind: NDArray[Any]) -> NDArray[Any]:
    """Return [4 * n, 9] the groups of hands [n, 34], with a column for each rank; honours leave the last two empty."""
    padded = np.zeros((len(by_kind), NUM_GROUPS * RANKS), by_kind.dtype)
    padded[:, :NUM_KINDS] = by_kind
    return padded.reshape(-1, RANKS)


def merge_groups(groups: NDArray[Any]) -> NDArray[Any]:
    """Return [n, 34] the hands of groups [n, 4, 9]; the inverse of `split_groups`."""
    return groups.reshape(len(groups), NUM_GROUPS * RANKS)[:, :NUM_KINDS]
