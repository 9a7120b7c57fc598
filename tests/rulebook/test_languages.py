"""Pages in Chinese say what the English ones say: headings, rows, knobs, examples, numbers; and say it in Chinese."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import mahjong_env
from mahjong_env.basics.errors import RulesError
from mahjong_env.cli import main
from mahjong_env.rulebook.page import COMMON, describe_rules, meanings, page_source, sections, variant_page
from tools import rule_pages

VARIANTS = sorted(mahjong_env.VARIANTS)
PAGES = ["common", *VARIANTS]
HEADING = re.compile(r"^(#+) +(.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HOLE = re.compile(r"\{\{((?:[^{}]|\{\{[^{}]*\}\})*)\}\}")


def source(page, language):
    """A page with its holes."""
    if page == "common":
        return COMMON[language].read_text(encoding="utf-8")
    return page_source(mahjong_env.VARIANTS[page], language)


def by_heading(page, language):
    """The marks of each heading, and the text below it, in the order of the page."""
    text = source(page, language)
    parts = dict(enumerate(text for _, text in sections(text)))
    marks = [found[1] for found in HEADING.finditer(FENCED.sub("", text))]
    return list(zip(marks, parts.values(), strict=True))


def what_it_asks(text):
    """The holes of a text without their words: what is asked, and for which values there are texts."""
    asked = []
    for hole in HOLE.findall(text):
        name, has_choices, choices = hole.partition("?")
        labels = re.findall(r"(?:^|\|)\s*([^|:]*?):", choices) if has_choices else []
        asked.append((name.split(" ")[0] if name.startswith("row") else name.strip(), *labels))
    return Counter(asked)


def numbers(text):
    """The digits that a text writes, those of examples and addresses aside."""
    text = FENCED.sub("", re.sub(r"<https?:[^>]*>|\]\([^)]*\)", "", text))
    return Counter(re.findall(r"(?<![A-Za-z`\d])\d+", text))


@pytest.mark.parametrize("page", PAGES)
class TestChinese:
    def test_headings_are_as_deep_and_as_many(self, page):
        assert [marks for marks, _ in by_heading(page, "zh")] == [marks for marks, _ in by_heading(page, "en")]

    def test_every_section_has_the_same_holes_examples_and_items(self, page):
        pairs = zip(by_heading(page, "zh"), by_heading(page, "en"), strict=True)
        for (_, chinese), (_, english) in pairs:
            where = chinese[:60]
            assert what_it_asks(chinese) == what_it_asks(english), where
            assert FENCED.findall(chinese) == FENCED.findall(english) or page == "common", where
            for mark in (r"^\* ", r"^\|"):
                found = [len(re.findall(mark, HOLE.sub("", text), re.MULTILINE)) for text in (chinese, english)]
                assert found[0] == found[1], where

    def test_every_section_has_the_same_numbers(self, page):
        rows = {} if page == "common" else {row.name: row.meaning for row in mahjong_env.VARIANTS[page].rows}
        headings = [heading for heading, _ in sections(source(page, "en"))]
        for heading, (_, chinese), (_, english) in zip(
            headings, by_heading(page, "zh"), by_heading(page, "en"), strict=True
        ):
            assert numbers(chinese) == numbers(f"{english} {rows.get(heading, '')}"), heading

    def test_what_is_not_a_quotation_is_chinese(self, page):
        text = re.sub(r"“[^”]*”|`[^`]*`|<https?:[^>]*>|\]\([^)]*\)", " ", FENCED.sub("", source(page, "zh")))
        text = re.sub(r"\{\{[^{}?]*\}\}", " ", text)  # then what asks, and for which value
        text = re.sub(r"(?:\{\{\w+\?|\|)[\w, ]+:", " ", text)
        names = {word for name in VARIANTS for row in mahjong_env.VARIANTS[name].rows for word in row.name.split()}
        titles = {"mahjong", "Mahjong", "Pros", "All", "Mah", "Jong", "Four", "Winds", "Guide", "True", "False", "None"}
        titles |= {"Competition", "Rules", "PyMahjongGB", "Botzone"}
        known = names | titles | {mahjong_env.VARIANTS[name].title.split()[0] for name in VARIANTS}
        assert set(re.findall(r"[A-Za-z]{4,}", text)) <= known


@pytest.mark.parametrize("variant", VARIANTS)
class TestFilled:
    def test_every_row_has_a_heading_of_its_own_in_the_same_place(self, variant):
        rules = mahjong_env.VARIANTS[variant]
        headings = [[heading for heading, _ in sections(page_source(rules, language))] for language in ("en", "zh")]
        for row in rules.rows:
            at = [found.index(name) for found, name in zip(headings, (row.name, row.chinese.split()[0]), strict=True)]
            assert at[0] == at[1], row.name

    def test_every_knob_is_linked(self, variant):
        table = dict(sections(variant_page(mahjong_env.VARIANTS[variant], "zh"))).popitem()[1]
        lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
        assert len(lines) == len(mahjong_env.VARIANTS[variant].knobs)
        assert all("](#" in line for line in lines)

    def test_every_row_and_every_knob_is_explained(self, variant):
        rules = mahjong_env.VARIANTS[variant]
        told = [chinese for _, chinese in meanings(rules).values()]
        told += [about for _, _, about in rules.knob_help("zh").values()]
        assert [text for text in told if not re.search("[\u4e00-\u9fff]", text)] == []

    def test_house_rules_are_followed(self, variant):
        knobs = {"wuhan": {"cap": None}, "hebei": {"players": 4}}.get(variant, {"shows_drawn": False})
        page = variant_page(mahjong_env.rules(variant, **knobs), "zh")
        assert "这一桌的规则：" in page
        assert page != variant_page(mahjong_env.VARIANTS[variant], "zh")


def test_examples_are_scored_in_chinese():
    told = variant_page(mahjong_env.VARIANTS["wuhan"], "zh")
    assert re.search(r"分值\u3000+ ?\d+(?: × [\d.]+)+ = \d+", told)
    assert "不能和" in told
    assert "赖子" not in variant_page(mahjong_env.VARIANTS["hangzhou"], "zh")


def test_the_command_prints_them(capsys):
    assert main(["rules", "--variant", "fuzhou", "--language", "zh", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("# 福州麻将")


def test_other_languages_are_refused():
    with pytest.raises(RulesError, match="en, zh"):
        describe_rules("wuhan", "fr")


def test_a_page_without_all_examples_is_refused(monkeypatch):
    monkeypatch.setattr("mahjong_env.rulebook.page._EXAMPLE", "{{rows}}")
    with pytest.raises(RulesError, match="places for 1 examples"):
        page_source(mahjong_env.VARIANTS["wuhan"], "zh")


def lines_of(language):
    """The lines of the glossary's tables, without their heads: cells in order."""
    text = rule_pages.GLOSSARIES[language].read_text(encoding="utf-8").partition("<!-- table: rows -->")[0]
    tables = re.findall(r"^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE)
    return [[line.strip("| ").split(" | ") for line in table.splitlines()] for table in tables]


def test_the_glossary_has_the_same_words_in_both_languages():
    assert [len(table) for table in lines_of("en")] == [len(table) for table in lines_of("zh")]
    for english, chinese in zip(lines_of("en"), lines_of("zh"), strict=True):
        for line, other in zip(english, chinese, strict=True):
            place = 1 if len(english[0]) == 3 and not line[1].startswith("`") else 0  # where its English term stands
            codes = [re.findall("`[^`]*`", " ".join(cells)) for cells in (line, other)]
            assert codes[0] == codes[1]
            assert place == 0 or other[place] == line[0]
            for word in re.findall("[\u4e00-\u9fff]+", line[-1]) if len(line) == 3 else ():
                assert word in other[0], line[0]
    text = rule_pages.GLOSSARIES["zh"].read_text(encoding="utf-8")
    assert all(f"](rules/{name}.zh.md" in text for name in mahjong_env.VARIANTS)
