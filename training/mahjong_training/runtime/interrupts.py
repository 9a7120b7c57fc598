"""Being told to stop: SIGTERM, which Slurm and Docker send, ends a run as Ctrl-C does."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from mahjong_env import MahjongError
from mahjong_training.errors import InterruptedRunError

CTRL_C: Final = 130
"""The exit status of a process that ends because of Ctrl-C, as shells have it."""
TERMINATED: Final = 143
"""The same for SIGTERM."""
AGAIN: Final = "MAHJONG_ENV_AGAIN"
"""The environment variable by which whoever starts a run (the Makefile) says how it is gone on with."""


class Terminated(KeyboardInterrupt):
    """SIGTERM has arrived."""


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


def how_to_go_on() -> str:
    """Return what goes on with a run that stopped: what the Makefile says, or the option."""
    return os.environ.get(AGAIN) or "--resume"


def status_of(command: Callable[[], object]) -> int:
    """Run a command; return its exit status: 0, 2 after an error, 130 after Ctrl-C, 143 after SIGTERM.

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
    return 0
