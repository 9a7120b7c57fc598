"""What a seat may see, as named pieces of one block of numbers, the same layout for every variant.

An observation is [C, 34] int8: C planes of one number for each tile kind, or of up to 34 plain numbers. Seats are
relative to the one that looks: slot 0 is itself, 1 the next player, 2 the player across, 3 the previous one; at
three-handed tables slot 2 is empty, so that networks carry over. `PIECES` is the table of planes; documentation
prints it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FLOWERS, NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.state.arrays import MELD_LIST, NO_SEAT, NUM_PLANES, SLOT_OF_OFFSET, Phase, State

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules
    from mahjong_env.state.seats import Seats

SLOTS: Final = 4
EMPTY_SLOT: Final = 2
"""The slot where nobody sits at tables for three."""
_TABLE_PLANES: Final = MELD_LIST  # the public planes of tiles, which stand before the list of melds
_NUM_FLOWERS: Final = NUM_ALL_KINDS - FLOWERS
MAX_MARKS: Final = 3


@dataclass(frozen=True)
class Piece:
    """One piece of the observation.

    Attributes:
        name: its name.
        planes: how many planes it takes.
        meaning: what its numbers are.
    """

    name: str
    planes: int
    meaning: str


PIECES: Final[tuple[Piece, ...]] = (
    Piece("hand", 1, "own concealed tiles of each kind, 0-4"),
    Piece("drawn", 1, "1 at the tile that the seat itself has just drawn"),
    Piece("offered", 1, "1 at the tile that may be claimed or robbed"),
    Piece("wild", 1, "1 at the wild kind"),
    Piece("indicator", 1, "1 at the kind turned up"),
    Piece("hidden_kongs", 1, "4 at own concealed kongs that the others cannot see"),
    Piece(
        "table",
        SLOTS * _TABLE_PLANES,
        "for each slot: discards lying there (count); number of its latest discard of the kind, 1 = the hand's first, "
        "also if it was claimed; tiles in melds that are seen by all (count)",
    ),
    Piece(
        "flowers",
        SLOTS,
        "for each slot: places 0-7 flowers F1-F4 S1-S4 exposed; places 27-33 honours exposed as flowers",
    ),
    Piece(
        "melds",
        SLOTS,
        "for each slot, for each of five melds in order, six places: type (1 chow, 2 pung, 3 exposed kong, 4 added "
        "kong, 5 concealed kong); kind + 1 (lowest of a chow; 0 if hidden); whose discard made it (1 the player after "
        "the owner, 2 across, 3 before, 0 nobody's); claimed kind + 1; 0; 0",
    ),
    Piece("facts", 1, "see FACTS"),
    Piece(
        "points",
        1,
        "running points of each slot: places 0-3 hundreds (rounded down, -127 to 127), places 4-7 the rest, 0-99",
    ),
    Piece("legal_discards", 1, "1 at kinds that may be discarded now"),
    Piece("legal_concealed_kongs", 1, "1 at kinds of which a concealed kong may be declared now"),
    Piece("legal_added_kongs", 1, "1 at kinds that may be added to an open pung now"),
    Piece("legal_claims", 1, "places 0-6: chow low, chow middle, chow high, pung, kong, win, pass"),
)
"""The table of planes, in order."""

NUM_CHANNELS: Final = sum(piece.planes for piece in PIECES)
SHAPE: Final = (NUM_CHANNELS, NUM_KINDS)

FACTS: Final[tuple[str, ...]] = (
    "phase (1 turn, 2 claim, 3 rob, 4 opening, 5 stranded, 0 over)",
    "tiles left",
    "discards so far",
    "dealer's streak (at most 127)",
    "round wind (1 East to 4 North)",
    "slot that offers the tile + 1",
    "slot whose turn it is + 1",
    "slot to act + 1; while claims are asked only the asked seat itself sees it",
    "kongs in a row before the drawn tile",
    "the drawn tile replaced a flower",
    "the hand ends after the next discard",
    "dice of the hand",
    "hand of the match, from 0 (at most 127)",
    "hands of the match still to come (at most 127)",
    *(f"slot {slot} is the dealer" for slot in range(SLOTS)),
    *(f"wind of slot {slot} (1 East to 4 North, 0 nobody)" for slot in range(SLOTS)),
    *(f"mark {mark} of slot {slot} (Rules.marks)" for mark in range(MAX_MARKS) for slot in range(SLOTS)),
)
"""The places of the plane "facts"."""


def plane(name: str) -> slice:
    """The planes of a piece; `KeyError` if there is no such piece."""
    start = 0
    for piece in PIECES:
        if piece.name == name:
            return slice(start, start + piece.planes)
        start += piece.planes
    raise KeyError(f"no piece of the observation is called {name!r}; valid are {', '.join(p.name for p in PIECES)}")


_AT = {piece.name: plane(piece.name).start for piece in PIECES}
_TABLE, _FLOWERS, _MELDS = plane("table"), plane("flowers"), plane("melds")

# Places in a flat observation. The facts of the slots are the last ones, and the points stand right behind them.
_FACTS: Final = _AT["facts"] * NUM_KINDS
_SLOT_FACTS: Final = 2 + MAX_MARKS + 2  # dealer, wind, marks, points in two parts
_SLOT_FACTS_END: Final = _AT["points"] * NUM_KINDS + 2 * SLOTS
_LEGAL: Final = _AT["legal_discards"] * NUM_KINDS

# Several numbers as one item: numpy copies an item whole, but walks along an array of numbers.
_PLANE, _SLOT_TABLE, _ALL_SLOTS, _ALL_FLOWERS, _MASK = (
    np.dtype((np.void, size)) for size in (NUM_KINDS, _TABLE_PLANES * NUM_KINDS, SLOTS, _NUM_FLOWERS, NUM_ACTIONS)
)
# Row k marks kind k, the last row (reached by -1) nothing.
_MARKS: Final = np.eye(NUM_KINDS + 1, NUM_KINDS, dtype=np.int8).view(_PLANE)[:, 0]
# Arrays, as numpy turns plain numbers into arrays in every call.
_ZERO, _ONE, _NOTHING = (np.array(number, np.int8) for number in (0, 1, NO_TILE))
_MOST, _LEAST = np.array(127, np.int16), np.array(-127, np.int16)
_LONGEST: Final = 2**15 - 1  # hands that int16 can count
_HUNDRED: Final = np.array(100, np.int32)
_TURN: Final = np.array(Phase.TURN, np.int8)
_CONCEALED: Final = np.array(MeldType.CONCEALED_KONG, np.int8)

# [looking seat, slot] -> seat at the table; the empty slot of three is filled with the looking seat, and then cleared.
_SEAT_AT_SLOT: Final = {
    seats: np.array(
        [
            [(looker + list(offsets).index(slot)) % seats if slot in offsets else looker for slot in range(SLOTS)]
            for looker in range(seats)
        ]
    )
    for seats, offsets in SLOT_OF_OFFSET.items()
}
# [looking seat, other seat] -> slot; the last column answers for "nobody" (-1).
SLOT_OF_SEAT: Final = {
    seats: np.array(
        [[offsets[(other - looker) % seats] for other in range(seats)] + [NO_SEAT] for looker in range(seats)], np.int8
    )
    for seats, offsets in SLOT_OF_OFFSET.items()
}


def seats_by_slot(seat: Games, seats: int) -> Games:
    """[n, 4] the table seats in the order of slots for each looking seat; at tables for three slot 2 has no meaning."""
    return _SEAT_AT_SLOT[seats].take(seat, axis=0)


def observe(state: State, rules: Rules, games: Games, seat: Games, present: BoolArray, num_hands: int) -> Int8Array:
    """The observations of one seat in each game.

    Args:
        state: the games.
        rules: their rules.
        games: [n] which games.
        seat: [n] which table seat looks.
        present: [n] False for a person who sits out: he sees the table from this seat, but not its hand.
        num_hands: hands of a match.

    Returns:
        [n, C, 34] int8, a fresh array.
    """
    n = len(games)
    to_act = state.actor[games] == seat
    if rules.people > rules.seats:
        to_act &= present
    order = seats_by_slot(seat, state.num_seats)
    seats = state.seats(games[:, None], order)
    out = np.empty((n, NUM_CHANNELS * NUM_KINDS), np.int8)  # not zeros: every place is written, most of them once
    _write_own(out, state, rules, state.seats(games, seat), present)
    _write_marks(out, state, games, to_act & (state.turn[games] == seat))
    _write_table(out, state, rules, seats)
    _write_facts(out, state, rules, games, seat, to_act, num_hands)
    _write_slots(out, state, rules, seats)
    _write_legal(out, state, games, to_act)
    return out.reshape(n, NUM_CHANNELS, NUM_KINDS)


def _write_own(out: Int8Array, state: State, rules: Rules, lookers: Seats, present: BoolArray) -> None:
    """The hand, and the kinds of concealed kongs that the others cannot see."""
    planes = out.reshape(len(out), NUM_CHANNELS, NUM_KINDS)
    hand, kongs = planes[:, _AT["hand"]], planes[:, _AT["hidden_kongs"]]
    hand.view(_PLANE)[:, 0] = state.hands(lookers).view(_PLANE)[:, 0]
    if rules.people > rules.seats:
        hand *= present[:, None]
    kongs[...] = 0
    if rules.hides_concealed_kongs:
        row, place = np.nonzero(lookers.of(state.meld_type) == _CONCEALED)
        if row.size:
            kongs[row, lookers.of(state.meld_kind)[row, place]] = 4 * present[row]


def _write_marks(out: Int8Array, state: State, games: Games, own_turn: BoolArray) -> None:
    """The planes that have a 1 at one kind."""
    kinds = np.empty((len(games), 4), np.int8)
    kinds[:, 0] = np.where(own_turn, state.drawn[games], _NOTHING)
    kinds[:, 1] = state.offered[games]
    kinds[:, 2] = state.wild[games]
    kinds[:, 3] = state.indicator[games]
    out.view(_PLANE)[:, _AT["drawn"] : _AT["indicator"] + 1] = _MARKS.take(kinds)


def _write_table(out: Int8Array, state: State, rules: Rules, seats: Seats) -> None:
    """What lies before the seats: discards, melds, flowers."""
    n = len(seats)
    planes = out.reshape(n, NUM_CHANNELS, NUM_KINDS)
    table = planes[:, _TABLE].reshape(n, SLOTS, _SLOT_TABLE.itemsize)
    flowers, melds = planes[:, _FLOWERS], planes[:, _MELDS]
    public = seats.of(state.public).reshape(n, SLOTS, NUM_PLANES * NUM_KINDS)
    table.view(_SLOT_TABLE)[...] = public[..., : _SLOT_TABLE.itemsize].view(_SLOT_TABLE)
    melds.view(_PLANE)[...] = public[..., _SLOT_TABLE.itemsize :].view(_PLANE)
    if rules.uses_flowers:
        exposed = seats.of(state.flowers)
        flowers.view(_PLANE)[...] = exposed[..., :NUM_KINDS].view(_PLANE)  # none is of a suit
        flowers[..., :_NUM_FLOWERS].view(_ALL_FLOWERS)[...] = exposed[..., FLOWERS:].view(_ALL_FLOWERS)
    else:
        flowers[...] = 0
    if state.num_seats < SLOTS:
        table[:, EMPTY_SLOT] = flowers[:, EMPTY_SLOT] = melds[:, EMPTY_SLOT] = 0


def _write_facts(
    out: Int8Array, state: State, rules: Rules, games: Games, looker: Games, to_act: BoolArray, num_hands: int
) -> None:
    """The facts of the game."""
    facts = out[:, _FACTS : _FACTS + NUM_KINDS]
    phase = state.phase[games]
    hand_in_match = state.hand_in_match[games]
    hands_to_come: Any = np.minimum(min(num_hands - 1, _LONGEST) - hand_in_match, _MOST) if rules.ends_by_hands else 0
    # Who is asked for a claim is nobody else's business: it would tell what the asked seat holds.
    is_known = (phase == _TURN) | to_act
    who = np.empty((len(games), 3), np.int8)
    who[:, 0] = state.offered_by[games]
    who[:, 1] = state.turn[games]
    who[:, 2] = state.actor[games]
    slot_numbers = SLOT_OF_SEAT[state.num_seats][looker[:, None], who] + _ONE
    numbers = (
        phase,
        state.left(games),
        state.num_discards[games],
        np.minimum(state.streak[games], _MOST),
        state.round_wind[games] + _ONE,
        slot_numbers[:, 0] * (state.offered[games] >= _ZERO),
        slot_numbers[:, 1],
        slot_numbers[:, 2] * is_known,
        state.kong_draws[games],
        state.flower_draw[games],
        state.closing[games],
        state.dice[games],
        np.minimum(hand_in_match, _MOST),
        hands_to_come,
    )
    number: Any
    for place, number in enumerate(numbers):
        facts[:, place] = number


def _write_slots(out: Int8Array, state: State, rules: Rules, seats: Seats) -> None:
    """The facts of each slot, and its points."""
    facts = np.empty((_SLOT_FACTS, len(seats), SLOTS), np.int8)
    facts[0] = seats.seat == state.dealer[seats.game]
    facts[1] = seats.of(state.house_wind) + _ONE
    marks = len(rules.marks)
    if marks:
        number = seats.of(state.marks).transpose(2, 0, 1)
        facts[2 : 2 + marks] = np.minimum(np.maximum(number, _LEAST), _MOST)
    facts[2 + marks : 2 + MAX_MARKS] = 0
    points = points_of(state, rules, seats)
    hundreds = points // _HUNDRED
    facts[-2] = np.minimum(np.maximum(hundreds, _LEAST), _MOST)
    facts[-1] = points - hundreds * _HUNDRED
    if state.num_seats < SLOTS:
        facts[..., EMPTY_SLOT] = 0
    places = out[:, _SLOT_FACTS_END - _SLOT_FACTS * SLOTS : _SLOT_FACTS_END]
    places.view(_ALL_SLOTS)[...] = facts.view(_ALL_SLOTS)[..., 0].T
    out[:, _SLOT_FACTS_END : (_AT["points"] + 1) * NUM_KINDS] = 0


def _write_legal(out: Int8Array, state: State, games: Games, to_act: BoolArray) -> None:
    """The mask, if it is that of the looking seat: its parts stand in the order of the actions."""
    legal = out[:, _LEGAL : _LEGAL + NUM_ACTIONS]
    legal.view(_MASK)[...] = state.mask.view(_MASK).take(games, axis=0)
    if not to_act.all():
        legal[~to_act] = 0
    out[:, _LEGAL + NUM_ACTIONS :] = 0


def points_of(state: State, rules: Rules, seats: Seats) -> Int32Array:
    """[n, 4] running points of those who sit there."""
    if rules.people == rules.seats:
        return seats.of(state.points)
    return state.points[seats.game, seats.of(state.person_at)]
