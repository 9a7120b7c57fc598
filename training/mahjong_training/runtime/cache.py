"""The cache of results: what a long command has found so far, kept in a folder until all of it is done."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.files import read_arrays
from mahjong_training.runtime.folders import make_folder, write_bytes
from mahjong_training.runtime.versions import versions

Key = TypeVar("Key")
Result = TypeVar("Result")
Arrays = Mapping[str, NDArray[Any]]

_MOST_BYTES: Final = 2**30  # of a result; those of thousands of games take a few megabytes


def key_of(depends_on: Any) -> str:
    """Return a short text that stands for settings, as plain data, and for the versions and code that play."""
    told = json.dumps([dict(versions()), depends_on], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class ResultCache(Generic[Key, Result]):
    """Results in a folder of their own, whose name stands for everything that they depend on.

    An interrupted command goes on with them; other settings, another version or other code find nothing there.
    """

    def __init__(
        self,
        out: Path | None,
        kind: str,
        depends_on: Any,
        *,
        read: Callable[[Arrays], Result],
        write: Callable[[Result], Arrays],
        name: Callable[[Key], str] = str,
    ) -> None:
        """Keep results in a folder of a command (None: nowhere), whose name begins with their kind.

        They depend on settings of which other values would have given other results (see `key_of`). ``read`` makes a
        result from its arrays by name, ``write`` the arrays, ``name`` the name of a file for a key.
        """
        self._folder = None if out is None else out / f".{kind}-{key_of(depends_on)}"
        self._read, self._write, self._name = read, write, name

    def __len__(self) -> int:
        """The number of results that are kept."""
        return 0 if self._folder is None else len(list(self._folder.glob("*.npz")))

    def get(self, key: Key) -> Result | None:
        """Return a result; None if it is not there, or if its file is damaged."""
        if self._folder is None:
            return None
        try:
            return self._read(read_arrays((self._folder / f"{self._name(key)}.npz").read_bytes(), _MOST_BYTES))
        except Exception:  # zipfile, zlib and numpy have a dozen kinds; what cannot be read is done again
            return None

    def put(self, key: Key, result: Result) -> None:
        """Keep a result; a WriteError if that fails."""
        if self._folder is None:
            return
        data = io.BytesIO()
        np.savez_compressed(data, **dict(self._write(result)))  # type: ignore[arg-type]  # numpy's stub sees its options
        make_folder(self._folder)
        write_bytes(self._folder / f"{self._name(key)}.npz", data.getvalue())

    def remove(self) -> None:
        """Forget the results: all is done."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
