"""Citations of the rule pages, ``page.md#heading``, wherever they stand: in code, in docstrings, in tests, in cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mahjong_env.rulebook.page import anchor, sections

CITATION = re.compile(r"(?<![\w/(])([a-z_]+\.md)#([\w-]+)|(?<=\()([a-z_]+\.md)#([\w-]+)")
WITHOUT_PAGE = re.compile(r"rulebook \d|\b00[0-4] §|\bdocument 00[0-4]\b|\brule 0\.\d+\b|\b[1-5][AB]\.?\d+[a-d]?\b")
"""How the rules were cited before they had pages."""

SOURCES = ("mahjong_env", "agents", "training", "tests")


NOT_READ = ("citations.py", "test_citations.py", "test_page.py", "test_terminal.py")
"""Files in which a citation is an example of one."""


def cited_files(root: Path) -> list[Path]:
    """Every file that may cite a rule: code and written cases."""
    found = [path for folder in SOURCES for path in (root / folder).rglob("*") if path.suffix in (".py", ".toml")]
    return sorted(path for path in found if path.name not in NOT_READ)


def citations(text: str) -> Iterator[tuple[int, str, str]]:
    """Each citation in a text: its line, page and heading."""
    for number, line in enumerate(text.splitlines(), start=1):
        for match in CITATION.finditer(line):
            yield number, match[1] or match[3], match[2] or match[4]


def anchors(folder: Path) -> dict[str, set[str]]:
    """The headings of each page in a folder, as anchors."""
    return {
        page.name: {anchor(heading) for heading, _ in sections(page.read_text(encoding="utf-8"))}
        for page in folder.glob("*.md")
    }


def wrong_citations(root: Path, pages: dict[str, set[str]]) -> list[str]:
    """Citations of headings that no page has, and citations of a kind that leads to no page: "file:line citation"."""
    found = []
    for path in cited_files(root):
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(root).as_posix()
        found += [
            f"{where}:{line} {page}#{heading}"
            for line, page, heading in citations(text)
            if heading not in pages.get(page, ())
        ]
        found += [
            f"{where}:{number} {match[0]}"
            for number, line in enumerate(text.splitlines(), start=1)
            for match in WITHOUT_PAGE.finditer(line)
        ]
    return found
