"""Independent shards of work on a cluster: each is a task of Ray, done again if the worker that does it dies."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Final, TypeVar

from mahjong_env import MahjongError
from mahjong_training.cluster.sending import packed
from mahjong_training.cluster.tasks import Answer
from mahjong_training.cluster.versions import Versions, versions
from mahjong_training.errors import TrainingError, WorkerError

Common = TypeVar("Common")
Shard = TypeVar("Shard")
Result = TypeVar("Result")

ATTEMPTS: Final = 5
"""How often a shard is begun before it is given up: it may itself be what ends its workers."""
_AHEAD: Final = 2
"""Shards that are handed out for each core: one is done, the next one waits there."""
_LOOK: Final = 5.0
"""Seconds after which the size of the cluster is asked for again: nodes come and go."""


def do_shards(
    ray: Any, work: Callable[[Common, Shard], Result], common: Common, shards: Sequence[Shard]
) -> Generator[tuple[int, Result], None, None]:
    """Do shards of work on the cluster that this process is connected to.

    The work must be a function of its arguments alone: then the results are the same wherever, however often and in
    whatever order the shards are done. A shard whose worker or node dies is done again elsewhere, and comes back once.

    Args:
        ray: the module, as `mahjong_training.cluster.connected` gives it.
        work: called as ``work(common, shard)``; a function of a module that every node has.
        common: what all shards need, sent once to every node: rules, agents, settings.
        shards: what is to be done; each should take a few seconds.

    Yields:
        The place of a shard in ``shards`` and its result, as they arrive: in no particular order. What is not asked
        for any more is not done.

    Raises:
        MahjongError: the work raised it.
        TrainingError: a node joined that lacks the package, or has another version of it.
        WorkerError: something else went wrong in a shard (with the traceback from there), it ended its worker five
            times, or the object stores and the disks behind them are full.
    """
    # The function goes as code, and not by name: a node without this package has to be able to say so.
    task = ray.remote(_task()).options(num_cpus=1, max_retries=ATTEMPTS - 1, retry_exceptions=False)
    sent, name, expected = ray.put(packed(ray, (work, common))), uuid.uuid4().hex, dict(versions())
    running: dict[Any, int] = {}
    room = _Room(ray)
    try:
        for place, shard in enumerate(shards):
            while len(running) >= room.now():
                yield from _arrived(ray, running, shards)
            running[task.remote(expected, name, sent, shard)] = place
        while running:
            yield from _arrived(ray, running, shards)
    finally:
        for ref in running:
            ray.cancel(ref, force=True)


class _Room:
    """How many shards may be handed out at once."""

    def __init__(self, ray: Any) -> None:
        self._ray, self._asked, self._number = ray, -_LOOK, 0

    def now(self) -> int:
        if time.monotonic() - self._asked > _LOOK:
            self._asked = time.monotonic()
            self._number = max(1, _AHEAD * int(self._ray.cluster_resources().get("CPU", 0)))
        return self._number


def _arrived(ray: Any, running: dict[Any, int], shards: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Wait for at least one shard, take it from those that are running, and yield its result."""
    done, _ = ray.wait(list(running), num_returns=1, timeout=_LOOK)
    for ref in done:
        place = running.pop(ref)
        yield place, fetched(ray, ref, shards[place])


def fetched(ray: Any, ref: Any, shard: Any) -> Any:
    """Return the result of a shard that has been handed out; see `do_shards` for what is raised."""
    try:
        answer: Answer | str = ray.get(ref)
    except (ray.exceptions.ObjectStoreFullError, ray.exceptions.OutOfDiskError) as error:
        raise WorkerError(f"the object store and the disk behind it are full, at {shard}: {error}") from error
    except ray.exceptions.RayError as error:
        raise WorkerError(
            f"{shard} could not be done in {ATTEMPTS} attempts; its workers were killed, ran out of memory, or lost "
            f"their node: {type(error).__name__}: {str(error).strip()}"
        ) from error
    if isinstance(answer, str):
        raise TrainingError(f"a node of the cluster cannot be used: {answer}")
    if isinstance(answer.error, MahjongError):
        raise answer.error
    if answer.error is not None:
        raise WorkerError(f"in a worker, at {shard}: {answer.error}")
    return answer.value


def _task() -> Callable[[Versions, str, bytes, Any], Answer | str]:
    """Return the function that does a shard on a node."""

    def do_a_shard(expected: Versions, name: str, sent: bytes, shard: Any) -> Answer | str:
        import socket

        try:
            from mahjong_training.cluster.tasks import do_here
        except ImportError as error:
            return f"{socket.gethostname()} lacks mahjong_env ({error})"
        return do_here(expected, name, sent, shard)

    return do_a_shard
