"""The record of one match, its line of JSON, and files of lines; ``record.schema.json`` describes the format.

A line is an object. The cards follow from ``seed``, ``stream`` and ``hand`` (see `mahjong_env.basics.chance`), or from
``deal`` where the first hand was a scene; everything else follows from ``actions``.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Self

import mahjong_env.ruleset.registry as registry
from mahjong_env.basics.errors import RecordError, RulesError
from mahjong_env.engine.scene import Deal
from mahjong_env.ruleset.questions import Rules, with_knobs

FORMAT: Final = "mahjong_env.record"
FORMAT_VERSION: Final = 2
"""Incremented when fields change, or when the same seed, stream and hand deal other cards, as from 1 to 2."""

_SCHEMA: Final = json.loads(Path(__file__).with_name("record.schema.json").read_text("utf-8"))
_FIELDS: Final = {name: rule for name, rule in _SCHEMA["properties"].items() if name not in ("format", "version")}
_MOST_LEVELS = 16
"""Levels of nested lists and objects, so that everything that can be read can be written again and put into pages."""
_TYPES: Final[Mapping[str, Any]] = {
    **{"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)},
    **{"integer": int, "number": (int, float)},
}
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One match, or its beginning.

    Attributes:
        variant: the name of the variant.
        rules_version: the version of the variant (`Rules.version`) that was played.
        knobs: the knobs that differ from their defaults.
        num_hands: hands of the match.
        start: how matches begin, "first" or "random".
        seed: the 64 bits that the seed of the engine was folded into. It is not a seed for `make_engine`, which would
            fold it again and deal other cards; ``Replay(record).engine`` is the game as it was dealt.
        stream: the number of the game in its batch.
        hand: the number of the first hand since the seed.
        deal: the scene with which the first hand began; None if everything was left to chance.
        actions: the actions in order, each by the seat that was to act.
        points: points of each person at the end.
        is_complete: whether the match was played to its end.
        agents: the names of the players, by person; empty if unknown.
        notes: by number of the action, what its agent thought, or what was found out later. The viewer shows these
            keys: ``probabilities``, ``values`` (points that the action promises the agent) and ``intervals`` ([low,
            mean, high] of the points that it brings more than the action played; ``mahjong-env review`` writes them),
            each by the name of an action, and ``value`` (points expected). Other keys are kept.
        read_from: the file and the line of the record, for messages; not part of the line itself.
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
    read_from: str = field(default="", compare=False, repr=False)

    @property
    def rules(self) -> Rules:
        """The rules of the record, with its knobs.

        Raises:
            RecordError: the variant or a knob is not known here, or the variant has another version.
        """
        try:
            rules = with_knobs(registry.rules(self.variant), dict(self.knobs))
        except (RulesError, TypeError) as error:
            raise self.refused(f"the record cannot be played here: {error}") from None
        if rules.version != self.rules_version:
            raise self.refused(
                f"the record is of version {self.rules_version} of {self.variant}; here it has version {rules.version}"
            )
        return rules

    def refused(self, why: str) -> RecordError:
        """Return an error that says why this record cannot be used, and where it was read from."""
        return RecordError(f"{self.read_from}: {why}" if self.read_from else why)

    def to_json(self) -> str:
        """Return the record as one line, without a newline.

        Raises:
            RecordError: JSON cannot hold one of its fields, or it could not be read again.
        """
        values = {name: getattr(self, name) for name in _FIELDS}
        told: dict[str, Any] = {"format": FORMAT, "version": FORMAT_VERSION}
        told |= {name: value for name, value in values.items() if name not in _OPTIONAL or value != _OPTIONAL[name]}
        if self.deal is not None:
            told["deal"] = {item.name: getattr(self.deal, item.name) for item in fields(Deal)}
        if self.notes:
            told["notes"] = {}
        what = "the record"
        try:
            for number, note in self.notes.items():
                what = f"the record's note of action {number}"
                told["notes"][str(number)] = dict(note)
                _check("notes", json.loads(json.dumps({str(number): dict(note)}), object_pairs_hook=_fields))
            what = "the record"
            for name, value in told.items():
                if name in _FIELDS and name != "notes":
                    _check(name, list(value) if isinstance(value, tuple) else value)
            _check_together(values)
            line = json.dumps(told, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
            line.encode()
        except RecordError as error:
            raise self.refused(str(error)) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise self.refused(f"{what} cannot be written as JSON: {error}") from None
        return line

    @classmethod
    def from_json(cls, line: str, *, read_from: str = "") -> GameRecord:
        """Read a line; ``read_from`` says in messages where the line is from.

        Raises:
            RecordError: the line is not a record, or not one of this version; the message says what is wrong, and
                where.
        """
        try:
            return cls(**_values(line), read_from=read_from)
        except RecordError as error:
            raise RecordError(f"{read_from}: {error}" if read_from else str(error)) from None


def _values(line: str) -> dict[str, Any]:
    """Return the fields of a record, each of them checked; raise `RecordError` for anything else."""
    try:
        told = json.loads(line, object_pairs_hook=_fields)
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise RecordError(f"not a record: it must be an object whose format is {FORMAT!r}")
        version = told.get("version")
        if type(version) is not int or version != FORMAT_VERSION:
            old = ", whose seeds dealt other cards: it cannot be played here" if version == 1 else ""
            raise RecordError(f"a record of version {version!r}{old}; this package reads {FORMAT_VERSION}")
        values = {name: value for name, value in told.items() if name not in ("format", "version")}
        missing, unknown = set(_SCHEMA["required"]) - set(told), set(values) - set(_FIELDS)
        if missing or unknown:
            raise RecordError(
                f"a record has the fields {', '.join(sorted(_FIELDS))}; "
                f"missing: {', '.join(sorted(missing)) or 'none'}, unknown: {', '.join(sorted(unknown)) or 'none'}"
            )
        for name, value in values.items():
            _check(name, value)
        if unknown := set(values.get("deal") or ()) - {item.name for item in fields(Deal)}:
            raise RecordError(
                f"the record's deal has {', '.join(sorted(unknown))}, which mahjong_env.Deal does not have"
            )
        read = {name: _read(name, value) for name, value in values.items()}
    except RecordError:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RecordError(f"not a line of JSON: {str(error).partition(';')[0]}") from None
    _check_together(read)
    return read


def _check(name: str, value: Any) -> None:
    """Raise `RecordError` unless a field's value, as read from JSON, fits the schema."""
    if _fits(value, _FIELDS[name]) and (name == "actions" or _is_plain(value)):
        return
    rule = {word: told for word, told in _FIELDS[name].items() if word != "description"}
    wanted = f"{_FIELDS[name]['description']} (record.schema.json: {_shortened(rule)})"
    raise RecordError(f"the record's {name} is {_shortened(value)}, and should be: {wanted}")


