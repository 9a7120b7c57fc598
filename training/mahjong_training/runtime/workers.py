"""The choice of an executor: where a command does its work, by ``--processes`` and ``--ray``."""

from __future__ import annotations

from typing import Any

from mahjong_training.runtime.executors import Executor, LocalExecutor, ProcessExecutor
from mahjong_training.runtime.limits import check_counts
from mahjong_training.runtime.ray_cluster import RayExecutor, check_address


def check_workers(settings: Any) -> None:
    """Check ``processes``, ``threads`` and ``ray`` of some settings, before anything is started."""
    check_counts(processes=settings.processes, threads=settings.threads)
    if settings.ray is not None:
        check_address(settings.ray, settings.processes)


def new_executor(processes: int = 1, ray: str | None = None, threads: int = 1) -> Executor:
    """Return an executor, by the settings `WorkersConfig`; it starts nothing before it has a task."""
    if ray is not None:
        return RayExecutor(ray, processes if processes > 1 else None)
    return ProcessExecutor(processes, threads) if processes > 1 else LocalExecutor()
