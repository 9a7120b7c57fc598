"""Markdown for the terminal: by rich where that is installed and there are colours, otherwise as plain text.

Plain text knows what the rule pages are written in: headings, paragraphs, lists, tables, blocks of text, emphasis and
links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from mahjong_env.drawing.text import columns, padded, wrapped

_INLINE: Final = (
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),  # links: where they lead is in the same text
    (re.compile(r"<(https?://[^>]+)>"), r"\1"),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`]*)`"), r"\1"),
    (re.compile(r"\\([\\|*_`#<>\[\]-])"), r"\1"),
)
_ITEM: Final = re.compile(r"(?P<indent>\s*)(?P<bullet>[*+-]|\d+\.)\s+(?P<text>.*)")
_RULE: Final = re.compile(r"\|?[\s:|-]+\|[\s:|-]*")
_LEAST: Final = 8  # columns that a cell of a table is given at least


def terminal_text(page: str, width: int, *, colour: bool) -> str:
    """A page of Markdown as it is read on a terminal.

    Args:
        page: the Markdown.
        width: columns.
        colour: whether the terminal has colours; without them headings are underlined.
    """
    page = re.sub(r"<!--.*?-->\n*", "", page, flags=re.DOTALL)
    try:
        return _by_rich(page, width) if colour else plain_text(page, width)
    except ImportError:
        return plain_text(page, width)


def _by_rich(page: str, width: int) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.markdown import Markdown

    # Links lead to other places of the same text, where no terminal follows them; addresses stand for themselves.
    for pattern, plain in _INLINE[:2]:
        page = pattern.sub(plain, page)
    told = StringIO()
    Console(file=told, width=width, force_terminal=True, legacy_windows=False).print(Markdown(page, hyperlinks=False))
    return told.getvalue().rstrip()


def plain_text(page: str, width: int) -> str:
    """The same without rich."""
    return "\n\n".join("\n".join(_block(lines, width)) for lines in _blocks(page))


def _blocks(page: str) -> Iterator[list[str]]:
    """The lines of each heading, paragraph, list, table and block of text."""
    lines: list[str] = []
    in_fence = False
    for line in [*page.splitlines(), ""]:
        is_fence = line.startswith("```")
        ends = is_fence or line.startswith("#") or (lines and lines[0].startswith("#")) or not line.strip()
        if lines and not in_fence and ends:
            yield lines
            lines = []
        if in_fence or line.strip():
            lines.append(line)
        if is_fence:
            if in_fence:
                yield lines
                lines = []
            in_fence = not in_fence
    if lines:
        yield lines


def _block(lines: list[str], width: int) -> list[str]:
    first = lines[0]
    if first.startswith("```"):
        return [f"    {line}".rstrip() for line in lines[1:] if not line.startswith("```")]
    if first.startswith("#"):
        marks, _, title = first.partition(" ")
        title = _inline(title)
        return [title, {1: "=", 2: "-"}.get(len(marks), "~") * columns(title)]
    if first.lstrip().startswith("|"):
        return _table(lines, width)
    if _ITEM.match(first):
        return [line for item in _items(lines) for line in _item(item, width)]
    return wrapped(_inline(" ".join(line.strip() for line in lines)), width)


def _items(lines: list[str]) -> list[str]:
    """The items of a list, each in one line."""
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append(line)
        else:
            items[-1] += f" {line.strip()}"
    return items


def _item(item: str, width: int) -> list[str]:
    """One item of a list, wrapped under its bullet."""
    match = _ITEM.match(item)
    if match is None:
        return wrapped(_inline(item), width)
    bullet = f"{match['indent']}{'-' if match['bullet'] in '*+-' else match['bullet']} "
    first, *rest = wrapped(_inline(match["text"]), width - len(bullet))
    return [bullet + first, *(" " * len(bullet) + line for line in rest)]


def _table(lines: list[str], width: int) -> list[str]:
    rows = [_cells(line) for line in lines if not _RULE.fullmatch(line.strip())]
    count = max(map(len, rows))
    rows = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = _widths([max(columns(row[column]) for row in rows) for column in range(count)], width)
    head, *body = [_row(row, widths) for row in rows]
    return [*head, "  ".join("-" * wide for wide in widths), *(line for row in body for line in row)]


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|").removesuffix("|")
    return [_inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", inside)]


def _widths(natural: list[int], width: int) -> list[int]:
    """How wide each column is: as wide as it wants to be, unless the table would not fit; then the widest give way."""
    widths = [max(1, wanted) for wanted in natural]
    room = width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: list[str], widths: list[int]) -> list[str]:
    folded = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return [
        "  ".join(padded(text, width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in zip_longest(*folded, fillvalue="")
    ] or [""]


def _inline(text: str) -> str:
    for pattern, plain in _INLINE:
        text = pattern.sub(plain, text)
    return text
