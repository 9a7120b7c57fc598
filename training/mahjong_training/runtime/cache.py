"""The cache of results: what a long command has found so far, kept in a folder until all of it is done."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.files import read_arrays
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.console import time_left
from mahjong_training.runtime.digests import versions
from mahjong_training.runtime.executors import Executor, State, Task, Work
from mahjong_training.runtime.folders import make_folder, write_bytes

Arrays = Mapping[str, NDArray[Any]]

_MOST_BYTES: Final = 2**30  # of a result; those of thousands of games take a few megabytes


def key_of(depends_on: Any) -> str:
    """Return a short text that stands for settings, as plain data, and for the versions and code that play."""
    told = json.dumps([dict(versions()), depends_on], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class ResultCache:
    """Results by name, each of them arrays by name, in a folder of their own; or in memory, where there is none.

    The folder's name stands for everything that they depend on: an interrupted command goes on with them; other
    settings, another version or other code find nothing there.
    """

    def __init__(self, out: Path | None, kind: str, depends_on: Any) -> None:
        """Keep results in a folder of a command (None: in memory), whose name begins with their kind.

        They depend on settings of which other values would have given other results (see `key_of`).
        """
        self._out = out
        self._folder = None if out is None else out / f".{kind}-{key_of(depends_on)}"
        self._in_memory: dict[str, Arrays] = {}

    def get(self, name: str) -> Arrays | None:
        """Return a result; None if it is not there, or if its file is damaged."""
        if self._folder is None:
            return self._in_memory.get(name)
        try:
            return read_arrays((self._folder / f"{name}.npz").read_bytes(), _MOST_BYTES)
        except Exception:  # zipfile, zlib and numpy have a dozen kinds; what cannot be read is done again
            return None

    def __getitem__(self, name: str) -> Arrays:
        """Return a result that was put there; a TrainingError if it has gone since."""
        if (found := self.get(name)) is None:
            raise TrainingError(f"{self._folder}: what was played has gone from there; the same command plays it again")
        return found

    def put(self, name: str, result: Arrays) -> None:
        """Keep a result; a WriteError if that fails."""
        if self._folder is None:
            self._in_memory[name] = result
            return
        data = io.BytesIO()
        np.savez_compressed(data, **dict(result))  # type: ignore[arg-type]  # numpy's stub sees its options
        make_folder(self._folder)
        write_bytes(self._folder / f"{name}.npz", data.getvalue())

    def how_far(self, parts: int) -> str:
        """Return in words how many of the parts are in the folder; "" if there is none."""
        if self._folder is None:
            return ""
        kept = len(list(self._folder.glob("*.npz")))
        return f"{kept} of {parts} parts are kept in {self._out}: the same command goes on with them"

    def remove(self) -> None:
        """Forget the results: all is done."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def fill(
    executor: Executor,
    work: Work[State, Task, Arrays],
    state: State,
    tasks: Sequence[tuple[ResultCache, str, Task]],
    make: Callable[[], State] | None = None,
    *,
    progress: Callable[[str], object] = str,
    describe: Callable[[Task], str] = lambda task: "",
) -> None:
    """Carry out the tasks whose results are not kept, and keep them.

    Args:
        executor: where.
        work: what is done, see `Executor.map`.
        state: what all tasks need.
        tasks: each behind the cache of its result and its name there.
        make: makes the state anew in other processes, see `Executor.map`.
        progress: is told how many tasks are done, and about how long the rest will take.
        describe: says what a task was, for that.
    """
    missing = [one for one in tasks if one[0].get(one[1]) is None]
    begun = time.monotonic()
    progress(f"{len(missing)} parts")
    with closing(executor.map(work, state, [task for *_, task in missing], make)) as done:
        for count, (place, result) in enumerate(done, start=1):
            cache, name, task = missing[place]
            cache.put(name, result)
            progress(f"part {count} of {len(missing)}{describe(task)}{time_left(begun, count, len(missing))}")