def _check_together(values: Mapping[str, Any]) -> None:
    """Raise `RecordError` unless the fields, as `GameRecord` has them, fit each other."""
    actions, agents, points = (values.get(name, ()) for name in ("actions", "agents", "points"))
    beyond = max(values.get("notes", ()), default=-1)
    if beyond > len(actions):  # there may be a note about the decision after the last action
        raise RecordError(f"the record has a note for action {beyond}, but only {len(actions)} actions")
    if len(agents) not in (0, len(points)):
        raise RecordError(f"the record names {len(agents)} agents: {_shortened(agents)}; it has {len(points)} persons")


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; raise `RecordError` if a name occurs twice, as Python would silently take the last value."""
    told = dict(pairs)
    if len(told) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"the field {_shortened(twice)} is given twice")
    return told


_OPTIONAL: Final[Mapping[str, Any]] = {"deal": None, "is_complete": True, "agents": (), "notes": {}}


def _fits(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether a value fits a rule of the schema; only the keywords used there are supported."""
    if "enum" in rule:
        return value in rule["enum"]
    if "type" not in rule:
        return True
    if not _is_of(value, rule["type"]):
        return False
    if isinstance(value, list):
        if rule["items"]["type"] == "integer" and set(map(type, value)) == {int}:  # fast path for lists of actions
            value = [min(value), max(value)]
        is_long_enough = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
        return is_long_enough and all(_fits(item, rule["items"]) for item in value)
    if isinstance(value, dict):
        known, others, keys = (rule.get(word, {}) for word in ("properties", "additionalProperties", "propertyNames"))
        pattern = (_SCHEMA["$defs"]["action"] if "$ref" in keys else keys).get("pattern")
        return all(
            (pattern is None or re.fullmatch(pattern, key)) and _fits(inner, known.get(key, others))
            for key, inner in value.items()
        )
    if isinstance(value, int | float):
        return bool(rule.get("minimum", -sys.float_info.max) <= value <= rule.get("maximum", sys.float_info.max))
    return True


def _is_of(value: Any, wanted: str | list[str]) -> bool:
    """Whether a value has the type, or one of the types, that the schema names."""
    if isinstance(wanted, list):
        return any(_is_of(value, one) for one in wanted)
    return isinstance(value, _TYPES[wanted]) and isinstance(value, bool) == (wanted == "boolean")


