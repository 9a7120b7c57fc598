"""Text on a terminal: how many columns it takes, where lines break, and colours for terminals that have them."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final, TextIO

from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES

# Colours of the suits (m, p, s), of honours, and of flowers and seasons, as SGR numbers; wild tiles stand on red.
_COLOURS: Final = {"m": "31", "p": "36", "s": "32", "z": "33", "F": "35", "S": "35"}
_WILD: Final = "\x1b[1;97;41m{}\x1b[0m"
_TILES: Final = re.compile(r"(?<![\w.:])(?:(?P<ranks>[1-9]+)(?P<suit>[mpsz])|(?P<flower>[FS])[1-4])(?![\w.])")
_GLYPH: Final = re.compile(f"[{GLYPHS[27]}-{chr(ord(GLYPHS[27]) + 41)}]")
_YOU: Final = re.compile(r"^you\b|(?<=; )you\b|(?<=^> )\w+|(?<=^  )you\b", re.MULTILINE)


def columns(text: str) -> int:
    """How many columns a text takes: Chinese characters take two, combining ones none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def padded(text: str, width: int) -> str:
    """A line filled up with spaces to a number of columns."""
    return text + " " * (width - columns(text))


def wrapped(text: str, width: int) -> list[str]:
    """Lines of so many columns; words that are longer are broken."""
    lines: list[str] = []
    for word in text.split():
        if lines and columns(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
            continue
        pieces = [""]
        for character in word:
            if columns(pieces[-1] + character) > width and pieces[-1]:
                pieces.append("")
            pieces[-1] += character
        lines += pieces
    return lines


def joined(parts: Iterable[str], width: int, between: str = " ") -> list[str]:
    """Parts side by side in as many lines as they need; only a part that is wider than a line is broken."""
    lines: list[str] = []
    for part in parts:
        if lines and columns(lines[-1] + between + part) <= width:
            lines[-1] += between + part
            continue
        if lines:
            lines[-1] += between.rstrip()
        lines += [part] if columns(part) <= width else wrapped(part, width)
    return lines


def folded(text: str, width: int) -> list[str]:
    """A line as it is if it fits, else broken at its spaces; what follows stands four columns further in."""
    if columns(text) <= width:
        return [text]
    margin = " " * (len(text) - len(text.lstrip()))
    first, *others = wrapped(text, width - len(margin) - 4)
    return [margin + first, *(f"{margin}    {line}" for line in others)]


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether to write colours: to a terminal that has them, unless NO_COLOR asks for none (https://no-color.org)."""
    stream = sys.stdout if stream is None else stream
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def paint(text: str, wild: int = -1) -> str:
    """The same text with its tiles in the colours of their suits, and "you" and whose turn it is in bold.

    Args:
        text: any lines.
        wild: the wild kind, whose tiles stand out; -1 for none.
    """
    wild_name = KIND_NAMES[wild] if wild >= 0 else ""

    def coloured(match: re.Match[str]) -> str:
        colour = f"\x1b[{_COLOURS[match['suit'] or match['flower']]}m"
        if not wild_name or match["suit"] != wild_name[1]:
            return f"{colour}{match[0]}\x1b[0m"
        runs = re.findall(f"{wild_name[0]}+|[^{wild_name[0]}]+", match["ranks"])
        painted = [_WILD.format(run) if run[0] == wild_name[0] else f"{colour}{run}\x1b[0m" for run in runs]
        return f"{''.join(painted)}{colour}{match['suit']}\x1b[0m"

    def coloured_glyph(match: re.Match[str]) -> str:
        kind = GLYPHS.index(match[0])
        name = KIND_NAMES[kind]
        colour = _COLOURS.get(name[0], _COLOURS.get(name[1], ""))
        return _WILD.format(match[0]) if kind == wild else f"\x1b[{colour}m{match[0]}\x1b[0m"

    bold = _YOU.sub(lambda match: f"\x1b[1m{match[0]}\x1b[0m", text)
    return _GLYPH.sub(coloured_glyph, _TILES.sub(coloured, bold))
