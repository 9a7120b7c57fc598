"""Arrays of the caller that are filled in place, so that a trainer with memory of its own copies nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import ActionError
from mahjong_env.observation.planes import SHAPE

_BUFFERS: Final = ("observation", "action_mask", "rewards")


def check_buffer(what: str, array: Any, shape: tuple[int, ...], dtype: type[np.generic]) -> None:
    """Raise `ActionError` unless this is a writable array of this shape and type, its numbers one after another."""
    name = np.dtype(dtype).name
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise ActionError(f"{what} is a numpy array {list(shape)} {name} to be filled, not {type(array).__name__}")
    if array.shape != shape or array.dtype != dtype:
        raise ActionError(f"{what} is {list(shape)} {name}, not {list(array.shape)} {array.dtype.name}")
    if not (array.flags.c_contiguous and array.flags.writeable):
        raise ActionError(f"{what} is written to as one block of memory: it must be C-contiguous and writable")


def check_step_buffers(out: Any, games: int, people: int) -> None:
    """Raise `ActionError` unless these are arrays that a step of so many games can fill; see `Engine.step`."""
    if not isinstance(out, Mapping):
        raise ActionError(f"out is a dictionary of arrays to be filled ({', '.join(_BUFFERS)}), not {out!r}")
    unknown = [name for name in out if name not in _BUFFERS]
    if unknown:
        raise ActionError(f"out has no place for {unknown[0]!r}; valid are {', '.join(_BUFFERS)}")
    asked: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
        "observation": ((games, *SHAPE), np.int8),
        "action_mask": ((games, NUM_ACTIONS), np.bool_),
        "rewards": ((games, people), np.int32),
    }
    for name, array in out.items():
        check_buffer(f"out[{name!r}]", array, *asked[name])
