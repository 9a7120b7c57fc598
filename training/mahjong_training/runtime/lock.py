"""One command at a time in a folder that commands write to."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from mahjong_env.basics.files import is_running
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.folders import make_folder, naming

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

msvcrt: ModuleType | None
try:
    import msvcrt
except ImportError:  # everywhere else
    msvcrt = None

LOCK: Final = "run.lock"
"""The lock's file in a folder; its name is the same for all commands, so that no two of them share a folder."""
_LOCKED_BYTE: Final = 1 << 20
"""On Windows a lock keeps others from reading what it covers: it covers a byte behind all that is written."""


@dataclass(frozen=True)
class Holder:
    """Who holds a lock.

    Attributes:
        pid: number of the process.
        host: the machine that it runs on.
    """

    pid: int
    host: str

    @classmethod
    def this_process(cls) -> Holder:
        """Return the process that asks."""
        return cls(os.getpid(), platform.node())

    @classmethod
    def read(cls, file: int) -> Holder | None:
        """Return who wrote an open lock file; None if nobody did, or if it cannot be read."""
        try:
            os.lseek(file, 0, os.SEEK_SET)
            found = json.loads(os.read(file, 1000))
            return cls(int(found["pid"]), str(found["host"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, file: int) -> None:
        """Write down who this is."""
        os.lseek(file, 0, os.SEEK_SET)
        os.ftruncate(file, 0)
        os.write(file, json.dumps(asdict(self)).encode())

    @property
    def is_here(self) -> bool:
        """Whether it is, or was, on this machine."""
        return self.host == platform.node()

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Keep other commands out of a folder, which is made if it is not there; None: there is no folder.

    Raises:
        TrainingError: another command is at work in it, or it cannot be written.
    """
    if folder is None:
        yield
        return
    make_folder(folder)
    with locked(folder / LOCK):
        yield


@contextmanager
def locked(path: Path) -> Iterator[Holder | None]:
    """Hold a lock file; it is removed at the end.

    The lock is the system's own (``flock``, on Windows ``LockFile``), which lets go of it when its process ends,
    however that ends; what is written in the file says who it is, to those who find it locked. A file that nobody holds
    any more was left by a process that was killed: it is taken over, if that process was on this machine. Of other
    machines nobody here can tell, because not every shared file system passes locks on.

    Args:
        path: the lock file; its folder exists.

    Yields:
        Who left the file behind; None if there was none.

    Raises:
        TrainingError: another process holds it, or may; or it is a link, which is not followed.
    """
    file, is_held, left_by = _open(path)
    is_ours = False
    try:
        if is_held:
            raise TrainingError(
                f"{path.parent}: another run is at work in this folder: {left_by or 'it has just begun'}"
            )
        if left_by is not None and not left_by.is_here:
            raise TrainingError(
                f"{path.parent}: another run is at work in this folder, or was killed: {left_by}, of which nothing is "
                f"known here; if it has ended, remove {path}"
            )
        is_ours = True
        with naming(path):
            Holder.this_process().write(file)
        try:
            yield left_by
        finally:
            if msvcrt is None:
                path.unlink(missing_ok=True)
    finally:
        os.close(file)
        if is_ours and msvcrt is not None:
            with suppress(OSError):  # Windows removes no file that is open, as by somebody who waits for it
                path.unlink(missing_ok=True)


def _open(path: Path) -> tuple[int, bool, Holder | None]:
    """Return the open file, whether another process holds it (else this one now does), and who wrote it."""
    if path.is_symlink():
        raise TrainingError(f"{path}: a lock is a file, and this is a link; remove it")
    while True:
        with naming(path):
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        holder = Holder.read(file)
        is_held = _is_held(file, holder)
        try:
            is_the_same = os.path.samestat(os.fstat(file), path.stat())
        except FileNotFoundError:
            is_the_same = False
        if is_held or is_the_same:
            return file, is_held, holder
        os.close(file)  # whoever held it has ended, and removed it, between these lines


def _is_held(file: int, holder: Holder | None) -> bool:
    if msvcrt is not None:
        try:
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return True
        return False
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass  # a file system without locks
        else:
            return False
    return holder is not None and holder.is_here and is_running(holder.pid)
