"""The connection to a Ray cluster: one on this machine that lives as long as it is needed, or one that runs already."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mahjong_env import MissingExtraError
from mahjong_env.basics.memory import free_memory
from mahjong_training.cluster.nodes import check_nodes
from mahjong_training.errors import TrainingError

LOCAL: Final = "local"
"""The address of a cluster on this machine, which is started for the purpose and ended afterwards."""

_STORE_OF_A_WORKER: Final = 64 * 2**20
_SMALLEST_STORE: Final = 80 * 2**20
"""In bytes; Ray refuses less than 75 MiB."""
_PATIENCE: Final = 10.0
"""Seconds until an address counts as one where nobody answers."""
_TOKEN_HINT: Final = (
    "; if the cluster has a token, as those of ray start do where ~/.ray/auth_token exists, set RAY_AUTH_MODE=token, "
    "and RAY_AUTH_TOKEN_PATH to a file with the same token"
)
_ADDRESS = re.compile(r"auto|[^\s:/]+:\d{1,5}")


def import_ray() -> Any:
    """Return the module `ray`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError(
            "--ray needs Ray, which pins an older gymnasium and wants an environment of its own: "
            "make distributed, or in a new environment pip install 'mahjong-env[distributed]'"
        ) from error
    return ray


def check_address(address: str, processes: int = 1) -> None:
    """Check what was given with ``--ray`` before anything is started.

    Args:
        address: what was given.
        processes: ``--processes``, which is the number of workers of a local cluster.

    Raises:
        TrainingError: it cannot be used; the message lists what is valid.
        MissingExtraError: Ray is not installed.
    """
    valid = "valid are local (a cluster on this machine), auto (the one that this node belongs to), HOST:PORT"
    if address.startswith("ray://"):
        raise TrainingError(
            f"--ray {address}: Ray's client is not supported; run this command on a node of the cluster, "
            f"or send it there with ray job submit; {valid}"
        )
    if address != LOCAL and not _ADDRESS.fullmatch(address):
        raise TrainingError(f"--ray {address!r} is no address of a cluster; {valid}")
    if address != LOCAL and processes != 1:
        raise TrainingError(
            f"--processes {processes} goes with --ray local; a cluster that runs already has the workers that it has"
        )
    import_ray()


@contextmanager
def connected(address: str, *, workers: int | None = None, store: int | None = None) -> Iterator[Any]:
    """Be connected to a cluster whose nodes all have the versions of this process.

    A process that is connected already (``ray.init``) keeps that connection, whatever the address.

    Args:
        address: "local", "auto" or "HOST:PORT".
        workers: how many processes a local cluster has; None: one for each core.
        store: bytes of shared memory for a local cluster's objects; None: 64 MiB for each worker.

    Yields:
        The module `ray`.

    Raises:
        MissingExtraError: Ray is not installed.
        TrainingError: there is no such cluster, or a node that cannot do the work; the message names it.
    """
    check_address(address)
    ray = import_ray()
    is_new = not ray.is_initialized()
    try:
        if is_new:
            _begin(ray, address, workers or os.cpu_count() or 1, store)
        check_nodes(ray)
        yield ray
    finally:
        if is_new:
            ray.shutdown()


def _reach(address: str) -> None:
    """Knock at the door: where nobody opens, Ray itself would go on asking for minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=_PATIENCE):
            pass
    except (OSError, OverflowError) as error:
        raise TrainingError(
            f"--ray {address}: there is no cluster at this address ({getattr(error, 'strerror', None) or error}); "
            "ray start --head prints the address of its own"
        ) from error


def _begin(ray: Any, address: str, workers: int, store: int | None) -> None:
    # Ray would tell its makers about every local cluster, and bind it to every network that the machine is in.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's workers step back behind all other processes, this one included; here they are what the user waits for.
    os.environ.setdefault("RAY_worker_niceness", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    here = {
        "num_cpus": workers,
        "include_dashboard": False,
        "object_store_memory": store or max(_SMALLEST_STORE, workers * _STORE_OF_A_WORKER),
        "_node_ip_address": "127.0.0.1",
    }
    if address not in (LOCAL, "auto"):
        _reach(address)
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, **quiet, **(here if address == LOCAL else {}))
    except Exception as error:  # Ray raises a bare one where a node does not start in time
        said = str(error).strip().splitlines()
        raise TrainingError(
            f"--ray {address}: no connection to a cluster ({said[0] if said else type(error).__name__})"
            + (f"; {free_memory()} bytes of memory are free" if address == LOCAL else _TOKEN_HINT)
        ) from error
    # Ray has put a handler of its own there, which prints a trace of the stack and ends the process.
    if threading.current_thread() is threading.main_thread() and on_sigterm is not None:
        signal.signal(signal.SIGTERM, on_sigterm)
