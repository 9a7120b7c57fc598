"""Independent shards of a command's work: done in this process, in several others, or on a Ray cluster.

The results are the same bits everywhere, as the work is a function of its arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Protocol, TypeVar

from mahjong_training.cluster import connected, do_shards
from mahjong_training.cluster.session import check_address
from mahjong_training.runtime.pool import do_in_processes
from mahjong_training.runtime.sizes import check_counts, check_threads


class Workers(Protocol):
    """Settings that say where work is done."""

    @property
    def processes(self) -> int:
        """How many processes; of a local cluster its workers."""

    @property
    def ray(self) -> str | None:
        """The address of a cluster, see `mahjong_training.cluster`; None: no cluster."""

    @property
    def threads(self) -> int:
        """Threads of torch in each process; on a cluster it is one."""


Settings = TypeVar("Settings", bound=Workers)
Common = TypeVar("Common")
Shard = TypeVar("Shard")
Result = TypeVar("Result")


def check_workers(config: Workers) -> None:
    """Check where work is to be done, before anything is started.

    Raises:
        TrainingError: numbers or an address that cannot be used.
        MissingExtraError: a cluster is named, and Ray is not installed.
    """
    check_counts(processes=config.processes)
    check_threads(config.threads)
    if config.ray is not None:
        check_address(config.ray, config.processes)


@contextmanager
def ready(config: Workers) -> Iterator[None]:
    """Be connected to the cluster, if there is one, for more than one `spread`: it is started once for all of them.

    Raises:
        MahjongError: see `mahjong_training.cluster.connected`.
    """
    if config.ray is None:
        yield
        return
    with connected(config.ray, workers=config.processes if config.processes > 1 else None):
        yield


def spread(
    config: Settings,
    work: Callable[[Common, Shard], Result],
    common: Common,
    shards: Sequence[Shard],
    again: Callable[[Settings], Common],
) -> Generator[tuple[int, Result], None, None]:
    """Do shards of work wherever the settings say.

    Args:
        config: the settings.
        work: called as ``work(common, shard)``; a function of a module, of its arguments alone.
        common: what all shards need. To a cluster it is sent as it is.
        shards: what is to be done; each should take a few seconds.
        again: called as ``again(config)`` in other processes of this machine, gives ``common`` once more.

    Yields:
        The place of a shard in ``shards`` and its result, as they are done. What is not asked for any more is not done.

    Raises:
        MahjongError: the work raised it; or see `mahjong_training.cluster.connected`,
            `mahjong_training.cluster.do_shards` and `mahjong_training.runtime.pool.do_in_processes`.
    """
    if not shards:
        return
    if config.ray is not None:
        workers = config.processes if config.processes > 1 else None
        with connected(config.ray, workers=workers) as ray, closing(do_shards(ray, work, common, shards)) as done:
            yield from done
    elif config.processes > 1 and len(shards) > 1:
        elsewhere = do_in_processes(work, again, config, shards, processes=config.processes, threads=config.threads)
        with closing(elsewhere) as done:
            yield from done
    else:
        for place, shard in enumerate(shards):
            yield place, work(common, shard)
