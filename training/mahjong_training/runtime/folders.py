"""Folders and files of commands: checked beforehand, written completely or not at all, by one command at a time."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mahjong_env import MissingExtraError
from mahjong_env.basics.files import replacing
from mahjong_training.errors import TrainingError, WriteError

LOCK: Final = "run.lock"
"""The lock file in a folder. Its name is the same for all commands, so that no two of them share a folder."""


def make_folder(folder: Path) -> None:
    """Make sure that a folder exists and can be written to; raise a WriteError otherwise."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, prefix=".probe-"):
            pass  # without a name where the system supports that, so that nothing can be left behind
    except OSError as error:
        raise WriteError(f"{folder}: cannot be written ({error.strerror or error}); choose another --out") from error


def check_folder(folder: Path) -> None:
    """Raise what `make_folder` would raise, but leave no new folder behind."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        make_folder(folder)
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def check_file(path: Path) -> None:
    """Make sure that a file can be written, and make its folder; raise a WriteError otherwise."""
    make_folder(path.parent)
    if path.is_dir():
        raise WriteError(f"{path}: cannot be written (it is a folder); name a file in it")
    if path.exists() and not os.access(path, os.W_OK):
        raise WriteError(f"{path}: cannot be written (it is read-only)")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn errors of the system, such as a full disk, into a `WriteError` that names the file or folder."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file in one step; if that fails, raise a WriteError and leave the old file unchanged."""
    with naming(path), replacing(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


# --- Locks -------------------------------------------------------------------------------------------------------


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Keep other commands out of a folder, by means of a lock file; the folder is made if it does not exist.

    The system releases a lock when the process that holds it ends, for whatever reason. A file beside the lock, with
    the suffix ``.holder``, names the process that holds it. If that process was killed and had run on this machine, the
    lock is taken over, and a message says so. If it ran on another machine, this cannot be known, as not every shared
    file system supports locks; the command then refuses to run.

    Args:
        folder: the folder; None locks nothing.

    Raises:
        TrainingError: another process holds the lock, or may hold it; the lock is a link, which is not followed; or the
            folder cannot be written to.
    """
    if folder is None:
        yield
        return
    make_folder(folder)
    path = folder / LOCK
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise MissingExtraError("a folder is locked with filelock: pip install 'mahjong-env[evaluate]'") from error
    lock, named, is_held = FileLock(path, timeout=0), path.with_suffix(".holder"), False
    for file in (path, named):
        if file.is_symlink():
            raise TrainingError(f"{file}: a lock is a file, but this is a link; remove it")
    with naming(path):
        try:
            lock.acquire()
        except Timeout:
            is_held = True
    this = {"pid": os.getpid(), "host": platform.node()}
    try:
        holder = json.loads(named.read_text(encoding="utf-8"))
        left_by, host = f"process {int(holder['pid'])} on {holder['host']}", holder["host"]
    except (OSError, ValueError, KeyError, TypeError):
        left_by, host = None, this["host"]
    if is_held:
        raise TrainingError(f"{folder}: another run is at work in this folder: {left_by or 'it has just begun'}")
    try:
        if host != this["host"]:
            raise TrainingError(
                f"{folder}: another run is at work in this folder, or was killed: {left_by}, which cannot be "
                f"checked from here; if it has ended, remove {named}"
            )
        write_text(named, json.dumps(this))
        if left_by is not None:
            print(f"{folder}: taken over from {left_by}, which ended without finishing")
        try:
            yield
        finally:
            named.unlink(missing_ok=True)
            _remove(path)  # removed while it is held, so that a process that opened it earlier sees that it is gone
    finally:
        lock.release()
        if os.name == "nt":
            _remove(path)  # Windows does not remove open files


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
