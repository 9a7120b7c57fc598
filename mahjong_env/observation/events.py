"""The hand as a sequence of everything that all could see, in order, from the deal to now.

While games are played, only the numbers of discards and a short list of what was laid open without a claim
(`State.exposed`) are written down for it; claims and draws follow from these. Events that a seat may not see yet are
missing from its list: the draw of another seat's turn, with the flowers laid open for it, until that seat's next
action.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Int8Array
from mahjong_env.observation.declaration import SLOTS
from mahjong_env.state.arrays import (
    CLAIMED,
    EXPOSED_EVENT,
    EXPOSED_SEAT,
    EXPOSED_WHAT,
    MAX_DISCARDS,
    SLOT_OF_OFFSET,
    Event,
    Phase,
)

EVENTS: Final[dict[int, str]] = {
    Event.NOTHING: "nothing: behind the last event",
    Event.CHOW: "a chow: its lowest kind, the claimed kind, the slot that discarded it",
    Event.PUNG: "a pung: its kind, the claimed kind, the slot that discarded it",
    Event.EXPOSED_KONG: "a kong of a discard: its kind, the claimed kind, the slot that discarded it",
    Event.ADDED_KONG: "a tile is added to a pung: its kind, -1, the slot that gave the pung; a win may follow. "
    "If it was discarded: its kind, the claimed kind, the slot that discarded it",
    Event.CONCEALED_KONG: "a concealed kong: its kind, or -1 where the looking seat may not know it",
    Event.DRAW: "a tile is drawn, of whatever kind",
    Event.DISCARD: "a discard: its kind; 1 if that tile had just been drawn, 0 if not, -1 where that is hidden",
    Event.FLOWER: "a flower (an honour where honours are flowers) is laid open: its kind; a draw replaces it",
    Event.WIN: "a win with a tile of one's own: its kind, or -1 if flowers alone win",
    Event.WIN_FROM: "a win with another seat's tile: its kind, -1, the slot that gave it",
    Event.DRAWN_HAND: "the hand ends without a winner; the slot says nothing",
}
"""The meaning of an event's first number, with that of its third, fourth and fifth; the second is always the slot."""

COLUMNS: Final = ("event", "slot", "kind", "detail", "from_slot")
_KONGS: Final = (Event.EXPOSED_KONG, Event.ADDED_KONG, Event.CONCEALED_KONG)
# What a seat does in its turn. After a discard that nobody claimed, a draw precedes it.
_OF_A_TURN: Final = (Event.DISCARD, Event.ADDED_KONG, Event.CONCEALED_KONG, Event.FLOWER, Event.WIN)


def events_of(seen: Any) -> Int8Array:
    """Return the events of each seat's hand: [n, T, 5] int8, padded with 0 as the code and -1 for the other numbers.

    T is the length of the longest list.

    Args:
        seen: what n seats see, a `View`.
    """
    listed, is_dealt_flower = _without_draws(seen)
    before, after = _draws(seen, listed, is_dealt_flower)
    place = np.cumsum(before + 1 + after, axis=1) - after - 1
    row, column = np.nonzero(listed[..., 0])
    length = int((place[row, column] + after[row, column]).max(initial=-1)) + 1
    pending = _pending_draw(seen, listed)
    events = np.full((len(listed), length + int(pending.any()), len(COLUMNS)), -1, np.int8)
    events[..., 0] = Event.NOTHING
    events[row, place[row, column]] = listed[row, column]
    for draws, step in ((before, -1), (after, 1)):
        at, which = np.nonzero(draws)
        events[at, place[at, which] + step, 0] = Event.DRAW
        events[at, place[at, which] + step, 1] = listed[at, which, 1]
    at = np.flatnonzero(pending)
    last = np.count_nonzero(events[at, :, 0], axis=1)
    events[at, last, 0], events[at, last, 1] = Event.DRAW, 0
    return events


