"""Snapshots: the full state of a batch of games, frozen, as arrays or as bytes."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from mahjong_env.basics.errors import SnapshotError
from mahjong_env.basics.files import read_arrays
from mahjong_env.basics.memory import free_memory
from mahjong_env.ruleset.questions import Rules

FORMAT: Final = 6
"""Version of the layout of the arrays, of `Snapshot.to_bytes`, and of how later hands follow from a seed."""
_HEADER = "header"
_MOST_OF_A_HEADER: Final = 2**16
_MOST_OF_A_GAME: Final = 2**15  # bytes; the shipped variants take about 5,000
# The bytes begin with a mark that names the format and the SHA-256 of the rest, so that any changed bit is noticed.
_MARK: Final = b"mahjong_env snapshot "
_OPENING: Final = _MARK + b"%d\n" % FORMAT
_DIGEST_SIZE: Final = hashlib.sha256().digest_size


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A frozen batch of games, which can be pickled, copied and restored.

    Attributes:
        header: variant, version of the variant, knobs, number of games, hands of a match, and format.
        arrays: the arrays of `mahjong_env.state.arrays.State` by name, as read-only copies.
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray[Any, Any]]

    @classmethod
    def take(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Snapshot:
        """Freeze copies of the arrays of games, with the header that describes them (`describe_games`)."""
        return _freeze(dict(header), {name: array.copy() for name, array in arrays.items()})

    def check_fits(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Check that the snapshot can be written into some games of a batch.

        Args:
            header: the description of those games (`describe_games`).
            arrays: the batch's arrays by name.

        Raises:
            SnapshotError: the snapshot does not fit.
        """
        for what, found in (("header", self.header), ("arrays", self.arrays)):
            if not isinstance(found, Mapping):
                raise SnapshotError(f"the snapshot has no {what}, only {found!r}")
        for name, value in header.items():
            own = self.header.get(name)
            if repr(own) != repr(value):  # by repr: a snapshot made by hand may hold a value of any type
                raise SnapshotError(f"the snapshot does not fit this engine: its {name} is {own!r}, not {value!r}")
        if set(self.arrays) != set(arrays):
            odd = ", ".join(sorted(set(self.arrays) ^ set(arrays)))
            raise SnapshotError(f"the snapshot's arrays are not those of the state; they differ in: {odd}")
        for name, array in arrays.items():
            kept = self.arrays[name]
            if not isinstance(kept, np.ndarray):
                raise SnapshotError(f"the snapshot's array {name!r} is not an array: {kept!r}")
            shape = (header["num_games"], *array.shape[1:])
            if kept.shape != shape or kept.dtype != array.dtype:
                raise SnapshotError(
                    f"the snapshot's array {name!r} is {kept.dtype} of shape {kept.shape}, "
                    f"not {array.dtype} of shape {shape}"
                )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies hold plain dictionaries, and are frozen again."""
        return _freeze, (dict(self.header), dict(self.arrays))

    def to_bytes(self) -> bytes:
        """Return the snapshot as bytes: a checksum, then a zip of plain arrays and a JSON header; no pickle."""
        buffer = io.BytesIO()
        header = np.frombuffer(json.dumps(dict(self.header)).encode(), np.uint8)
        np.savez_compressed(buffer, **{_HEADER: header}, **dict(self.arrays))  # type: ignore[arg-type]
        content = buffer.getvalue()
        return _OPENING + hashlib.sha256(content).digest() + content

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """Read a snapshot from the bytes that `to_bytes` returned.

        Raises:
            SnapshotError: the bytes are not a snapshot, are damaged, or are of another version.
        """
        content = _content(data)
        try:
            header = json.loads(read_arrays(content, _MOST_OF_A_HEADER, (_HEADER,))[_HEADER].tobytes())
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                found = header.get("format") if isinstance(header, dict) else header
                raise SnapshotError(f"the snapshot has format {found!r}; this version reads format {FORMAT}")
            arrays = read_arrays(content, _most_bytes(header.get("num_games")))
        except SnapshotError:
            raise
        except Exception as error:  # zip, zlib, numpy and JSON have no base class of errors in common
            raise SnapshotError(f"these bytes are not a snapshot, or are damaged: {error}") from error
        return _freeze(header, {name: array for name, array in arrays.items() if name != _HEADER})


def describe_games(rules: Rules, num_games: int, num_hands: int) -> dict[str, Any]:
    """Return the header of a snapshot of such games; only games with the same header can be restored from it."""
    return {
        "format": FORMAT,
        "variant": rules.name,
        "version": rules.version,
        "knobs": rules.knobs,
        "num_games": num_games,
        "num_hands": num_hands,
    }


def _freeze(header: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> Snapshot:
    for array in arrays.values():
        array.flags.writeable = False
    return Snapshot(MappingProxyType(header), MappingProxyType(arrays))


def _most_bytes(num_games: Any) -> int:
    """The bytes that a snapshot of ``num_games`` games may take when it is unpacked."""
    if not isinstance(num_games, int) or num_games < 0:
        raise SnapshotError(f"the snapshot's number of games is an integer from 0, not {num_games!r}")
    free = free_memory()
    most = _MOST_OF_A_HEADER + num_games * _MOST_OF_A_GAME
    return most if free is None else min(most, free)


def _content(data: bytes) -> bytes:
    """The content behind the checksum, which is verified."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise SnapshotError(f"a snapshot is read from bytes, not from {type(data).__name__}")
    data = bytes(data)
    if not data.startswith(_OPENING):
        line = data[len(_MARK) :].split(b"\n", 1)[0]
        if data.startswith(_MARK) and line.isdigit() and len(line) < _DIGEST_SIZE:
            raise SnapshotError(f"the snapshot has format {int(line)}; this version reads format {FORMAT}")
        raise SnapshotError("these bytes are not a snapshot, or are damaged: they do not begin as one does")
    digest, content = data[len(_OPENING) :][:_DIGEST_SIZE], data[len(_OPENING) + _DIGEST_SIZE :]
    if hashlib.sha256(content).digest() != digest:
        raise SnapshotError("these bytes are not a snapshot, or are damaged: their checksum is wrong")
    return content
