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
"owner of turn", the seat whose turn it is; "asked", the seat to act; "nobody". `observation.visibility` makes of it what
a seat sees.

numpy gathers and scatters along one axis five times faster than along two or three: the phases use chairs (see
places.py), and `State.by_chair` and `State.flat`, which are views of the same memory.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import (
    BoolArray,
    Games,
    Int8Array,
    Int16Array,
    Int32Array,
    Int64Array,
    UInt8Array,
    UInt64Array,
)
from mahjong_env.state.places import Places, code_steps

MAX_MELDS: Final = 5
# Slots of the other seats at tables for three and four: offset of the seat -> slot (1 next, 2 across, 3 previous).
SLOT_OF_OFFSET: Final = {3: np.array([0, 1, 3]), 4: np.array([0, 1, 2, 3])}
MAX_DISCARDS: Final = 42
"""More than any seat can discard in a hand, claimed tiles included.

With N discards of a seat, m melds a seat, S seats and D tiles drawn, S N <= D + m + S - 1 + m S (S - 1) / 2 + m (S - 2),
because every claim skips the draws of the seats between; that is 41 at most for tables of three with 144 tiles.
"""
RIVER_STEP: Final = NUM_KINDS
MAX_MARKS: Final = 4
"""Marks that a variant can declare (`Rules.marks`): observations have a place for each."""
NO_SEAT: Final = -1

# The planes of `State.public`.
DISCARDED, LATEST, MELDED, MELD_LIST = range(4)
NUM_PLANES: Final = 4
MELD_PLACES: Final = 6
"""Places that one meld takes in the plane MELD_LIST."""
# Arrays, as numpy turns plain numbers into arrays in every call.
_ZERO: Final = np.array(0, np.int8)
_COUNTS: Final = {count: np.array(count, np.int8) for count in (-4, -3, -2, -1, 1)}


