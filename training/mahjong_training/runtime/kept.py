"""Parts of a long command's work, kept in a folder until all of it is done: an interrupted one goes on with them."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.files import read_arrays
from mahjong_training.runtime.folders import make_folder, write_bytes
from mahjong_training.runtime.versions import versions

_MOST_BYTES: Final = 2**30
"""Of a part: those of thousands of games take a few megabytes."""


def key_of(depends_on: Any) -> str:
    """Return a short text that stands for what results depend on: settings, and the versions and code that play.

    Args:
        depends_on: the settings as plain data, of which other values would have given other results.
    """
    told = json.dumps([dict(versions()), depends_on], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class Kept:
    """Arrays by the name of a part, in a folder of their own whose name stands for everything that they depend on."""

    def __init__(self, out: Path | None, kind: str, depends_on: Any) -> None:
        """Look where the parts would be.

        Args:
            out: the folder of the command; None: nothing is kept.
            kind: what the folder's name begins with.
            depends_on: see `key_of`.
        """
        self._folder = None if out is None else out / f".{kind}-{key_of(depends_on)}"

    @property
    def is_kept(self) -> bool:
        """Whether there is a folder."""
        return self._folder is not None

    def __len__(self) -> int:
        """How many parts there are."""
        return 0 if self._folder is None else len(list(self._folder.glob("*.npz")))

    def get(self, part: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of a part; None if it is not there, or if its file is damaged."""
        if self._folder is None:
            return None
        try:
            return read_arrays((self._folder / f"{part}.npz").read_bytes(), _MOST_BYTES)
        except Exception:  # zipfile, zlib and numpy have a dozen kinds; what cannot be read is done again
            return None

    def put(self, part: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a part.

        Raises:
            WriteError: it cannot be written.
        """
        if self._folder is None:
            return
        data = io.BytesIO()
        np.savez_compressed(data, **dict(arrays))  # type: ignore[arg-type]  # numpy's stub sees its own options there
        make_folder(self._folder)
        write_bytes(self._folder / f"{part}.npz", data.getvalue())

    def remove(self) -> None:
        """Forget them: all is done."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
