"""The executor on a Ray cluster (``--ray local`` or ``--ray ADDRESS``); see docs/cluster.md.

Ray is imported only when it is needed, as it belongs in an environment of its own.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import packages_distributions
from pathlib import Path
from pickle import PicklingError
from types import ModuleType
from typing import Any, Final

from mahjong_env import MahjongError, MissingExtraError
from mahjong_training.errors import TrainingError, WorkerError
from mahjong_training.runtime.digests import OURS, Versions, differences, versions
from mahjong_training.runtime.executors import Executor, carry_out, set_threads

LOCAL: Final = "local"
"""The address of a cluster on this machine that is started for one command and ended afterwards."""
_ATTEMPTS: Final = 5  # at a task before it is given up, as the task itself may be what kills its workers


class RayExecutor(Executor):
    """An executor on the workers of a cluster, one for each core.

    A task whose worker or node dies is carried out again elsewhere; its result is returned only once.
    """

    shares_files = False

    def __init__(self, address: str, workers: int | None = None) -> None:
        """Store the arguments, which are those of `connected`; the connection is made later."""
        self._address, self._local_workers = address, workers
        self._open = ExitStack()
        self._ray: Any = None
        self._task: Any = None

    @property
    def workers(self) -> int:
        """The number of cores that the cluster has at present; asking for it connects to the cluster."""
        return max(1, int(self._connect().cluster_resources().get("CPU", 0)))

    def close(self) -> None:
        """Disconnect, and end the cluster if it was started by this executor."""
        self._open.close()
        self._ray = None

    def _connect(self) -> Any:
        if self._ray is None:
            self._ray = self._open.enter_context(connected(self._address, workers=self._local_workers))
            options = {"num_cpus": 1, "max_retries": _ATTEMPTS - 1, "retry_exceptions": False}
            self._task = self._ray.remote(_on_a_node()).options(**options)
        return self._ray

    def _pack(self, work: Any, state: Any, make: Callable[[], Any] | None) -> tuple[Any, ...]:
        ray = self._connect()
        return dict(versions()), os.getcwd(), uuid.uuid4().hex, ray.put(_packed(ray, (work, state, None)))

    def _submit(self, sent: tuple[Any, ...], task: Any) -> Any:
        return self._task.remote(*sent, task)

    def _done(self, running: list[Any]) -> Iterable[Any]:
        done, _ = self._ray.wait(running, num_returns=1, timeout=5)  # afterwards the cluster's size is asked for again
        return list(done)

    def _result(self, handle: Any, task: Any) -> Any:
        errors = self._ray.exceptions
        try:
            kind, found = self._ray.get(handle)
        except (errors.ObjectStoreFullError, errors.OutOfDiskError) as error:
            raise WorkerError(f"the object store and the disk behind it are full, at {task}: {error}") from error
        except errors.RayError as error:
            raise WorkerError(
                f"{task} could not be done in {_ATTEMPTS} attempts; its workers were killed, ran out of memory, or "
                f"lost their node: {type(error).__name__}: {str(error).strip()}"
            ) from error
        if kind == "unfit":
            raise TrainingError(f"a node of the cluster cannot be used: {' '.join(found)}")
        if kind == "error":
            raise found if isinstance(found, MahjongError) else WorkerError(f"in a worker, at {task}: {found}")
        return found

    def _cancel(self, running: Iterable[Any]) -> None:
        for handle in running:
            self._ray.cancel(handle, force=True)


def check_address(address: str, processes: int = 1) -> None:
    """Check the values of ``--ray`` and ``--processes`` before anything is started."""
    valid = "valid are local (a cluster on this machine), auto (the one that this node belongs to), HOST:PORT"
    if address.startswith("ray://"):
        raise TrainingError(
            f"--ray {address}: Ray's client is not supported; run this command on a node of the cluster, "
            f"or send it there with ray job submit; {valid}"
        )
    if address != LOCAL and not re.fullmatch(r"auto|[^\s:/]+:\d{1,5}", address):
        raise TrainingError(f"--ray {address!r} is not the address of a cluster; {valid}")
    if address != LOCAL and processes != 1:
        raise TrainingError(f"--processes {processes} goes with --ray local; a running cluster has its own workers")
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "--ray needs Ray, which pins an older gymnasium and needs an environment of its own: "
            "make distributed, or in a new environment pip install 'mahjong-env[distributed,train,evaluate]'"
        ) from error


@contextmanager
def connected(address: str, *, workers: int | None = None, store: int | None = None) -> Iterator[Any]:
    """Connect to a cluster whose nodes all have the versions of this process; yield the module `ray`.

    A process that is connected already (by ``ray.init``) keeps its connection, whatever the address.

    Args:
        address: the address of the cluster; see `check_address`.
        workers: the number of workers of a local cluster; None for one for each core.
        store: the size in bytes of a local cluster's object store; None for 64 MiB for each worker.

    Raises:
        TrainingError: there is no such cluster, or a node, which the message names, cannot do the work.
    """
    check_address(address)
    import ray

    is_new = not ray.is_initialized()
    try:
        if is_new:
            _begin(ray, address, workers or os.cpu_count() or 1, store)
        _check_nodes(ray)
        yield ray
    finally:
        if is_new:
            ray.shutdown()


def _begin(ray: Any, address: str, workers: int, store: int | None) -> None:
    # By default Ray reports every local cluster to its makers, and binds it to every network of the machine.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # By default Ray's workers give way to all other processes, this one included; here the user waits for them.
    os.environ.setdefault("RAY_worker_niceness", "0")
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        store = store or max(2, workers) * 64 * 2**20  # Ray refuses to start with less than 75 MiB
        settings |= {"num_cpus": workers, "include_dashboard": False, "object_store_memory": store}
        settings["_node_ip_address"] = "127.0.0.1"
    elif address != "auto":
        # Test the connection first: where nothing listens, Ray itself would keep trying for minutes.
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, OverflowError) as error:
            raise TrainingError(
                f"--ray {address}: there is no cluster at this address ({getattr(error, 'strerror', None) or error}); "
                "ray start --head prints the address of the cluster that it starts"
            ) from error
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, **settings)
    except Exception as error:  # Ray raises a bare Exception where a node does not start in time
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        hint = "; a cluster with a token needs RAY_AUTH_MODE=token and, in RAY_AUTH_TOKEN_PATH, a file with that token"
        told = f"--ray {address}: no connection to a cluster ({said})"
        raise TrainingError(told if address == LOCAL else told + hint) from error
    # Ray has installed a handler of its own, which prints a stack trace and ends the process.
    if threading.current_thread() is threading.main_thread() and on_sigterm is not None:
        signal.signal(signal.SIGTERM, on_sigterm)


def _check_nodes(ray: Any) -> None:
    """Check every node that can work; a TrainingError names those that are unfit or do not answer."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise TrainingError("the Ray cluster has no node with a free core: start workers with ray start --address=...")
    look = ray.remote(_on_a_node())
    asked = {}
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ref = look.options(num_cpus=0, max_retries=1, scheduling_strategy=there).remote(dict(versions()))
        asked[ref] = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']}, node {node['NodeID'][:8]})"
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=300)
    wrong = [f"{asked[ref]} does not answer" for ref in silent]
    for ref in answered:
        try:
            kind, found = ray.get(ref)
        except ray.exceptions.RayError as error:
            kind, found = "unfit", ("", f"cannot run a worker ({str(error).strip().splitlines()[0]})")
        if kind != "value":
            wrong.append(f"{asked[ref]} {found[1]}")
    if wrong:
        raise TrainingError(
            f"{len(wrong)} of {len(nodes)} nodes cannot be used: {'; '.join(sorted(wrong))}. Install the same "
            "mahjong-env[distributed] on every node"
        )


