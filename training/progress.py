"""Saying on the terminal what is being done, while it is being done."""

from __future__ import annotations

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
