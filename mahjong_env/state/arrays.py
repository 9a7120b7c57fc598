"""The state of a batch of games: every array, declared once, and the methods (verbs) that move tiles in them.

Allocation, copying, selecting games, snapshots and the privacy test are derived from the declarations.

Axes:
    B  games                                S  seats at the table (3 or 4)
    P  persons: those at the table, and     W  places in the wall (136 or 144)
       one more with a rotation             T  kinds in a hand (34)
    A  all kinds, flowers included (42)     M  melds of a seat (5)
    G  groups of a hand code (4)            K  marks of the variant
    V  private walls (S or none)
    L  public planes                        X  actions (109)
    R  discards of a seat                   E  what was laid open in a hand

Seats count counter-clockwise: the next player is seat + 1. ``seen_by`` says who sees an array: "all"; "owner", the seat
of the seat axis; "owner of turn", the seat whose turn it is; "asked", the seat to act; or "nobody".
`observation.visibility` derives from it what a seat sees.

`Seats` (made by `State.seats`) says whose tiles are meant: ``seats.of(state.hand)`` gathers the hands of some seats,
and the verbs of `State` (`discard`, `lay_meld`, `remove_tiles`, ...) change them. The arrays themselves are ordinary
numpy arrays: ``state.hand[game, seat, kind]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array, Int64Array, UInt64Array
from mahjong_env.hands.codes import SUIT, split_wilds
from mahjong_env.state.flat import GROUP, MASK, Flat, Lines, code_steps, whole_rows
from mahjong_env.state.seats import Seats

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
MAX_EXPOSED: Final = 60
"""More than can be laid open in a hand without a claim: 20 kongs, 36 flowers, and the end of the hand."""
# The parts of a number in `State.exposed`; observers add their offset to the part of the seat, which has room for 7.
EXPOSED_SEAT, EXPOSED_EVENT, EXPOSED_WHAT = 2**8, 2**11, 2**16
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
    "E": MAX_EXPOSED,
}


class Phase:
    """The phases of a game, by the decision that it waits for; the numbers of `State.phase`."""

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


class Event:
    """The events of a hand that all can see; those of melds have the numbers of `MeldType`.

    `mahjong_env.View.events` lists those of a hand.
    """

    NOTHING: Final = 0
    CHOW: Final = 1
    PUNG: Final = 2
    EXPOSED_KONG: Final = 3
    ADDED_KONG: Final = 4
    CONCEALED_KONG: Final = 5
    DRAW: Final = 6
    DISCARD: Final = 7
    FLOWER: Final = 8
    WIN: Final = 9
    """A win with a tile of one's own."""
    WIN_FROM: Final = 10
    """A win with a tile of another seat: its discard, or the tile that it adds to a pung."""
    DRAWN_HAND: Final = 11
    """The hand ended without a winner."""


# Kept as arrays: numpy would convert a plain number in every call.
_ZERO, _ONE, _NO_TILE = (np.array(number, np.int8) for number in (0, 1, NO_TILE))
_ONE_MORE: Final = np.array(1, np.int16)
_CLAIMED: Final = np.array(CLAIMED, np.int8)
# [events, seats] entries of `State.exposed` that hold only the event and the seat, with the 1 of "kind + 1".
_EXPOSED_BY: Final = np.int32(EXPOSED_WHAT) + np.add.outer(
    np.arange(Event.DRAWN_HAND + 1, dtype=np.int32) * EXPOSED_EVENT, np.arange(4, dtype=np.int32) * EXPOSED_SEAT
)
_EXPOSED_WHAT = np.array(EXPOSED_WHAT, np.int32)
_COUNTS: Final = {count: np.array(count, np.int8) for count in range(-4, 5)}
# By the seats at the table and a number: [number, S] that number of seats after each seat, in their order.
_SEATS_AFTER: Final = {
    (seats, number): (np.arange(seats) + np.arange(1, number + 1)[:, None]) % seats
    for seats in (3, 4)
    for number in range(1, seats + 1)
}
FEW_GAMES: Final = 16
"""The largest batch that is played and observed in plain Python as well; in larger ones numpy is faster."""
NEXT_SEAT: Final = {seats: _SEATS_AFTER[seats, 1][0] for seats in (3, 4)}
# By the type of a meld: how many tiles it shows of each kind, from its lowest kind on.
_TILES_OF_MELD: Final = {
    MeldType.CHOW: (1, 1, 1),
    MeldType.PUNG: (3,),
    MeldType.EXPOSED_KONG: (4,),
    MeldType.CONCEALED_KONG: (4,),
}