# --- What is sent to a node --------------------------------------------------------------------------------------


def _on_a_node() -> Callable[..., tuple[str, Any]]:
    """Return the function that Ray calls on a node.

    The function is nested, so that Ray sends it as code. A node without this package could not find it by name, and
    could not report that either.
    """

    def answer(expected: Versions, *task: Any) -> tuple[str, Any]:
        try:
            from mahjong_training.runtime.ray_cluster import answer_of
        except ImportError as error:
            import socket

            return "unfit", (socket.gethostname(), f"lacks mahjong_env ({error})")
        return answer_of(expected, *task)

    return answer


def answer_of(expected: Versions, folder: str = "", *task: Any) -> tuple[str, Any]:
    """Compare the versions of a node with the driver's, and carry out a task there as `carry_out` does.

    Args:
        expected: the versions of the driver.
        folder: the driver's working folder, which becomes this process's where the node has it: names of files, such
            as that of an agent that is made here, then mean the same files.
        *task: the arguments of `carry_out`; without any, only the versions are compared.

    Returns:
        One of three pairs: "value" and the result; "error" and an error of this project, or another error's traceback
        as text; "unfit" and a pair of the name of the node and what is wrong with it.
    """
    if wrong := differences(expected, versions()):
        return "unfit", (socket.gethostname(), f"has other versions: {', '.join(wrong)}")
    try:
        if task:
            with suppress(OSError):
                os.chdir(folder)
        set_threads(1)  # a task has one core
        return "value", carry_out(*task) if task else None
    except MahjongError as error:
        return "error", error
    except Exception:  # sent back as text, as its class need not exist on the driver
        return "error", traceback.format_exc()


def _packed(ray: Any, what: Any) -> bytes:
    """Pickle an object for another process of the same cluster.

    Classes and functions of installed distributions and of Python itself are sent by name. Those of a user's own files
    are sent as code, so that ``--agents mine.py:Cautious`` needs no file on the nodes.
    """
    pickler, registered = ray.cloudpickle, []
    try:
        for module in _modules_of_users():
            if module.__name__ not in pickler.list_registry_pickle_by_value():
                pickler.register_pickle_by_value(module)
                registered.append(module)
        data: bytes = pickler.dumps(what)
    except (PicklingError, TypeError, AttributeError, ValueError) as error:
        raise TrainingError(f"this cannot be sent to the nodes of a cluster: {error}") from error
    finally:
        for module in registered:
            pickler.unregister_pickle_by_value(module)
    return data


def _modules_of_users() -> Iterator[ModuleType]:
    """Yield the loaded modules whose files do not belong to any distribution."""
    installed = {*packages_distributions(), *sys.stdlib_module_names, *OURS, "__main__"}  # __main__ is sent as code
    apart = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name.partition(".")[0] in installed or module.__name__ not in sys.modules:
            continue
        if not any(Path(file).resolve().is_relative_to(folder) for folder in apart):
            yield module
