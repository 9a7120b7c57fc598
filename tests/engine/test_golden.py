"""Every variant has its page of rules and its readable game, which is still played as it was."""

from __future__ import annotations

import pytest

import mahjong_env
from mahjong_env.rulebook.page import page_source, sections
from tools.golden_games import FOLDER, SEEDS, Storyteller

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_its_page(variant):
    headings = dict(sections(page_source(mahjong_env.VARIANTS[variant])))
    for heading in ("Source", "A hand that may win", "What a hand is worth", "Who pays", "House rules"):
        assert heading in headings, f"the rules of {variant} have no {heading!r}"
    unclear = [heading for heading in headings if heading.startswith("Where the source")]
    assert unclear, f"the rules of {variant} do not say where their source is unclear"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_readable_game_is_as_it_was(variant):
    assert {path.stem for path in FOLDER.iterdir()} == set(SEEDS) == set(VARIANTS)
    written = (FOLDER / f"{variant}.txt").read_text(encoding="utf-8")
    story = Storyteller(variant, SEEDS[variant]).story()
    assert story == written, "the game has changed: if that is meant, `make golden` writes it anew"
    assert len(story.splitlines()) < 90
    assert " wins with " in story
