"""Executors, which carry out tasks in this process or in several others with the same results.

The executor for Ray is in `ray_cluster`. A task is a call ``work(state, task)`` whose result depends only on its
arguments; all tasks of a call of `Executor.map` share the state.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import signal
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final, TypeVar

from mahjong_training.errors import TrainingError, WorkerError

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[State, Task], Result]


class Executor(ABC):
    """The interface of what carries out tasks; use it in a ``with`` statement, or call `close` at the end."""

    ahead = 2
    """The number of tasks handed out for each worker: the one that it carries out, and the next one, which waits."""
    shares_files = True
    """Whether workers can read the files of this process."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of tasks that are carried out at the same time."""

    def map(
        self,
        work: Work[State, Task, Result],
        state: State,
        tasks: Sequence[Task],
        make: Callable[[], State] | None = None,
    ) -> Generator[tuple[int, Result], None, None]:
        """Carry out tasks, and yield the position and the result of each as it is done.

        Only a few tasks for each worker are handed out ahead of the results that the caller takes. If the generator is
        closed, the remaining tasks are not begun.

        Args:
            work: a module-level function, called as ``work(state, task)``.
            state: what all tasks need, such as rules and agents.
            tasks: the tasks, each of which should take a few seconds.
            make: makes the state anew in other processes of this machine; None pickles the state itself for them. A
                cluster always gets the state, as its nodes need not have the files that a user's agents are made from.

        Yields:
            The position of a task in ``tasks``, and its result.

        Raises:
            TrainingError: the state cannot be sent to other processes.
            WorkerError: a process ended before its work was done.
        """
        if not tasks:
            return
        sent = self._pack(work, state, make)
        todo = enumerate(tasks)
        running: dict[Any, int] = {}
        try:
            while True:
                for position, task in itertools.islice(todo, max(0, self.ahead * self.workers - len(running))):
                    running[self._submit(sent, task)] = position
                if not running:
                    return
                for handle in self._done(list(running)):
                    position = running.pop(handle)
                    yield position, self._result(handle, tasks[position])
        finally:
            self._cancel(running)

    def submit(self, work: Work[State, Task, Result], state: State, tasks: Sequence[Task]) -> list[Any]:
        """Hand out tasks to be carried out in the background; return what `gather` takes."""
        sent = self._pack(work, state, None)
        return [(self._submit(sent, task), task) for task in tasks]

    def gather(self, submitted: Sequence[Any]) -> list[Any]:
        """Wait for submitted tasks and return their results, in order; raises the same errors as `map`."""
        return [self._result(handle, task) for handle, task in submitted]

    def close(self) -> None:  # noqa: B027 some executors start nothing
        """End all processes or connections that the executor has started."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def _pack(self, work: Work[Any, Any, Any], state: Any, make: Callable[[], Any] | None) -> Any:
        """Return the work and its state in the form in which `_submit` takes them for each task."""

    @abstractmethod
    def _submit(self, sent: Any, task: Any) -> Any:
        """Hand out one task; return its handle."""

    @abstractmethod
    def _done(self, running: list[Any]) -> Iterable[Any]:
        """Wait until a task is done, or at least some seconds; return the handles of the tasks that are done."""

    @abstractmethod
    def _result(self, handle: Any, task: Any) -> Any:
        """Wait for one task, and return its result."""

    def _cancel(self, running: Iterable[Any]) -> None:  # noqa: B027 some executors begin nothing by themselves
        """Give up tasks, so that those not yet begun are never begun."""


class LocalExecutor(Executor):
    """An executor in this process: one task after another, each when its result is asked for."""

    workers = 1
    ahead = 1

    def _pack(self, work: Work[Any, Any, Any], state: Any, make: Callable[[], Any] | None) -> Any:
        return partial(work, state)

    def _submit(self, sent: Any, task: Any) -> Any:
        return partial(sent, task)

    def _done(self, running: list[Any]) -> Iterable[Any]:
        return running

    def _result(self, handle: Any, task: Any) -> Any:
        return handle()


class ProcessExecutor(Executor):
    """An executor with processes on this machine, started when there is a task for them.

    The processes are spawned, as torch's threads do not survive a fork.
    """

    def __init__(self, processes: int, threads: int = 1) -> None:
        """Set the most processes and the torch threads of each; nothing is started before there is a task."""
        self._processes, self._threads = processes, threads
        self._pool: ProcessPoolExecutor | None = None
        self._open: Connection | None = None
        """Our end of a pipe, which is closed by `close` or with this process; the workers then end."""

    @property
    def workers(self) -> int:
        """The number of processes."""
        return self._processes

    def close(self) -> None:
        """End the processes, and with them the tasks that they are carrying out."""
        if self._pool is not None and self._open is not None:
            self._open.close()
            self._pool.shutdown(cancel_futures=True)
            self._pool = self._open = None

    def _pack(self, work: Work[Any, Any, Any], state: Any, make: Callable[[], Any] | None) -> tuple[str, bytes]:
        try:
            return uuid.uuid4().hex, pickle.dumps((work, state if make is None else None, make))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise TrainingError(f"this cannot be sent to worker processes: {error}") from error

    def _submit(self, sent: tuple[str, bytes], task: Any) -> Future[Any]:
        if self._pool is None:
            spawned = multiprocessing.get_context("spawn")
            theirs, self._open = spawned.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self._processes, spawned, _begin_worker, (self._threads, theirs))
        with _naming_dead_workers():
            return self._pool.submit(carry_out, *sent, task)

    def _done(self, running: list[Future[Any]]) -> Iterable[Future[Any]]:
        return wait(running, return_when=FIRST_COMPLETED).done

    def _result(self, handle: Future[Any], task: Any) -> Any:
        with _naming_dead_workers():
            return handle.result()

    def _cancel(self, running: Iterable[Future[Any]]) -> None:
        for future in running:
            future.cancel()


def new_executor(processes: int = 1, ray: str | None = None, threads: int = 1) -> Executor:
    """Return an executor for the settings of a `WorkersConfig`; it starts nothing before it has a task."""
    if ray is not None:
        from mahjong_training.runtime.ray_cluster import RayExecutor  # that module imports this one

        return RayExecutor(ray, processes if processes > 1 else None)
    return ProcessExecutor(processes, threads) if processes > 1 else LocalExecutor()


@contextmanager
def _naming_dead_workers() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        died = "a worker process ended before its work was done: killed, or out of memory (see above)"
        raise WorkerError(died) from error


# --- In a worker -------------------------------------------------------------------------------------------------

_unpacked: dict[str, tuple[Work[Any, Any, Any], Any]] = {}
"""The work of this process and its state, by the name of the call that they belong to."""


def carry_out(name: str, packed: bytes, task: Any) -> Any:
    """Carry out a task in a worker; the state is unpacked with the first task of a call, and kept for the others."""
    if name not in _unpacked:
        _unpacked.clear()
        work, state, make = pickle.loads(packed)
        _unpacked[name] = work, state if make is None else make()
    work, state = _unpacked[name]
    return work(state, task)


_SECONDS_TO_END: Final = 0.5
"""The time in which idle workers end by themselves, and the pool forgets the tasks that it has cancelled."""


def _begin_worker(threads: int, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the waiting main process, which then ends this one
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    set_threads(threads)


def _end_with(pipe: Connection) -> None:
    """Wait until the other end of a pipe is closed, or its process is killed; then end this process."""
    with suppress(EOFError, OSError):
        pipe.recv_bytes()
    time.sleep(_SECONDS_TO_END)
    os._exit(1)


def set_threads(threads: int) -> None:
    """Limit the number of torch's threads if torch is installed; many agents can be evaluated without it."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)
