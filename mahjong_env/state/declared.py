"""Every array of a batch of games, declared once.

Allocation, copying, selecting games, snapshots and the privacy test are derived from this table.

Axes:
    B  games                                S  seats at the table (3 or 4)
    P  persons: those at the table, and     W  places in the wall (136 or 144)
       one more with a rotation             T  kinds in a hand (34)
    A  all kinds, flowers included (42)     M  melds of a seat (5)
    G  groups of a hand code (4)            K  marks of the variant
    L  public planes                        X  actions (109)
    R  discards of a seat

Seats count counter-clockwise: the next player is seat + 1. ``seen_by``: "all" the table; "owner" of the seat axis;
"owner of turn", the seat whose turn it is; "asked", the seat to act; "nobody". `observation.visibility` makes of it
what a seat sees.

Whose tiles are meant is said by `Seats` (`State.seats`): ``seats.of(state.hand)`` gathers the hands of some seats, and
the verbs of `State` (`discard`, `lay_meld`, `remove_tiles`, ...) change them. The arrays themselves are ordinary ones:
``state.hand[game, seat, kind]``.
"""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, Final, Self

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array, Int64Array, UInt64Array

MAX_MELDS: Final = 5
# Slots of the other seats at tables for three and four: offset of the seat -> slot (1 next, 2 across, 3 previous).
SLOT_OF_OFFSET: Final = {3: np.array([0, 1, 3]), 4: np.array([0, 1, 2, 3])}
MAX_DISCARDS: Final = 42
"""More than any seat can discard in a hand, claimed tiles included.

With N discards of a seat, m melds a seat, S seats and D tiles drawn,
S N <= D + m + S - 1 + m S (S - 1) / 2 + m (S - 2), because a claim skips the draws of the seats between; that is 41
for three players with 144 tiles and five melds each, and less at every table that is played.
"""
CLAIMED: Final = NUM_KINDS
"""The number added to a discard in `State.river` once it is claimed."""
MAX_MARKS: Final = 4
"""Marks that a variant can declare (`Rules.marks`): observations have a place for each."""
NO_SEAT: Final = -1

# The planes of `State.public`.
DISCARDED, LATEST, MELDED, MELD_LIST = range(4)
NUM_PLANES: Final = 4
MELD_PLACES: Final = 6
"""Places that one meld takes in the plane MELD_LIST."""
# The axes that are the same for all variants.
_LENGTHS: Final = {
    "T": NUM_KINDS,
    "A": NUM_ALL_KINDS,
    "M": MAX_MELDS,
    "G": 4,
    "L": NUM_PLANES,
    "X": NUM_ACTIONS,
    "R": MAX_DISCARDS,
}


class Phase:
    """The phase of a game: the decision that it waits for; the numbers of `State.phase`."""

    OVER: Final = 0
    """The game is over."""
    TURN: Final = 1
    """The seat to act has drawn or claimed a tile, and discards, declares a kong or wins."""
    CLAIM: Final = 2
    """The seat to act may claim the tile just discarded."""
    ROB: Final = 3
    """The seat to act may win with the tile that is being added to a pung."""
    OPENING: Final = 4
    """The seat to act may win before the first turn."""
    STRANDED: Final = 5
    """The seat to act drew a flower that cannot be replaced, and may win before the hand is drawn."""


def _array(axes: str, dtype: Any, empty: int, seen_by: str) -> Any:
    return field(metadata={"axes": axes, "dtype": np.dtype(dtype), "empty": empty, "seen_by": seen_by})


