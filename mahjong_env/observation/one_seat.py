"""Observations of few games, almost without numpy: there a call of it takes longer than the work.

The same planes as `mahjong_env.observation.planes` writes, read from the memory of the state, with what
`mahjong_env.observation.visibility` says of who sees what: for seats at tables with one wall where nobody sits out, in
a turn, while seats are asked about a discard, and when the game is over. All else is left to numpy.
`tests/observation/test_one_seat.py` compares both.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FLOWERS, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.observation.declaration import SLOTS
from mahjong_env.observation.planes import FACT_PLACES, SHAPE, plane
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import (
    FEW_GAMES,
    MAX_DISCARDS,
    MAX_MELDS,
    MELD_LIST,
    NUM_PLANES,
    SLOT_OF_OFFSET,
    Phase,
    State,
)

MOST_GAMES: Final = FEW_GAMES
"""The largest batches that are observed like this; in larger ones numpy is faster."""

_TURN: Final = Phase.TURN
_CLAIM: Final = Phase.CLAIM
_KNOWN: Final = frozenset((_TURN, _CLAIM, Phase.OVER))
_CONCEALED: Final = int(MeldType.CONCEALED_KONG)
_SEEN: Final = NUM_PLANES * NUM_KINDS  # numbers of a seat in `State.public`
_TABLE: Final = MELD_LIST * NUM_KINDS  # those of them that stand in the piece "table"
_SLOTS: Final = {seats: slots.tolist() for seats, slots in SLOT_OF_OFFSET.items()}
_MOST: Final = 127
_SIZE: Final = SHAPE[0] * SHAPE[1]


def _place(name: str) -> int:
    """Where a piece begins in an observation."""
    return plane(name).start * NUM_KINDS


def _fact(name: str) -> int:
    """Where a fact stands in an observation."""
    return _place("facts") + FACT_PLACES[name].start


_HAND, _DRAWN, _OFFERED, _WILD, _INDICATOR = map(_place, ("hand", "drawn", "offered", "wild", "indicator"))
_HIDDEN_KONGS, _POINTS, _LEGAL = map(_place, ("hidden_kongs", "points", "legal_actions"))
_LEFT, _STREAK, _ROUND_WIND, _PASSED_ON = map(_fact, ("left", "streak", "round_wind", "deals_passed_on"))
_OFFERED_FROM, _WHOSE_TURN = map(_fact, ("offered_from", "turn"))
_HAND_IN_MATCH, _HANDS_TO_COME = map(_fact, ("hand_in_match", "hands_to_come"))
_IS_DEALER, _HOUSE_WIND, _MARKS = map(_fact, ("is_dealer", "house_wind", "mark_0"))
# Facts that stand in arrays of the same name: what all see, and what the seat sees that is asked.
_SEEN_BY_ALL: Final = ("num_discards", "dice")
_SEEN_BY_ASKED: Final = ("phase", "kong_draws", "flower_draw", "closing")


def games_named(games: Any, every: range) -> list[int] | range | None:
    """The numbers of games that a caller names by an array (None: every one); None: look closer."""
    if games is None:
        return every
    if type(games) is not np.ndarray or games.ndim != 1 or games.dtype.kind not in "iu":
        return None
    numbers: list[int] = games.tolist()
    return numbers if set(every).issuperset(numbers) else None


class FewObservations:
    """What seats see in the games of a small batch, one by one.

    Most of an observation is copied from the memory of the state at once, from places that are known for each seat
    (`_sources`). What stays as it is within a hand, and the points, is added from a row for each seat (`_settled`).
    """

    def __init__(self, state: State, rules: Rules, num_hands: int) -> None:
        """Look at the memory of the games; ``num_hands`` are the hands of a match."""
        self._state, self._seats, self._wall_size = state, state.num_seats, state.wall.shape[1]
        self._all = range(len(state.phase))
        self._knows_all = rules.shows_drawn and not (rules.people_move or rules.has_private_walls)
        self._slots = _SLOTS[self._seats]  # by the steps from the seat that looks; negative steps count from the end
        self._num_marks, self._has_flowers = len(rules.marks), rules.uses_flowers
        self._no_marks = bytes(2 * self._num_marks * self._seats)
        self._mark_places = [
            [
                _MARKS + SLOTS * number + self._slots[seat - me]
                for seat in range(self._seats)
                for number in range(self._num_marks)
            ]
            for me in range(self._seats)
        ]
        self._hides_kongs = rules.hides_concealed_kongs
        self._last_hand = min(num_hands - 1, 2**15 - 1) if rules.ends_by_hands else -1

        # The memory of all numbers of one size, and where each array begins in it.
        self._bytes, self._raw, self._shorts, self._ints = map(state.memory, (np.int8, np.uint8, np.int16, np.int32))
        self._line = np.frombuffer(self._bytes, np.int8)

        def of(*names: str) -> list[int]:
            return [state.start(name) for name in names]

        self._phase, self._actor, self._turn, self._drawn = of("phase", "actor", "turn", "drawn")
        self._offered, self._offered_by, self._flower_draw = of("offered", "offered_by", "flower_draw")
        self._front, self._back, self._reserve, self._left_before_draw = of(
            "front", "back", "reserve", "left_before_draw"
        )
        self._marks, self._meld_type = of("marks", "meld_type")

        self._sources: dict[int, Games] = {}
        games, seats = len(self._all), self._seats
        self._settled = list(np.zeros((games * seats, _SIZE), np.int8))
        self._numbers: list[list[int]] = [[] for _ in self._all]  # by game: what those rows have been written from
        # Where that is read: everything from the first of these arrays to the last one is the same all through a hand.
        self._hand_numbers = slice(state.start("dealer"), state.start("wild") + games)
        self._match_numbers = slice(state.start("hand_in_match"), state.start("turnover") + games)
        self._points = slice(state.start("points"), state.start("points") + games * rules.people)
        self._known: tuple[bytes, ...] = ()

    def read(self, games: Any, seats: Any) -> list[tuple[int, int]] | None:
        """The games, and the table seats that look, if this knows what all of them see; None: look closer.

        Arguments as of `Engine.observe`.
        """
        if not self._knows_all:
            return None
        numbers = games_named(games, self._all)
        if numbers is None:
            return None
        if seats is None:
            looking = None
        elif type(seats) is int:
            looking = [seats] * len(numbers)
        elif type(seats) is np.ndarray and seats.shape == (len(numbers),) and seats.dtype.kind in "iu":
            looking = seats.tolist()
        else:
            return None
        memory, pairs = self._bytes, []
        for number, g in enumerate(numbers):
            actor = memory[self._actor + g]
            me = looking[number] if looking is not None else actor if actor >= 0 else 0
            # Nothing rare is asked, and nobody has flowers that this seat does not see yet.
            if memory[self._phase + g] not in _KNOWN:
                return None
            if me != actor and (memory[self._flower_draw + g] or not 0 <= me < self._seats):
                return None
            pairs.append((g, me))
        return pairs

    def observe(self, looking: list[tuple[int, int]], out: Int8Array | None = None) -> Int8Array:
        """[n, C, 34] int8 what seats see in games (see `read`): ``out``, or a fresh array."""
        if out is None:
            out = np.empty((len(looking), *SHAPE), np.int8)
        known = (
            self._raw[self._hand_numbers].tobytes(),
            self._shorts[self._match_numbers].tobytes(),
            self._ints[self._points].tobytes(),
        )
        if known != self._known:
            self._settle()
            self._known = known
        line = out.reshape(-1)
        for number, (g, me) in enumerate(looking):
            row = line[number * _SIZE : (number + 1) * _SIZE]
            at, is_asked = g * self._seats + me, self._bytes[self._actor + g] == me
            source = self._sources.get(at if is_asked else ~at)
            if source is None:
                source = self._find_source(g, me, is_asked)
            self._line.take(source, out=row, mode="clip")
            np.add(row, self._settled[at], out=row)
            self._write_rest(g, me, is_asked, row.data)
        return out

    def _find_source(self, g: int, me: int, is_asked: bool) -> Games:
        """[C * 34] where the numbers that are copied stand in the memory of the state; the others are a zero there."""
        state, seats = self._state, self._seats
        found = np.full(_SIZE, len(self._line) - 1)

        def copy(place: int, name: str, first: int, size: int) -> None:
            found[place : place + size] = state.start(name) + first + np.arange(size)

        for name in (*_SEEN_BY_ALL, *_SEEN_BY_ASKED[: len(_SEEN_BY_ASKED) * is_asked]):
            copy(_fact(name), name, g, 1)
        at = g * seats + me
        copy(_HAND, "hand", at * NUM_KINDS, NUM_KINDS)
        if is_asked:
            copy(_LEGAL, "mask", g * NUM_ACTIONS, NUM_ACTIONS)
        for offset, slot in enumerate(self._slots):
            seat = g * seats + (me + offset) % seats
            copy(_place("table") + slot * _TABLE, "public", seat * _SEEN, _TABLE)
            copy(_place("melds") + slot * NUM_KINDS, "public", seat * _SEEN + _TABLE, NUM_KINDS)
            copy(_place("river") + slot * MAX_DISCARDS, "river", seat * MAX_DISCARDS, MAX_DISCARDS)
            if self._has_flowers:
                flowers, first = _place("flowers") + slot * NUM_KINDS, seat * NUM_ALL_KINDS
                copy(flowers, "flowers", first, NUM_KINDS)  # honours exposed as flowers: none is of a suit
                copy(flowers, "flowers", first + FLOWERS, NUM_ALL_KINDS - FLOWERS)
        self._sources[at if is_asked else ~at] = found
        return found

    def _settle(self) -> None:
        """Write the rows of games in which a hand has begun or somebody has been paid."""
        state, seats = self._state, self._seats
        for g in self._all:
            numbers = [
                int(array[g])
                for array in (
                    *(state.wild, state.indicator, state.streak, state.round_wind, state.turnover),
                    *(state.hand_in_match, state.dealer),
                )
            ]
            winds, points = state.house_wind[g].tolist(), state.points[g].tolist()
            if [*numbers, *winds, *points] == self._numbers[g]:
                continue
            self._numbers[g] = [*numbers, *winds, *points]
            wild, indicator, streak, round_wind, turnover, played, dealer = numbers
            for me in range(seats):
                self._settled[g * seats + me][:] = 0
                row = self._settled[g * seats + me].data  # numbers are written faster there
                for place, kind in ((_WILD, wild), (_INDICATOR, indicator)):
                    if kind >= 0:
                        row[place + kind] = 1
                row[_STREAK], row[_HAND_IN_MATCH] = min(streak, _MOST), min(played, _MOST)
                row[_ROUND_WIND], row[_PASSED_ON] = round_wind + 1, turnover % seats
                if self._last_hand >= 0:
                    row[_HANDS_TO_COME] = min(self._last_hand - played, _MOST)
                row[_IS_DEALER + self._slots[dealer - me]] = 1
                for seat in range(seats):
                    slot = self._slots[seat - me]
                    row[_HOUSE_WIND + slot] = winds[seat] + 1
                    for digit, number in enumerate(_digits(points[seat])):
                        row[_POINTS + SLOTS * digit + slot] = number

    def _write_rest(self, g: int, me: int, is_asked: bool, seen: memoryview) -> None:
        """Write into an observation what has to be worked out."""
        memory, shorts, seats, slots = self._bytes, self._shorts, self._seats, self._slots
        phase = memory[self._phase + g]
        if phase == _TURN and not is_asked:
            seen[_LEFT] = shorts[self._left_before_draw + g]
        else:  # a kong may leave -1
            seen[_LEFT] = self._wall_size - shorts[self._front + g] - shorts[self._back + g] - shorts[self._reserve + g]
        if phase == _CLAIM:
            giver = memory[self._offered_by + g]
            seen[_WHOSE_TURN] = slots[(giver + 1 - me) % seats] + 1
            if is_asked:
                seen[_OFFERED + memory[self._offered + g]] = 1
                seen[_OFFERED_FROM] = slots[giver - me] + 1
        else:
            seen[_WHOSE_TURN] = slots[memory[self._turn + g] - me] + 1
            drawn = memory[self._drawn + g]
            if drawn >= 0 and is_asked:
                seen[_DRAWN + drawn] = 1
        if self._hides_kongs:
            first = self._meld_type + (g * seats + me) * MAX_MELDS
            types = self._raw[first : first + MAX_MELDS].tobytes()
            if _CONCEALED in types:
                kinds = self._state.meld_kind[g, me].tolist()
                for meld_type, kind in zip(types, kinds, strict=True):
                    if meld_type == _CONCEALED:
                        seen[_HIDDEN_KONGS + kind] = 4
        if self._num_marks:
            number = self._num_marks * seats
            first = self._marks + g * number
            marks = shorts[first : first + number]
            if marks.tobytes() != self._no_marks:
                for place, mark in zip(self._mark_places[me], marks, strict=True):
                    if mark:
                        seen[place] = max(-_MOST, min(mark, _MOST))


def _digits(number: int) -> list[int]:
    """The digits of a number in base 100, the last one first, each with the sign of the whole."""
    sign, number, digits = -1 if number < 0 else 1, abs(number), []
    while number:
        number, last = divmod(number, 100)
        digits.append(sign * last)
    return digits
