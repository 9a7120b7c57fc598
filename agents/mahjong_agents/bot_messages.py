"""Messages to bots. They are made only from a view, so that they cannot contain anything a seat may not see.

A *table* is a hand as one seat sees it. Views do not say which table a row continues, and need not: a table is what its
seat has seen so far, that is the hand's settings, every tile it has held, and the events. A row continues the table
whose events are the beginning of its own. If two tables have seen the same, it does not matter which of them is taken.
``bot.schema.json`` describes every message.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, View
from mahjong_env.basics.actions import CONCEALED_KONG, PASS
from mahjong_env.basics.tiles import EAST, KIND_NAMES, NO_TILE
from mahjong_env.state.arrays import Event, Phase

VERSION: Final = 1
"""The version of the messages; raise it whenever a bot that was right before could now be wrong."""

_PHASES: Final = {number: name.lower() for name, number in vars(Phase).items() if name.isupper()}
_EVENTS: Final = {number: name.lower().replace("_", " ") for name, number in vars(Event).items() if name.isupper()}
_EVENTS[Event.EXPOSED_KONG] = "kong"
# The arrays of a view that stay the same for a seat throughout a hand.
_SETTINGS: Final = (
    *("dealer", "round_wind", "house_wind", "streak", "deals_passed_on", "dice", "indicator", "wild"),
    *("hand_in_match", "hands_to_come", "own_person", "person", "sitting_out"),
)
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=str)
EVENT_BYTES: Final = 5
"""The number of bytes of an event in `Told.events`."""
# The number of tiles of an event's kind that its seat has held, or has been given; for chows, of their lowest kind.
_TILES: Final = np.zeros(256, np.int8)
_TILES[[Event.PUNG, Event.EXPOSED_KONG, Event.CONCEALED_KONG]] = 3, 4, 4
_TILES[[Event.CHOW, Event.ADDED_KONG, Event.DISCARD]] = 1
_CLAIMS: Final = (Event.CHOW, Event.PUNG, Event.EXPOSED_KONG, Event.ADDED_KONG)


class Told:
    """What bots can be told of the rows of a view.

    Attributes:
        order: [n] the rows in the order in which they are asked, which does not reveal their place in a batch.
        before: [n] bytes that identify a row's rules and settings, and the tiles that its seat held before its latest
            draw.
        now: [n] the same with that draw.
        events: [n] the events so far, `EVENT_BYTES` each.
    """

    def __init__(self, view: View, chance: NDArray[np.float64]) -> None:
        """Read a view.

        Args:
            view: what n seats see.
            chance: [n] a random number from 0 to below 1 for each row's bot.
        """
        self.mask, self._view = view.action_mask, view
        self.chance = chance.tolist()
        self.order: list[int] = np.argsort(chance, kind="stable").tolist()
        n, events = len(view), view.events
        number = np.count_nonzero(events[..., 0], axis=1).tolist()
        self.events = [own[:length].tobytes() for own, length in zip(events, number, strict=True)]
        settings = np.concatenate([np.int16(getattr(view, name)).reshape(n, -1) for name in _SETTINGS], axis=1)
        held = _held(view, events)
        known = [b"%d" % hash(view.rules) + own.tobytes() for own in settings]
        self.now = [own + tiles.tobytes() for own, tiles in zip(known, held, strict=True)]
        drew = np.flatnonzero(view.drawn != NO_TILE)
        held[drew, view.drawn[drew]] -= 1
        self.before = [own + tiles.tobytes() for own, tiles in zip(known, held, strict=True)]
        self._arrays: dict[str, list[Any]] = {}
        rules = view.rules
        self._played = {"variant": rules.name, "rules_version": rules.version, "knobs": rules.knobs}

    def _of(self, name: str, row: int) -> Any:
        """Return one row of an array of the view, as plain data."""
        if name not in self._arrays:
            self._arrays[name] = getattr(self._view, name).tolist()
        return self._arrays[name][row]

    def start(self, row: int, table: int) -> str:
        """Return the message that begins a table: what stays the same for its seat throughout the hand."""
        persons = self._of("person", row)
        message = {
            "type": "start",
            "table": table,
            **self._played,
            "seats": [slot for slot, person in enumerate(persons) if person >= 0],
            "persons": [_known(person) for person in persons],
            "sitting_out": _known(self._of("sitting_out", row)),
            "dealer": self._of("dealer", row),
            "round_wind": KIND_NAMES[EAST + self._of("round_wind", row)],
            "house_winds": [None if wind < 0 else KIND_NAMES[EAST + wind] for wind in self._of("house_wind", row)],
            "indicator": _tile(self._of("indicator", row)),
        }
        plain = ("streak", "deals_passed_on", "dice", "hand_in_match", "hands_to_come")
        return _line(message | {name: self._of(name, row) for name in plain})

    def happened(self, row: int, table: int, since: int) -> list[str]:
        """Return the messages about the events from number ``since`` on."""
        events = self.events[row]
        places = range(since * EVENT_BYTES, len(events), EVENT_BYTES)
        return [f'{{"type":"event","table":{table},{_event(events[at : at + EVENT_BYTES])}' for at in places]

    def request(self, row: int, table: int, more: int) -> str:
        """Return the message that asks for a decision; ``more`` requests follow without a pause."""
        hand = self._of("hand", row)
        message: dict[str, Any] = {
            "type": "request",
            "table": table,
            "phase": _PHASES[self._of("phase", row)],
            "hand": [KIND_NAMES[kind] for kind, count in enumerate(hand) if count for _ in range(count)],
            "drawn": _tile(self._of("drawn", row)),
            "wild": _tile(self._of("wild", row)),
            "offered": _tile(self._of("offered", row)),
            "from": _known(self._of("offered_from", row)),
            "given_up": _tile(self._of("given_up", row)),
            "legal": [ACTIONS[action] for action in self.legal(row)],
            "points": self._of("points", row),
        }
        message |= {name: self._of(name, row) for name in ("left", "opening", "kong_draws", "flower_draw", "closing")}
        marks = self._of("marks", row)
        message["marks"] = {name: [of[at] for of in marks] for at, name in enumerate(self._view.rules.marks)}
        if self._view.rules.has_private_walls:
            message["walls"] = self._of("walls", row)
        return _line(message | {"chance": self.chance[row], "more": more})

    def legal(self, row: int) -> list[int]:
        """Return the legal actions of a row."""
        legal: list[int] = np.flatnonzero(self.mask[row]).tolist()
        return legal

    def decide(self, row: int) -> int:
        """Return the action taken for a bot that fails: a pass, a discard of the drawn tile, or the last discard."""
        drawn = self._of("drawn", row)
        if self.mask[row, PASS]:
            return PASS
        if drawn != NO_TILE and self.mask[row, drawn]:
            return int(drawn)
        legal = self.legal(row)
        return max((action for action in legal if action < CONCEALED_KONG), default=legal[0])


def _held(view: View, events: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return [n, 34] the concealed tiles of each kind that the seat has ever held; only draws change it."""
    held = view.hand.copy()
    row, at = np.nonzero((events[..., 1] == 0) & (_TILES[events[..., 0]] > 0))
    event, _, kind, detail, _ = events[row, at].T
    np.add.at(held, (row, kind), _TILES[event])
    runs = event == Event.CHOW
    for step in (1, 2):
        np.add.at(held, (row[runs], kind[runs] + step), 1)
    claimed = np.isin(event, _CLAIMS) & (detail != NO_TILE)
    np.subtract.at(held, (row[claimed], detail[claimed]), 1)
    return held


@cache
def _event(numbers: bytes) -> str:
    """Return the rest of an event's message, from the name of the event on."""
    event, seat, kind, detail, giver = np.frombuffer(numbers, np.int8).tolist()
    message: dict[str, Any] = {"event": _EVENTS[event], "seat": seat}
    if event != Event.DRAW:
        message["tile"] = _tile(kind)
    if event == Event.DISCARD:
        message["drawn"] = None if detail < 0 else bool(detail)
    if event in _CLAIMS:
        message |= {"claimed": _tile(detail), "from": giver}
    return _line(message)[1:]


def _tile(kind: int) -> str | None:
    return None if kind == NO_TILE else KIND_NAMES[kind]


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _line(message: dict[str, Any]) -> str:
    return _ENCODER.encode(message) + "\n"
