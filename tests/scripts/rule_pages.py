"""The rule pages of docs/rules: ``make rules`` writes them, tests/rulebook/test_sheet.py compares them.

They are the pages that are shipped with the package, filled with the default rules of each variant.
"""

from __future__ import annotations

import sys
from pathlib import Path

import mahjong_env
from mahjong_env.rulebook.sheet import COMMON, variant_page

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "rules"
NOTE = "<!-- Made by `make rules` from {source}; change that file. -->\n\n"


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    made = {"common.md": NOTE.format(source=COMMON.relative_to(ROOT).as_posix()) + COMMON.read_text(encoding="utf-8")}
    for name, rules in sorted(mahjong_env.VARIANTS.items()):
        made[f"{name}.md"] = NOTE.format(source=f"mahjong_env/variants/{name}.md") + variant_page(rules)
    return made


def out_of_date(folder: Path) -> list[str]:
    """Pages in a folder that are not what they would be if they were made now."""
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in wanted | found if wanted.get(name) != found.get(name))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
    sys.stdout.write(f"docs/rules: {len(pages())} pages written\n")
