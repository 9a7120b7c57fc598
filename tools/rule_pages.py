"""Writes the rule pages of docs/rules, and tables of the glossary: ``make rules``; test_page.py compares them.

The pages are those that are shipped with the package, filled in with the default rules of each variant.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from unicodedata import normalize

import mahjong_env
from mahjong_env.rulebook.page import COMMON, anchor, variant_page

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "rules"
GLOSSARIES = {"en": ROOT / "docs" / "glossary.md", "zh": ROOT / "docs" / "glossary.zh.md"}
NOTE = "<!-- Made by `make rules` from {source}; change that file. -->\n\n"


@cache
def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    made = {}
    for language, common in COMMON.items():
        suffix = ".md" if language == "en" else f".{language}.md"
        texts = {common: common.read_text(encoding="utf-8")}
        for name in sorted(mahjong_env.VARIANTS):
            path = ROOT / "mahjong_env" / "variants" / f"{name}{suffix}"
            if path.is_file():
                texts[path] = variant_page(mahjong_env.VARIANTS[name], language)
        made |= {
            path.name: NOTE.format(source=path.relative_to(ROOT).as_posix()) + text for path, text in texts.items()
        }
    return made


def without_tones(reading: str) -> str:
    """Return Pinyin in plain letters, by which the table is ordered."""
    return "".join(letter for letter in normalize("NFD", reading) if letter.isascii())


def rows_by_chinese_name(language: str = "en") -> str:
    """Return a table of the scoring rows of all variants, with one line for each Chinese name."""
    named: dict[str, tuple[str, dict[str, list[str]]]] = {}
    for rules in mahjong_env.VARIANTS.values():
        for row in rules.rows:
            chinese, _, reading = row.chinese.partition(" ")
            _, english = named.setdefault(reading, (chinese, {}))
            title, page, heading = (
                (rules.chinese, f"{rules.name}.zh.md", chinese)
                if language == "zh"
                else (rules.title, f"{rules.name}.md", row.name)
            )
            english.setdefault(row.name, []).append(f"[{title}](rules/{page}#{anchor(heading)})")
    heads = ("番种", "读音", "玩法") if language == "zh" else ("Chinese", "pinyin", "here")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|"]
    for reading, (chinese, english) in sorted(named.items(), key=lambda item: without_tones(item[0])):
        here = "; ".join(f"{name} ({', '.join(places)})" for name, places in english.items())
        if language == "zh":
            here = "，".join(place for places in english.values() for place in places)
        lines.append(f"| {chinese} | {reading} | {here} |")
    return "\n".join(lines)


def glossary(text: str, language: str = "en") -> str:
    """Return a glossary with its table of rows made anew."""
    before, start, rest = text.partition("<!-- table: rows -->\n")
    _, end, after = rest.partition("<!-- end -->")
    assert end, "the glossary has no place for the table of rows"
    return f"{before}{start}{rows_by_chinese_name(language)}\n{end}{after}"


def out_of_date(folder: Path) -> list[str]:
    """Return the names of the pages in a folder that differ from those that would be made now."""
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in wanted | found if wanted.get(name) != found.get(name))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
    for language, path in GLOSSARIES.items():
        path.write_text(glossary(path.read_text(encoding="utf-8"), language), encoding="utf-8")
    sys.stdout.write(f"docs/rules: {len(pages())} pages written, and the tables of the glossaries\n")
