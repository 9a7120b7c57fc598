"""Files that are written whole or not at all, and zips of which nothing is unpacked before its size is known."""

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
    """Write a file; whatever stood there is replaced at once at the end, or stays as it was after an error.

    Until then the bytes are in a hidden file beside it that bears the number of this process. Those that killed
    processes have left for the same file are removed. Devices and pipes are written to as they are.
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
    """Whether a process of this number is running on this machine; True where that cannot be told."""
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
    # A process writes one file at a time: one that bears its own number is of an earlier process. Windows removes no
    # file that is open.
    if pid.isdecimal() and (os.name != "posix" or int(pid) == os.getpid() or not _is_running(int(pid))):
        with suppress(OSError):
            partial.unlink()


_SUFFIX: Final = ".npy"


def read_entry(archive: ZipFile, name: str, most: int) -> bytes:
    """The content of an entry of a zip.

    Raises:
        ValueError: it would be longer than ``most`` bytes, or is packed otherwise than numpy and zipfile do it.
        KeyError: there is no such entry; `zipfile` raises others for damaged files.
    """
    entry = archive.getinfo(name)
    if entry.file_size > most:
        raise ValueError(f"{name} would take {size_text(entry.file_size)} unpacked; {size_text(most)} are the most")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others are unpacked without a limit
        raise ValueError(f"{name} is packed in a way that is not read here")
    with archive.open(entry) as file:
        return file.read(entry.file_size + 1)  # `read()` would unpack more than the directory says before it looks


def read_arrays(data: bytes, most: int, names: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `numpy.savez` has written, by name; all, or those of some names.

    Raises:
        ValueError: they would take more than ``most`` bytes in all, or are no plain arrays.
        KeyError: there is none of a name; `zipfile` raises others for damaged files.
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
