"""Where torch learns."""

from __future__ import annotations

from typing import Final

import torch

from mahjong_training.errors import TrainingError

DEVICES: Final = ("auto", "cpu", "cuda")


def find_device(name: str) -> torch.device:
    """Return the device that a setting means: ``auto`` is a GPU if there is one.

    Raises:
        TrainingError: there is no such device, or none here.
    """
    if name not in DEVICES:
        raise TrainingError(f"--device is {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise TrainingError("--device cuda: torch finds no such device here; --device auto takes what there is")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")
