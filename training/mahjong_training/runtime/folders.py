"""Writing folders and files, whole or not at all, with errors that say what is wrong."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mahjong_env.basics.files import replacing
from mahjong_training.errors import WriteError


def make_folder(folder: Path) -> None:
    """Make sure that a folder exists and can be written.

    Raises:
        WriteError: it cannot; nothing has been left there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, prefix=".probe-"):
            pass  # it has no name where the system can do that, so that nothing of it can stay
    except OSError as error:
        raise WriteError(f"{folder}: cannot be written ({error.strerror or error}); choose another --out") from error


def check_folder(folder: Path) -> None:
    """Make sure that a folder can be made and written, before there is anything to write; nothing is left there.

    Raises:
        WriteError: it cannot.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        make_folder(folder)
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def check_file(path: Path) -> None:
    """Make sure that a file can be written, before there is anything to write; its folder is made.

    Raises:
        WriteError: it cannot.
    """
    make_folder(path.parent)
    if path.is_dir():
        raise WriteError(f"{path}: cannot be written (it is a folder); name a file in it")
    if path.exists() and not os.access(path, os.W_OK):
        raise WriteError(f"{path}: cannot be written (it is read-only)")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn the system's errors about a file or folder into errors that name it.

    Raises:
        WriteError: the disk is full, the file may not be written, or the like.
    """
    try:
        yield
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file; whatever stood there is replaced at once, or stays as it was.

    Raises:
        WriteError: it cannot be written.
    """
    with naming(path), replacing(path) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))
