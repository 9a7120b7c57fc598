"""Snapshots: everything about a batch of games, frozen, as arrays or as bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mahjong_env.basics.errors import SnapshotError

if TYPE_CHECKING:
    from mahjong_env.engine.batch import Engine

FORMAT: Final = 1
"""Version of the layout of the arrays and of `Snapshot.to_bytes`."""
_HEADER = "header"


@dataclass(frozen=True)
class Snapshot:
    """A frozen batch of games.

    Attributes:
        header: variant, its version, knobs, number of games, hands of a match, format.
        arrays: the arrays of `mahjong_env.state.arrays.State` by name, read-only copies.
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray[Any, Any]]

    @classmethod
    def take(cls, engine: Engine) -> Snapshot:
        """Freeze an engine's games."""
        arrays = {name: array.copy() for name, array in engine.state.arrays().items()}
        for array in arrays.values():
            array.flags.writeable = False
        return cls(MappingProxyType(_header(engine)), MappingProxyType(arrays))

    def put_back(self, engine: Engine) -> None:
        """Set an engine's games to the frozen ones; see `Engine.restore`."""
        for name, value in _header(engine).items():
            if self.header.get(name) != value:
                raise SnapshotError(
                    f"the snapshot does not fit this engine: its {name} is {self.header.get(name)!r}, not {value!r}"
                )
        current = engine.state.arrays()
        _check_arrays(self.arrays, current)
        for name, array in current.items():
            array[...] = self.arrays[name]

    def to_bytes(self) -> bytes:
        """The snapshot as bytes (a zip of plain arrays and a JSON header; no pickle)."""
        buffer = io.BytesIO()
        header = np.frombuffer(json.dumps(dict(self.header)).encode(), np.uint8)
        np.savez_compressed(buffer, **{_HEADER: header}, **dict(self.arrays))  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """Read `to_bytes`.

        Raises:
            SnapshotError: the bytes are no snapshot, or are damaged.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop(_HEADER).tobytes())
        except Exception as error:  # the readers of zip, zlib, numpy and JSON share no error class
            # What numpy says of bytes that it does not know is advice to trust them.
            why = "" if "pickle" in str(error) else f": {error}"
            raise SnapshotError(f"these bytes are not a snapshot, or are damaged{why}") from error
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            found = header.get("format") if isinstance(header, dict) else header
            raise SnapshotError(f"the snapshot has format {found!r}; this version reads format {FORMAT}")
        for array in arrays.values():
            array.flags.writeable = False
        return cls(MappingProxyType(header), MappingProxyType(arrays))


def _header(engine: Engine) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "variant": engine.rules.name,
        "version": engine.rules.version,
        "knobs": engine.rules.knobs,
        "num_games": engine.num_games,
        "num_hands": engine.num_hands,
    }


def _check_arrays(arrays: Mapping[str, np.ndarray[Any, Any]], wanted: Mapping[str, np.ndarray[Any, Any]]) -> None:
    if set(arrays) != set(wanted):
        odd = ", ".join(sorted(set(arrays) ^ set(wanted)))
        raise SnapshotError(f"the snapshot's arrays are not those of the state; they differ in: {odd}")
    for name, array in wanted.items():
        if not isinstance(arrays[name], np.ndarray):
            raise SnapshotError(f"the snapshot's array {name!r} is no array: {arrays[name]!r}")
        if arrays[name].shape != array.shape or arrays[name].dtype != array.dtype:
            raise SnapshotError(
                f"the snapshot's array {name!r} is {arrays[name].dtype} of shape {arrays[name].shape}, "
                f"not {array.dtype} of shape {array.shape}"
            )
