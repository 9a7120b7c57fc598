"""The cache of results: what a long command has finished so far, kept in a folder until all of it is done."""

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
from mahjong_training.runtime.console import kept_in, time_left
from mahjong_training.runtime.digests import versions
from mahjong_training.runtime.executors import Executor, State, Task, Work
from mahjong_training.runtime.folders import make_folder, write_bytes

Arrays = Mapping[str, NDArray[Any]]

_MOST_BYTES: Final = 2**30  # of one result; the results of thousands of games take a few megabytes


def key_of(depends_on: Any) -> str:
    """Return a short key for settings, given as plain data, and for the versions and code in use."""
    told = json.dumps([dict(versions()), depends_on], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class ResultCache:
    """Results by name, each of them several arrays by name, kept in a folder of their own or in memory.

    The name of the folder includes a key for everything on which the results depend. An interrupted command thus finds
    its results again, and other settings, versions or code find none.
    """

    def __init__(self, out: Path | None, kind: str, depends_on: Any) -> None:
        """Name the folder of the results; nothing is made or read yet.

        Args:
            out: the folder in which the folder of results lies; None keeps the results in memory.
            kind: the prefix of its name.
            depends_on: the settings that affect the results; see `key_of`.
        """
        self._out = out
        self._folder = None if out is None else out / f".{kind}-{key_of(depends_on)}"
        self._in_memory: dict[str, Arrays] = {}

    def get(self, name: str) -> Arrays | None:
        """Return a result; None if there is none of this name, or if its file is damaged."""
        if self._folder is None:
            return self._in_memory.get(name)
        try:
            return read_arrays((self._folder / f"{name}.npz").read_bytes(), _MOST_BYTES)
        except Exception:  # zipfile, zlib and numpy raise a dozen kinds; what cannot be read is done again
            return None

    def __getitem__(self, name: str) -> Arrays:
        """Return a result that has been put in the cache; a TrainingError if it has disappeared since."""
        if (found := self.get(name)) is None:
            raise TrainingError(f"{self._folder}: results have disappeared; run the same command to play them again")
        return found

    def put(self, name: str, result: Arrays) -> None:
        """Put a result in the cache; a WriteError if that fails."""
        if self._folder is None:
            self._in_memory[name] = result
            return
        data = io.BytesIO()
        np.savez_compressed(data, **dict(result))  # type: ignore[arg-type]  # numpy's stub sees its options
        make_folder(self._folder)
        write_bytes(self._folder / f"{name}.npz", data.getvalue())

    def how_far(self, parts: int) -> str:
        """Return a sentence on how many of the parts are in the folder; "" for a cache in memory."""
        if self._folder is None or self._out is None:
            return ""
        kept = len(list(self._folder.glob("*.npz")))
        return kept_in(self._out, f"{kept} of {parts} parts")

    def remove(self) -> None:
        """Delete the results, once all work is done."""
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
    """Carry out the tasks whose results are not in their cache, and put the results there.

    Args:
        executor: where the tasks are carried out.
        work: the function to call; see `Executor.map`.
        state: what all tasks need.
        tasks: triples of the cache of a task's result, the name of the result there, and the task.
        make: makes the state anew in other processes; see `Executor.map`.
        progress: called with a line on how many tasks are done and about how long the rest will take.
        describe: returns what to add to that line about a finished task.
    """
    missing = [one for one in tasks if one[0].get(one[1]) is None]
    begun = time.monotonic()
    progress(f"{len(missing)} parts")
    with closing(executor.map(work, state, [task for *_, task in missing], make)) as done:
        for count, (place, result) in enumerate(done, start=1):
            cache, name, task = missing[place]
            cache.put(name, result)
            progress(f"part {count} of {len(missing)}{describe(task)}{time_left(begun, count, len(missing))}")
