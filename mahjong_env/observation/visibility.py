"""Visibility: the one place that decides who sees what, for observations, views, redrawn worlds and the leak check.

The rule has three parts.

* An array of the state is seen as its declaration says (``seen_by`` in `mahjong_env.state.arrays`).
* A question (who may claim this tile, rob this kong, win before the first turn) is seen by the seat that is asked.
* A seat that is not asked sees the table as the last action that all could see left it. Passes and draws are not such
  actions: the tile that the seat in turn has drawn since then, and the flowers that it has laid open for it, become
  visible to the others together with its next action. So nobody can tell from its own observation whether somebody
  else is being asked, or has been asked and has passed. While a kong may still be robbed, those who are not asked see
  it as it will stand, paid for. There is one exception: a seat in Taiwan that has drawn its eighth flower as the last
  tile is asked whether it wins, and the others see that flower, and that no tile is left, before it answers.

Seats are given as slots: 0 is the looking seat itself, 1 the next, 2 across, 3 the previous one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from mahjong_env.basics.lazy import lazy
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array
from mahjong_env.observation.declaration import SLOTS
from mahjong_env.state.arrays import (
    DISCARDED,
    EXPOSED_SEAT,
    LATEST,
    MAX_MELDS,
    MELD_LIST,
    MELD_PLACES,
    MELDED,
    NEXT_SEAT,
    NO_SEAT,
    NUM_PLANES,
    SLOT_OF_OFFSET,
    Phase,
    State,
    array_fields,
)
from mahjong_env.state.seats import Seats

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules

_LONGEST: Final = 2**15 - 1  # hands that int16 can count
# Kept as arrays: numpy would convert a plain number in every call.
_NOTHING, _NOBODY = np.array(NO_TILE, np.int8), np.array(NO_SEAT, np.int8)
_ZERO, _ONE = np.array(0, np.int8), np.array(1, np.int8)
_TURN, _CLAIM, _OPENING = (np.array(phase, np.int8) for phase in (Phase.TURN, Phase.CLAIM, Phase.OPENING))
_CONCEALED: Final = np.array(MeldType.CONCEALED_KONG, np.int8)
_NO_ROWS: Final = np.zeros(0, np.intp)
_NO_KINDS: Final = np.zeros(0, np.int8)

EMPTY_SLOT: Final = 2
"""The slot where nobody sits at tables for three."""

# [looking seat, slot] -> seat at the table; with three seats the empty slot gets the looking seat, and is then cleared.
_SEAT_AT_SLOT: Final = {
    seats: np.array(
        [
            [(looker + list(offsets).index(slot)) % seats if slot in offsets else looker for slot in range(SLOTS)]
            for looker in range(seats)
        ]
    )
    for seats, offsets in SLOT_OF_OFFSET.items()
}
# By looking seat and other seat, the slot; each row begins with the entry for "nobody" (-1).
SLOT_OF_SEAT: Final = {
    seats: np.array(
        [[NO_SEAT, *(offsets[(other - looker) % seats] for other in range(seats))] for looker in range(seats)], np.int8
    ).reshape(-1)
    for seats, offsets in SLOT_OF_OFFSET.items()
}
# [looking seat] where its row begins, behind the entry for "nobody".
_FIRST_SLOT: Final = {seats: np.arange(seats) * (seats + 1) + 1 for seats in SLOT_OF_OFFSET}


def of_game(name: str) -> property:
    """Return a property with an array [n] of the state that all can see."""
    return property(lambda looker: getattr(looker.state, name)[looker.games])


def by_slot(name: str, empty: int = 0) -> property:
    """Return a property with an array [n, 4, ...] of the state that all can see, by slot."""
    return property(lambda looker: looker.of_slots(getattr(looker.state, name), empty))


def of_asked(name: str) -> property:
    """Return a property with an array [n] of the state that only the seat that is asked sees; 0 for the others."""

    def read(looker: VisibleState) -> Any:
        numbers = getattr(looker.state, name)[looker.games]
        return numbers if looker.all_asked else numbers * looker.is_asked

    return property(read)


def public_plane(plane: int) -> property:
    """Return a property with a public plane [n, 4, 34] of the state, by slot."""
    return property(lambda looker: looker._public[:, :, plane])


class VisibleState:
    """The state as one seat in each of n games sees it: named arrays, each worked out when it is first asked for.

    The arrays are those of `mahjong_env.View`, which explains them, and some that only observations use. They are
    valid until the games move on.

    Attributes:
        state: the games.
        rules: their rules.
        games: [n] the numbers of the games.
        seat: [n] the table seat that looks.
        present: [n] False for a person who sits out, who sees the table from this seat, but not its hand.
        is_asked: [n] whether the seat is to act.
        all_asked: whether all of them are to act.
        own: the seats themselves.
    """

    wild = of_game("wild")
    indicator = of_game("indicator")
    num_discards = of_game("num_discards")
    streak = of_game("streak")
    round_wind = of_game("round_wind")
    dice = of_game("dice")
    hand_in_match = of_game("hand_in_match")
    _signed_river = by_slot("river")
    river_number = by_slot("river_number")
    river_claimed = by_slot("river_claimed")
    num_melds = by_slot("num_melds")
    meld_claimed = by_slot("meld_claimed", NO_TILE)
    house_wind = by_slot("house_wind", -1)
    person = by_slot("person_at", NO_SEAT)
    kong_draws = of_asked("kong_draws")
    flower_draw = of_asked("flower_draw")
    closing = of_asked("closing")
    discards = public_plane(DISCARDED)
    latest = public_plane(LATEST)
    melded = public_plane(MELDED)
    meld_list = public_plane(MELD_LIST)

    def __init__(
        self, state: State, rules: Rules, games: Games, seat: Games, present: BoolArray, num_hands: int = 1
    ) -> None:
        """Look from one seat in each game; ``num_hands`` is the number of hands of a match."""
        self.state, self.rules, self.games, self.seat, self.present = state, rules, games, seat, present
        self._num_hands = num_hands
        self.is_asked: BoolArray = state.actor[games] == seat
        if rules.people > rules.seats:
            self.is_asked &= present
        self.all_asked = np.count_nonzero(self.is_asked) == len(games)
        self.own = state.seats(games, seat)
        self._phase = state.phase[games]

    @lazy
    def _order(self) -> Games:
        """[n, 4] the seats in the order of slots."""
        order: Games = _SEAT_AT_SLOT[self.state.num_seats].take(self.seat, axis=0)
        return order

    @lazy
    def _at(self) -> Seats:
        """[n, 4] the same seats, as `Seats`."""
        return self.state.seats(self.games[:, None], self._order)

    @lazy
    def _first_slot(self) -> Games:
        """[n] where the row of the seat begins in `SLOT_OF_SEAT`."""
        return _FIRST_SLOT[self.state.num_seats].take(self.seat)

    def __len__(self) -> int:
        """Return the number of seats that look."""
        return len(self.games)

    def take(self, which: Any) -> Self:
        """Return some of the seats, by a boolean mask or indices."""
        games, seat, present = self.games[which], self.seat[which], self.present[which]
        return type(self)(self.state, self.rules, games, seat, present, self._num_hands)

    def copy(self) -> Self:
        """Return the same for a copy of the games, which stays as it is when the games move on."""
        state, games = self.state, self.games
        if len(games) < len(state.phase):
            state, games = state.rows(games), np.arange(len(games))
        else:
            state = state.copy()
        return type(self)(state, self.rules, games, self.seat, self.present, self._num_hands)

    def of_slots(self, array: Any, empty: int = 0) -> Any:
        """Return [n, 4, ...] the rows of an array with a seat axis, by slot."""
        rows = self._at.of(array)
        if self.state.num_seats < SLOTS:
            rows[:, EMPTY_SLOT] = empty
        return rows

    def _slot(self, seat: Any) -> Int8Array:
        """Return [n] the slots of table seats; -1 for nobody."""
        return SLOT_OF_SEAT[self.state.num_seats].take(self._first_slot + seat)

    @lazy
    def _robbable(self) -> Games:
        """[m] the rows that see a kong which may still be robbed as it will stand."""
        if self.all_asked:
            return _NO_ROWS
        return np.flatnonzero(~self.is_asked & (self._phase == Phase.ROB))

    @lazy
    def _unseen_draw(self) -> BoolArray:
        """[n] whether another seat is in its turn, so that its draw cannot be seen yet."""
        return ~self.is_asked & (self._phase == Phase.TURN)

    @lazy
    def _all_in_turn(self) -> bool:
        """Whether all seats are in their own turn, in which nothing is offered to them."""
        return self.all_asked and bool(np.count_nonzero(self._phase == _TURN) == len(self))

    # --- Tiles ---------------------------------------------------------------------------------------------------
    @property
    def hand(self) -> Int8Array:
        """[n, 34]; see `View.hand`."""
        hand: Int8Array = self.own.of(self.state.hand)
        return hand if self.rules.people == self.rules.seats else hand * self.present[:, None]

    @property
    def codes(self) -> Int32Array:
        """[n, 4] the codes of the hand, without wild tiles."""
        codes: Int32Array = self.own.of(self.state.code)
        return codes if self.rules.people == self.rules.seats else codes * self.present[:, None]

    @property
    def drawn(self) -> Int8Array:
        """[n]; see `View.drawn`."""
        if self._all_in_turn:
            return self.state.drawn[self.games]
        own_turn = self.state.turn[self.games] == self.seat
        if not self.all_asked:
            own_turn &= self.is_asked
        return np.where(own_turn, self.state.drawn[self.games], _NOTHING)

    @lazy
    def _public(self) -> Int8Array:
        """[n, 4, L, 34] the public planes of the state."""
        public: Int8Array = self.of_slots(self.state.public)
        rows = self._robbable
        if rows.size:
            slot, kind, meld = self._kongs_to_be
            public[rows, slot, MELDED, kind] += 1
            public[rows, slot, MELD_LIST, meld * MELD_PLACES] = MeldType.ADDED_KONG
        return public

    @lazy
    def _kongs_to_be(self) -> tuple[Games, Int8Array, Games]:
        """[m] slot, kind and place among the melds of the pungs that may still be robbed of a fourth tile."""
        state, games = self.state, self.games[self._robbable]
        seat, kind = state.offered_by[games], state.offered[games]
        is_it = (state.meld_kind[games, seat] == kind[:, None]) & (state.meld_type[games, seat] == MeldType.PUNG)
        slot = self._slot(self.state.offered_by[self.games])[self._robbable]
        return slot.astype(np.intp), kind, is_it.argmax(axis=1)

    @property
    def table(self) -> Int8Array:
        """[n, 4, 3, 34] discards on the table, numbers of the latest discards, tiles in melds."""
        return self._public[:, :, : MELDED + 1]

    @lazy
    def signed_river(self) -> Int8Array:
        """[n, 4, R] the river, with negative numbers for discards of a tile that had just been drawn."""
        return self._signed_river if self.rules.shows_drawn else self.river

    @lazy
    def river(self) -> Int8Array:
        """[n, 4, R]; see `View.river`."""
        return np.abs(self._signed_river)

    @property
    def river_drawn(self) -> BoolArray:
        """[n, 4, R]; see `View.river_drawn`."""
        return self.signed_river < _ZERO

    @lazy
    def exposed(self) -> Int32Array:
        """[n, E] as in `State.exposed`; seats are relative to the looking one, and may be too large by S."""
        state, games = self.state, self.games
        number = state.num_exposed[games]
        rows = self._fresh_flowers
        if rows.size:
            number[rows] -= state.fresh_flowers[games[rows]].sum(axis=1, dtype=np.int8)
        most = int(number.max(initial=0))
        exposed = np.zeros((len(self), most), np.int32)
        offset = (state.num_seats - self.seat.astype(np.int32)) * np.int32(EXPOSED_SEAT)
        is_there = np.arange(most, dtype=np.int8) < number[:, None]
        return np.add(state.exposed[games, :most], offset[:, None], out=exposed, where=is_there)

    @lazy
    def flowers(self) -> Int8Array:
        """[n, 4, 42]; see `View.flowers`."""
        flowers: Int8Array = self.of_slots(self.state.flowers)
        rows = self._fresh_flowers
        if rows.size:
            games = self.games[rows]
            slot = self._slot(self.state.turn[self.games])[rows].astype(np.intp)
            flowers[rows, slot] -= self.state.fresh_flowers[games]
        return flowers

    @lazy
    def _fresh_flowers(self) -> Games:
        """[m] the rows that cannot see yet which flowers another seat has just laid open."""
        if self.all_asked or not self.rules.uses_flowers:
            return _NO_ROWS
        return np.flatnonzero(self._unseen_draw & self.state.flower_draw[self.games])

    @lazy
    def meld_type(self) -> Int8Array:
        """[n, 4, 5]; see `View.meld_type`."""
        types: Int8Array = self.of_slots(self.state.meld_type)
        if self._robbable.size:
            slot, _, meld = self._kongs_to_be
            types[self._robbable, slot, meld] = MeldType.ADDED_KONG
        return types

    @lazy
    def meld_kind(self) -> Int8Array:
        """[n, 4, 5]; see `View.meld_kind`."""
        kinds: Int8Array = self.of_slots(self.state.meld_kind, NO_TILE)
        if self.rules.hides_concealed_kongs:
            hidden = self.meld_type == MeldType.CONCEALED_KONG
            hidden[self.present, 0] = False
            kinds[hidden] = NO_TILE
        return kinds

    @property
    def meld_from(self) -> Int8Array:
        """[n, 4, 5]; see `View.meld_from`."""
        givers: Int8Array = self.of_slots(self.state.meld_from, NO_SEAT)
        return SLOT_OF_SEAT[self.state.num_seats].take(self._first_slot[:, None, None] + givers)

    @property
    def meld_discard(self) -> Int8Array:
        """[n, 4, 5]; see `View.meld_discard`."""
        return self.meld_list[..., 4 : MAX_MELDS * MELD_PLACES : MELD_PLACES]

    @lazy
    def hidden_kongs(self) -> tuple[Games, Int8Array]:
        """[m] rows, and [m] the kinds of their own concealed kongs that the others cannot see."""
        if not self.rules.hides_concealed_kongs:
            return _NO_ROWS, _NO_KINDS
        entry = (self.own.of(self.state.meld_type).reshape(-1) == _CONCEALED).nonzero()[0]
        if not entry.size:
            return entry, _NO_KINDS
        row, place = np.divmod(entry, MAX_MELDS)
        row, place = row[self.present[row]], place[self.present[row]]
        return row, self.state.meld_kind[self.games[row], self.seat[row], place]

    @lazy
    def unseen_tiles(self) -> Int8Array:
        """[n, 42] tiles of each kind that the seat has not seen, flowers included."""
        unseen = np.repeat(self.rules.deck[None], len(self), axis=0)
        if self.rules.uses_flowers:
            unseen -= over_slots(self.flowers)
        suits = unseen[:, :NUM_KINDS]
        suits -= self.hand
        # Planes with another meaning may overflow.
        shown = over_slots(self._public.reshape(len(self), SLOTS, NUM_PLANES * NUM_KINDS))
        for plane in (DISCARDED, MELDED):
            suits -= shown[:, plane * NUM_KINDS : (plane + 1) * NUM_KINDS]
        row, kind = self.hidden_kongs
        np.subtract.at(suits, (row, kind), 4)
        # A tile that is being added to a pung is in no hand, and not yet in the meld.
        for tile, lies in (
            (self.indicator, self.indicator >= 0),
            (self.state.offered[self.games], self.is_asked & (self._phase == Phase.ROB)),
        ):
            where = np.flatnonzero(lies)
            suits[where, tile[where]] -= 1
        return unseen

    @property
    def unseen(self) -> Int8Array:
        """[n, 34]; see `View.unseen`."""
        return self.unseen_tiles[:, :NUM_KINDS]

    # --- The question --------------------------------------------------------------------------------------------
    @property
    def action_mask(self) -> BoolArray:
        """[n, 109]; see `View.action_mask`."""
        mask = self.state.mask.take(self.games, axis=0)
        if not self.all_asked:
            mask[~self.is_asked] = False
        return mask

    @property
    def phase(self) -> Int8Array:
        """[n]; see `View.phase`."""
        return self._phase if self.all_asked else self._phase * self.is_asked

    @lazy
    def _opening_tiles(self) -> tuple[Int8Array, Int8Array] | None:
        """[n] the tiles offered before the first turn, and those that would be given up for them; None for none."""
        if not self.rules.opening_stages or self._all_in_turn:
            return None
        rows = (self.phase == _OPENING).nonzero()[0]
        if not rows.size:
            return None
        offered, given = (np.full(len(self), NO_TILE, np.int8) for _ in range(2))
        stage = self.state.stage[self.games[rows]]
        offered[rows], given[rows] = self.rules.opening_tiles(self.state, self.own.take(rows), stage)
        return offered, given

    @property
    def offered(self) -> Int8Array:
        """[n]; see `View.offered`."""
        offered = self.state.offered[self.games]
        if not self.all_asked:
            offered = np.where(self.is_asked, offered, _NOTHING)
        if self._opening_tiles is not None:
            offered = np.maximum(offered, self._opening_tiles[0])
        return offered

    @property
    def offered_from(self) -> Int8Array:
        """[n]; see `View.offered_from`."""
        if self._all_in_turn:
            return _NOBODY.repeat(len(self))
        is_given = self.state.offered[self.games] >= _ZERO
        if not self.all_asked:
            is_given &= self.is_asked
        return np.where(is_given, self._slot(self.state.offered_by[self.games]), _NOBODY)

    @property
    def given_up(self) -> Int8Array:
        """[n]; see `View.given_up`."""
        return _NOTHING.repeat(len(self)) if self._opening_tiles is None else self._opening_tiles[1]

    @property
    def opening(self) -> Int8Array:
        """[n]; see `View.opening`."""
        if self._all_in_turn:
            return np.zeros(len(self), np.int8)
        return (self.state.stage[self.games] + _ONE) * (self.phase == _OPENING)

    # --- The turn ------------------------------------------------------------------------------------------------
    @property
    def turn(self) -> Int8Array:
        """[n]; see `View.turn`."""
        state, games = self.state, self.games
        if self._all_in_turn:
            return np.zeros(len(self), np.int8)
        after = NEXT_SEAT[state.num_seats].take(state.offered_by[games])
        return self._slot(np.where(self._phase == _CLAIM, after, state.turn[games]))

    @property
    def left(self) -> Int16Array:
        """[n]; see `View.left`."""
        left = self.state.left(self.games)
        if not self.all_asked:
            left = np.where(self._unseen_draw, self.state.left_before_draw[self.games], left)
        return left

    @property
    def walls(self) -> Int16Array:
        """[n, 4]; see `View.walls`."""
        if not self.state.has_private_walls:
            walls = np.repeat(self.left[:, None], SLOTS, axis=1)
        else:
            walls = self.state.left_to(self._at)
            if not self.all_asked:  # the draws of other seats cannot be seen yet
                row = self._unseen_draw.nonzero()[0]
                games = self.games[row]
                slot = self._slot(self.state.turn[self.games])[row].astype(np.intp)
                walls[row, slot] += self.state.left_before_draw[games] - self.state.left(games)
        if self.state.num_seats < SLOTS:
            walls[:, EMPTY_SLOT] = 0
        return walls

    # --- The hand and the match ----------------------------------------------------------------------------------
    @property
    def dealer(self) -> Int8Array:
        """[n]; see `View.dealer`."""
        return self._slot(self.state.dealer[self.games])

    @property
    def deals_passed_on(self) -> Int16Array:
        """[n]; see `View.deals_passed_on`."""
        return self.state.turnover[self.games] % np.int16(self.state.num_seats)

    @property
    def hands_to_come(self) -> Int16Array:
        """[n]; see `View.hands_to_come`."""
        if not self.rules.ends_by_hands:
            return np.zeros(len(self), np.int16)
        return np.int16(min(self._num_hands - 1, _LONGEST)) - self.hand_in_match

    @lazy
    def marks(self) -> Int16Array:
        """[n, 4, K]; see `View.marks`."""
        marks: Int16Array = self.of_slots(self.state.marks)
        rows = self._fresh_flowers
        if rows.size:
            slot = self._slot(self.state.turn[self.games])[rows].astype(np.intp)
            marks[rows, slot] = self.state.marks_before_flowers[self.games[rows]]
        return marks

    @lazy
    def sitting_out(self) -> Int8Array:
        """[n]; see `View.sitting_out`."""
        if self.rules.people == self.rules.seats:
            return np.full(len(self), NO_SEAT, np.int8)
        persons = self.rules.people * (self.rules.people - 1) // 2
        return (persons - self.state.person_at[self.games].sum(axis=1)).astype(np.int8)

    @lazy
    def own_person(self) -> Int8Array:
        """[n]; see `View.own_person`."""
        own = self.own.of(self.state.person_at)
        return np.where(self.present, own, self.sitting_out)

    @lazy
    def points(self) -> Int32Array:
        """[n, 4]; see `View.points`."""
        if not self.rules.people_move:
            points: Int32Array = self.of_slots(self.state.points)
        else:
            points = self.state.points[self.games[:, None], np.maximum(self.person, _ZERO)]
            points[self.person < _ZERO] = 0
        rows = self._robbable
        if rows.size:
            points[rows] += self._kong_payments(rows)
        return points

    def _kong_payments(self, rows: Games) -> Any:
        """[m, 4] payments for the kongs that may still be robbed."""
        state, games = self.state, self.games[rows]
        seat = state.offered_by[games]
        giver = state.meld_from[games, seat, self._kongs_to_be[2]]
        amounts = self.rules.kong_payments(state, state.seats(games, seat), MeldType.ADDED_KONG, giver)
        if amounts is None:
            return 0
        paid = np.take_along_axis(amounts, self._order[rows], axis=1)
        if state.num_seats < SLOTS:
            paid[:, EMPTY_SLOT] = 0
        return paid

    @lazy
    def points_sitting_out(self) -> Int32Array:
        """[n]; see `View.points_sitting_out`."""
        person = self.sitting_out
        points = self.state.points[self.games, np.maximum(person, _ZERO)]
        return np.where(person < _ZERO, np.int32(0), points)


def over_slots(numbers: Int8Array) -> Int8Array:
    """Return [n, ...] the sum over the slots of [n, 4, ...]; numpy adds four long rows faster than a short axis."""
    total: Int8Array = numbers[:, 0] + numbers[:, 1]
    total += numbers[:, 2]
    total += numbers[:, 3]
    return total


def hidden_entries(state: State, rules: Rules, games: Games, seat: Games, present: BoolArray) -> dict[str, BoolArray]:
    """Return, for each array of the state, which of its entries in these games a seat cannot see.

    Args:
        state: the games.
        rules: their rules.
        games: [n] the numbers of the games.
        seat: [n] the table seat that looks.
        present: [n] False for a person who sits out.

    Returns:
        By name, bool arrays of the shape of the state's arrays with n games.
    """
    n, rows = len(games), np.arange(len(games))
    own = (np.arange(state.num_seats) == seat[:, None]) & present[:, None]
    own_turn = own[rows, state.turn[games]]
    is_asked = (state.actor[games] == seat) & present
    hidden_from = {
        "all": np.zeros((n, 1), np.bool_),
        "nobody": np.ones((n, 1), np.bool_),
        "owner of turn": ~own_turn[:, None],
        "asked": ~is_asked[:, None],
    }
    hidden = {}
    for item in array_fields():
        shape, who = (n, *getattr(state, item.name).shape[1:]), item.metadata["seen_by"]
        which = ~own if who == "owner" else hidden_from[who]
        aligned = which[:, 0] if len(shape) == 1 else which.reshape(*which.shape, *[1] * (len(shape) - 2))
        hidden[item.name] = np.broadcast_to(aligned, shape)
    if rules.hides_concealed_kongs:
        kongs = state.meld_type[games] == MeldType.CONCEALED_KONG
        hidden["meld_kind"] = kongs & ~own[..., None]
    return hidden
