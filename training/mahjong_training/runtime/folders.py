"""Folders and files that commands write: looked at first, written whole or not at all, by one command at a time."""

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
"""The lock's file in a folder; its name is the same for all commands, so that no two of them share a folder."""


def make_folder(folder: Path) -> None:
    """Make sure that a folder exists and can be written; else raise a WriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, prefix=".probe-"):
            pass  # it has no name where the system can do that, so that nothing of it can stay
    except OSError as error:
        raise WriteError(f"{folder}: cannot be written ({error.strerror or error}); choose another --out") from error


def check_folder(folder: Path) -> None:
    """Raise what `make_folder` would raise, before there is anything to write; nothing is left there."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        make_folder(folder)
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def check_file(path: Path) -> None:
    """Make sure that a file can be written, and make its folder; else raise a WriteError."""
    make_folder(path.parent)
    if path.is_dir():
        raise WriteError(f"{path}: cannot be written (it is a folder); name a file in it")
    if path.exists() and not os.access(path, os.W_OK):
        raise WriteError(f"{path}: cannot be written (it is read-only)")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn the system's errors (the disk is full, ...) into `WriteError`s that name the file or folder."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, which is replaced at once; else raise a WriteError, and what stood there is as it was."""
    with naming(path), replacing(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file as `write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


# --- Locks -------------------------------------------------------------------------------------------------------


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Keep other commands out of a folder, which is made if it is not there. None: there is no folder.

    It has a lock file as long. The system lets go of a lock when its process ends, however that ends. A file that
    nobody holds any more was left by a process that was killed: it is taken over, which is printed, if that process was
    on this machine, as a file beside it with the suffix ``.holder`` says. Of other machines nobody here can tell: not
    every shared file system passes locks on.

    Raises:
        TrainingError: another process holds it, or may; it is a link, which is not followed; or the folder cannot be
            written.
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
            raise TrainingError(f"{file}: a lock is a file, and this is a link; remove it")
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
                f"{folder}: another run is at work in this folder, or was killed: {left_by}, of which nothing is "
                f"known here; if it has ended, remove {named}"
            )
        write_text(named, json.dumps(this))
        if left_by is not None:
            print(f"{folder}: taken over from {left_by}, which ended without finishing")
        try:
            yield
        finally:
            named.unlink(missing_ok=True)
            _remove(path)  # while it is held: a process that opened it before sees that it has no name any more
    finally:
        lock.release()
        if os.name == "nt":
            _remove(path)  # Windows removes no file that is open


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
