"""Who plays the hands that are learned from: this process, several, or the actors of a Ray cluster.

All of them play the same hands: what a part is depends on its seed and on the weights alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import get_context
from typing import Any, Generic, Protocol, TypeVar

from mahjong_training.cluster import connected
from mahjong_training.cluster.actors import Actors
from mahjong_training.errors import WorkerError

Common = TypeVar("Common", contravariant=True)
Part = TypeVar("Part", contravariant=True)
Result = TypeVar("Result")


class Players(Protocol[Common, Part, Result]):
    """Plays parts that are begun at one time and fetched at another.

    Attributes:
        number: how many play at the same time.
    """

    number: int

    def begin(self, common: Common, parts: Sequence[Part]) -> list[Any]:
        """Begin to play parts with what they have in common; return what `finish` takes."""

    def finish(self, begun: list[Any]) -> list[Result]:
        """Return the results of parts, in their order."""

    def close(self) -> None:
        """End whatever plays them."""


class Here(Generic[Common, Part, Result]):
    """This process, when the results are asked for."""

    number = 1

    def __init__(self, work: Callable[[Common, Part], Result]) -> None:
        self._work = work

    def begin(self, common: Common, parts: Sequence[Part]) -> list[Any]:
        """Keep the parts."""
        return [(common, part) for part in parts]

    def finish(self, begun: list[Any]) -> list[Result]:
        """Play them."""
        return [self._work(common, part) for common, part in begun]

    def close(self) -> None:
        """Nothing is open."""


class InProcesses(Generic[Common, Part, Result]):
    """Several processes."""

    def __init__(self, work: Callable[[Common, Part], Result], processes: int) -> None:
        self._work, self.number = work, processes
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"))

    def begin(self, common: Common, parts: Sequence[Part]) -> list[Any]:
        """Hand the parts out."""
        return [self._pool.submit(self._work, common, part) for part in parts]

    def finish(self, begun: list[Future[Result]]) -> list[Result]:
        """Wait for them.

        Raises:
            WorkerError: a process ended before its work was done.
        """
        try:
            return [future.result() for future in begun]
        except BrokenProcessPool as error:
            raise WorkerError("a worker process ended before its work was done: killed, or out of memory") from error

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)


class OnRay(Generic[Common, Part, Result]):
    """Actors of a Ray cluster; one that dies is replaced, and what it was doing is done again."""

    def __init__(self, work: Callable[[Common, Part], Result], address: str, workers: int | None) -> None:
        """Connect to the cluster, and start an actor on each of its cores.

        Raises:
            MahjongError: see `mahjong_training.cluster.connected`.
        """
        self._open = ExitStack()
        try:
            ray = self._open.enter_context(connected(address, workers=workers))
            self._actors: Actors[Common, Part, Result] = Actors(ray, work)
            self._open.callback(self._actors.close)
            self.number = len(self._actors)
        except BaseException:
            self._open.close()
            raise

    def begin(self, common: Common, parts: Sequence[Part]) -> list[Any]:
        """Hand the parts out."""
        return self._actors.begin(common, parts)

    def finish(self, begun: list[Any]) -> list[Result]:
        """Wait for them; see `mahjong_training.cluster.actors.Actors.finish`."""
        return self._actors.finish(begun)

    def close(self) -> None:
        """End the actors, and the cluster if it was started for them."""
        self._open.close()


def new_players(
    work: Callable[[Common, Part], Result], *, processes: int, ray: str | None
) -> Players[Common, Part, Result]:
    """Return who plays.

    Args:
        work: called as ``work(common, part)``; a function of a module, of its arguments alone.
        processes: how many play; with ``ray="local"`` the actors of that cluster (1: one for each core).
        ray: the address of a cluster; None: no cluster.
    """
    if ray is not None:
        return OnRay(work, ray, processes if processes > 1 else None)
    return InProcesses(work, processes) if processes > 1 else Here(work)
