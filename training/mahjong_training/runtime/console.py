"""The console of a command: its progress, its interruption (Ctrl-C, SIGTERM), and its exit status."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Final

from mahjong_env import AgentError, MahjongError, MissingExtraError
from mahjong_env.basics.errors import told
from mahjong_training.errors import InterruptedRunError

CTRL_C, TERMINATED = 130, 143
"""The exit statuses after Ctrl-C and after SIGTERM, by the convention of shells."""
AGAIN: Final = "MAHJONG_ENV_AGAIN"
"""The environment variable by which the Makefile, when it starts a run, says how to resume it."""
_RESUME: Final = ContextVar("how runs are resumed", default="--resume")


class Terminated(KeyboardInterrupt):
    """The arrival of SIGTERM, which Slurm and Docker send; it ends a run in the same way as Ctrl-C."""


@contextmanager
def stopping_in_order() -> Iterator[None]:
    """Let the first SIGTERM raise `Terminated` at the current place, and ignore further ones while the run saves."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread handles signals
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
    """Return the exit status of a process that is ended by this interrupt."""
    return TERMINATED if isinstance(interrupt, Terminated) else CTRL_C


def resume_hint() -> str:
    """Return what resumes a run: the command that the Makefile has given, `resumed_with`, or ``--resume``."""
    return os.environ.get(AGAIN) or _RESUME.get()


@contextmanager
def resumed_with(how: str) -> Iterator[None]:
    """Let runs that are parts of another command say that this resumes them."""
    before = _RESUME.set(how)
    try:
        yield
    finally:
        _RESUME.reset(before)


def status_of(command: Callable[[], object]) -> int:
    """Run a command, print in one line what stopped it (if anything), and return its exit status.

    The status is 0 after success, 2 after an error or when memory runs out, 130 after Ctrl-C, and 143 after SIGTERM.
    """
    try:
        command()
    except InterruptedRunError as interrupt:
        print(interrupt, file=sys.stderr)
        return interrupt.status
    except MahjongError as error:
        print(told(error), file=sys.stderr)
        return 2
    except KeyboardInterrupt as interrupt:
        print("interrupted", file=sys.stderr)
        return exit_status(interrupt)
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "alloc" not in str(error):  # torch has no class of its own for this
            raise
        print(f"error: out of memory ({str(error).strip().splitlines()[0]})", file=sys.stderr)
        return 2
    return 0


@contextmanager
def status(*, in_log: bool = False) -> Iterator[Callable[[str], None]]:
    """Show one changing line on a terminal, and elsewhere nothing, or all lines in turn; yield what sets its text."""
    try:
        from rich.console import Console
    except ImportError as error:
        raise MissingExtraError(f"the command line needs {error.name}: pip install 'mahjong-env[train]'") from error
    console = Console(stderr=True)
    if not console.is_terminal:
        yield (lambda line: print(line, file=sys.stderr, flush=True)) if in_log else lambda line: None
        return
    with console.status("") as spinner:
        yield spinner.update


@contextmanager
def any_letters() -> Iterator[None]:
    """Let matplotlib draw letters that its font lacks, such as the Chinese ones of names, without a warning of each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ", UserWarning)
        yield


def kept_in(folder: Path, what: str = "finished parts") -> str:
    """Return the sentence that something is kept in a folder, from which the same command resumes."""
    return f"{what} are kept in {folder}: run the same command again to resume"


@contextmanager
def saying_what_is_kept(kept: Callable[[], str], *, in_log: bool = False) -> Iterator[Callable[[str], object]]:
    """Show a `status` while work is done; after an interruption or an agent's failure, let the error say what is kept.

    Args:
        kept: returns a sentence on how much work is kept and how to resume; "" if nothing is kept.
        in_log: whether progress is also shown where there is no terminal.
    """
    try:
        with stopping_in_order(), status(in_log=in_log) as progress:
            yield progress
    except KeyboardInterrupt as interrupt:
        raise InterruptedRunError("; ".join(filter(None, ["interrupted", kept()])), exit_status(interrupt)) from None
    except AgentError as error:
        raise AgentError(".\n".join(filter(None, [str(error), kept()]))) from error


def time_left(begun: float, done: float, todo: float) -> str:
    """Return as text about how long the rest of some work will take.

    Args:
        begun: the `time.monotonic` at which the work began.
        done: the amount of work that is done.
        todo: the amount of work in all, in the same unit.
    """
    if not done:
        return ""
    left = (time.monotonic() - begun) / done * (todo - done)
    return f"; about {left / 60:.0f} min left" if left > 90 else f"; about {left:.0f} s left"
