"""Writing folders and files, with errors that say what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

from training.errors import TrainingError


def make_folder(folder: Path) -> None:
    """Make sure that a folder exists and can be written.

    Raises:
        TrainingError: it cannot; nothing has been left there.
    """
    probe = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise TrainingError(f"{folder}: cannot be written ({error.strerror or error}); choose another --out") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file; whatever stood there is replaced at once or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
