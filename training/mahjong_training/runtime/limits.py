"""Checks of users' settings: counts, seeds, and where the work is done."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, Final, get_args, get_type_hints

from mahjong_env.engine.arguments import MOST_HANDS
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.ray_cluster import check_address
from mahjong_training.seeds import USER_SEEDS

_LARGEST: Final = 10**15  # counts up to this stay exact in every number format
_LARGEST_FLOAT: Final = 1e30  # torch computes with 32 bits, which end at 3e38
_MOST_WORKERS: Final = 256  # more processes or threads than this, and than there are cores, must be a typing error


def check_counts(least: int = 1, **numbers: float) -> None:
    """Check that counts, given by the names of their options, are in range; a TrainingError otherwise."""
    for name, number in numbers.items():
        option = f"--{name.replace('_', '-')}"
        most = _LARGEST
        if name in ("processes", "threads"):
            most = max(_MOST_WORKERS, os.cpu_count() or 1)
        elif name in ("match_hands", "num_hands"):
            most = MOST_HANDS
        if number < least:
            raise TrainingError(f"{option} must be at least {least}, not {number}")
        if number > most:
            raise TrainingError(f"{option} must be at most {most:,}, not {number}")


def check_seed(seed: int) -> None:
    """Check that a seed is in the range of users' seeds (`mahjong_training.seeds`); a TrainingError otherwise."""
    if not 0 <= seed < USER_SEEDS:
        raise TrainingError(f"--seed must be from 0 to {USER_SEEDS - 1}, not {seed}")


def check_settings(settings: Any, zero: Collection[str] = ()) -> None:
    """Check the numbers in some settings, and where the work is done, before anything is started.

    The seed must be in the range of users' seeds. Other integers are counts, which must be at least 1. Numbers that may
    have fractions must be from 0 to 1e30.

    Args:
        settings: the settings.
        zero: names of counts that may also be 0.

    Raises:
        TrainingError: a number is out of range, or the address of a cluster is not valid.
    """
    for name, wanted in get_type_hints(type(settings)).items():
        value = getattr(settings, name)
        if name == "seed":
            check_seed(value)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            continue
        elif float not in (wanted, *get_args(wanted)):
            check_counts(least=int(name not in zero), **{name: value})
        elif not 0 <= value <= _LARGEST_FLOAT:
            raise TrainingError(f"--{name.replace('_', '-')} must be from 0 to {_LARGEST_FLOAT:g}, not {value}")
    if getattr(settings, "ray", None) is not None:
        check_address(settings.ray, settings.processes)
