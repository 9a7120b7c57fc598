"""The written cases of every variant: described hands against `score`, scenes against the engine."""

from __future__ import annotations

import pytest

import mahjong_env
from support.case_files import CASES, SceneRunner, check_hand, hand_cases, scenes

VARIANTS = sorted(mahjong_env.VARIANTS)


def _all(read):
    return [
        pytest.param(variant, case, id=f"{variant}: {case['name']}")
        for variant in VARIANTS
        if (CASES / f"{variant}.toml").exists()
        for case in read(variant)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_has_its_cases(variant):
    assert len(hand_cases(variant)) > 20
    assert len(scenes(variant)) > 10


@pytest.mark.parametrize("variant", VARIANTS)
def test_names_are_unique_and_sources_given(variant):
    cases = hand_cases(variant) + scenes(variant)
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names)
    assert all(case.get("why") for case in cases)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_row_of_the_table_has_a_case(variant):
    shown = {row.rsplit(" ", 1)[0] for case in hand_cases(variant) for row in case.get("rows", ())}
    assert {row.name for row in mahjong_env.VARIANTS[variant].rows} <= shown


@pytest.mark.parametrize(("variant", "case"), _all(hand_cases))
def test_hand(variant, case):
    check_hand(variant, case, mahjong_env.score)


@pytest.mark.parametrize(("variant", "scene"), _all(scenes))
def test_scene(variant, scene):
    SceneRunner(variant, scene).run(scene["play"])
