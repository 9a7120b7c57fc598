"""Work in several processes: Python's own pool, whose workers each make for themselves what they need."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from mahjong_training.errors import WorkerError

Recipe = TypeVar("Recipe")
Common = TypeVar("Common")
Shard = TypeVar("Shard")
Result = TypeVar("Result")

_made: Any = None
"""In a worker: what all shards need."""


def do_in_processes(
    work: Callable[[Common, Shard], Result],
    make: Callable[[Recipe], Common],
    recipe: Recipe,
    shards: Sequence[Shard],
    *,
    processes: int,
    threads: int,
) -> Generator[tuple[int, Result], None, None]:
    """Do shards of work in several processes.

    Args:
        work: called as ``work(common, shard)``; a function of a module.
        make: called as ``make(recipe)`` once in every process, gives what all shards need.
        recipe: looked at before, so that nothing in it can fail.
        shards: what is to be done.
        processes: how many.
        threads: threads of torch in each of them.

    Yields:
        The place of a shard in ``shards`` and its result, as they are done.

    Raises:
        MahjongError: the work raised it.
        WorkerError: a process ended before its work was done.
    """
    # Not forked: threads of torch do not survive that.
    pool = ProcessPoolExecutor(
        min(processes, len(shards)), multiprocessing.get_context("spawn"), _begin, (make, recipe, threads)
    )
    try:
        places = {pool.submit(_do, work, shard): place for place, shard in enumerate(shards)}
        for future in as_completed(places):
            yield places.pop(future), future.result()
    except BrokenProcessPool as error:
        raise WorkerError("a worker process ended before its work was done: killed, or out of memory") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(make: Callable[[Any], Any], recipe: Any, threads: int) -> None:
    global _made
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits, which then ends this one
    set_threads(threads)
    _made = make(recipe)


def _do(work: Callable[[Any, Any], Any], shard: Any) -> Any:
    return work(_made, shard)


def set_threads(threads: int) -> None:
    """Limit torch's threads, if torch is installed: evaluating agents without it needs none."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)
