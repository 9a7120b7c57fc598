"""The terminal: the characters that it lacks, its colours, and its width."""

from __future__ import annotations

import os
import pydoc
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from mahjong_env.drawing.text import folded, paint

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C, as shells have it."""


def prepare_streams() -> None:
    """Let stdout and stderr write "?" for characters that their encoding lacks, and a closed stream lead nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # begun with ``<&-`` or ``>&-``; `input` fails without it
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def as_long_as_read(command: Callable[[], int]) -> int:
    """Run a command and return its exit status.

    The status is 0 if the reader of its output has gone (``| head``). It is 2 if the output or a file fails in a way
    that the command has no message for, as on a full disk; one line on stderr then says so, with the error's notes.
    """
    try:
        try:
            return command()
        finally:
            if sys.stdout is not None:  # it is where the command was begun without one (``>&-``)
                sys.stdout.flush()
    except OSError as error:
        notes = getattr(error, "__notes__", ())  # it is an agent's own, see `mahjong_env.environments.agents.ask`
        if isinstance(error, BrokenPipeError) and not notes:
            return 0
        what = error.filename or (type(error).__name__ if notes else "the output cannot be written")
        with suppress(OSError):
            print("\n".join([f"error: {what}: {error.strerror or error}", *notes]), file=sys.stderr)
        return 2
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is None:
                continue
            try:
                stream.flush()
            except OSError:  # nothing more can be written: the interpreter is not to try again at its exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(*lines: Any, colour: bool = False) -> None:
    """Print some lines, in colour if that is wanted; on a terminal they are wrapped between words."""
    told = [part for line in lines for part in (str(line).splitlines() or [""])]
    if sys.stdout is not None and sys.stdout.isatty():
        told = [part for line in told for part in folded(line, width())]
    for line in told:
        print(paint(line) if colour else line)


def show_pages(text: str) -> None:
    """Print a long text, on a terminal page by page with the pager that $PAGER names."""
    os.environ.setdefault("LESS", "FRX")  # colours as they are, and no pages for what fits on one
    pydoc.pager(text)


def width(most: int = 100) -> int:
    """The number of columns to use."""
    return max(20, min(most, shutil.get_terminal_size().columns))