@dataclass(slots=True)
class Arrays:
    """The arrays of a batch of B games; row i of every array is game i."""

    # Chance: see chance.py.
    seed: UInt64Array = _array("B", np.uint64, 0, "nobody")
    stream: Int64Array = _array("B", np.int64, 0, "nobody")  # number of the game within its seed
    hands_dealt: Int32Array = _array("B", np.int32, 0, "nobody")  # hands dealt since the seed

    # The match.
    hand_in_match: Int16Array = _array("B", np.int16, 0, "all")  # 0 for the first hand
    dealer: Int8Array = _array("B", np.int8, 0, "all")
    streak: Int16Array = _array("B", np.int16, 0, "all")  # hands for which the dealer has already kept the deal
    turnover: Int16Array = _array("B", np.int16, 0, "all")  # times that the deal has passed on in this match
    round_wind: Int8Array = _array("B", np.int8, 0, "all")  # 0 East, 1 South, 2 West, 3 North
    house_wind: Int8Array = _array("BS", np.int8, 0, "all")
    dice: Int8Array = _array("B", np.int8, 0, "all")  # what the variant threw for this hand, 0 for nothing
    points: Int32Array = _array("BP", np.int32, 0, "all")
    floored: BoolArray = _array("B", np.bool_, 0, "all")  # running points may limit what is paid
    person_at: Int8Array = _array("BS", np.int8, 0, "all")  # who sits there; all but rotations: the seat's own number

    # The wall. Tiles are drawn at the front, replacements at the back; left = W - front - back - reserve.
    wall: Int8Array = _array("BW", np.int8, NO_TILE, "nobody")
    front: Int16Array = _array("B", np.int16, 0, "all")
    back: Int16Array = _array("B", np.int16, 0, "all")
    reserve: Int16Array = _array("B", np.int16, 0, "all")  # tiles that are never drawn
    indicator: Int8Array = _array("B", np.int8, NO_TILE, "all")  # the tile turned up, and out of play
    wild: Int8Array = _array("B", np.int8, NO_TILE, "all")

    # Tiles of the seats.
    hand: Int8Array = _array("BST", np.int8, 0, "owner")  # concealed tiles, wild ones included
    code: Int32Array = _array("BSG", np.int32, 0, "owner")  # the same as codes of hands/codes.py, without the wild ones
    flowers: Int8Array = _array("BSA", np.int8, 0, "all")
    public: Int8Array = _array("BSLT", np.int8, 0, "all")
    # public planes: DISCARDED tiles lying before the seat; LATEST the number (1 = the hand's first discard) of its
    # latest discard of the kind, also if it was claimed; MELDED tiles of its melds (concealed kongs only if they are
    # shown); MELD_LIST the melds in order, each as MELD_PLACES numbers (see observation.py).
    num_melds: Int8Array = _array("BS", np.int8, 0, "all")
    meld_type: Int8Array = _array("BSM", np.int8, 0, "all")  # notation.MeldType
    meld_kind: Int8Array = _array("BSM", np.int8, NO_TILE, "all")  # a hidden concealed kong's kind: its owner only
    meld_from: Int8Array = _array("BSM", np.int8, NO_SEAT, "all")
    meld_claimed: Int8Array = _array("BSM", np.int8, NO_TILE, "all")  # the kind that was claimed
    open_pung: BoolArray = _array("BST", np.bool_, 0, "all")
    # Discards in order, claimed ones included: kind + 1, and CLAIMED more if it was claimed; 0 after the last.
    river: Int8Array = _array("BSR", np.int8, 0, "all")
    river_claimed: Int8Array = _array("BSR", np.int8, 0, "all")  # by whom: slot counted from its owner, 0 nobody
    river_size: Int8Array = _array("BS", np.int8, 0, "all")
    num_discards: Int8Array = _array("B", np.int8, 0, "all")  # discards of the hand, claimed ones included
    marks: Int16Array = _array("BSK", np.int16, 0, "all")  # what the variant counts for each seat (Rules.marks)

    # The turn.
    phase: Int8Array = _array("B", np.int8, Phase.OVER, "all")
    actor: Int8Array = _array("B", np.int8, NO_SEAT, "all")  # seat to act; in questions only that seat itself sees it
    turn: Int8Array = _array("B", np.int8, 0, "all")  # seat whose turn it is
    drawn: Int8Array = _array("B", np.int8, NO_TILE, "owner of turn")  # what the turn's seat drew, none after a claim
    kong_draws: Int8Array = _array("B", np.int8, 0, "all")  # kongs in an unbroken row before the drawn tile
    flower_draw: BoolArray = _array("B", np.bool_, 0, "all")  # the drawn tile replaced a flower
    # Others see a draw together with the seat's next action: the drawable tiles before it; and if it is a flower_draw,
    # the flowers laid open for it, and the marks of the seat before them.
    left_before_draw: Int16Array = _array("B", np.int16, 0, "all")
    fresh_flowers: Int8Array = _array("BA", np.int8, 0, "all")
    marks_before_flowers: Int16Array = _array("BK", np.int16, 0, "all")
    turns: Int8Array = _array("BS", np.int8, 0, "all")  # turns that the seat has begun with a draw
    undisturbed: BoolArray = _array("B", np.bool_, 1, "all")  # nobody has claimed a tile or declared a kong
    closing: BoolArray = _array("B", np.bool_, 0, "all")  # the hand ends once the next discard has been answered
    is_tenpai: BoolArray = _array("BS", np.bool_, 0, "owner")  # one tile away from a complete shape
    can_win: BoolArray = _array("B", np.bool_, 0, "asked")  # the seat whose turn it is may win now

    # The question that is being asked (phases/claims.py).
    offered: Int8Array = _array("B", np.int8, NO_TILE, "all")
    offered_by: Int8Array = _array("B", np.int8, NO_SEAT, "all")
    options: Int8Array = _array("BS", np.int8, 0, "owner")  # option bits of the seats still to be asked
    best_precedence: Int8Array = _array("B", np.int8, 0, "nobody")  # of the best answer so far, 0 for none
    best_seat: Int8Array = _array("B", np.int8, NO_SEAT, "nobody")
    best_action: Int8Array = _array("B", np.int8, 0, "nobody")
    stage: Int8Array = _array("B", np.int8, 0, "all")  # questions before the first turn that have been dealt with

    mask: BoolArray = _array("BX", np.bool_, 0, "asked")  # legal actions of the seat to act

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the arrays, in the order of declaration."""
        return _names()

    @classmethod
    def allocate(cls, axes: dict[str, int]) -> Self:
        """Empty arrays; ``axes`` gives the lengths of B, S, P, W and K."""
        return cls(
            **{
                item.name: np.full(_shape(item, axes), item.metadata["empty"], item.metadata["dtype"])
                for item in array_fields()
            }
        )

    @staticmethod
    def bytes_of(axes: dict[str, int]) -> int:
        """The bytes that the arrays of such a state take."""
        return sum(math.prod(_shape(item, axes)) * item.metadata["dtype"].itemsize for item in array_fields())

    def rows(self, games: Games) -> Self:
        """Copies of these games, repeats allowed."""
        return type(self)(**{name: getattr(self, name).take(games, axis=0) for name in self.names()})

    def arrays(self) -> dict[str, Any]:
        """The arrays by name; not copies."""
        return {name: getattr(self, name) for name in self.names()}


@cache
def array_fields() -> tuple[Field[Any], ...]:
    """The declarations of the arrays."""
    return tuple(item for item in fields(Arrays) if "axes" in item.metadata)


@cache
def _names() -> tuple[str, ...]:
    return tuple(item.name for item in array_fields())


def _shape(item: Field[Any], axes: dict[str, int]) -> list[int]:
    lengths = _LENGTHS | axes
    return [lengths[axis] for axis in item.metadata["axes"]]


def hand_arrays() -> tuple[str, ...]:
    """The arrays that a new hand begins with empty: all but those of chance and of the match."""
    kept = Arrays.names()[: Arrays.names().index("wall")]
    return tuple(name for name in Arrays.names() if name not in kept and name != "wall")
