"""Every citation of a rule, in code, tests and written cases, leads to a heading of docs/rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mahjong_env
from mahjong_env.rulebook.page import anchor, sections
from support.case_files import hand_cases, scenes
from tools.rule_pages import FOLDER, ROOT

VARIANTS = sorted(mahjong_env.VARIANTS)
CITATION = re.compile(r"(?<![\w/(])([a-z_]+\.md)#([\w-]+)|(?<=\()([a-z_]+\.md)#([\w-]+)")
WITHOUT_PAGE = re.compile(r"rulebook \d|\b00[0-4] §|\bdocument 00[0-4]\b|\brule 0\.\d+\b|\b[1-5][AB]\.?\d+[a-d]?\b")
"""How the rules were cited before they had pages."""

SOURCES = ("mahjong_env", "agents", "training", "tests")
NOT_READ = ("test_citations.py", "test_page.py", "test_cli.py")
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


def test_every_citation_leads_to_a_heading():
    assert wrong_citations(ROOT, anchors(FOLDER)) == []
    texts = [path.read_text(encoding="utf-8") for path in cited_files(ROOT)]
    assert sum(any(citations(text)) for text in texts) > 20, "there are citations to follow"


@pytest.mark.parametrize("variant", VARIANTS)
def test_written_cases_cite_their_rules(variant):
    """Nearly all: a few say what `score` refuses to read, which is no rule of the game."""
    every = hand_cases(variant) + scenes(variant)
    silent = [case["name"] for case in every if not any(citations(case["why"])) and "error" not in case]
    assert silent == []
    cited = {page for case in every for _, page, _ in citations(case["why"])}
    assert cited <= {f"{variant}.md", "common.md"}, "a case of one variant cites another variant's page"


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_row_is_cited_by_a_case(variant):
    every = hand_cases(variant) + scenes(variant)
    cited = {heading for case in every for _, _, heading in citations(case["why"])}
    assert [row.name for row in mahjong_env.VARIANTS[variant].rows if anchor(row.name) not in cited] == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("# robbed by nobody (hebei.md#no-such-heading)", "hebei.md#no-such-heading"),
        ('why = "hebei.md#claims, sichuan.md#claims"', "sichuan.md#claims"),
        ('"""Kongs (rulebook 0.5)."""', "rulebook 0"),
        ('"""Payment (002 §Instant Payout Table)."""', "002 §"),
        ("return 12  # 3A.3", "3A.3"),
    ],
)
def test_a_citation_that_leads_nowhere_is_noticed(tmp_path: Path, line: str, wrong: str):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "fine.py").write_text("# hebei.md#claims, common.md#order-of-claims\n", encoding="utf-8")
    assert wrong_citations(tmp_path, anchors(FOLDER)) == []
    (tmp_path / "tests" / "broken.toml").write_text(f"# first\n{line}\n", encoding="utf-8")
    assert wrong_citations(tmp_path, anchors(FOLDER)) == [f"tests/broken.toml:2 {wrong}"]
