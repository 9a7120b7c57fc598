"""Checkpoints: what a run goes on from, as torch writes it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mahjong_training.errors import TrainingError
from mahjong_training.runtime.folders import write_bytes


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write a checkpoint.

    Raises:
        WriteError: it cannot be written; the one before stays.
    """
    data = io.BytesIO()
    torch.save(dict(state), data)
    write_bytes(path, data.getvalue())


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return what a checkpoint holds; None if there is none.

    Raises:
        TrainingError: it is damaged, or no checkpoint.
    """
    try:
        # Whatever device it was written on: whoever takes it over puts it where it learns.
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
        return dict(state)
    except FileNotFoundError:
        return None
    except Exception as error:
        # Not quoted: torch asks its users to report what is wrong with our file.
        size = path.stat().st_size if path.is_file() else 0
        raise TrainingError(
            f"{path}: damaged or of another version; no checkpoint can be read from its {size:,} bytes"
        ) from error