def _without_draws(seen: Any) -> tuple[Int8Array, NDArray[np.bool_]]:
    """Return [n, T, 5] the events without draws, and [n, T] which are flowers that were laid open at the deal."""
    n = len(seen.exposed)
    row, place = np.nonzero(seen.exposed)
    entry = seen.exposed[row, place].astype(np.intp)
    offset = entry // EXPOSED_SEAT % (EXPOSED_EVENT // EXPOSED_SEAT) % seen.rules.seats
    discards, slot = entry % EXPOSED_SEAT, SLOT_OF_OFFSET[seen.rules.seats].take(offset)
    event, what = entry // EXPOSED_EVENT % (EXPOSED_WHAT // EXPOSED_EVENT), entry // EXPOSED_WHAT - 1
    is_flower = event == Event.FLOWER
    dealt = _dealt_flowers(seen, row[is_flower], slot[is_flower], what[is_flower])
    first = np.bincount(dealt[0], minlength=n)

    by, owner, turn = np.nonzero(seen.river_number)
    number = seen.river_number[by, owner, turn].astype(np.intp)
    # Claims come right after the discard that they take. Claimed discards without a meld were added to a pung.
    made = np.nonzero(seen.meld_from >= 0)
    taken = seen.river > CLAIMED
    taken[made[0], seen.meld_from[made], seen.meld_discard[made] - 1] = False
    joined = np.nonzero(taken)
    at, giver = np.concatenate([made[0], joined[0]]), np.concatenate([seen.meld_from[made], joined[1]])
    claimed = seen.river_number[at, giver, np.concatenate([seen.meld_discard[made] - 1, joined[2]])].astype(np.intp)

    # [n, discards of the hand] how many other events came before the discard of that number.
    claims_before, others_before = np.zeros((2, n, SLOTS * MAX_DISCARDS + 1), np.intp)
    np.add.at(claims_before, (at, claimed + 1), 1)
    np.add.at(others_before, (row, discards + 1), 1)
    claims_before, others_before = claims_before.cumsum(axis=1), others_before.cumsum(axis=1)

    length = first + seen.num_discards + claims_before[:, -1] + others_before[:, -1]
    listed = np.full((n, int(length.max(initial=0)), len(COLUMNS)), -1, np.int8)
    listed[..., 0] = Event.NOTHING
    column = np.arange(len(dealt[0])) - (first.cumsum() - first)[dealt[0]]
    listed[dealt[0], column, 0] = Event.FLOWER
    listed[dealt[0], column, 1], listed[dealt[0], column, 2] = dealt[1], dealt[2]
    is_dealt_flower = np.arange(listed.shape[1]) < first[:, None]

    column = first[by] + number - 1 + claims_before[by, number] + others_before[by, number]
    listed[by, column, 0], listed[by, column, 1] = Event.DISCARD, owner
    listed[by, column, 2] = (seen.river[by, owner, turn] - 1) % CLAIMED
    listed[by, column, 3] = seen.river_drawn[by, owner, turn] if seen.rules.shows_drawn else -1

    column = first[at] + claimed + claims_before[at, claimed] + others_before[at, claimed]
    meld = np.where(seen.meld_type[made] == Event.ADDED_KONG, Event.PUNG, seen.meld_type[made])
    offsets = SLOT_OF_OFFSET[seen.rules.seats]
    steps = np.searchsorted(offsets, joined[1]) + np.searchsorted(offsets, seen.river_claimed[joined])
    kind = seen.river[joined] - CLAIMED - 1
    of_pungs = np.full(len(kind), Event.ADDED_KONG), offsets[steps % len(offsets)], kind, kind
    of_melds = meld, made[1], seen.meld_kind[made], seen.meld_claimed[made]
    for place_in_event, numbers in enumerate(zip(of_melds, of_pungs, strict=True)):
        listed[at, column, place_in_event] = np.concatenate(numbers)
    listed[at, column, 4] = giver

    column = first[row] + discards + place + claims_before[row, discards + 1]
    listed[row, column, 0], listed[row, column, 1] = event, slot
    is_kong = event <= Event.CONCEALED_KONG
    listed[row, column, 2] = np.where(is_kong, seen.meld_kind[row, slot, np.where(is_kong, what, 0)], what)
    added, won = np.flatnonzero(event == Event.ADDED_KONG), np.flatnonzero(event == Event.WIN_FROM)
    listed[row[added], column[added], 4] = seen.meld_from[row[added], slot[added], what[added]]
    listed[row[won], column[won], 4] = listed[row[won], column[won] - 1, 1]
    return listed, is_dealt_flower


def _dealt_flowers(seen: Any, row: Any, slot: Any, kind: Any) -> tuple[Any, Any, Any]:
    """Return rows, slots and kinds of flowers laid open at the deal, the dealer's first; the arguments are the rest."""
    nothing = np.zeros(0, np.intp)
    if not seen.rules.uses_flowers:
        return nothing, nothing, nothing
    left = seen.flowers.astype(np.intp)
    np.subtract.at(left, (row, slot, kind), 1)
    order = (seen.dealer[:, None] + np.arange(left.shape[1])) % left.shape[1]
    left = np.take_along_axis(left, order[..., None].astype(np.intp), axis=1)
    at, turn, which = np.nonzero(left)
    count = left[at, turn, which]
    return at.repeat(count), order[at, turn].astype(np.intp).repeat(count), which.repeat(count)


def _draws(seen: Any, listed: Int8Array, is_dealt_flower: NDArray[np.bool_]) -> tuple[Any, Any]:
    """Return [n, T] whether a draw precedes an event, and whether one follows it, as far as the seat sees it."""
    event = listed[..., 0]
    nothing = np.zeros((len(event), 1), np.int8)
    previous = np.concatenate([nothing, event[:, :-1]], axis=1)
    following = np.concatenate([event[:, 1:], nothing], axis=1)
    is_claim = (event == Event.ADDED_KONG) & (listed[..., 3] != NO_TILE)
    before = (previous == Event.DISCARD) & np.isin(event, _OF_A_TURN) & ~is_claim
    is_replaced = np.isin(event, _KONGS) | ((event == Event.FLOWER) & ~is_dealt_flower)
    is_last = following == Event.NOTHING
    sees_draw = (seen.phase == Phase.TURN) & (seen.drawn != NO_TILE)
    stranded = np.zeros_like(is_last)
    stranded[:, :-1] = (event[:, 1:] == Event.WIN) & (listed[:, 1:, 2] == NO_TILE)
    ended = (following == Event.WIN_FROM) | (following == Event.DRAWN_HAND) | stranded
    after = is_replaced & np.where(is_last, sees_draw[:, None], ~ended)
    return before.astype(np.intp), after.astype(np.intp)


def _pending_draw(seen: Any, listed: Int8Array) -> NDArray[np.bool_]:
    """Return [n] whether the looking seat itself has just drawn at the beginning of its turn."""
    length = np.count_nonzero(listed[..., 0], axis=1)
    begun = np.flatnonzero(length)
    last = np.zeros(len(listed), np.int8)
    last[begun] = listed[begun, length[begun] - 1, 0]
    return (last == Event.DISCARD) & (seen.phase == Phase.TURN) & (seen.drawn != NO_TILE)
