"""Saying on the terminal what is being done, while it is being done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mahjong_env import MissingExtraError

try:
    from rich.console import Console
except ImportError as error:
    raise MissingExtraError(f"the command line needs {error.name}: pip install 'mahjong-env[train]'") from error


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """Show one line that changes on a terminal, and nothing elsewhere.

    Yields:
        The function that is told what the line says.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status("") as spinner:
        yield spinner.update


class TimeLeft:
    """How much longer work will take, from how long it has taken so far; as text, to be put behind other text."""

    def __init__(self, todo: int) -> None:
        """Begin.

        Args:
            todo: parts of about the same size that are to be done.
        """
        self._todo, self._done, self._start = todo, 0, time.monotonic()

    def done(self, parts: int = 1) -> None:
        """Some more parts are done."""
        self._done += parts

    def __str__(self) -> str:
        if not self._done:
            return ""
        left = (time.monotonic() - self._start) / self._done * (self._todo - self._done)
        return f"; about {left / 60:.0f} min left" if left > 90 else f"; about {left:.0f} s left"
