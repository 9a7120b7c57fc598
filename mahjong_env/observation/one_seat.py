"""Observations of few games in plain Python: there a call of numpy takes longer than the work.

The same planes as `mahjong_env.observation.planes` writes, read from the memory of the state, with what
`mahjong_env.observation.visibility` says of who sees what: for seats at tables where nobody sits out, in a turn, while
seats are asked about a discard, and when the game is over. All else is left to numpy.
`tests/observation/test_one_seat.py` compares both.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FLOWERS, NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Int8Array
from mahjong_env.observation.declaration import SLOTS
from mahjong_env.observation.planes import FACT_PLACES, SHAPE, plane
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import MAX_DISCARDS, MAX_MELDS, MELD_LIST, NUM_PLANES, SLOT_OF_OFFSET, Phase, State

MOST_GAMES: Final = 16
"""The largest batches that are observed like this; in larger ones numpy is faster."""

_TURN: Final = Phase.TURN
_CLAIM: Final = Phase.CLAIM
_KNOWN: Final = (_TURN, _CLAIM, Phase.OVER)
_NO_ACTION: Final = bytes(NUM_ACTIONS)
_CONCEALED: Final = int(MeldType.CONCEALED_KONG)
_SEEN: Final = NUM_PLANES * NUM_KINDS  # numbers of a seat in `State.public`
_TABLE: Final = MELD_LIST * NUM_KINDS  # those of them that stand in the piece "table"
_SLOTS: Final = {seats: slots.tolist() for seats, slots in SLOT_OF_OFFSET.items()}
_MOST: Final = 127
# By kind: a plane with a 1 there; the last one, which -1 reaches, has none.
_NOWHERE: Final = bytes(NUM_KINDS)
_ONE_HOT: Final = [*(bytes(place == kind for place in range(NUM_KINDS)) for kind in range(NUM_KINDS)), _NOWHERE]
_NO_FLOWERS: Final = bytes(SLOTS * NUM_KINDS)
_NUM_FLOWERS: Final = NUM_ALL_KINDS - FLOWERS


def _size(name: str) -> int:
    """The numbers of a piece."""
    planes = plane(name)
    return (planes.stop - planes.start) * NUM_KINDS


def _fact(name: str) -> int:
    """Where a fact stands in the piece "facts"."""
    return FACT_PLACES[name].start


_AFTER_RIVER: Final = bytes(_size("river") - SLOTS * MAX_DISCARDS)
_AFTER_LEGAL: Final = bytes(_size("legal_actions") - NUM_ACTIONS)
_FACTS: Final = _size("facts")
_PHASE, _LEFT, _NUM_DISCARDS, _STREAK = map(_fact, ("phase", "left", "num_discards", "streak"))
_ROUND_WIND, _PASSED_ON, _OFFERED_FROM = map(_fact, ("round_wind", "deals_passed_on", "offered_from"))
_WHOSE_TURN, _KONG_DRAWS, _FLOWER_DRAW, _CLOSING = map(_fact, ("turn", "kong_draws", "flower_draw", "closing"))
_DICE, _HAND_IN_MATCH, _HANDS_TO_COME = map(_fact, ("dice", "hand_in_match", "hands_to_come"))
_IS_DEALER, _HOUSE_WIND, _MARKS = map(_fact, ("is_dealer", "house_wind", "mark_0"))


class FewObservations:
    """What seats see in the games of a small batch, one by one."""

    def __init__(self, state: State, rules: Rules, num_hands: int) -> None:
        """Look at the memory of the games; ``num_hands`` are the hands of a match."""
        self._seats, self._wall_size = state.num_seats, state.wall.shape[1]
        self._all, self._nobody_sits_out = range(len(state.phase)), rules.people == rules.seats
        self._slots = _SLOTS[self._seats]  # by the steps from the seat that looks; negative steps count from the end
        # By the seat that looks: the seats in the order of slots, a seat behind the last one for the empty slot.
        offset_of = {slot: offset for offset, slot in enumerate(self._slots)}
        self._order = [
            [(me + offset_of[slot]) % self._seats if slot in offset_of else self._seats for slot in range(SLOTS)]
            for me in range(self._seats)
        ]
        self._nobody = bytes(_SEEN if self._seats < SLOTS else 0)
        self._num_marks, self._has_flowers = len(rules.marks), rules.uses_flowers
        self._hides_kongs = rules.hides_concealed_kongs
        self._last_hand = min(num_hands - 1, 2**15 - 1) if rules.ends_by_hands else -1

        memory = state.memory
        self._hand, self._public, self._river = (memory(name, np.uint8) for name in ("hand", "public", "river"))
        self._mask, self._flowers = memory("mask"), memory("flowers", np.uint8)
        self._phase, self._actor, self._turn, self._drawn = map(memory, ("phase", "actor", "turn", "drawn"))
        self._offered, self._offered_by, self._closing = map(memory, ("offered", "offered_by", "closing"))
        self._front, self._back, self._reserve = map(memory, ("front", "back", "reserve"))
        self._wild, self._indicator, self._dealer = map(memory, ("wild", "indicator", "dealer"))
        self._num_melds, self._meld_type, self._meld_kind = map(memory, ("num_melds", "meld_type", "meld_kind"))
        self._house_wind, self._round_wind, self._points = map(memory, ("house_wind", "round_wind", "points"))
        self._num_discards, self._streak, self._turnover = map(memory, ("num_discards", "streak", "turnover"))
        self._kong_draws, self._flower_draw, self._dice = map(memory, ("kong_draws", "flower_draw", "dice"))
        self._hand_in_match, self._left_before_draw = memory("hand_in_match"), memory("left_before_draw")
        self._marks = memory("marks") if self._num_marks else memoryview(b"")

    def read(self, games: Any, seats: Any) -> list[tuple[int, int]] | None:
        """The games, and the table seats that look, if this knows what all of them see; None: look closer.

        Arguments as of `Engine.observe`.
        """
        if not self._nobody_sits_out:
            return None
        numbers: list[int] | range = self._all
        if games is not None:
            if type(games) is not np.ndarray or games.ndim != 1 or games.dtype.kind not in "iu":
                return None
            numbers = games.tolist()
            if not all(number in self._all for number in numbers):
                return None
        if seats is None:
            looking = [max(self._actor[g], 0) for g in numbers]
        elif type(seats) is int:
            looking = [seats] * len(numbers)
        elif type(seats) is np.ndarray and seats.shape == (len(numbers),) and seats.dtype.kind in "iu":
            looking = seats.tolist()
        else:
            return None
        pairs = list(zip(numbers, looking, strict=True))
        return pairs if all(self._knows(g, me) for g, me in pairs) else None

    def _knows(self, g: int, me: int) -> bool:
        """Whether nothing rare is asked, and nobody has flowers that this seat does not see yet."""
        phase = self._phase[g]
        if not 0 <= me < self._seats or phase not in _KNOWN:
            return False
        return me == self._actor[g] or not self._flower_draw[g]

    def observe(self, looking: list[tuple[int, int]], out: Int8Array | None = None) -> Int8Array:
        """[n, C, 34] int8 what seats see in games (see `read`): ``out``, or a fresh array."""
        written: list[bytes | bytearray] = []
        for g, me in looking:
            self._write(g, me, written)
        if out is None:
            return np.frombuffer(bytearray(b"").join(written), np.int8).reshape(len(looking), *SHAPE)
        out.reshape(-1).view(np.uint8).data[:] = b"".join(written)
        return out

    def _write(self, g: int, me: int, out: list[bytes | bytearray]) -> None:
        """Add the pieces, in the order of `planes.PIECES`."""
        seats, is_asked = self._seats, me == self._actor[g]
        base = g * seats
        at = base + me
        out += (
            self._hand[at * NUM_KINDS : (at + 1) * NUM_KINDS].tobytes(),
            _ONE_HOT[self._drawn[g] if is_asked and self._turn[g] == me else NO_TILE],
            _ONE_HOT[self._offered[g] if is_asked else NO_TILE],
            _ONE_HOT[self._wild[g]],
            _ONE_HOT[self._indicator[g]],
            self._hidden_kongs(at) if self._hides_kongs and self._num_melds[at] else _NOWHERE,
        )
        order = self._order[me]
        public = self._public[base * _SEEN : (base + seats) * _SEEN].tobytes() + self._nobody
        out += [public[seat * _SEEN : seat * _SEEN + _TABLE] for seat in order]
        river = self._river[base * MAX_DISCARDS : (base + seats) * MAX_DISCARDS].tobytes() + self._nobody
        out += [river[seat * MAX_DISCARDS : (seat + 1) * MAX_DISCARDS] for seat in order]
        out.append(_AFTER_RIVER)
        if self._has_flowers:
            flowers = self._flowers[base * NUM_ALL_KINDS : (base + seats) * NUM_ALL_KINDS].tobytes() + self._nobody
            for first in [seat * NUM_ALL_KINDS for seat in order]:
                out += (
                    flowers[first + FLOWERS : first + NUM_ALL_KINDS],
                    flowers[first + _NUM_FLOWERS : first + FLOWERS],
                )
        else:
            out.append(_NO_FLOWERS)
        out += [public[seat * _SEEN + _TABLE : (seat + 1) * _SEEN] for seat in order]
        self._write_numbers(g, me, is_asked, out)
        legal = self._mask[g * NUM_ACTIONS : (g + 1) * NUM_ACTIONS].tobytes() if is_asked else _NO_ACTION
        out += (legal, _AFTER_LEGAL)

    def _hidden_kongs(self, at: int) -> bytearray:
        kinds = bytearray(NUM_KINDS)
        for meld in range(at * MAX_MELDS, at * MAX_MELDS + self._num_melds[at]):
            if self._meld_type[meld] == _CONCEALED:
                kinds[self._meld_kind[meld]] = 4
        return kinds

    def _write_numbers(self, g: int, me: int, is_asked: bool, out: list[bytes | bytearray]) -> None:
        """The facts and the points."""
        seats, phase, facts, points = self._seats, self._phase[g], bytearray(_FACTS), bytearray(NUM_KINDS)
        base, slots = g * seats, self._slots
        left = self._wall_size - self._front[g] - self._back[g] - self._reserve[g]
        if is_asked:
            facts[_PHASE] = phase
            facts[_KONG_DRAWS] = self._kong_draws[g]
            facts[_FLOWER_DRAW] = self._flower_draw[g]
            facts[_CLOSING] = self._closing[g]
            if self._offered[g] >= 0:
                facts[_OFFERED_FROM] = slots[(self._offered_by[g] - me) % seats] + 1
        elif phase == _TURN:
            left = self._left_before_draw[g]
        facts[_LEFT] = left & 255  # a kong may leave -1
        turn = self._offered_by[g] + 1 if phase == _CLAIM else self._turn[g]
        facts[_WHOSE_TURN] = slots[(turn - me) % seats] + 1
        facts[_NUM_DISCARDS] = self._num_discards[g]
        facts[_STREAK] = min(self._streak[g], _MOST)
        facts[_ROUND_WIND] = self._round_wind[g] + 1
        facts[_PASSED_ON] = self._turnover[g] % seats
        facts[_DICE] = self._dice[g]
        played = self._hand_in_match[g]
        facts[_HAND_IN_MATCH] = min(played, _MOST)
        if self._last_hand >= 0:
            facts[_HANDS_TO_COME] = min(self._last_hand - played, _MOST)
        facts[_IS_DEALER + slots[(self._dealer[g] - me) % seats]] = 1
        marks = self._marks[base * self._num_marks : (base + seats) * self._num_marks].tolist()
        for seat in range(seats):
            slot = slots[seat - me]
            facts[_HOUSE_WIND + slot] = self._house_wind[base + seat] + 1
            number = self._points[base + seat]
            if number:
                _write_digits(number, points, slot)
        if any(marks):
            for place, mark in enumerate(marks):
                seat, number = divmod(place, self._num_marks)
                facts[_MARKS + SLOTS * number + slots[seat - me]] = max(-_MOST, min(mark, _MOST)) & 255
        out += (facts, points)


def _write_digits(number: int, out: bytearray, place: int) -> None:
    """The digits of a number in base 100, the last one first, each with the sign of the whole."""
    sign = -1 if number < 0 else 1
    number *= sign
    while number:
        out[place] = sign * (number % 100) & 255
        number //= 100
        place += SLOTS
