"""The record of one match, and its line of JSON. The format is described in ``record.schema.json`` beside this file.

A line is an object. Cards follow from ``seed``, ``stream`` and ``hand`` (see `mahjong_env.basics.chance`), or from
``deal`` where the first hand was a scene; everything else follows from ``actions``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

import mahjong_env.ruleset.registry as registry
from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.basics.errors import RecordError, RulesError
from mahjong_env.engine.scene import Deal
from mahjong_env.ruleset.questions import Rules

FORMAT: Final = "mahjong_env.record"
FORMAT_VERSION: Final = 2
"""Moves when fields change, and when the same seed, stream and hand are dealt other cards, as from 1 to 2."""

_MOST = 2**63


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One match, or its beginning.

    Attributes:
        variant: the variant's name.
        rules_version: the version of the variant (`Rules.version`) that was played.
        knobs: the knobs that differ from their defaults.
        num_hands: hands of the match.
        start: how matches begin, "first" or "random".
        seed: the 64 bits that a seed is folded into.
        stream: the number of the game in its batch.
        hand: the number of the first hand since the seed.
        deal: the scene that the first hand began with; None: everything was left to chance.
        actions: the actions in order, by whoever was to act.
        points: points of each person at the end.
        is_complete: whether the match was played to its end.
        agents: who played, by person; empty: not said.
        notes: by number of the action, what its agent thought, or what was found out later: ``probabilities`` (by
            name of the action), ``values`` (by name of the action, the points that it promises the agent), ``value``
            (points expected) and ``intervals`` (by name of the action, [low, mean, high] of the points that it brings
            more than the action played; ``python -m training branch`` writes them) are shown by the viewer; other keys
            are kept.
    """

    variant: str
    rules_version: int
    knobs: Mapping[str, Any]
    num_hands: int
    start: str
    seed: int
    stream: int
    hand: int
    deal: Deal | None = None
    actions: tuple[int, ...]
    points: tuple[int, ...]
    is_complete: bool = True
    agents: tuple[str, ...] = ()
    notes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def rules(self) -> Rules:
        """The rules with the record's knobs.

        Raises:
            RecordError: the variant or a knob is not known here, or the variant has another version.
        """
        try:
            rules = registry.rules(self.variant, **self.knobs)
        except RulesError as error:
            raise RecordError(f"the record cannot be played here: {error}") from None
        if rules.version != self.rules_version:
            raise RecordError(
                f"the record is of version {self.rules_version} of {self.variant}; here it has version {rules.version}"
            )
        return rules

    def to_json(self) -> str:
        """The record as one line, without a newline."""
        told: dict[str, Any] = {"format": FORMAT, "version": FORMAT_VERSION}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in _OPTIONAL and value == _OPTIONAL[item.name]:
                continue
            told[item.name] = value
        if self.deal is not None:
            told["deal"] = {item.name: getattr(self.deal, item.name) for item in fields(Deal)}
        if self.notes:
            told["notes"] = {str(number): dict(note) for number, note in self.notes.items()}
        return json.dumps(told, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> GameRecord:
        """Read a line.

        Raises:
            RecordError: it is not a record, or not one of this version; the message says what is wrong.
        """
        try:
            told = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise RecordError(f"not a line of JSON: {error}") from None
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise RecordError(f"not a record: an object whose format is {FORMAT!r} is wanted")
        if told.get("version") != FORMAT_VERSION:
            old = ", whose seeds dealt other cards: it cannot be played here" if told.get("version") == 1 else ""
            raise RecordError(f"a record of version {told.get('version')!r}{old}; this package reads {FORMAT_VERSION}")
        values = {name: value for name, value in told.items() if name not in ("format", "version")}
        names = {item.name for item in fields(cls)}
        missing, unknown = names - set(values) - set(_OPTIONAL), set(values) - names
        if missing or unknown:
            raise RecordError(
                f"a record has the fields {', '.join(sorted(names))}; missing: {_listed(missing)}, "
                f"unknown: {_listed(unknown)}"
            )
        for name, value in values.items():
            valid, what = _CHECKS[name]
            if not valid(value):
                raise RecordError(f"the record's {name} is {what}, not {_shortened(value)}")
        return cls(**{name: _READ.get(name, lambda value: value)(value) for name, value in values.items()})


_OPTIONAL: Final[Mapping[str, Any]] = {"deal": None, "is_complete": True, "agents": (), "notes": {}}


def _is_number(value: Any, least: int = 0, most: int = _MOST) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < most


def _is_list(value: Any, valid: Any) -> bool:
    return isinstance(value, list) and all(map(valid, value))


def _is_deal(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and set(value) <= {item.name for item in fields(Deal)})


def _is_notes(value: Any) -> bool:
    return isinstance(value, dict) and all(key.isdecimal() and _is_note(note) for key, note in value.items())


def _is_note(note: Any) -> bool:
    if not isinstance(note, dict) or not _is_real(note.get("value", 0)):
        return False
    by_action = {"probabilities": _is_real, "values": _is_real, "intervals": _is_interval}
    return all(
        isinstance(numbers := note.get(key, {}), dict)
        and all(name in ACTIONS and valid(number) for name, number in numbers.items())
        for key, valid in by_action.items()
    )


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_interval(value: Any) -> bool:
    return _is_list(value, _is_real) and len(value) == 3


# For each field: what is valid, and how it is called in messages.
_CHECKS: Final[Mapping[str, tuple[Any, str]]] = {
    "variant": (lambda value: isinstance(value, str), "a name"),
    "rules_version": (_is_number, "an integer from 0"),
    "knobs": (lambda value: isinstance(value, dict), "an object of knobs"),
    "num_hands": (lambda value: _is_number(value, 1), "an integer from 1"),
    "start": (lambda value: value in ("first", "random"), "'first' or 'random'"),
    "seed": (lambda value: _is_number(value, 0, 2**64), "an integer of 64 bits"),
    "stream": (_is_number, "an integer from 0"),
    "hand": (_is_number, "an integer from 0"),
    "deal": (_is_deal, "an object with the fields of mahjong_env.Deal"),
    "actions": (
        lambda value: _is_list(value, lambda action: _is_number(action, 0, NUM_ACTIONS)),
        f"a list of actions, 0 to {NUM_ACTIONS - 1}",
    ),
    "points": (lambda value: _is_list(value, lambda points: _is_number(points, -_MOST)), "a list of integers"),
    "is_complete": (lambda value: isinstance(value, bool), "true or false"),
    "agents": (lambda value: _is_list(value, lambda name: isinstance(name, str)), "a list of names"),
    "notes": (
        _is_notes,
        "an object of objects by number of the action, whose value, probabilities, values and intervals are as in "
        "record.schema.json",
    ),
}

_READ: Final[Mapping[str, Any]] = {
    "deal": lambda value: None if value is None else Deal(**{name: _tuple(part) for name, part in value.items()}),
    "actions": tuple,
    "points": tuple,
    "agents": tuple,
    "notes": lambda value: {int(number): note for number, note in value.items()},
}


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
