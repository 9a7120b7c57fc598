"""The console of a command: how far it is, what stops it (Ctrl-C, SIGTERM), and its exit status."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from mahjong_env import AgentError, MahjongError, MissingExtraError
from mahjong_training.errors import InterruptedRunError

CTRL_C, TERMINATED = 130, 143
"""The exit statuses of processes that end because of Ctrl-C and of SIGTERM, as shells have them."""
AGAIN: Final = "MAHJONG_ENV_AGAIN"
"""The environment variable by which the Makefile, which starts a run, says how to resume it."""


class Terminated(KeyboardInterrupt):
    """SIGTERM has arrived, which Slurm and Docker send: it ends a run as Ctrl-C does."""


@contextmanager
def stopping_in_order() -> Iterator[None]:
    """Let the first SIGTERM raise `Terminated` where the program stands, and ignore further ones while it saves."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are for the main thread only
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_status(interrupt: KeyboardInterrupt) -> int:
    """Return the exit status of a process that ends for this reason."""
    return TERMINATED if isinstance(interrupt, Terminated) else CTRL_C


def resume_hint() -> str:
    """Return the command or option that resumes a run: what the Makefile says, or ``--resume``."""
    return os.environ.get(AGAIN) or "--resume"


def status_of(command: Callable[[], object]) -> int:
    """Run a command; return its exit status: 0, 2 after an error or out of memory, 130 after Ctrl-C, 143 after SIGTERM.

    What stopped it is printed in one line.
    """
    try:
        command()
    except InterruptedRunError as interrupt:
        print(interrupt, file=sys.stderr)
        return interrupt.status
    except MahjongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return CTRL_C
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "alloc" not in str(error):  # torch has no error of its own for it
            raise
        print(f"error: out of memory ({str(error).strip().splitlines()[0]})", file=sys.stderr)
        return 2
    return 0


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """Show one line that changes on a terminal, and nothing elsewhere; yield the function that is told what it says."""
    try:
        from rich.console import Console
    except ImportError as error:
        raise MissingExtraError(f"the command line needs {error.name}: pip install 'mahjong-env[train]'") from error
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status("") as spinner:
        yield spinner.update


@contextmanager
def saying_what_is_kept(kept: Callable[[], str]) -> Iterator[Callable[[str], object]]:
    """Show a `status` while work is done; when it is stopped or an agent fails, let the error say what is kept of it.

    ``kept`` says how much that is, and how to go on; "" if it is nothing.
    """
    try:
        with stopping_in_order(), status() as progress:
            yield progress
    except KeyboardInterrupt as interrupt:
        raise InterruptedRunError("; ".join(filter(None, ["interrupted", kept()])), exit_status(interrupt)) from None
    except AgentError as error:
        raise AgentError(".\n".join(filter(None, [str(error), kept()]))) from error


def time_left(begun: float, done: float, todo: float) -> str:
    """Return in words about how much longer work will take, of which so much is done since a `time.monotonic`."""
    if not done:
        return ""
    left = (time.monotonic() - begun) / done * (todo - done)
    return f"; about {left / 60:.0f} min left" if left > 90 else f"; about {left:.0f} s left"
