"""Every variant has its page of rules, its written cases and its readable game; games are still played like that."""

from __future__ import annotations

import pytest

import mahjong_env
from mahjong_env.rulebook.page import page_source, sections
from support.case_files import hand_cases, scenes
from tools.golden_games import FOLDER, SEEDS, Storyteller, write_all

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_rule_page_cases_and_golden(variant):
    headings = dict(sections(page_source(mahjong_env.VARIANTS[variant])))
    for heading in ("Source", "A hand that may win", "What a hand is worth", "Who pays", "House rules"):
        assert heading in headings, f"the rules of {variant} have no {heading!r}"
    unclear = [heading for heading in headings if heading.startswith("Where the source")]
    assert unclear, f"the rules of {variant} do not say where their source is unclear"
    assert hand_cases(variant)
    assert scenes(variant)
    assert (FOLDER / f"{variant}.txt").is_file(), "make golden writes it"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_readable_game_is_as_it_was(variant):
    assert variant in SEEDS, "golden_games.SEEDS needs a seed for every variant"
    written = (FOLDER / f"{variant}.txt").read_text(encoding="utf-8")
    told = Storyteller(variant, SEEDS[variant]).story()
    assert told == written, "the game has changed: if that is meant, `make golden` writes it anew"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_readable_game_is_short_and_won(variant):
    text = (FOLDER / f"{variant}.txt").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 90
    assert " wins with " in text
    assert "rows " in text
    assert "payments " in text


def test_no_other_golden_lies_around(tmp_path):
    write_all(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in FOLDER.iterdir()}
