"""Every citation of a rule, in code, tests and written cases, leads to a heading of docs/rules."""

from __future__ import annotations

from pathlib import Path

import pytest

import mahjong_env
from mahjong_env.rulebook.page import anchor
from support.case_files import hand_cases, scenes
from support.citations import anchors, citations, cited_files, wrong_citations
from tools.rule_pages import FOLDER, ROOT

VARIANTS = sorted(mahjong_env.VARIANTS)


def test_every_citation_leads_to_a_heading():
    assert wrong_citations(ROOT, anchors(FOLDER)) == []


def test_there_are_citations_to_follow():
    cited = {
        path.relative_to(ROOT).parts[0]
        for path in cited_files(ROOT)
        if any(citations(path.read_text(encoding="utf-8")))
    }
    assert {"mahjong_env", "tests"} <= cited


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
