"""Files that are written completely or not at all, and zips in which no entry is unpacked before its size is known."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.memory import size_text

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file; what was there is replaced in one step at the end, or stays as it was after an error.

    Until then the bytes are in a hidden file beside it whose name has the number of this process. Hidden files that
    killed processes have left for the same file are removed. Devices and pipes are written to directly.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as out:
            yield out
        return
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        _remove_if_left(left)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    file = os.open(partial, _FLAGS, 0o666)  # not `open`: it would follow a link that somebody has put there
    try:
        with os.fdopen(file, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def _is_running(pid: int) -> bool:
    """Return whether a process of this number is running on this machine; True where that cannot be known."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _remove_if_left(partial: Path) -> None:
    pid = partial.name.split(".")[-2]
    # A process writes one file at a time, so a file with its own number is left from an earlier process. Windows does
    # not remove a file that is open.
    if pid.isdecimal() and (os.name != "posix" or int(pid) == os.getpid() or not _is_running(int(pid))):
        with suppress(OSError):
            partial.unlink()


_SUFFIX: Final = ".npy"


def read_entry(archive: ZipFile, name: str, most: int) -> bytes:
    """Return the content of an entry of a zip.

    Raises:
        ValueError: it would be longer than ``most`` bytes, or is packed in another way than numpy and zipfile pack.
        KeyError: there is no such entry; for damaged files `zipfile` raises other errors.
    """
    entry = archive.getinfo(name)
    if entry.file_size > most:
        raise ValueError(f"{name} would take {size_text(entry.file_size)} unpacked; the limit is {size_text(most)}")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others are unpacked without a limit
        raise ValueError(f"{name} uses a compression method that is not supported")
    with archive.open(entry) as file:
        return file.read(entry.file_size + 1)  # `read()` would unpack more than the directory says before it looks


def read_arrays(data: bytes, most: int, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that `numpy.savez` has written, by name: all, or those of some names.

    Raises:
        ValueError: they would take more than ``most`` bytes in all, or are not plain arrays.
        KeyError: there is no array of a name; for damaged files `zipfile` raises other errors.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist() if names is None else [f"{name}{_SUFFIX}" for name in names]:
            content = read_entry(archive, name, most)
            most -= len(content)
            try:
                array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
            except Exception as error:  # numpy reads headers by Python's parser, and advises to trust what is no array
                raise ValueError(f"{name} is not a plain array") from error
            arrays[name.removesuffix(_SUFFIX)] = array
    return arrays
