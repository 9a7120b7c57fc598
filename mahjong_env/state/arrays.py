"""The state of a batch of games: its arrays, as declared.py declares them, and the verbs that move tiles in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array
from mahjong_env.hands.codes import SUIT
from mahjong_env.state.declared import (
    CLAIMED,
    DISCARDED,
    LATEST,
    MAX_DISCARDS,
    MAX_MARKS,
    MAX_MELDS,
    MELD_LIST,
    MELD_PLACES,
    MELDED,
    NO_SEAT,
    NUM_PLANES,
    SLOT_OF_OFFSET,
    Arrays,
    Phase,
    array_fields,
    hand_arrays,
)
from mahjong_env.state.flat import Flat, code_steps
from mahjong_env.state.seats import Seats

__all__ = [
    "CLAIMED",
    "DISCARDED",
    "FEW_GAMES",
    "LATEST",
    "MAX_DISCARDS",
    "MAX_MARKS",
    "MAX_MELDS",
    "MELDED",
    "MELD_LIST",
    "MELD_PLACES",
    "NO_SEAT",
    "NUM_PLANES",
    "SLOT_OF_OFFSET",
    "Arrays",
    "Phase",
    "State",
    "array_fields",
    "hand_arrays",
]

# Arrays, as numpy turns plain numbers into arrays in every call.
_ZERO, _ONE, _NO_TILE = (np.array(number, np.int8) for number in (0, 1, NO_TILE))
_ONE_MORE: Final = np.array(1, np.int16)
_CLAIMED: Final = np.array(CLAIMED, np.int8)
_COUNTS: Final = {count: np.array(count, np.int8) for count in range(-4, 5)}
# By seats at the table and a number of them: [number, S] that many seats after each seat, in their order.
_SEATS_AFTER: Final = {
    (seats, number): (np.arange(seats) + np.arange(1, number + 1)[:, None]) % seats
    for seats in (3, 4)
    for number in range(1, seats + 1)
}
FEW_GAMES: Final = 16
"""The largest batches that are played and observed in plain Python as well; in larger ones numpy is faster."""
_NEXT_SEAT: Final = {seats: _SEATS_AFTER[seats, 1][0] for seats in (3, 4)}
# How many tiles of the kinds from its lowest on a meld shows.
_TILES_OF_MELD: Final = {
    MeldType.CHOW: (1, 1, 1),
    MeldType.PUNG: (3,),
    MeldType.EXPOSED_KONG: (4,),
    MeldType.CONCEALED_KONG: (4,),
}


@dataclass(slots=True)
class State(Arrays):
    """A batch of B games; row i of every array is game i. Whose tiles are meant is said by `Seats`."""

    num_seats: int = field(init=False, repr=False)  # S
    _flat: Flat = field(init=False, repr=False)  # the same memory, for the verbs
    _wall_size: Int16Array = field(init=False, repr=False)  # W, as an array without axes
    _blocks: dict[int, Any] = field(init=False, repr=False)  # of few games: the memory of all arrays, by size of number
    _starts: dict[str, int] = field(init=False, repr=False)  # where each array begins in its block

    def __post_init__(self) -> None:
        """Make the views; the arrays are never replaced."""
        self.num_seats = int(self.hand.shape[1])
        self._blocks, self._starts = {}, {}
        if len(self.phase) <= FEW_GAMES:
            self._pack()
        self._flat = Flat(self.arrays())
        self._wall_size = np.array(self.wall.shape[1], np.int16)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have views of their own arrays."""
        return _from_arrays, (self.arrays(),)

    def _pack(self) -> None:
        """Lay the arrays side by side, for plain Python: it looks at many of them in every step."""
        arrays = self.arrays()
        for size in {array.itemsize for array in arrays.values()}:
            few = {name: array for name, array in arrays.items() if array.itemsize == size}
            zero = np.zeros(1, f"i{size}")  # for those who gather: a place where nothing ever stands
            self._blocks[size] = np.concatenate([*(array.reshape(-1).view(zero.dtype) for array in few.values()), zero])
            start = 0
            for name, array in few.items():
                place = self._blocks[size][start : start + array.size]
                setattr(self, name, place.view(array.dtype).reshape(array.shape))
                self._starts[name] = start
                start += array.size

    def memory(self, dtype: Any) -> memoryview:
        """All arrays of numbers of one size as one line of memory; what is written there stands in the arrays.

        Only states of up to `FEW_GAMES` games have it. Truth values are read as numbers; the last number is 0.
        """
        numbers = np.dtype(dtype)
        line: memoryview = self._blocks[numbers.itemsize].view(numbers).data
        return line

    def start(self, name: str) -> int:
        """Where an array begins in the `memory` of its numbers."""
        return self._starts[name]

    # --- Seats ---------------------------------------------------------------------------------------------------
    def seats(self, games: Games, seat: Any) -> Seats:
        """One seat in each game: ``games`` [n], ``seat`` [n] or one for all (or arrays that broadcast)."""
        if isinstance(seat, int):
            seat = np.full(len(games), seat, np.int8)
        return Seats(games, seat, self._flat.index(games, seat))

    def seats_to_act(self, games: Games) -> Seats:
        """The seats that these games wait for; none of the games may be over."""
        return self.seats(games, self.actor[games])

    def seats_after(self, games: Games, seat: Any, number: int) -> Seats:
        """[number, n] the seats after one seat in each game, in their order; the last of S is that seat itself.

        Games come last, because numpy reduces few long rows 30 times faster than many short ones.
        """
        return self.seats(games, _SEATS_AFTER[self.num_seats, number].take(seat, axis=1))

    def next_seats(self, seats: Seats) -> Seats:
        """[n] the seats after these."""
        return self.seats(seats.game, _NEXT_SEAT[self.num_seats].take(seats.seat))

    # --- The wall ------------------------------------------------------------------------------------------------
    def left(self, games: Games) -> Int16Array:
        """[n] drawable tiles."""
        return self._wall_size - self.front[games] - self.back[games] - self.reserve[games]

    def take_front(self, games: Games) -> Int8Array:
        """[n] the next tiles of the walls, taken away; there must be a drawable one."""
        number = self.front[games]
        self.front[games] = number + _ONE_MORE
        return self._flat.wall[self._flat.wall_tile(games, number)]

    def take_back(self, games: Games) -> Int8Array:
        """[n] the last tiles of the walls (replacements), taken away; there must be a drawable one."""
        taken = self.back[games] + _ONE_MORE
        self.back[games] = taken
        return self._flat.wall[self._flat.wall_tile(games, self._wall_size - taken)]

    def next_tiles(self, games: Games, number: int) -> Int8Array:
        """[n, number] the next drawable tiles of the walls, left where they are; -1 where there are no more."""
        ahead = np.arange(number)
        tile = np.minimum(self.front[games][:, None] + ahead, self.wall.shape[1] - 1)
        return np.where(ahead < self.left(games)[:, None], self.wall[games[:, None], tile], NO_TILE)

    # --- Concealed tiles -----------------------------------------------------------------------------------------
    def hands(self, seats: Seats) -> Int8Array:
        """[n, 34] concealed tiles, wild ones included; a copy."""
        return self._flat.hands.take(seats.index, axis=0)

    def codes(self, seats: Seats) -> Int32Array:
        """[n, 4] codes of the concealed tiles without the wild ones; a copy."""
        return self._flat.codes.take(seats.index, axis=0)

    def held(self, seats: Seats, kind: Any) -> Int8Array:
        """[n] concealed tiles of a kind; ``kind`` broadcasts against ``seats.index``."""
        return self._flat.hand[self._flat.tile(seats.index, kind)]

    def wilds_held(self, seats: Seats) -> Int8Array:
        """[n] wild tiles among the concealed tiles."""
        wild = self.wild[seats.game]
        return self._flat.hand[self._flat.tile(seats.index, wild)] * (wild >= _ZERO)

    def natural_hands(self, games: Games) -> Int8Array:
        """[n, S, 34] concealed tiles of all seats without the wild ones."""
        counts = self.hand[games]
        some = np.flatnonzero(self.wild[games] >= 0)
        counts[some, :, self.wild[games[some]]] = 0
        return counts

    def add_tile(self, seats: Seats, kind: Any) -> None:
        """Put one tile a game into concealed hands."""
        self._change_tiles(seats, kind, 1)

    def remove_tiles(self, seats: Seats, kind: Any, count: int = 1) -> None:
        """Take ``count`` tiles of one kind a game out of concealed hands."""
        self._change_tiles(seats, kind, -count)

    def _change_tiles(self, seats: Seats, kind: Any, count: int) -> None:
        flat, index = self._flat, seats.index
        flat.hand[flat.tile(index, kind)] += _COUNTS[count]
        flat.code[flat.suit(index, kind)] += code_steps(self.wild[seats.game], kind, count)

    def codes_with(self, seats: Seats, kind: Any) -> Int32Array:
        """[n, 4] codes of the concealed tiles and one more tile ``kind`` [n], wild ones left out."""
        codes = self.codes(seats)
        codes[np.arange(len(codes)), SUIT[kind]] += code_steps(self.wild[seats.game], kind, 1)
        return codes

    # --- What all see --------------------------------------------------------------------------------------------
    def expose_flower(self, seats: Seats, kind: Any) -> None:
        """Lay one flower a game open; it has not been in the hand."""
        self._flat.flowers[self._flat.flower(seats.index, kind)] += _COUNTS[1]

    def discard(self, seats: Seats, kind: Any) -> None:
        """Move one tile a game from the hand to the seat's river; nothing is drawn any more."""
        flat, index = self._flat, seats.index
        self._change_tiles(seats, kind, -1)
        number = self.num_discards[seats.game] + _ONE
        self.num_discards[seats.game] = number
        flat.public[flat.seen(index, DISCARDED, kind)] += _ONE
        flat.public[flat.seen(index, LATEST, kind)] = number
        place = flat.river_size[index]
        flat.river[flat.discard(index, place)] = kind + _ONE
        flat.river_size[index] = place + _ONE
        self.drawn[seats.game] = _NO_TILE

    def lying_discards(self, game: int, seat: int) -> Int8Array:
        """[n] the kinds of one seat's discards that nobody has claimed, the oldest first."""
        codes = self.river[game, seat]
        return codes[(codes > 0) & (codes <= CLAIMED)] - _ONE

    def take_discard(self, givers: Seats, kind: Any, claimer: Any) -> None:
        """Take the latest discard of each giver away for a seat that claims it, ``claimer`` [n]; rivers note it."""
        flat, index = self._flat, givers.index
        flat.public[flat.seen(index, DISCARDED, kind)] -= _ONE
        latest = flat.discard(index, flat.river_size[index] - _ONE)
        flat.river[latest] += _CLAIMED
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
        """Lay down one meld a game; its concealed tiles are removed by the caller.

        Args:
            seats: whose meld.
            meld_type: its type.
            kind: [n] its kind; the lowest of a chow.
            giver: [n] the seat that gave the claimed tile; None for a concealed kong.
            claimed: [n] the kind that was claimed; None for a concealed kong.
            shown: whether all may see its kind.
        """
        flat, index = self._flat, seats.index
        number = flat.num_melds[index]
        flat.num_melds[index] = number + _ONE
        place = flat.meld(index, number)
        flat.meld_type[place] = meld_type
        flat.meld_kind[place] = kind
        flat.meld_from[place] = NO_SEAT if giver is None else giver
        flat.meld_claimed[place] = NO_TILE if claimed is None else claimed
        listed = flat.seen(index, MELD_LIST, number * np.intp(MELD_PLACES))
        flat.public[listed] = meld_type
        flat.public[listed + 1] = kind + _ONE if shown else 0
        if giver is not None:
            flat.public[listed + 2] = SLOT_OF_OFFSET[self.num_seats][(giver - seats.seat) % self.num_seats]
            flat.public[listed + 3] = claimed + _ONE
            flat.public[listed + 4] = flat.river_size[flat.index(seats.game, giver)]
        if shown:
            for step, tiles in enumerate(_TILES_OF_MELD[meld_type]):
                flat.public[flat.seen(index, MELDED, kind + step)] += _COUNTS[tiles]
        if meld_type == MeldType.PUNG:
            flat.open_pung[flat.tile(index, kind)] = True

    def add_to_pung(self, seats: Seats, kind: Any) -> Int8Array:
        """Turn the open pungs of these kinds into added kongs; [n] the seats that once gave the pungs."""
        flat, index = self._flat, seats.index
        is_it = (seats.of(self.meld_kind) == kind[:, None]) & (seats.of(self.meld_type) == MeldType.PUNG)
        number = is_it.argmax(axis=1)
        place = flat.meld(index, number)
        flat.meld_type[place] = MeldType.ADDED_KONG
        flat.public[flat.seen(index, MELD_LIST, number * np.intp(MELD_PLACES))] = MeldType.ADDED_KONG
        flat.public[flat.seen(index, MELDED, kind)] += _ONE
        flat.open_pung[flat.tile(index, kind)] = False
        return flat.meld_from[place]

    def melds_made(self, seats: Seats) -> Int8Array:
        """[n] the number of melds of seats."""
        return self._flat.num_melds[seats.index]

    def has_open_pung(self, seats: Seats, kind: Any) -> BoolArray:
        """[n] whether an open pung of this kind lies there; ``kind`` broadcasts against ``seats.index``."""
        return self._flat.open_pung[self._flat.tile(seats.index, kind)]

    # --- Whose turn it is, and who is asked ----------------------------------------------------------------------
    def wait_for(self, seats: Seats, phase: int) -> None:
        """The games now wait for these seats."""
        self.phase[seats.game] = phase
        self.actor[seats.game] = seats.seat

    def begin_turn(self, seats: Seats) -> None:
        """The seats are about to draw; no kong and no flower has led to that draw."""
        games = seats.game
        self.turn[games] = seats.seat
        self._flat.turns[seats.index] += _ONE
        self.kong_draws[games] = 0
        self.flower_draw[games] = False

    def are_tenpai(self, seats: Seats) -> BoolArray:
        """[n] or [m, n] whether seats are one tile away from a complete shape."""
        return self._flat.is_tenpai[seats.index]

    def set_tenpai(self, seats: Seats, flags: BoolArray) -> None:
        """Set whether seats are one tile away from a complete shape."""
        self._flat.is_tenpai[seats.index] = flags

    def set_options(self, seats: Seats, options: Any) -> None:
        """Set what seats may still be asked: option bits (engine/claim_rules.py), 0 for nothing."""
        self._flat.options[seats.index] = options

    def set_masks(self, games: Games, masks: BoolArray) -> None:
        """Set the legal actions of the seats to act; ``masks`` [n, 109]."""
        self._flat.set_masks(games, masks)

    def are_legal(self, games: Games, actions: Any) -> BoolArray:
        """[n] whether these actions, 0 to 108, are legal for the seats to act."""
        return self._flat.mask[self._flat.action(games, actions)]


def _from_arrays(arrays: dict[str, Any]) -> State:
    return State(**arrays)
