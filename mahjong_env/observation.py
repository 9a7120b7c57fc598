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

from mahjong_env.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, NUM_ACTIONS
from mahjong_env.notation import MeldType
from mahjong_env.state import MELD_LIST, NO_SEAT, SLOT_OF_OFFSET, Phase, State
from mahjong_env.tiles import FLOWERS, HONOURS, NUM_KINDS
from mahjong_env.types import BoolArray, Games, Int8Array, Int16Array

if TYPE_CHECKING:
    from mahjong_env.ruleset import Rules

SLOTS: Final = 4
_TABLE_PLANES: Final = MELD_LIST  # the public planes of tiles, which stand before the list of melds
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
_TABLE = plane("table")

# [looking seat, other seat] -> slot; the last column answers for "nobody" (-1).
_SLOT_OF_SEAT: Final = {
    seats: np.array(
        [[offsets[(other - looker) % seats] for other in range(seats)] + [NO_SEAT] for looker in range(seats)], np.int8
    )
    for seats, offsets in SLOT_OF_OFFSET.items()
}


def slots(seat: Games, seats: int) -> tuple[Games, Games]:
    """For each looking seat its table seats in the order of their slots ([n, S]), and those slots ([S])."""
    return (seat[:, None] + np.arange(seats)) % seats, SLOT_OF_OFFSET[seats]


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
    n, seats = len(games), state.num_seats
    rows = np.arange(n)
    order, slot = slots(seat, seats)
    out = np.zeros((n, NUM_CHANNELS, NUM_KINDS), np.int8)

    out[:, _AT["hand"]] = state.hand[games, seat] * present[:, None]
    to_act = (state.actor[games] == seat) & present
    own_turn = to_act & (state.turn[games] == seat) & (state.drawn[games] >= 0)
    _mark(out, "drawn", rows, state.drawn[games], own_turn)
    _mark(out, "offered", rows, state.offered[games], state.offered[games] >= 0)
    if rules.has_wild:
        _mark(out, "wild", rows, state.wild[games], state.wild[games] >= 0)
        _mark(out, "indicator", rows, state.indicator[games], state.indicator[games] >= 0)

    public = state.public[games[:, None], order]
    out[:, _TABLE].reshape(n, SLOTS, _TABLE_PLANES, NUM_KINDS)[:, slot] = public[:, :, :MELD_LIST]
    out[:, _AT["melds"] + slot] = public[:, :, MELD_LIST]
    if rules.uses_flowers:
        flowers = state.flowers[games[:, None], order]
        out[:, _AT["flowers"] + slot, : NUM_KINDS + 8 - FLOWERS] = flowers[..., FLOWERS:]
        out[:, _AT["flowers"] + slot, HONOURS:] = flowers[..., HONOURS:NUM_KINDS]
    if rules.hides_concealed_kongs:
        _write_hidden_kongs(out, state, games, seat, present)
    _write_facts(out, state, rules, games, seat, to_act, order, slot, num_hands)

    mask = state.mask[games] & to_act[:, None]
    out[:, _AT["legal_discards"]] = mask[:, :CONCEALED_KONG]
    out[:, _AT["legal_concealed_kongs"]] = mask[:, CONCEALED_KONG:ADDED_KONG]
    out[:, _AT["legal_added_kongs"]] = mask[:, ADDED_KONG:CHOW_LOW]
    out[:, _AT["legal_claims"], : NUM_ACTIONS - CHOW_LOW] = mask[:, CHOW_LOW:]
    return out


def _mark(out: Int8Array, name: str, rows: Games, kind: Int8Array, where: BoolArray) -> None:
    out[rows[where], _AT[name], kind[where]] = 1


def _write_hidden_kongs(out: Int8Array, state: State, games: Games, seat: Games, present: BoolArray) -> None:
    """The kinds of concealed kongs that the others cannot see, for their owner."""
    owner = np.flatnonzero((state.num_melds[games, seat] > 0) & present)
    if not owner.size:
        return
    row, place = np.nonzero(state.meld_type[games[owner], seat[owner]] == MeldType.CONCEALED_KONG)
    row = owner[row]
    out[row, _AT["hidden_kongs"], state.meld_kind[games[row], seat[row], place]] = 4


def meld_facts(
    state: State, rules: Rules, games: Games, seat: Games, order: Games, present: BoolArray
) -> tuple[Int8Array, Int8Array, Int8Array, Int8Array]:
    """[n, S, M] type, kind, giving slot, claimed kind of all melds as the looking seat sees them (-1: none)."""
    at = games[:, None], order
    types, kinds, givers, claimed = (
        state.meld_type[at],
        state.meld_kind[at],
        state.meld_from[at],
        state.meld_claimed[at],
    )
    if rules.hides_concealed_kongs and (types == MeldType.CONCEALED_KONG).any():
        hidden = types == MeldType.CONCEALED_KONG
        hidden[present, 0] = False
        kinds = np.where(hidden, np.int8(-1), kinds)
    return types, kinds, slot_of(givers, seat[:, None, None], state.num_seats), claimed


def slot_of(table_seat: Int8Array, looker: Games, seats: int) -> Int8Array:
    """Slots of table seats as seen from a looking seat; -1 (nobody) stays -1."""
    return _SLOT_OF_SEAT[seats][looker, table_seat]


def _write_facts(
    out: Int8Array,
    state: State,
    rules: Rules,
    games: Games,
    looker: Games,
    to_act: BoolArray,
    order: Games,
    slot: Games,
    num_hands: int,
) -> None:
    seats = state.num_seats
    facts = out[:, _AT["facts"]]
    hand_in_match = state.hand_in_match[games]
    hands_to_come: Any = np.minimum(num_hands - 1 - hand_in_match, 127) if rules.ends_by_hands else 0
    is_offered = state.offered[games] >= 0
    numbers = (
        state.phase[games],
        state.left(games),
        state.num_discards[games],
        np.minimum(state.streak[games], 127),
        state.round_wind[games] + 1,
        (slot_of(state.offered_by[games], looker, seats) + 1) * is_offered,
        slot_of(state.turn[games], looker, seats) + 1,
        _slot_to_act(state, games, looker, to_act),
        state.kong_draws[games],
        state.flower_draw[games],
        state.closing[games],
        state.dice[games],
        np.minimum(hand_in_match, 127),
        hands_to_come,
    )
    number: Any
    for place, number in enumerate(numbers):
        facts[:, place] = number
    place = len(numbers)
    facts[:, place + slot] = order == state.dealer[games][:, None]
    place += SLOTS
    facts[:, place + slot] = state.house_wind[games[:, None], order] + 1
    place += SLOTS
    for mark in range(len(rules.marks)):
        facts[:, place + mark * SLOTS + slot] = np.clip(marks_of(state, games, order)[..., mark], -127, 127)
    column = games[:, None]
    hundreds, rest = np.divmod(state.points[column, state.person_at[column, order]], 100)
    out[:, _AT["points"], slot] = np.minimum(np.maximum(hundreds, -127), 127)
    out[:, _AT["points"], SLOTS + slot] = rest


def _slot_to_act(state: State, games: Games, looker: Games, to_act: BoolArray) -> Int8Array:
    """Who is asked for a claim is nobody else's business: it would tell what the asked seat holds."""
    is_known = (state.phase[games] == Phase.TURN) | to_act
    return np.where(is_known, slot_of(state.actor[games], looker, state.num_seats) + 1, 0).astype(np.int8)


def marks_of(state: State, games: Games, order: Games) -> Int16Array:
    """[n, S, K] marks of the seats in the order of their slots."""
    return state.marks[games[:, None], order]