def _is_plain(value: Any, levels: int = _MOST_LEVELS) -> bool:
    """Whether JSON can hold a value: whole characters, finite numbers, and not too many levels."""
    if isinstance(value, dict):
        return levels > 0 and all(_is_plain(key) and _is_plain(inner, levels - 1) for key, inner in value.items())
    if isinstance(value, list):
        return levels > 0 and all(_is_plain(inner, levels - 1) for inner in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return not (isinstance(value, str) and _HALF_CHARACTER.search(value))


def _read(name: str, value: Any) -> Any:
    """Return the value of a field as `GameRecord` keeps it."""
    if name == "deal" and value is not None:
        scene: Any = {key: tuple(part) if isinstance(part, list) else part for key, part in value.items()}
        return Deal(**scene)
    if name == "notes":
        return {int(number): note for number, note in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- Files of records -------------------------------------------------------------------------------------------------


class RecordWriter:
    """Appends records to a file, which is created if it does not exist.

    All records of a call are written together, so a writer that is killed leaves whole lines (except for the last one
    on a full disk). A torn last line is cut off when the file is opened again.

    Attributes:
        path: the file.
        written: the number of records that this writer has written so far.

    Raises:
        RecordError: the file cannot be written, or holds something other than records.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(path)
        except TypeError:
            raise RecordError(f"a file of records is named by its path, not by {path!r}") from None
        self.written = 0
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except (OSError, ValueError) as error:  # ValueError: a path with a zero byte in it
            why = error.strerror if isinstance(error, OSError) else error
            raise RecordError(f"records cannot be written to {self.path}: {why}") from None
        self._close = weakref.finalize(self, os.close, self._file)  # also for a writer that is dropped without `close`
        try:
            self._cut_torn_line()
        except BaseException:
            self.close()
            raise

    def write(self, *records: GameRecord) -> None:
        """Append records, all of them in one write.

        Raises:
            RecordError: they cannot be written, as on a full disk; no part of a line is left behind.
        """
        if not records:
            return
        self._append("".join(f"{record.to_json()}\n" for record in records).encode())
        self.written += len(records)

    def complete(self, lines: bytes) -> None:
        """Append lines of `GameRecord.to_json`, each with its newline, except for those that already end the file.

        After a process was killed while appending, append the same lines again: each of them is then there once.
        """
        tail = b""
        if self._file < 0:
            raise RecordError(f"{self.path} has been closed")
        if size := os.fstat(self._file).st_size:  # pipes have no size
            try:
                with self.path.open("rb") as file:
                    file.seek(max(0, size - len(lines)))
                    tail = file.read(len(lines))
            except OSError as error:
                raise RecordError(f"records cannot be read from {self.path}: {error.strerror}") from None
        missing = lines[_overlap(tail, lines) :]
        self._append(missing)
        self.written += missing.count(b"\n")

    def _append(self, lines: bytes) -> None:
        if self._file < 0:
            raise RecordError(f"{self.path} has been closed")
        before = os.fstat(self._file).st_size
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            with suppress(OSError):  # devices and pipes have no size
                os.ftruncate(self._file, before)
            raise RecordError(f"records cannot be written to {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        self._close()
        self._file = -1

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the file."""
        self.close()

    def _cut_torn_line(self) -> None:
        """Cut off a last line that was not written whole; refuse to append to a file that does not hold records."""
        size = os.fstat(self._file).st_size
        if not size:
            return
        last = b""
        with self.path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")  # like `read_records`, skips empty lines
            file.seek(size - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                *_, last = file
        is_torn = bool(last.strip()) and not _is_json(last)
        is_all = is_torn and first == last and last.startswith(_BEGINNING)  # the first record was torn
        if not is_all:
            for line in (first, b"" if is_torn else last):
                try:
                    if line.strip():
                        GameRecord.from_json(line.decode("utf-8"))
                except (RecordError, UnicodeDecodeError) as error:
                    raise RecordError(f"{self.path} is not a file of records, and is left as it is: {error}") from None
        if is_torn:
            os.ftruncate(self._file, size - len(last))
        elif last:  # a whole line without its newline, as some editors leave it
            self._append(b"\n")


_BEGINNING: Final = f'{{"format":"{FORMAT}"'.encode()
"""The beginning of every line that `GameRecord.to_json` has made."""


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _overlap(tail: bytes, lines: bytes) -> int:
    """Return the number of bytes at the end of a file that are the beginning of some lines."""
    first = lines[: lines.find(b"\n") + 1]
    at = tail.find(first) if first else -1
    while at >= 0:
        if lines.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(first, at + 1)
    return 0


def read_records(path: str | os.PathLike[str]) -> Iterator[GameRecord]:
    """Read a file of records, one at a time; empty lines are skipped.

    Raises:
        RecordError: the file cannot be read, or a line of it is not a record; the message names the line.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield GameRecord.from_json(line, read_from=f"{os.fspath(path)}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise RecordError(f"records cannot be read from {os.fspath(path)}: {reason}") from None


def count_records(path: str | os.PathLike[str]) -> int:
    """Count the records in a file without reading them.

    Raises:
        RecordError: the file cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError as error:
        raise RecordError(f"records cannot be read from {os.fspath(path)}: {error.strerror}") from None


def nth_record(path: str | os.PathLike[str], number: int = 1) -> GameRecord:
    """Return one record of a file, counted from 1.

    Raises:
        RecordError: the file cannot be read, or has no such record.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise RecordError(f"matches of a file are counted from 1, not {number!r}")
    record = next((record for at, record in enumerate(read_records(path), 1) if at == number), None)
    if record is None:
        raise RecordError(f"{os.fspath(path)} has no match {number}")
    return record