def _array(axes: str, dtype: Any, empty: int, seen_by: str) -> Any:
    return field(metadata={"axes": axes, "dtype": np.dtype(dtype), "empty": empty, "seen_by": seen_by})


@dataclass(slots=True)
class State:
    """A batch of B games: the arrays, and the verbs that change them for some seats; row i of every array is game i."""

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
    person_at: Int8Array = _array("BS", np.int8, 0, "all")  # who sits there; the seat's own number unless people move

    # The wall. Tiles are drawn at the front, replacements at the back; left = W - front - back - reserve.
    wall: Int8Array = _array("BW", np.int8, NO_TILE, "nobody")
    front: Int16Array = _array("B", np.int16, 0, "all")
    back: Int16Array = _array("B", np.int16, 0, "all")
    reserve: Int16Array = _array("B", np.int16, 0, "all")  # tiles that are never drawn
    # With private walls (Rules.has_private_walls), how many tiles each seat has drawn from its own since the deal. The
    # dealt tiles come first; then the private walls take turns with one tile each, from the seat after the dealer on.
    # `front` counts the tiles drawn from all of them.
    private_draws: Int8Array = _array("BV", np.int8, 0, "all")
    indicator: Int8Array = _array("B", np.int8, NO_TILE, "all")  # the tile turned up, and out of play
    wild: Int8Array = _array("B", np.int8, NO_TILE, "all")

    # Tiles of the seats.
    hand: Int8Array = _array("BST", np.int8, 0, "owner")  # concealed tiles, wild ones included
    code: Int32Array = _array("BSG", np.int32, 0, "owner")  # the same as codes of hands/codes.py, without the wild ones
    flowers: Int8Array = _array("BSA", np.int8, 0, "all")
    public: Int8Array = _array("BSLT", np.int8, 0, "all")
    # public planes: DISCARDED tiles lying before the seat; LATEST the number (1 = the hand's first discard) of its
    # latest discard of the kind, also if it was claimed; MELDED tiles of its melds (concealed kongs only if they are
    # shown); MELD_LIST the melds in order, each as MELD_PLACES numbers (see `State.lay_meld`).
    num_melds: Int8Array = _array("BS", np.int8, 0, "all")
    meld_type: Int8Array = _array("BSM", np.int8, 0, "all")  # notation.MeldType
    meld_kind: Int8Array = _array("BSM", np.int8, NO_TILE, "all")  # a hidden concealed kong's kind: its owner only
    meld_from: Int8Array = _array("BSM", np.int8, NO_SEAT, "all")
    meld_claimed: Int8Array = _array("BSM", np.int8, NO_TILE, "all")  # the kind that was claimed
    open_pung: BoolArray = _array("BST", np.bool_, 0, "all")
    # Discards in order, claimed ones included: kind + 1, and CLAIMED more if it was claimed; the negative of that if
    # the seat had just drawn such a tile; 0 after the last.
    river: Int8Array = _array("BSR", np.int8, 0, "all")
    river_number: Int8Array = _array("BSR", np.int8, 0, "all")  # which discard of the hand it was, 1 the first
    river_claimed: Int8Array = _array("BSR", np.int8, 0, "all")  # by whom: slot counted from its owner, 0 nobody
    river_size: Int8Array = _array("BS", np.int8, 0, "all")
    num_discards: Int8Array = _array("B", np.int8, 0, "all")  # discards of the hand, claimed ones included
    # What was laid open since the deal without a claim, in order (see observation/events.py): discards of the hand
    # before it + EXPOSED_SEAT * seat + EXPOSED_EVENT * Event + EXPOSED_WHAT * (number of a kong, or kind, + 1).
    exposed: Int32Array = _array("BE", np.int32, 0, "all")
    num_exposed: Int8Array = _array("B", np.int8, 0, "all")
    marks: Int16Array = _array("BSK", np.int16, 0, "all")  # what the variant counts for each seat (Rules.marks)

    # The turn.
    phase: Int8Array = _array("B", np.int8, Phase.OVER, "all")
    actor: Int8Array = _array("B", np.int8, NO_SEAT, "all")  # seat to act; in questions only that seat itself sees it
    turn: Int8Array = _array("B", np.int8, 0, "all")  # seat whose turn it is
    drawn: Int8Array = _array("B", np.int8, NO_TILE, "owner of turn")  # what the turn's seat drew, none after a claim
    kong_draws: Int8Array = _array("B", np.int8, 0, "all")  # kongs in an unbroken row before the drawn tile
    flower_draw: BoolArray = _array("B", np.bool_, 0, "all")  # the drawn tile replaced a flower
    # Others see a draw only together with the seat's next action, so these are kept until then: the drawable tiles
    # before it and, if it is a flower_draw, the flowers laid open for it and the marks of the seat before them.
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

    num_seats: int = field(init=False, repr=False)  # S
    has_private_walls: bool = field(init=False, repr=False)  # whether V is S
    _flat: Flat = field(init=False, repr=False)  # the same memory, for the verbs
    _wall_size: Int16Array = field(init=False, repr=False)  # W, as an array without axes
    # For few games: the memory of all arrays with one more number that is 0, and where each array begins there.
    block: Int8Array = field(init=False, repr=False)
    _starts: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the views of the arrays, which are never replaced."""
        self.num_seats = int(self.hand.shape[1])
        self.has_private_walls = self.private_draws.shape[1] > 0
        if len(self.phase) <= FEW_GAMES:
            self._pack()
        self._flat = Flat(self.arrays())
        self._wall_size = np.array(self.wall.shape[1], np.int16)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild copies and pickles from the arrays, so that they have views of their own."""
        return _from_arrays, (self.arrays(),)

    # --- The memory ----------------------------------------------------------------------------------------------
    @staticmethod
    @cache
    def names() -> tuple[str, ...]:
        """Return the names of the arrays, in the order of declaration."""
        return tuple(item.name for item in array_fields())

    @classmethod
    def allocate(cls, axes: dict[str, int]) -> State:
        """Return a state with empty arrays; ``axes`` gives the lengths of B, S, P, W, K and V."""
        made = {}
        for item in array_fields():
            made[item.name] = np.full(_shape(item, axes), item.metadata["empty"], item.metadata["dtype"])
        return cls(**made)

    @staticmethod
    def bytes_of(axes: dict[str, int]) -> int:
        """Return the number of bytes that the arrays of such a state take."""
        return sum(math.prod(_shape(item, axes)) * item.metadata["dtype"].itemsize for item in array_fields())

    def rows(self, games: Games) -> State:
        """Return copies of these games, repeats allowed."""
        return type(self)(**{name: getattr(self, name).take(games, axis=0) for name in self.names()})

    def copy(self) -> State:
        """Return a copy of all games."""
        return type(self)(**{name: array.copy() for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name; they are not copies."""
        return {name: getattr(self, name) for name in self.names()}

    def _pack(self) -> None:
        """Lay the arrays side by side, the widest numbers first, so that few games are read and copied as one."""
        arrays, start = self._by_width(), 0
        self._starts = {}
        self.block = np.zeros(sum(array.nbytes for array in arrays.values()) + 1, np.int8)
        for name, array in arrays.items():
            place = self.block[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
            place[...] = array
            setattr(self, name, place)
            self._starts[name] = start
            start += array.nbytes

    def _by_width(self) -> dict[str, Any]:
        return dict(sorted(self.arrays().items(), key=lambda item: -item[1].itemsize))

    def empty_hands(self, games: Games) -> None:
        """Reset the arrays of these games for a new hand."""
        for name, empty in _empty_rows(self.num_seats, self.marks.shape[2], self.private_draws.shape[1]):
            self._flat.rows[name][games] = empty

    def copy_games(self, games: Games, other: State, rows: Games) -> None:
        """Write games ``rows`` [n] of a state with the same axes over these games [n]."""
        theirs = other._flat.rows
        for name, own in self._flat.rows.items():
            own[games] = theirs[name][rows]

    def packed(self) -> Int8Array:
        """Return [B, ...] the bytes of each game, as they lie in the memory of a state that has only this game."""
        rows = [
            array.reshape(len(array), math.prod(array.shape[1:])).view(np.int8) for array in self._by_width().values()
        ]
        return np.concatenate(rows, axis=1)

    def unpack(self, game: Int8Array) -> None:
        """Write a row of `packed` over the only game of this state: one long copy instead of many."""
        self.block[:-1] = game

    def places(self, name: str) -> Games:
        """Return where the numbers of a one-byte array lie in `block`, in the array's shape."""
        array = getattr(self, name)
        return self._starts[name] + np.arange(array.size).reshape(array.shape)

    def stretch(self, first: str, last: str) -> memoryview:
        """Return the memory from one array to another, both of numbers of one size, as bytes."""
        end = self._starts[last] + getattr(self, last).nbytes
        return self.block[self._starts[first] : end].data

    def lines(self) -> Lines:
        """Return the arrays in the form that plain Python reads and writes."""
        return Lines(self.arrays())

    # --- Seats ---------------------------------------------------------------------------------------------------
    def seats(self, games: Games, seat: Any) -> Seats:
        """Return one seat in each game: ``games`` [n], ``seat`` [n] or one for all (or arrays that broadcast)."""
        if isinstance(seat, int):
            seat = np.full(len(games), seat, np.int8)
        return Seats(games, seat, self._flat.seats_at(games) + seat)

    def seats_to_act(self, games: Games) -> Seats:
        """Return the seats that these games wait for; none of the games may be over."""
        return self.seats(games, self.actor[games])

    def seats_after(self, games: Games, seat: Any, number: int) -> Seats:
        """Return [number, n] the seats after one seat in each game, in order; the last of S is that seat itself.

        Games come last, because numpy reduces few long rows 30 times faster than many short ones.
        """
        return self.seats(games, _SEATS_AFTER[self.num_seats, number].take(seat, axis=1))

    def next_seats(self, seats: Seats) -> Seats:
        """Return [n] the seats after these."""
        return self.seats(seats.game, NEXT_SEAT[self.num_seats].take(seats.seat))

    # --- The wall ------------------------------------------------------------------------------------------------
    def left(self, games: Games) -> Int16Array:
        """Return [n] the number of drawable tiles, in all private walls together."""
        return self._wall_size - self.front[games] - self.back[games] - self.reserve[games]

    def left_to(self, seats: Seats) -> Int16Array:
        """Return [n] or [m, n] the number of tiles that seats can draw, from their private walls or the common one."""
        if not self.has_private_walls:
            return np.broadcast_to(self.left(seats.game), seats.index.shape)
        games, turns_after = seats.game, self._turns_after_dealer(seats.game, seats.seat)
        drawable = self._wall_size - self.reserve[games] - self._end_of_deal(games)
        left: Int16Array = (drawable + np.int16(self.num_seats - 1) - turns_after) // np.int16(self.num_seats)
        left -= seats.of(self.private_draws)
        return left

    def left_to_next(self, games: Games) -> Int16Array:
        """Return [n] the number of tiles that can be drawn by the seat after the one whose turn it is."""
        if not self.has_private_walls:
            return self.left(games)
        return self.left_to(self.seats(games, NEXT_SEAT[self.num_seats].take(self.turn[games])))

    def _end_of_deal(self, games: Games) -> Int16Array:
        """Return [n] the places at which the private walls begin."""
        start: Int16Array = self.front[games] - self.private_draws[games].sum(axis=-1, dtype=np.int16)
        return start

    def _turns_after_dealer(self, games: Games, seat: Any) -> Int16Array:
        """Return [n] how many seats draw before these when all draw in turn, from the one after the dealer on."""
        turns: Int16Array = ((seat - self.dealer[games] - _ONE) % self.num_seats).astype(np.int16)
        return turns

    def take_front(self, seats: Seats) -> Int8Array:
        """Take the next tiles of the walls that seats draw from, and return them [n]; there must be a drawable one."""
        games = seats.game
        number = self.front[games]
        if self.has_private_walls:
            drawn = seats.of(self.private_draws)
            place = self._end_of_deal(games) + self._turns_after_dealer(games, seats.seat)
            place += drawn * np.int16(self.num_seats)
            self.private_draws[games, seats.seat] = drawn + _ONE
        else:
            place = number
        self.front[games] = number + _ONE_MORE
        return self._flat.wall[self._flat.walls_at(games) + place]

    def take_back(self, seats: Seats) -> Int8Array:
        """Take replacements and return them [n]: the last tiles of the walls, or the next of private ones.

        There must be one for each seat.
        """
        if self.has_private_walls:
            return self.take_front(seats)
        games = seats.game
        taken = self.back[games] + _ONE_MORE
        self.back[games] = taken
        return self._flat.wall[self._flat.walls_at(games) + (self._wall_size - taken)]

    def undrawn(self, games: Games) -> BoolArray:
        """Return [n, W] which places of the walls hold tiles that nobody has, including those that are never drawn."""
        place = np.arange(self.wall.shape[1], dtype=np.int16)
        if self.has_private_walls:
            behind = place - self._end_of_deal(games)[:, None]
            drawn = np.take_along_axis(self.private_draws[games], self.wall_owners(games), axis=1)
            return np.asarray((behind >= 0) & (behind // np.int16(self.num_seats) >= drawn))
        front, end = self.front[games, None], self._wall_size - self.back[games, None]
        return np.asarray((place >= front) & (place < end))

    def wall_owners(self, games: Games) -> NDArray[np.intp]:
        """Return [n, W] the seats to whose private walls the places behind the deal belong."""
        behind = np.arange(self.wall.shape[1]) - self._end_of_deal(games)[:, None]
        owners: NDArray[np.intp] = (behind + self.dealer[games, None] + 1) % self.num_seats
        return owners

    def wall_counts(self, games: Games) -> Int8Array:
        """Return [n, 42] the number of tiles of each kind that are `undrawn`."""
        size = len(games) * NUM_ALL_KINDS
        counted = self.wall[games] + np.arange(0, size, NUM_ALL_KINDS)[:, None]
        counts = np.bincount(counted[self.undrawn(games)], minlength=size)
        return counts.reshape(len(games), NUM_ALL_KINDS).astype(np.int8)

    def next_tiles(self, games: Games, number: int) -> Int8Array:
        """Return [n, number] the next drawable tiles of the walls, which stay there; -1 where there are no more."""
        ahead = np.arange(number)
        tile = np.minimum(self.front[games][:, None] + ahead, self.wall.shape[1] - 1)
        return np.where(ahead < self.left(games)[:, None], self.wall[games[:, None], tile], NO_TILE)

    # --- Concealed tiles -----------------------------------------------------------------------------------------
    def held(self, seats: Seats, kind: Any) -> Int8Array:
        """Return [n] the number of concealed tiles of a kind; ``kind`` broadcasts against ``seats.index``."""
        return self._flat.hand[self._flat.kinds_at(seats.index) + kind]

    def wilds_held(self, seats: Seats) -> Int8Array:
        """Return [n] the number of wild tiles among the concealed tiles."""
        wild = self.wild[seats.game]
        return self._flat.hand[self._flat.kinds_at(seats.index) + wild] * (wild >= _ZERO)

    def natural_hands(self, games: Games) -> Int8Array:
        """Return [n, S, 34] the concealed tiles of all seats without the wild ones."""
        return split_wilds(self.hand[games], self.wild[games])[0]

    def add_tile(self, seats: Seats, kind: Any) -> None:
        """Put one tile in each game into concealed hands."""
        self.remove_tiles(seats, kind, -1)

    def remove_tiles(self, seats: Seats, kind: Any, count: int = 1) -> None:
        """Take ``count`` tiles of one kind in each game out of concealed hands."""
        flat, index = self._flat, seats.index
        flat.hand[flat.kinds_at(index) + kind] -= _COUNTS[count]
        flat.code[flat.codes_at(index) + GROUP[kind]] -= code_steps(self.wild[seats.game], kind, count)

    def codes_with(self, seats: Seats, kind: Any) -> Int32Array:
        """Return [n, 4] codes of the concealed tiles and one more tile ``kind`` [n], with wild ones left out."""
        codes = seats.of(self.code)
        codes[np.arange(len(codes)), SUIT[kind]] += code_steps(self.wild[seats.game], kind, 1)
        return codes

    # --- What all see --------------------------------------------------------------------------------------------
    def expose_flower(self, seats: Seats, kind: Any) -> None:
        """Lay open one flower in each game, which has not been in the hand; `note_flowers` must follow."""
        self._flat.flowers[self._flat.flowers_at(seats.index) + kind] += _COUNTS[1]

    def note_flowers(self, rounds: Sequence[tuple[Seats, Any]]) -> None:
        """Record the flowers of a step, in rounds of seats and kinds; a game that leaves does not come again."""
        if len(rounds) == 1:
            ((seats, kind),) = rounds
            self.note(seats.game, seats.seat, Event.FLOWER, kind)
        elif (joined := Seats.join([seats for seats, _ in rounds])) is not None:
            kind = np.concatenate([kind for _, kind in rounds])
            earlier = np.arange(len(rounds), dtype=np.int8).repeat([len(seats) for seats, _ in rounds])
            self.note(joined.game, joined.seat, Event.FLOWER, kind, earlier)

    def note(self, games: Games, seat: Any, event: Any, what: Any, earlier: Any = None) -> None:
        """Record what was laid open: one event in each game, or several with ``earlier`` [n], how many come before."""
        if not games.size:
            return
        number = self.num_exposed[games]
        if earlier is not None:
            number = number + earlier
        self.num_exposed[games] = number + _ONE  # of several numbers for a game numpy keeps the last
        entry = what * _EXPOSED_WHAT + _EXPOSED_BY[event, seat] + self.num_discards[games]
        self._flat.exposed[self._flat.exposed_at(games) + number] = entry

    def pungs_of(self, seats: Seats, kind: Any) -> Any:
        """Return [n] the places among the melds of the open pungs of these kinds."""
        is_it = (seats.of(self.meld_kind) == kind[:, None]) & (seats.of(self.meld_type) == MeldType.PUNG)
        return is_it.argmax(axis=1)

    def discard(self, seats: Seats, kind: Any) -> None:
        """Move one tile in each game from the hand to the seat's river; the seat then has no drawn tile."""
        flat, index = self._flat, seats.index
        self.remove_tiles(seats, kind)
        number = self.num_discards[seats.game] + _ONE
        self.num_discards[seats.game] = number
        flat.public[flat.planes_at[DISCARDED](index) + kind] += _ONE
        flat.public[flat.planes_at[LATEST](index) + kind] = number
        place = flat.river_size[index]
        at = flat.rivers_at(index) + place
        code = kind + _ONE
        flat.river[at] = np.negative(code, out=code, where=kind == self.drawn[seats.game])
        flat.river_number[at] = number
        flat.river_size[index] = place + _ONE
        self.drawn[seats.game] = _NO_TILE

    def lying_discards(self, game: int, seat: int) -> Int8Array:
        """Return [n] the kinds of one seat's discards that nobody has claimed, the oldest first."""
        codes = np.abs(self.river[game, seat])
        return codes[(codes > 0) & (codes <= CLAIMED)] - _ONE

    def lying_open(self, games: Games, kind: Any) -> Int8Array:
        """Return [n] the tiles of a kind [n] that all can see: discards on the table, and melds but hidden kongs."""
        planes = self.public.transpose(0, 3, 1, 2)[games, kind]
        lying: Int8Array = (planes[:, :, DISCARDED] + planes[:, :, MELDED]).sum(axis=1, dtype=np.int8)
        return lying

    def take_discard(self, givers: Seats, kind: Any, claimer: Any) -> None:
        """Take away the latest discard of each giver for the seat that claims it, ``claimer`` [n]; rivers record it."""
        flat, index = self._flat, givers.index
        flat.public[flat.planes_at[DISCARDED](index) + kind] -= _ONE
        latest = flat.rivers_at(index) + (flat.river_size[index] - _ONE)
        code = flat.river[latest]
        flat.river[latest] = code + np.sign(code) * _CLAIMED
        flat.river_claimed[latest] = SLOT_OF_OFFSET[self.num_seats][(claimer - givers.seat) % self.num_seats]
        self.undisturbed[givers.game] = False

    def lay_meld(
        self,
        seats: Seats,
        meld_type: MeldType,
        kind: Any,
        giver: Any = None,
        claimed: Any = None,
        *,
        shown: bool = True,
    ) -> None:
        """Lay down one meld in each game; the caller removes its concealed tiles.

        Args:
            seats: the owners of the melds.
            meld_type: the type of all of them.
            kind: [n] the kind of each; the lowest of a chow.
            giver: [n] the seat that gave the claimed tile; None for a concealed kong, like ``claimed``.
            claimed: [n] the kind that was claimed.
            shown: whether all may see the kind.
        """
        flat, index = self._flat, seats.index
        number = flat.num_melds[index]
        flat.num_melds[index] = number + _ONE
        place = flat.melds_at(index) + number
        flat.meld_type[place] = meld_type
        flat.meld_kind[place] = kind
        flat.meld_from[place] = NO_SEAT if giver is None else giver
        flat.meld_claimed[place] = NO_TILE if claimed is None else claimed
        listed = flat.planes_at[MELD_LIST](index) + number * np.intp(MELD_PLACES)
        flat.public[listed] = meld_type
        flat.public[listed + 1] = kind + _ONE if shown else 0
        if giver is not None:
            flat.public[listed + 2] = SLOT_OF_OFFSET[self.num_seats][(giver - seats.seat) % self.num_seats]
            flat.public[listed + 3] = claimed + _ONE
            flat.public[listed + 4] = flat.river_size[flat.seats_at(seats.game) + giver]
        if shown:
            for step, tiles in enumerate(_TILES_OF_MELD[meld_type]):
                flat.public[flat.planes_at[MELDED](index) + kind + step] += _COUNTS[tiles]
        if meld_type == MeldType.PUNG:
            flat.open_pung[flat.kinds_at(index) + kind] = True
        if giver is None:
            self.note(seats.game, seats.seat, meld_type, number)

    def add_to_pung(self, seats: Seats, kind: Any) -> Int8Array:
        """Turn the open pungs of these kinds into added kongs; return [n] the seats that once gave the pungs."""
        flat, index = self._flat, seats.index
        number = self.pungs_of(seats, kind)
        place = flat.melds_at(index) + number
        flat.meld_type[place] = MeldType.ADDED_KONG
        flat.public[flat.planes_at[MELD_LIST](index) + number * np.intp(MELD_PLACES)] = MeldType.ADDED_KONG
        flat.public[flat.planes_at[MELDED](index) + kind] += _ONE
        flat.open_pung[flat.kinds_at(index) + kind] = False
        return flat.meld_from[place]

    def has_open_pung(self, seats: Seats, kind: Any) -> BoolArray:
        """Return [n] whether an open pung of this kind lies there; ``kind`` broadcasts against ``seats.index``."""
        return self._flat.open_pung[self._flat.kinds_at(seats.index) + kind]

    # --- Whose turn it is, and who is asked ----------------------------------------------------------------------
    def wait_for(self, seats: Seats, phase: int) -> None:
        """Make the games wait for these seats."""
        self.phase[seats.game] = phase
        self.actor[seats.game] = seats.seat

    def begin_turn(self, seats: Seats) -> None:
        """Begin the turns of seats that are about to draw; no kong and no flower has led to that draw."""
        games = seats.game
        self.turn[games] = seats.seat
        self._flat.turns[seats.index] += _ONE
        self.kong_draws[games] = 0
        self.flower_draw[games] = False

    def set_masks(self, games: Games, masks: BoolArray) -> None:
        """Set the legal actions of the seats to act; ``masks`` [n, 109]."""
        self._flat.masks[games] = masks.view(MASK)[:, 0]  # numpy copies one item at once, but walks along 109

    def are_legal(self, games: Games, actions: Any) -> BoolArray:
        """Return [n] whether these actions, 0 to 108, are legal for the seats to act."""
        return self._flat.mask[self._flat.masks_at(games) + actions]


@cache
def array_fields() -> tuple[Field[Any], ...]:
    """Return the declarations of the arrays."""
    return tuple(item for item in fields(State) if "axes" in item.metadata)


def _shape(item: Field[Any], axes: dict[str, int]) -> list[int]:
    lengths = _LENGTHS | axes
    return [lengths[axis] for axis in item.metadata["axes"]]


@cache
def _empty_rows(num_seats: int, num_marks: int, num_walls: int) -> tuple[tuple[str, Any], ...]:
    """Return what a new hand begins with in each array, except those of chance and of the match, as one item."""
    one = State.allocate({"B": 1, "S": num_seats, "P": 0, "W": 0, "K": num_marks, "V": num_walls}).arrays()
    of_hand = list(one.items())[list(one).index("wall") + 1 :]
    return tuple((name, whole_rows(array).reshape(())) for name, array in of_hand if array.size)


def _from_arrays(arrays: dict[str, Any]) -> State:
    return State(**arrays)
