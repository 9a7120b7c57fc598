"""What a seat may not see, for critics, labels and studies: no view leads to it, so agents never see it.

`Engine.hidden` gives it as named arrays, ``Engine.observe(privileged=True)`` as planes with a layout of their own. The
planes omit slot 0, which is in the observation. For a person who sits out that hand is in neither, but in `Hidden`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Final

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Int8Array
from mahjong_env.hands.codes import encode, split_wilds
from mahjong_env.hands.kind_sets import count_planes
from mahjong_env.hands.shanten import Hands, Shanten
from mahjong_env.observation.declaration import SLOTS, Layout, Piece, declared_in
from mahjong_env.observation.visibility import EMPTY_SLOT, VisibleState
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.shapes import other_shapes
from mahjong_env.state.arrays import SLOT_OF_OFFSET

NOBODY: Final = 127
"""The shanten of an empty slot."""
_WALL_PLANES: Final = 5  # places for 144 tiles
_WALL_PLACES: Final = 256  # more than any wall has
_BEHIND: Final = SLOTS * _WALL_PLACES


@dataclass(frozen=True)
class Hidden:
    """All hands and the wall, by slot for each of n seats: slot 0 the seat itself, 1 next, 2 across, 3 previous.

    Attributes:
        hand: [n, 4, 34] int8 concealed tiles, wild ones included.
        concealed_kongs: [n, 4, 34] bool the kinds of concealed kongs, including those that only their owner knows.
        shanten: [n, 4] int8 tiles short of tenpai, by the nearest shape: 0 tenpai, -1 complete; 127 for an empty slot.
            Further conditions that the variant sets for a win are not counted. A shape of the variant's own (MCR's
            knitted ones) counts only once the hand is tenpai.
        is_tenpai: [n, 4] bool whether one more tile makes the hand complete, as the variant defines complete hands
            (in Wuhan, for example, with a claimed meld); False for a seat that holds its extra tile.
        waits: [n, 4, 34] bool the kinds that complete it; whether such a win is worth enough is not checked.
        wall_counts: [n, 42] int8 the tiles left in the wall, including those that are never drawn.
        wall_order: [n, W] int8 the same tiles in the order in which they are drawn, -1 behind the last; replacements
            are taken from the end. Private walls follow one another by slot; `View.walls` gives their lengths. No
            player could know this order: a critic that sees it explains luck away, not skill.
    """

    hand: Int8Array
    concealed_kongs: BoolArray
    shanten: Int8Array
    is_tenpai: BoolArray
    waits: BoolArray
    wall_counts: Int8Array
    wall_order: Int8Array

    @classmethod
    def of(cls, seen: VisibleState) -> Hidden:
        """Collect what these seats may not see."""
        state, rules, games = seen.state, seen.rules, seen.games
        hand = seen.of_slots(state.hand)
        concealed_kongs = np.zeros(hand.shape, np.bool_)
        row, slot, place = np.nonzero(seen.of_slots(state.meld_type) == MeldType.CONCEALED_KONG)
        concealed_kongs[row, slot, seen.of_slots(state.meld_kind)[row, slot, place]] = True
        is_tenpai = seen.of_slots(state.is_tenpai) & (hand.sum(axis=2) % 3 == 1)
        place = np.where(state.undrawn(games), np.arange(state.wall.shape[1]), _BEHIND)
        if state.has_private_walls:
            offset = (state.wall_owners(games) - seen.seat[:, None]) % state.num_seats
            place += SLOT_OF_OFFSET[state.num_seats][offset] * _WALL_PLACES
        place.sort(axis=1)
        order = np.take_along_axis(state.wall[games], place % _WALL_PLACES, axis=1)
        order[place >= _BEHIND] = NO_TILE
        counts = state.wall_counts(games)
        waits = _waits_of(rules, hand, seen.wild, seen.num_melds, is_tenpai)
        shanten = _shanten_of(rules, hand, seen)
        shanten[is_tenpai & (shanten > 0)] = 0  # tenpai in a shape of the variant's own
        return cls(hand, concealed_kongs, shanten, is_tenpai, waits, counts, order)

    def __repr__(self) -> str:
        return f"<Hidden: {len(self)} rows of {', '.join(item.name for item in fields(self))}>"

    def __len__(self) -> int:
        """Return the number of seats that look."""
        return len(self.hand)


def _shanten_of(rules: Rules, hand: Int8Array, seen: VisibleState) -> Int8Array:
    """Return [n, 4] the shanten of every slot."""
    found = np.full(hand.shape[:2], NOBODY, np.int8)
    shapes = other_shapes(rules)
    for slot in range(SLOTS):
        if slot == EMPTY_SLOT and rules.seats < SLOTS:
            continue
        natural, wilds = split_wilds(hand[:, slot], seen.wild)
        melds = seen.num_melds[:, slot].astype(np.intp)
        counts = count_planes(natural) if any(shapes) else None
        hands = Hands(encode(natural).T.astype(np.intp), wilds, rules.sets - melds, melds == 0, counts)
        found[:, slot] = Shanten(hands, shapes).distance - 1
    return found


def _waits_of(rules: Rules, hand: Int8Array, wild: Int8Array, num_melds: Int8Array, is_tenpai: BoolArray) -> BoolArray:
    """Return [n, 4, 34] the kinds that complete hands which are one tile away."""
    waits = np.zeros(hand.shape, np.bool_)
    row, slot = np.nonzero(is_tenpai)
    kinds = np.flatnonzero(~rules.flower_kinds[:NUM_KINDS])
    tried = np.repeat(hand[row, slot][:, None], len(kinds), axis=1)
    is_held = tried[:, np.arange(len(kinds)), kinds] >= 4  # there is no fifth tile of a kind
    tried[:, np.arange(len(kinds)), kinds] += ~is_held
    natural, wilds = split_wilds(tried, wild[row])
    short = rules.tiles_short(encode(natural), wilds, num_melds[row, slot][:, None])
    waits[row[:, None], slot[:, None], kinds] = (short <= wilds) & ~is_held
    return waits


_pieces: list[Piece] = []


_piece = partial(declared_in, _pieces)


@_piece("hands", SLOTS - 1, meaning="for slots 1 to 3: concealed tiles of each kind, 0-4", high=4, scale=4)
def _hands(hidden: Hidden, out: Int8Array) -> None:
    out[:] = hidden.hand[:, 1:]


@_piece("concealed_kongs", SLOTS - 1, meaning="for slots 1 to 3: 4 at the kinds of concealed kongs", high=4, scale=4)
def _concealed_kongs(hidden: Hidden, out: Int8Array) -> None:
    out[:] = 4 * hidden.concealed_kongs[:, 1:]


@_piece("waits", SLOTS - 1, meaning="for slots 1 to 3: 1 at the kinds that would complete the hand")
def _waits(hidden: Hidden, out: Int8Array) -> None:
    out[:] = hidden.waits[:, 1:]


@_piece(
    "shanten",
    1,
    meaning="places 0-3: shanten + 1 of the slots, 0 for an empty one; places 4-7: 1 if the slot is tenpai; the rest 0",
    high=(*(14,) * SLOTS, *(1,) * SLOTS, *(0,) * (NUM_KINDS - 2 * SLOTS)),
    scale=4,
)
def _shanten(hidden: Hidden, out: Int8Array) -> None:
    out[:, 0] = 0
    out[:, 0, :SLOTS] = np.where(hidden.shanten == NOBODY, 0, hidden.shanten + 1)
    out[:, 0, SLOTS : 2 * SLOTS] = hidden.is_tenpai


@_piece("wall_counts", 1, meaning="tiles of each kind left in the wall, flowers not counted", high=4, scale=4)
def _wall_counts(hidden: Hidden, out: Int8Array) -> None:
    out[:, 0] = hidden.wall_counts[:, :NUM_KINDS]


@_piece(
    "wall_order",
    _WALL_PLANES,
    meaning="the wall in the order of drawing, private walls one after the other by slot: kind + 1 (flowers 35 to 42), "
    "0 behind the last; nobody could know",
    high=NUM_ALL_KINDS,
    is_code=True,
)
def _wall_order(hidden: Hidden, out: Int8Array) -> None:
    row = out.reshape(len(out), _WALL_PLANES * NUM_KINDS)
    row[:] = 0
    row[:, : hidden.wall_order.shape[1]] = hidden.wall_order + 1


LAYOUT: Final = Layout(_pieces)
PIECES: Final = LAYOUT.pieces
"""The table of privileged planes, in order."""
