"""Models that a library reads from a file and cannot pickle: pickles and copies have the file read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


class OpenedFile:
    """A model that a library has read from a file.

    Pickles hold the bytes of the file: where they are read, on another machine perhaps, there may be no such file.

    Attributes:
        model: what the library has made of it.
    """

    def __init__(self, read: Callable[[Path | bytes], Any], path: Path, data: bytes | None = None) -> None:
        """Read a file.

        Args:
            read: makes the model of a file, or of what it holds; a function of a module, which can be pickled.
            path: the file.
            data: what it held when it was first read; None: that is now. A file that still holds the same is read by
                its path, beside which a model may have other files.
        """
        self._read, self._path = read, path
        self._data = path.read_bytes() if data is None else data
        is_there = data is None or (path.is_file() and path.read_bytes() == data)
        self.model = read(path if is_there else self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the same again."""
        return OpenedFile, (self._read, self._path, self._data)
