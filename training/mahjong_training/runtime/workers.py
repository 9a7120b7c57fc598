"""The choice of an executor: where a command does its work, by ``--processes`` and ``--ray``."""

from __future__ import annotations

from typing import Any

from mahjong_training.runtime.executors import Executor, LocalExecutor, ProcessExecutor
from mahjong_training.runtime.limits import check_counts
from mahjong_training.runtime.ray_cluster import RayExecutor, check_address


def check_workers(settings: Any) -> None:
    """Check ``processes``, ``threads`` and ``ray`` of some settings, before anything is started.

    Raises:
        TrainingError: numbers or an address that cannot be used.
        MissingExtraError: a cluster is named, and Ray is not installed.
    """
    check_counts(processes=settings.processes, threads=settings.threads)
    if settings.ray is not None:
        check_address(settings.ray, settings.processes)


def new_executor(processes: int = 1, ray: str | None = None, threads: int = 1) -> Executor:
    """Return an executor; it starts nothing before it has a task.

    Args:
        processes: number of processes; of a local cluster, its workers (1: one for each core).
        ray: address of a Ray cluster: "local", "auto" or "HOST:PORT"; None: no cluster.
        threads: threads of torch in each process; on a cluster it is one.
    """
    if ray is not None:
        return RayExecutor(ray, processes if processes > 1 else None)
    return ProcessExecutor(processes, threads) if processes > 1 else LocalExecutor()
