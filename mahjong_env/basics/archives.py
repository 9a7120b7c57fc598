"""Arrays out of zips that anybody may have made: nothing is unpacked before it is known how large it is."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.memory import size_text

_SUFFIX: Final = ".npy"


def read_entry(archive: ZipFile, name: str, most: int) -> bytes:
    """The content of an entry of a zip.

    Raises:
        ValueError: it would be longer than ``most`` bytes, or is packed otherwise than numpy and zipfile do it.
        KeyError: there is no such entry.
        Exception: whatever `zipfile` raises for damaged ones.
    """
    entry = archive.getinfo(name)
    if entry.file_size > most:
        raise ValueError(f"{name} would take {size_text(entry.file_size)} unpacked; {size_text(most)} are the most")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others are unpacked without a limit
        raise ValueError(f"{name} is packed in a way that is not read here")
    with archive.open(entry) as file:
        return file.read(entry.file_size + 1)  # `read()` would unpack more than the directory says before it looks


def read_arrays(data: bytes, most: int, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `numpy.savez` has written, by name.

    Args:
        data: its content.
        most: bytes that they may take in all.
        names: those that are wanted; None: all.

    Raises:
        ValueError: they would take more, or are no plain arrays.
        KeyError: there is none of a name.
        Exception: whatever `zipfile` raises for damaged ones.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist() if names is None else [f"{name}{_SUFFIX}" for name in names]:
            content = read_entry(archive, name, most)
            most -= len(content)
            try:
                array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
            except Exception as error:  # numpy reads headers by Python's parser, and advises to trust what is no array
                raise ValueError(f"{name} is no plain array") from error
            arrays[name.removesuffix(_SUFFIX)] = array
    return arrays
