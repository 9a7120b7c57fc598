"""Observations of few games, almost without numpy: there, one call of it takes longer than the work itself.

The planes are those of `mahjong_env.observation.planes`, read from the memory of the state, with the rules of
`mahjong_env.observation.visibility` for who sees what. This works at tables with one wall where nobody sits out, for
seats in a turn, while seats are asked about a discard, and when the game is over. Everything else is left to numpy.
`tests/observation/test_one_seat.py` compares both ways.
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
    SLOT_OF_OFFSET,
    Phase,
    State,
)

MOST_GAMES: Final = FEW_GAMES
"""The largest batch that is observed like this; in larger ones numpy is faster."""

_TURN: Final = Phase.TURN
_CLAIM: Final = Phase.CLAIM
_KNOWN: Final = frozenset((_TURN, _CLAIM, Phase.OVER))
_CONCEALED: Final = int(MeldType.CONCEALED_KONG)
_SLOTS: Final = {seats: slots.tolist() for seats, slots in SLOT_OF_OFFSET.items()}
_MOST: Final = 127
_SIZE: Final = SHAPE[0] * SHAPE[1]


def _place(name: str) -> int:
    """Return where a piece begins in an observation."""
    return plane(name).start * NUM_KINDS


def _fact(name: str) -> int:
    """Return where a fact is in an observation."""
    return _place("facts") + FACT_PLACES[name].start


_DRAWN, _OFFERED, _WILD, _INDICATOR = map(_place, ("drawn", "offered", "wild", "indicator"))
_HIDDEN_KONGS, _POINTS = map(_place, ("hidden_kongs", "points"))
_LEFT, _STREAK, _ROUND_WIND, _PASSED_ON = map(_fact, ("left", "streak", "round_wind", "deals_passed_on"))
_OFFERED_FROM, _WHOSE_TURN = map(_fact, ("offered_from", "turn"))
_HAND_IN_MATCH, _HANDS_TO_COME = map(_fact, ("hand_in_match", "hands_to_come"))
_IS_DEALER, _HOUSE_WIND, _MARKS = map(_fact, ("is_dealer", "house_wind", "mark_0"))
# Facts that are held by arrays of the same name: those seen by all, and those seen only by the seat that is asked.
_SEEN_BY_ALL: Final = ("num_discards", "dice")
_SEEN_BY_ASKED: Final = ("phase", "kong_draws", "flower_draw", "closing")


def games_named(games: Any, every: range) -> list[int] | range | None:
    """Return the numbers of the games that a caller names (None: all of them); None if they need a closer check."""
    if games is None:
        return every
    if type(games) is not np.ndarray or games.ndim != 1 or games.dtype.kind not in "iu":
        return None
    numbers: list[int] = games.tolist()
    return numbers if set(every).issuperset(numbers) else None


class FewObservations:
    """What seats see in the games of a small batch, one by one.

    Most of an observation is copied in one go from the memory of the state, from places that are known for each seat
    (`_sources`). Numbers that stay the same within a hand, and the points, are added from a row for each seat
    (`_settled`).
    """

    def __init__(self, state: State, rules: Rules, num_hands: int) -> None:
        """Look at the memory of the games; ``num_hands`` is the number of hands of a match."""
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

        self._lines, self._block = state.lines(), state.block
        self._sources: dict[int, Games] = {}
        games, seats = len(self._all), self._seats
        self._settled = list(np.zeros((games * seats, _SIZE), np.int8))
        self._numbers: list[list[int]] = [[] for _ in self._all]  # by game: the numbers from which those rows are made
        # The stretches of memory that hold them; except for payments they stay the same all through a hand.
        ends = (("dealer", "wild"), ("hand_in_match", "turnover"), ("points", "points"))
        self._hand_and_match = [state.stretch(first, last) for first, last in ends]
        self._known: list[bytes] = []

    def read(self, games: Any, seats: Any) -> list[tuple[int, int]] | None:
        """Return the games and the table seats that look; None if they need a closer check, or are left to numpy.

        For the arguments see `Engine.observe`.
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
        lines, pairs = self._lines, []
        for number, g in enumerate(numbers):
            actor = lines.actor[g]
            me = looking[number] if looking is not None else actor if actor >= 0 else 0
            # Go on only if nothing rare is asked, and nobody has flowers that this seat does not see yet.
            if lines.phase[g] not in _KNOWN:
                return None
            # The seat to act in a finished game is -1, which is out of range like any other wrong number.
            if not 0 <= me < self._seats or (me != actor and lines.flower_draw[g]):
                return None
            pairs.append((g, me))
        return pairs

    def observe(self, looking: list[tuple[int, int]], out: Int8Array | None = None) -> Int8Array:
        """Return what seats see in games (see `read`), in ``out`` or a fresh array: [n, C, 34] int8."""
        if out is None:
            out = np.empty((len(looking), *SHAPE), np.int8)
        known = [stretch.tobytes() for stretch in self._hand_and_match]
        if known != self._known:
            self._settle()
            self._known = known
        line = out.reshape(-1)
        for number, (g, me) in enumerate(looking):
            row = line[number * _SIZE : (number + 1) * _SIZE]
            at, is_asked = g * self._seats + me, self._lines.actor[g] == me
            key = at if is_asked else ~at
            source = self._sources.get(key)
            if source is None:
                source = self._sources[key] = self._find_source(g, me, is_asked)
            self._block.take(source, out=row, mode="clip")
            np.add(row, self._settled[at], out=row)
            self._write_rest(g, me, is_asked, row.data)
        return out

    def _find_source(self, g: int, me: int, is_asked: bool) -> Games:
        """Return [C * 34] the places of the copied numbers in the memory of the state; other numbers read a zero."""
        places, public = self._state.places, self._state.places("public")[g]
        found = np.full(SHAPE, len(self._block) - 1)
        for name in (*_SEEN_BY_ALL, *_SEEN_BY_ASKED[: len(_SEEN_BY_ASKED) * is_asked]):
            found.reshape(-1)[_fact(name)] = places(name)[g]
        found[plane("hand")] = places("hand")[g, me]
        if is_asked:
            found[plane("legal_actions")].reshape(-1)[:NUM_ACTIONS] = places("mask")[g]
        for offset, slot in enumerate(self._slots):
            seat = (me + offset) % self._seats
            found[plane("table")].reshape(SLOTS, MELD_LIST, NUM_KINDS)[slot] = public[seat, :MELD_LIST]
            found[plane("melds")][slot] = public[seat, MELD_LIST]
            found[plane("river")].reshape(-1)[slot * MAX_DISCARDS :][:MAX_DISCARDS] = places("river")[g, seat]
            if self._has_flowers:
                flowers = places("flowers")[g, seat]
                found[plane("flowers")][slot] = flowers[:NUM_KINDS]  # honours exposed as flowers; no suited tile is one
                found[plane("flowers")][slot, : NUM_ALL_KINDS - FLOWERS] = flowers[FLOWERS:]
        return found.reshape(-1)

    def _settle(self) -> None:
        """Write the rows of games in which a hand has begun or somebody has been paid."""
        lines, seats = self._lines, self._seats
        for g in self._all:
            wild, indicator, streak, round_wind, turnover, played, dealer = numbers = [
                *(lines.wild[g], lines.indicator[g], lines.streak[g], lines.round_wind[g], lines.turnover[g]),
                *(lines.hand_in_match[g], lines.dealer[g]),
            ]
            winds, points = self._state.house_wind[g].tolist(), self._state.points[g].tolist()
            if [*numbers, *winds, *points] == self._numbers[g]:
                continue
            self._numbers[g] = [*numbers, *winds, *points]
            for me in range(seats):
                self._settled[g * seats + me][:] = 0
                row = self._settled[g * seats + me].data  # a memoryview, to which numbers are written faster
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
        """Write the numbers that have to be worked out into an observation."""
        lines, seats, slots = self._lines, self._seats, self._slots
        phase = lines.phase[g]
        if phase == _TURN and not is_asked:
            seen[_LEFT] = lines.left_before_draw[g]
        else:  # a kong may leave -1
            seen[_LEFT] = self._wall_size - lines.front[g] - lines.back[g] - lines.reserve[g]
        if phase == _CLAIM:
            giver = lines.offered_by[g]
            seen[_WHOSE_TURN] = slots[(giver + 1 - me) % seats] + 1
            if is_asked:
                seen[_OFFERED + lines.offered[g]] = 1
                seen[_OFFERED_FROM] = slots[giver - me] + 1
        else:
            seen[_WHOSE_TURN] = slots[lines.turn[g] - me] + 1
            drawn = lines.drawn[g]
            if drawn >= 0 and is_asked:
                seen[_DRAWN + drawn] = 1
        if self._hides_kongs:
            first = (g * seats + me) * MAX_MELDS
            types = lines.meld_type[first : first + MAX_MELDS].tobytes()
            if _CONCEALED in types:
                for meld_type, kind in zip(types, lines.meld_kind[first : first + MAX_MELDS], strict=True):
                    if meld_type == _CONCEALED:
                        seen[_HIDDEN_KONGS + kind] = 4
        if self._num_marks:
            number = self._num_marks * seats
            marks = lines.marks[g * number : (g + 1) * number]
            if marks.tobytes() != self._no_marks:
                for place, mark in zip(self._mark_places[me], marks, strict=True):
                    seen[place] = max(-_MOST, min(mark, _MOST))


def _digits(number: int) -> list[int]:
    """Return the digits of a number in base 100, the last one first, each with the sign of the whole number."""
    sign, number, digits = -1 if number < 0 else 1, abs(number), []
    while number:
        number, last = divmod(number, 100)
        digits.append(sign * last)
    return digits
