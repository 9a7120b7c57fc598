"""Actors of a cluster that do shards one after another: they are started once, and replaced when they die."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from mahjong_training.cluster.sending import packed
from mahjong_training.cluster.shards import ATTEMPTS, fetched
from mahjong_training.cluster.tasks import Answer
from mahjong_training.cluster.versions import Versions, versions

Common = TypeVar("Common")
Shard = TypeVar("Shard")
Result = TypeVar("Result")


class Actors(Generic[Common, Shard, Result]):
    """One actor for each core of the cluster that this process is connected to.

    The work must be a function of its arguments alone: an actor that dies is replaced, on another node if its own is
    gone, and what it was doing is done again, with the same result.
    """

    def __init__(self, ray: Any, work: Callable[[Common, Shard], Result]) -> None:
        """Start them.

        Args:
            ray: the module, as `mahjong_training.cluster.connected` gives it.
            work: called as ``work(common, shard)``; a function of a module that every node has.
        """
        self._ray, self._work = ray, work
        made = ray.remote(_actor()).options(num_cpus=1, max_restarts=-1, max_task_retries=ATTEMPTS - 1)
        self._actors = [made.remote() for _ in range(max(1, int(ray.cluster_resources().get("CPU", 0))))]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._actors)

    def begin(self, common: Common, shards: Sequence[Shard]) -> list[Any]:
        """Hand out shards in turns.

        Args:
            common: what all of them need, such as the weights: sent once to each node, and held by the actors until
                other shards need something else.
            shards: what is to be done.

        Returns:
            What `finish` takes.
        """
        sent, name = self._ray.put(packed(self._ray, (self._work, common))), uuid.uuid4().hex
        actors = itertools.cycle(self._actors)
        return [
            actor.do.remote(dict(versions()), name, sent, shard) for shard, actor in zip(shards, actors, strict=False)
        ]

    def finish(self, begun: list[Any]) -> list[Result]:
        """Wait for shards, and return their results in order.

        Raises:
            MahjongError: see `mahjong_training.cluster.do_shards`.
        """
        return [fetched(self._ray, ref, f"shard {place}") for place, ref in enumerate(begun)]

    def close(self) -> None:
        """End them."""
        for actor in self._actors:
            self._ray.kill(actor, no_restart=True)
        self._actors = []


def _actor() -> type:
    """Return the class of the actors: it goes as code, so that a node without this package can say so."""

    class Collector:
        def do(self, expected: Versions, name: str, sent: bytes, shard: Any) -> Answer | str:
            import socket

            try:
                from mahjong_training.cluster.tasks import do_here
            except ImportError as error:
                return f"{socket.gethostname()} lacks mahjong_env ({error})"
            return do_here(expected, name, sent, shard)

    return Collector
