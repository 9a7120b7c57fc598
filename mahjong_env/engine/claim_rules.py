"""The rules of claims: who may claim a tile, who is asked next, and who gets it.

The functions work on plain arrays and know nothing of games. Arrays are [m, n]: m seats, in their order after the seat
that gave the tile, for each of n tiles. Row 0 is the next player. Before the first turn the giver itself may be asked,
and is the last row.

Each seat with an option is asked once, with all its options together. Seats are asked in the order of their best
option (a win, then a kong or pung, then a chow), and among equals the one nearest to the giver comes first. As soon as
no remaining seat could take precedence over the best answer so far, that answer is granted and nobody else is asked.

A seat's options are kept as bits, in the order of the actions from "chow low" to "win".
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import CHOW_LOW, CHOW_STEPS, PASS
from mahjong_env.basics.tiles import FIRST_HONOUR, NUM_ALL_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, IntArray

MAY_CHOW_LOW, MAY_CHOW_MIDDLE, MAY_CHOW_HIGH, MAY_PUNG, MAY_KONG, MAY_WIN = (np.int8(1 << bit) for bit in range(6))

OPTION_ACTIONS: Final = np.arange(CHOW_LOW, PASS)
"""The actions that the bits of an option stand for."""

# The kinds two below, one below, one above and two above a kind; kinds of another suit are no neighbours.
_STEPS: Final = np.unique(CHOW_STEPS)[:, None]
_KINDS: Final = np.arange(NUM_ALL_KINDS)
NEIGHBOURS: Final = np.clip(_KINDS + _STEPS, 0, FIRST_HONOUR - 1)
"""[4, 42] the neighbouring kinds of each kind."""
ARE_NEIGHBOURS: Final = ((_KINDS + _STEPS) // 9 == _KINDS // 9) & (_KINDS < FIRST_HONOUR)
"""[4, 42] False where `NEIGHBOURS` names a tile of another suit."""

# The ranks of claims; the higher one takes precedence.
_WIN, _KONG_OR_PUNG, _CHOW, _NONE = 3, 2, 1, 0
RANK_OF_ACTION: Final = np.array([_CHOW] * 3 + [_KONG_OR_PUNG] * 2 + [_WIN, _NONE], np.int8)  # "chow low" to "pass"
RANK_OF_OPTIONS: Final = np.array(
    [max(RANK_OF_ACTION[bit] if options >> bit & 1 else _NONE for bit in range(6)) for options in range(64)], np.int8
)
# The sets of equal tiles that a seat may claim, by the number (0 to 4) of tiles of the kind that it holds.
SETS_OF_EQUALS: Final = np.array([0, 0, MAY_PUNG, MAY_PUNG | MAY_KONG, MAY_PUNG | MAY_KONG], np.int8)
_HIGH_MIDDLE_LOW: Final = np.array([MAY_CHOW_HIGH, MAY_CHOW_MIDDLE, MAY_CHOW_LOW])
_THREE, _FOUR = (np.array(number, np.int8) for number in (3, 4))


def sets_wanted(held: Int8Array, beside: BoolArray | None, may_add: BoolArray | None = None) -> Int8Array:
    """Return the sets that each seat could make with an offered tile.

    Args:
        held: [m, n] concealed tiles of the same kind that each seat holds.
        beside: [4, n] whether the next player holds the tiles two below, one below, one above and two above it, in
            the same suit and not as wild tiles; None where nobody may claim a chow.
        may_add: [m, n] whether the seat has an open pung of the kind to which a discard may be added; None for none.

    Returns:
        [m, n] int8 option bits. Only the next player may claim a chow; a pung takes two tiles of the hand, a kong
        three.
    """
    options = SETS_OF_EQUALS.take(held)
    if may_add is not None:
        options |= may_add * MAY_KONG
    if beside is not None:
        may_chow = beside[:-1] & beside[1:]  # high: both below are held; middle: one on each side; low: both above
        options[0] |= _HIGH_MIDDLE_LOW.dot(may_chow.view(np.int8))
    return options


def seats_to_ask_first(options: Int8Array) -> tuple[Games, Int8Array]:
    """Return which seat is asked first among those that have options.

    Args:
        options: [m, n] int8 option bits of the seats that have not been asked.

    Returns:
        [n] the row of the seat to ask: the nearest one among those with the best option; and [n] int8 the precedence
        of that option (see `precedence`), 0 where no seat has one.
    """
    rank = RANK_OF_OPTIONS.take(options)
    row = rank.argmax(axis=0)  # the first of equals
    return row, precedence(rank.max(axis=0), row)


def precedence_of_answer(actions: IntArray, row: IntArray) -> Int8Array:
    """Return [n] int8 the precedence of the answers ``actions`` [n] of the seats in rows [n]; 0 for a pass."""
    return precedence(RANK_OF_ACTION.take(actions - CHOW_LOW), row)


def precedence(rank: Int8Array, row: Any) -> Int8Array:
    """Return [n] a number that ranks claims, the greatest first: by rank, then by nearness; 0 for no claim."""
    return (rank * _FOUR + (_THREE - row.astype(np.int8))) * (rank > 0)


def seats_not_yet_asked(options: Int8Array, is_asked: BoolArray) -> Int8Array:
    """Return the options that are still possible once a seat is being asked, for an observer who cannot see hands.

    Args:
        options: [m, n] int8 option bits of all seats.
        is_asked: [m, n] True for the seat that is being asked, one in each column.

    Returns:
        [m, n] int8 the same options without the seats that would have been asked before it.
    """
    rank = RANK_OF_OPTIONS.take(options)
    heard = precedence(rank, np.arange(len(options))[:, None])
    return np.where(heard > np.where(is_asked, heard, 0).max(axis=0), np.int8(0), options)
