"""Files that are written whole or not at all."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file; whatever stood there is replaced at once at the end, or stays as it was after an error.

    Until then the bytes are in a hidden file beside it that bears the number of this process. Those that killed
    processes have left for the same file are removed. Devices and pipes are written to as they are.

    Args:
        path: the file; its folder exists.

    Yields:
        What to write to.

    Raises:
        OSError: it cannot be written.
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


def is_running(pid: int) -> bool:
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
    if pid.isdecimal() and (os.name != "posix" or int(pid) == os.getpid() or not is_running(int(pid))):
        with suppress(OSError):
            partial.unlink()