class Phase:
    """What a game waits for; the numbers of `State.phase`."""

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
class State:
    """A batch of B games; row i of every array is game i."""

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
    # Discards in order, claimed ones included: 1 + kind + RIVER_STEP * the claimer (slot counted from the owner of the
    # discard, 0 for one that lies there); 0 after the last.
    river: UInt8Array = _array("BSR", np.uint8, 0, "all")
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
    # Others see a draw together with the seat's next action: the drawable tiles before it, and if it was a flower_draw
    # the flowers laid open for it.
    left_before_draw: Int16Array = _array("B", np.int16, 0, "all")
    fresh_flowers: Int8Array = _array("BA", np.int8, 0, "owner of turn")
    turns: Int8Array = _array("BS", np.int8, 0, "all")  # turns that the seat has begun with a draw
    undisturbed: BoolArray = _array("B", np.bool_, 1, "all")  # nobody has claimed a tile or declared a kong
    closing: BoolArray = _array("B", np.bool_, 0, "all")  # the hand ends once the next discard has been answered
    is_tenpai: BoolArray = _array("BS", np.bool_, 0, "owner")  # one tile away from a complete shape
    can_win: BoolArray = _array("B", np.bool_, 0, "asked")  # the seat whose turn it is may win now

    # The question that is being asked (phases/claims.py).
    offered: Int8Array = _array("B", np.int8, NO_TILE, "all")
    offered_by: Int8Array = _array("B", np.int8, NO_SEAT, "all")
    options: Int8Array = _array("BS", np.int8, 0, "owner")  # option bits of the seats still to be asked
    best_key: Int8Array = _array("B", np.int8, 0, "nobody")  # rank of the best answer so far, 0 for none
    best_seat: Int8Array = _array("B", np.int8, NO_SEAT, "nobody")
    best_action: Int8Array = _array("B", np.int8, 0, "nobody")
    stage: Int8Array = _array("B", np.int8, 0, "all")  # questions before the first turn that have been dealt with

    mask: BoolArray = _array("BX", np.bool_, 0, "asked")  # legal actions of the seat to act

    # The same memory, seen otherwise.
    by_chair: State = field(init=False, repr=False)  # arrays with a seat axis as [B * S, ...], the others as they are
    flat: State = field(init=False, repr=False)  # every array with one axis
    num_seats: int = field(init=False, repr=False)  # S
    wall_size: Int16Array = field(init=False, repr=False)  # W, as an array without axes
    places: Places = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the views; the arrays are never replaced."""
        self.num_seats = int(self.hand.shape[1])
        self.wall_size = np.array(self.wall.shape[1], np.int16)
        self.places = Places(len(self.hand), self.num_seats, self.wall.shape[1], NUM_PLANES)
        self.by_chair, self.flat = object.__new__(State), object.__new__(State)
        for item in array_fields():
            array = getattr(self, item.name)
            chairs = (array.shape[0] * self.num_seats, *array.shape[2:])
            setattr(self.by_chair, item.name, array.reshape(chairs) if item.metadata["axes"][:2] == "BS" else array)
            setattr(self.flat, item.name, array.reshape(-1))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have views of their own arrays."""
        return _from_arrays, (self.arrays(),)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the arrays, in the order of declaration."""
        return tuple(item.name for item in array_fields())

    @classmethod
    def allocate(cls, axes: dict[str, int]) -> State:
        """A state of empty arrays; ``axes`` gives the lengths of B, S, P, W and K."""
        lengths = {
            "T": NUM_KINDS,
            "A": NUM_ALL_KINDS,
            "M": MAX_MELDS,
            "G": 4,
            "L": NUM_PLANES,
            "X": NUM_ACTIONS,
            "R": MAX_DISCARDS,
        }
        lengths |= axes
        return cls(
            **{
                item.name: np.full(
                    [lengths[axis] for axis in item.metadata["axes"]], item.metadata["empty"], item.metadata["dtype"]
                )
                for item in array_fields()
            }
        )

    def rows(self, games: Games) -> State:
        """A new state with copies of these games, repeats allowed."""
        return State(**{name: getattr(self, name)[games] for name in self.names()})

    def arrays(self) -> dict[str, Any]:
        """The arrays by name; not copies."""
        return {name: getattr(self, name) for name in self.names()}

    def chairs(self, games: Games, seat: Any) -> Games:
        """[n] numbers of chairs; ``seat`` [n] or one for all."""
        return self.places.chair(games, seat)

    def left(self, games: Games) -> Int16Array:
        """[n] drawable tiles."""
        return self.wall_size - self.front[games] - self.back[games] - self.reserve[games]

    def wilds_held(self, games: Games, chair: Games) -> Int8Array:
        """[n] wild tiles among the concealed tiles of one chair a game."""
        wild = self.wild[games]
        return self.flat.hand[self.places.tile(chair, wild)] * (wild >= _ZERO)

    def add_tiles(self, games: Games, chair: Games, kind: Any, count: int) -> None:
        """Put ``count`` tiles of a kind into concealed hands (negative: take out). Each chair at most once."""
        self.flat.hand[self.places.tile(chair, kind)] += _COUNTS[count]
        self.flat.code[self.places.code(chair, kind)] += code_steps(self.wild[games], kind, count)

    def add_meld(
        self, chair: Games, meld_type: Any, kind: Any, from_seat: Any, claimed: Any, *, shown: bool = True
    ) -> None:
        """Lay down one meld a chair; the caller moves its tiles. ``shown``: whether all may see its kind."""
        flat = self.flat
        number = flat.num_melds[chair]
        flat.num_melds[chair] = number + np.int8(1)
        place = chair * MAX_MELDS + number
        flat.meld_type[place] = meld_type
        flat.meld_kind[place] = kind
        flat.meld_from[place] = from_seat
        flat.meld_claimed[place] = claimed
        listed = self.places.public(chair, MELD_LIST, number * np.intp(MELD_PLACES))
        flat.public[listed] = meld_type
        flat.public[listed + 1] = kind + np.int8(1) if shown else 0
        if from_seat is not NO_SEAT:
            offset = (from_seat - chair) % self.num_seats  # chairs of one seat are S apart
            flat.public[listed + 2] = SLOT_OF_OFFSET[self.num_seats][offset]
            flat.public[listed + 3] = claimed + np.int8(1)

    def raise_pung(self, chair: Games, place: Any, meld_type: Any) -> None:
        """Turn the pung at this place of the melds into a kong."""
        self.flat.meld_type[chair * MAX_MELDS + place] = meld_type
        self.flat.public[self.places.public(chair, MELD_LIST, place * np.intp(MELD_PLACES))] = meld_type


def river_kinds(codes: Any) -> Int8Array:
    """[...] int8 the kinds of discards in `State.river`, -1 where there is none."""
    codes = codes.view(np.uint8)
    return np.where(codes > 0, (codes - np.uint8(1)) % np.uint8(RIVER_STEP), np.uint8(255)).view(np.int8)


def river_claimers(codes: Any) -> Int8Array:
    """[...] int8 who claimed discards in `State.river`: 1 the player after their owner, 2 across, 3 before; 0 nobody."""
    codes = codes.view(np.uint8)
    return np.where(codes > 0, (codes - np.uint8(1)) // np.uint8(RIVER_STEP), np.uint8(0)).view(np.int8)


def array_fields() -> tuple[Field[Any], ...]:
    """The declarations of the arrays."""
    return tuple(item for item in fields(State) if "axes" in item.metadata)


def _from_arrays(arrays: dict[str, Any]) -> State:
    return State(**arrays)


def hand_arrays() -> tuple[str, ...]:
    """The arrays that a new hand begins with empty: all but those of chance and of the match."""
    kept = State.names()[: State.names().index("wall")]
    return tuple(name for name in State.names() if name not in kept and name != "wall")
