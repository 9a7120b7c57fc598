"""The measurements of a variant, read off docs/leaderboard.md and docs/performance.md.

`mahjong-env leaderboard --readme docs/leaderboard.md` writes the one table, and the figures of the other are those that
``make bench`` has printed. After a change of either, ``make rules`` brings the pages of the variants up to date.
"""

from __future__ import annotations

from pathlib import Path

from mahjong_env import Rules
from mahjong_training.evaluation.leaderboard import END, START

DOCS = Path(__file__).parents[1] / "docs"
LEADERBOARD, PERFORMANCE = DOCS / "leaderboard.md", DOCS / "performance.md"
_NOTHING = "Not measured yet.\n"


def standing(rules: Rules) -> str:
    """The variant's column of the leaderboard, with what is said of all of it."""
    block = LEADERBOARD.read_text(encoding="utf-8").partition(START)[2].partition(END)[0].strip()
    told, _, table = block.partition("\n\n")
    head, *rows = _cells(table)
    if rules.title not in head:
        return _NOTHING
    column = head.index(rules.title)
    lines = ["| agent | points a hand in sigma |", "|---|---|"]
    lines += [f"| {row[0]} | {row[column]} |" for row in rows]
    return "\n".join([told, "", *lines]) + "\n"


def speed(rules: Rules) -> str:
    """The variant's row of the table of speeds, a line for each way to measure."""
    section = PERFORMANCE.read_text(encoding="utf-8").partition("\n## What was measured\n")[2].partition("\n## ")[0]
    head, *rows = _cells(section)
    row = next((row for row in rows if row[0].lower() == rules.name), None)
    if row is None:
        return _NOTHING
    lines = [f"| {head[0]} | |", "|---|---|"]
    lines += [f"| {what} | {number} |" for what, number in zip(head[1:], row[1:], strict=True)]
    return "\n".join(lines) + "\n"


def _cells(text: str) -> list[list[str]]:
    """The rows of a table in Markdown, its heading first."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    found = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [cells for cells in found if set("".join(cells)) - set("-: ")]
