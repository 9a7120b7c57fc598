"""The terminal: characters that it lacks, colours that it may have, how wide it is."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES
from mahjong_env.drawing.text import has_colour, paint

__all__ = ["INTERRUPTED", "as_long_as_read", "has_colour", "paint", "prepare_output", "say", "width"]

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C, as shells have it."""

_FALLBACK: Final = "mahjong_env.fallback"
_SIGNS: Final = ["±", "×", "−", "–", "—", "“", "”", "‘", "’", "•", "·", "→", "≥", "█", "─", "━", "│", "┃"]  # noqa: RUF001 meant
_PLAIN: Final = ["+-", "x", "-", "-", "-", '"', '"', "'", "'", "*", "-", "->", ">=", "#", "-", "-", "|", "|"]
_GLYPHS: Final = {glyph: f"{name} " for glyph, name in zip(GLYPHS, KIND_NAMES, strict=True)}
_ASCII: Final = str.maketrans(_GLYPHS | dict(zip(_SIGNS, _PLAIN, strict=True)))


def prepare_output() -> None:
    """Let stdout and stderr write something legible for characters that their encoding lacks, instead of failing."""
    codecs.register_error(_FALLBACK, _legible)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_FALLBACK)


def _legible(error: UnicodeError) -> tuple[str, int]:
    """ASCII in place of characters that cannot be written."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character.translate(_ASCII)).encode("ascii", "ignore").decode()
    if plain:
        return plain
    if "BOX" in (name := unicodedata.name(character, "")):
        return "+"
    return "" if "VARIATION SELECTOR" in name or unicodedata.combining(character) else "?"


def as_long_as_read(command: Callable[[], int]) -> int:
    """Run a command and return its exit status.

    That is 0 if the reader of its output has gone (``| head``), and 2 if the output, or a file, fails in a way that the
    command has no words for, as on a full disk: one line on stderr says so.
    """
    try:
        try:
            return command()
        finally:
            if sys.stdout is not None:  # it is where the command was begun without one (``>&-``)
                sys.stdout.flush()
    except BrokenPipeError:
        return 0
    except OSError as error:
        what = error.filename or "the output cannot be written"
        with suppress(OSError):
            print(f"error: {what}: {error.strerror or error}", file=sys.stderr)
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
    """Print some lines, in colour if that is wanted."""
    for line in lines:
        print(paint(str(line)) if colour else line)


def width(most: int = 100) -> int:
    """The number of columns to use."""
    return max(20, min(most, shutil.get_terminal_size().columns))
