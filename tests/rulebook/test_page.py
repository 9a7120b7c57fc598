"""Every variant explains itself: the page says what is played, follows the knobs, and its examples are computed."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import fields
from functools import cache

import numpy as np
import pytest

import mahjong_env
from mahjong_env.basics.errors import RulesError
from mahjong_env.cli import main
from mahjong_env.rulebook.drawing import draw_hand, read_block
from mahjong_env.rulebook.page import anchor, fill_page, knobs_by_section, page_source, sections, variant_page
from support.case_files import hand_cases
from support.house_rules import with_needed
from support.marks import everyday
from tools import rule_pages

VARIANTS = sorted(mahjong_env.VARIANTS)
TIMES = "\u00d7"
BLOCK = re.compile(r"^```hand\n(.*?)^```$", re.M | re.S)
EXPECTED = ("rows", "points", "payments", "illegal")


def other_values(rules, name):
    """Valid values of a knob other than the one that it has."""
    metadata = next(item.metadata for item in fields(rules) if item.name == name)
    if metadata["choices"] is not None:
        values = list(metadata["choices"])
    else:
        values = [metadata["minimum"], metadata["minimum"] + 7, *([None] if metadata["none"] else [])]
    return [value for value in values if value != getattr(rules, name)]


def rules_with(name, knob, value):
    """The variant with one knob turned."""
    return mahjong_env.rules(name, **with_needed({knob: value}))


@cache
def default_sections(variant):
    """The headings of a page with the text below them, at the default rules."""
    return dict(sections(variant_page(mahjong_env.VARIANTS[variant])))


@cache
def examples(variant):
    """The headings of a page with the examples below them."""
    return [
        (heading, block)
        for heading, text in sections(page_source(mahjong_env.VARIANTS[variant]))
        for block in BLOCK.findall(text)
    ]


def seen_by_the_winner(case, seats):
    """A written case as the arguments of `score` with the winner at seat 0, and what is expected of it."""
    shift = case.get("seat", 0)

    def turn(seat):
        return (int(seat) - shift) % seats

    def turn_meld(meld):
        return re.sub(r"@(\d)", lambda origin: f"@{turn(origin[1])}", meld)

    turned = {key: value for key, value in case.items() if key not in ("name", "why", "seat")}
    turned["dealer"] = turn(case.get("dealer", 0))
    if "from_seat" in turned:
        turned["from_seat"] = turn(turned["from_seat"])
    turned["melds"] = [turn_meld(meld) for meld in case.get("melds", ())]
    others = case.get("other_melds", {}).items()
    turned["other_melds"] = {turn(seat): [turn_meld(meld) for meld in melds] for seat, melds in others}
    for key in ("payments", "running_points"):
        if key in turned:
            turned[key] = [turned[key][(seat + shift) % seats] for seat in range(seats)]
    return turned


@cache
def written_cases(variant):
    """The written cases with the winner at seat 0."""
    cases = [case for case in hand_cases(variant) if not {"error", "players"} & case.keys()]
    return [seen_by_the_winner(case, mahjong_env.VARIANTS[variant].seats) for case in cases]


def written_case(variant, arguments):
    """The written case about the same hand; None if there is none."""
    wanted = {"dealer": 0, "melds": [], "other_melds": {}} | arguments
    for case in written_cases(variant):
        if {key: value for key, value in case.items() if key not in EXPECTED} == wanted:
            return case
    return None


# --- The pages -------------------------------------------------------------------------------------------------------


def test_the_pages_in_docs_are_those_of_the_package():
    assert rule_pages.out_of_date(rule_pages.FOLDER) == [], "make rules writes them"


def test_a_page_changed_by_hand_is_noticed(tmp_path):
    for name, text in rule_pages.pages().items():
        (tmp_path / name).write_text(text.replace("Nobody wins", "Everybody wins"), encoding="utf-8")
    (tmp_path / "extra.md").write_text("# Extra\n", encoding="utf-8")
    assert rule_pages.out_of_date(tmp_path) == ["extra.md", "hebei.md"]


@pytest.mark.parametrize("language", rule_pages.GLOSSARIES)
def test_the_glossary_has_every_row(language):
    text = rule_pages.GLOSSARIES[language].read_text(encoding="utf-8")
    assert rule_pages.glossary(text, language) == text, "make rules writes the table of the glossary"
    with pytest.raises(AssertionError, match="no place"):
        rule_pages.glossary("# Glossary\n")


@pytest.mark.parametrize("page", ["common", *VARIANTS])
def test_headings_of_a_page_have_anchors_of_their_own(page):
    anchors = [anchor(heading) for heading, _ in sections(rule_pages.pages()[f"{page}.md"])]
    assert len(set(anchors)) == len(anchors)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_sheet_is_complete(variant, capsys):
    rules = mahjong_env.VARIANTS[variant]
    sheet = mahjong_env.describe_rules(variant)
    assert rules.chinese in sheet
    assert f"Version {rules.version}" in sheet
    assert re.search(r"<https?://", sheet), "the source is named with its address"
    headings = dict(sections(sheet))
    for heading in (
        "Source",
        "The game in short",
        "The dealer",
        "Claims",
        "Who pays",
        "House rules",
        "Order of claims",
    ):
        assert heading in headings
    for row in rules.rows:
        assert re.search(r"[\u4e00-\u9fff]", row.chinese), f"{row.name} has no Chinese name"
        assert f"| [{row.name}](#{anchor(row.name)}) |" in headings["Scoring table"]
        assert row.chinese.partition(" ")[0] in headings[row.name]
    for name in rules.knobs:
        assert f"| {name} |" in headings["House rules"]
    assert main(["rules", "--variant", variant, "--markdown"]) == 0
    assert capsys.readouterr().out.strip() == sheet.strip()


def test_a_variant_from_outside_brings_its_page_or_is_described_by_its_docstring(tmp_path, monkeypatch):
    (tmp_path / "quay.py").write_text(
        '"""Played at the quay."""\nfrom mahjong_env.variants.hebei import Hebei\n'
        "class Quay(Hebei):\n    name = 'quay'\nRULES = Quay(players=4)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    rules = importlib.import_module("quay").RULES
    sheet = mahjong_env.describe_rules(rules)
    assert "Played at the quay." in sheet
    assert "## Order of claims" in sheet or "### Order of claims" in sheet
    (tmp_path / "quay.md").write_text("# Quay\n\n{{words seats}} players.\n", encoding="utf-8")
    assert "four players." in variant_page(rules)
    monkeypatch.delattr(sys.modules["quay"], "__file__")
    assert "## House rules" in variant_page(rules), "without a file the docstring and the knobs are printed"


@pytest.mark.parametrize(
    ("variant", "knobs"),
    [
        *((variant, {}) for variant in VARIANTS),
        ("hebei", {"players": 4}),
        ("hangzhou", {"fortune": "white"}),
        ("taiwan", {"dead_tiles": 20}),
    ],
)
def test_the_page_counts_the_tiles_that_can_be_drawn_as_the_engine_does(variant, knobs):
    engine = mahjong_env.make_engine(variant, 1, seed=7, **knobs)
    left = int(engine.state.left(np.array([0]))[0]) + int(engine.state.flowers[0].sum())
    page = " ".join(variant_page(mahjong_env.rules(variant, **knobs)).split())
    assert re.search(rf"\b{left} tiles (are|to|left)", page), f"{left} tiles can be drawn"


# --- Examples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_example_is_a_written_case(variant):
    """What a page prints of a hand is what somebody wrote down for the same hand, without the program."""
    rules = mahjong_env.VARIANTS[variant]
    for heading, block in examples(variant):
        arguments = read_block(rules, block)
        case = written_case(variant, arguments)
        assert case is not None, f"{variant}, {heading}: no case in tests/cases is about this hand:\n{block}"
        drawn = draw_hand(rules, block)
        if "illegal" in case:
            assert "result   no win: " in drawn
            continue
        scored = mahjong_env.score(rules, **arguments)
        assert sorted(f"{name} {value}" for name, value in scored.rows) == sorted(case["rows"])
        assert scored.points == case["points"] if "payments" not in case else list(scored.payments) == case["payments"]
        assert re.search(rf"^worth    (.* )?{scored.points}$", drawn, re.MULTILINE)
        for name, _ in scored.rows:
            assert name in drawn


def test_an_example_that_nobody_wrote_down_is_noticed():
    _, block = examples("hebei")[0]
    arguments = read_block(mahjong_env.rules("hebei"), block)
    assert written_case("hebei", arguments)
    assert written_case("hebei", arguments | {"winning_tile": "9s"}) is None


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_row_has_an_example(variant):
    for row in mahjong_env.VARIANTS[variant].rows:
        assert row.name in rows_under(variant, row.name), f"no example under {row.name} scores it"


def rows_under(variant, heading):
    """All rows that the examples under one heading score."""
    rules = mahjong_env.VARIANTS[variant]
    scored = [
        mahjong_env.score(rules, **read_block(rules, block)) for name, block in examples(variant) if name == heading
    ]
    return {name for one in scored for name, _ in one.rows}


def test_payments_are_told_seat_by_seat():
    drawn = draw_hand(mahjong_env.rules("taiwan"), dict(examples("taiwan"))["Self-Touch"])
    assert (
        "(the dealer) 5 (3 + 1 + 1 = 5), the player opposite 4 (3 + 1 = 4), the player on the left 4 (3 + 1 = 4)"
        in drawn
    )
    assert "scores   Self-Touch 1" in drawn


def test_a_hand_that_the_knobs_rule_out_says_so():
    block = 'hand = "123m 456p 678s 111z 9s"\nwinning_tile = "9p"\nsource = "draw"\nwild = "9s"\n'
    assert "worth    1 × 2 = 2" in draw_hand(mahjong_env.rules("hangzhou"), block)
    drawn = draw_hand(mahjong_env.rules("hangzhou", fortune="white"), block)
    assert "does not come about" in drawn
    assert "worth" not in drawn


# --- Knobs -----------------------------------------------------------------------------------------------------------


def test_the_sheet_says_what_the_table_plays():
    sheet = mahjong_env.describe_rules(mahjong_env.rules("hebei", all_pungs=2, players=4, cap=8))
    assert "House rules of this table: `players=4`, `all_pungs=2`, `cap=8`.\n" in sheet
    assert "House rules of this table" not in mahjong_env.describe_rules("hebei")
    headings = dict(sections(sheet))
    assert f"**{TIMES}2**" in headings["All Pungs"]
    assert " = 8\n" in headings["All Pungs"], "the example is computed with the knobs"
    assert "Four players sit at the table." in headings["Players"]
    assert "71 tiles to draw" in headings["The wall"]
    assert "The product is cut to 8" in headings["What a hand is worth"]
    assert "| all_pungs | 2 | 3 |" in headings["House rules"]


TURNED = [
    (name, knob, value)
    for name, rules in mahjong_env.VARIANTS.items()
    for knob in rules.knobs
    for value in other_values(rules, knob)
]


@pytest.mark.parametrize("turned", everyday(TURNED, list({one[:2]: one for one in TURNED}.values())))
def test_every_knob_changes_the_sheet_where_the_table_of_knobs_leads(turned):
    variant, knob, value = turned
    rules = mahjong_env.VARIANTS[variant]
    before, after = default_sections(variant), dict(sections(variant_page(rules_with(variant, knob, value))))
    changed = [place for place in knobs_by_section(page_source(rules), rules)[knob] if before[place] != after[place]]
    assert changed
    if isinstance(value, int) and not isinstance(value, bool) and value > 4:
        assert any(str(value) in after[place] for place in changed)
    assert f"| {knob} | {value!r} |" in after["House rules"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# A\n\n{{no_such_knob}}\n", "no_such_knob"),
        ("# A\n\n{{players? 4: four}}\n", "no text for players=3"),
        ("# A\n\n{{players\n", "not closed"),
        ("# No Such Row\n\n{{row #}}\n", "No Such Row"),
    ],
)
def test_a_page_with_a_hole_that_cannot_be_filled_is_refused(source, message):
    with pytest.raises(RulesError, match=message):
        fill_page(source, mahjong_env.rules("hebei"))


def test_holes_inside_of_holes():
    source = "# A\n\n{{players? 3: {{words players}} of {{rotation? True: four | else: {{people}}}} | else: many}}.\n"
    assert fill_page(source, mahjong_env.rules("hebei")) == "# A\n\nthree of 3.\n"
    assert fill_page(source, mahjong_env.rules("hebei", rotation=True)) == "# A\n\nthree of four.\n"


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_reason_is_said_in_words(variant):
    reasons = mahjong_env.VARIANTS[variant].reasons
    assert reasons[0] == ""
    assert all(len(reason.split()) > 3 for reason in reasons[1:])
    assert len(set(reasons)) == len(reasons)
