"""Checks of settings that users give: counts, seeds, and where work is done."""

from __future__ import annotations

import os
from typing import Any, Final

from mahjong_training.errors import TrainingError
from mahjong_training.runtime.ray_cluster import check_address
from mahjong_training.seeds import USER_SEEDS

_LARGEST: Final = 10**15  # all counts then stay exact wherever they are kept
_MOST_WORKERS: Final = 256  # more processes or threads, and more than there are cores, are a slip of the keyboard


def check_counts(**numbers: float) -> None:
    """Check counts, which are named as their options are; a TrainingError if one could not be."""
    for name, number in numbers.items():
        option = f"--{name.replace('_', '-')}"
        most = max(_MOST_WORKERS, os.cpu_count() or 1) if name in ("processes", "threads") else _LARGEST
        if number < 1:
            raise TrainingError(f"{option} must be at least 1, not {number}")
        if number > most:
            raise TrainingError(f"{option} must be at most {most:,}, not {number}")


def check_seed(seed: int) -> None:
    """Check that a seed is in the range of users' seeds (`mahjong_training.seeds`); else raise a TrainingError."""
    if not 0 <= seed < USER_SEEDS:
        raise TrainingError(f"--seed must be from 0 to {USER_SEEDS - 1}, not {seed}")


def check_workers(settings: Any) -> None:
    """Check ``processes``, ``threads`` and ``ray`` of some settings, before anything is started."""
    check_counts(processes=settings.processes, threads=settings.threads)
    if settings.ray is not None:
        check_address(settings.ray, settings.processes)
