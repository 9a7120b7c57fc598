"""Every variant has its rule sheet, its written cases and its readable game; the games are still played like that."""

from __future__ import annotations

import sys

import pytest

import mahjong_env
from scripts.golden_games import FOLDER, SEEDS, Storyteller, write_all
from support.case_files import hand_cases, scenes

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_rule_sheet_cases_and_golden(variant):
    sheet = sys.modules[type(mahjong_env.VARIANTS[variant]).__module__].__doc__
    for heading in ("Source: 00", "**What is played.**", "**Payment.**", "**Readings and deviations**"):
        assert heading in sheet, f"the rule sheet of {variant} has no {heading!r}"
    readings = sheet.partition("**Readings and deviations**")[2]
    assert readings.count("====") >= 3, f"the rule sheet of {variant} has no table of readings"
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
