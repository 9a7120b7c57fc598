"""The observation: what a seat may see, as named pieces of one block of numbers, the same for every variant.

An observation is [C, 34] int8: C planes with one number for each tile kind, or with up to 34 plain numbers. Seats are
relative to the one that looks: slot 0 is itself, 1 the next player, 2 the player across, 3 the previous one. At
three-handed tables slot 2 is empty, so that networks carry over. `PIECES` and `FACTS` are the tables from which the
documentation, the conformance kit and networks are made. What may be seen at all is decided in visibility.py.

To add a plane, write a piece here (a function below `_piece`); its place follows from the order. If it shows something
that views do not have yet, first give `visibility.VisibleState` and `View` an array for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR, FLOWERS, NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Int8Array
from mahjong_env.observation.declaration import (
    SLOTS,
    Layout,
    Piece,
    clear,
    declared_in,
    lay_out_facts,
    put,
    put_one_hot,
    put_slots,
)
from mahjong_env.observation.facts import FACTS
from mahjong_env.state.arrays import CLAIMED, MAX_DISCARDS, MAX_MELDS, MELD_PLACES

OBSERVATION_VERSION: Final = 2
"""Incremented whenever the layout of observations or the meaning of a number in them changes; see CHANGELOG.md."""

_NUM_FLOWERS: Final = NUM_ALL_KINDS - FLOWERS
_LONGEST_HAND: Final = 30  # about the number of discards of a hand
_DIGITS: Final = 5
# Kept as arrays: numpy would convert a plain number in every call.
_HUNDRED: Final = np.array(100, np.int32)
_NO_TILE: Final = np.array(NO_TILE, np.int8)

_pieces: list[Piece] = []


_piece = partial(declared_in, _pieces)


def _up_to(high: int, places: int, planes: int = 1) -> tuple[float, ...]:
    """Return the greatest possible numbers of planes of which only the first places are used."""
    return tuple(np.repeat([high, 0], [places, planes * NUM_KINDS - places]).astype(float).tolist())


# --- Tiles that the seat has or is asked about ------------------------------------------------------------------------


@_piece("hand", meaning="own concealed tiles of each kind, 0-4", high=4, scale=4)
def _hand(seen: Any, out: Int8Array) -> None:
    put(out[:, 0], seen.hand)


@_piece("drawn", meaning="1 at the tile that the seat itself has just drawn")
def _drawn(seen: Any, out: Int8Array) -> None:
    put_one_hot(out, seen.drawn)


@_piece(
    "offered",
    meaning="1 at the tile that the seat is asked about: it may claim it, rob it, or win with it; -1 at the tile that "
    "it would give up for that one (before the first turn)",
    low=-1,
)
def _offered(seen: Any, out: Int8Array) -> None:
    put_one_hot(out, seen.offered)
    if seen.rules.opening_stages:
        row = (seen.given_up > _NO_TILE).nonzero()[0]
        if row.size:
            out[row, 0, seen.given_up[row]] = -1


@_piece("wild", meaning="1 at the wild kind")
def _wild(seen: Any, out: Int8Array) -> None:
    put_one_hot(out, seen.wild)


@_piece("indicator", meaning="1 at the kind turned up")
def _indicator(seen: Any, out: Int8Array) -> None:
    put_one_hot(out, seen.indicator)


@_piece("hidden_kongs", meaning="4 at own concealed kongs that the others cannot see", high=4, scale=4)
def _hidden_kongs(seen: Any, out: Int8Array) -> None:
    clear(out)
    row, kind = seen.hidden_kongs
    if row.size:
        out[row, 0, kind] = 4


# --- What lies on the table -------------------------------------------------------------------------------------------


@_piece(
    "table",
    3 * SLOTS,
    meaning="for each slot: discards lying there (count); number of its latest discard of the kind, 1 = the hand's "
    "first, also if it was claimed; tiles in melds that are seen by all (count)",
    high=(4, 127, 4),
    scale=(2, _LONGEST_HAND, 4),
)
def _table(seen: Any, out: Int8Array) -> None:
    put(out.reshape(len(out), SLOTS, 3 * NUM_KINDS), seen.table.reshape(len(out), SLOTS, 3 * NUM_KINDS))


_RIVER: Final = SLOTS * MAX_DISCARDS
_RIVER_PLANES: Final = -(-_RIVER // NUM_KINDS)


@_piece(
    "river",
    _RIVER_PLANES,
    meaning=f"for each slot, in {MAX_DISCARDS} places one after another, its discards in their order: kind + 1, and "
    f"{CLAIMED} more if it was claimed (`melds` says by whom); the negative of that if the slot had just drawn such a "
    "tile (knob shows_drawn); 0 after the last",
    low=_up_to(-2 * CLAIMED, _RIVER, _RIVER_PLANES),
    high=_up_to(2 * CLAIMED, _RIVER, _RIVER_PLANES),
    is_code=True,
)
def _river(seen: Any, out: Int8Array) -> None:
    row = out.reshape(len(out), _RIVER_PLANES * NUM_KINDS)
    put(row[:, :_RIVER], seen.signed_river.reshape(len(out), _RIVER))
    clear(row[:, _RIVER:])


@_piece(
    "flowers",
    SLOTS,
    meaning="for each slot: places 0-7 flowers F1-F4 S1-S4 exposed; places 27-33 honours exposed as flowers",
    high=SLOTS * tuple(np.repeat([1, 0, 4], [_NUM_FLOWERS, FIRST_HONOUR - _NUM_FLOWERS, NUM_KINDS - FIRST_HONOUR])),
)
def _flowers(seen: Any, out: Int8Array) -> None:
    if not seen.rules.uses_flowers:
        clear(out)
        return
    put(out, seen.flowers[..., :NUM_KINDS])  # no suited tile is a flower
    put(out[..., :_NUM_FLOWERS], seen.flowers[..., FLOWERS:])


_MELD: Final = np.array([MeldType.CONCEALED_KONG, NUM_KINDS, 3, NUM_KINDS, MAX_DISCARDS, 0])


@_piece(
    "melds",
    SLOTS,
    meaning="for each slot, for each of five melds in order, six places: type (1 chow, 2 pung, 3 exposed kong, 4 "
    "added kong, 5 concealed kong); kind + 1 (lowest of a chow; 0 if hidden); whose discard made it (1 the player "
    "after the owner, 2 across, 3 before, 0 nobody's); claimed kind + 1; number of that discard "
    "in the river of its owner; 0",
    high=SLOTS * (*np.tile(_MELD, MAX_MELDS).tolist(), *[0] * (NUM_KINDS - MAX_MELDS * MELD_PLACES)),
    is_code=True,
)
def _melds(seen: Any, out: Int8Array) -> None:
    put(out, seen.meld_list)


# --- Plain numbers ----------------------------------------------------------------------------------------------------

_facts, FACT_PLACES = lay_out_facts(FACTS, meaning="see the table of facts")
_pieces.append(_facts)


@_piece(
    "points",
    meaning="running points, by their digits in base 100, each with the sign of the whole: places 0-3 the last digits "
    "(ones) of the slots, 4-7 hundreds, 8-11, 12-15 and 16-19 the next ones; places 20-24 the digits of the person "
    "who sits out",
    low=_up_to(-99, (SLOTS + 1) * _DIGITS),
    high=_up_to(99, (SLOTS + 1) * _DIGITS),
    scale=100,
)
def _points(seen: Any, out: Int8Array) -> None:
    rows = np.zeros((len(out), NUM_KINDS), np.int8)
    for digit, numbers in enumerate(_digits(seen.points)):
        put_slots(rows[:, SLOTS * digit : SLOTS * (digit + 1)], numbers)
    if seen.rules.people > seen.rules.seats:
        for digit, numbers in enumerate(_digits(seen.points_sitting_out)):
            rows[:, SLOTS * _DIGITS + digit] = numbers
    put(out[:, 0], rows)


def _digits(numbers: Any) -> Iterator[Any]:
    """Yield the digits of numbers in base 100, the last ones first, with their sign, until all that follow are 0."""
    for _ in range(_DIGITS):
        last = np.fmod(numbers, _HUNDRED)
        yield last
        numbers = numbers - last
        if not np.count_nonzero(numbers):
            break
        numbers //= _HUNDRED


# --- What the seat may do ---------------------------------------------------------------------------------------------


_LEGAL_PLANES: Final = -(-NUM_ACTIONS // NUM_KINDS)


@_piece(
    "legal_actions",
    _LEGAL_PLANES,
    meaning="1 at actions that are legal now, in the order of `ACTIONS`: a plane of discards, one of concealed kongs, "
    "one of added kongs, and one of chow low, chow middle, chow high, pung, kong, win, pass (places 0-6)",
    high=_up_to(1, NUM_ACTIONS, _LEGAL_PLANES),
)
def _legal_actions(seen: Any, out: Int8Array) -> None:
    row = out.reshape(len(out), _LEGAL_PLANES * NUM_KINDS)
    put(row[:, :NUM_ACTIONS], seen.action_mask.view(np.int8))
    clear(row[:, NUM_ACTIONS:])


LAYOUT: Final = Layout(_pieces)
PIECES: Final = LAYOUT.pieces
"""The table of planes, in order."""
SHAPE: Final = LAYOUT.shape


def plane(name: str) -> slice:
    """Return the planes of a piece; raise `KeyError` if there is no such piece."""
    return LAYOUT.planes(name)
