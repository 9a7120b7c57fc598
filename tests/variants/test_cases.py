"""The written cases of every variant: described hands against `score`, scenes against the engine."""

from __future__ import annotations

import pytest

from mahjong_env.testing.cases import check_complete, check_hand, check_scene
from oracle import referee
from support.case_files import CASES, hand_cases, scenes

VARIANTS = sorted(referee.VARIANTS)


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
def test_names_are_unique_sources_given_and_every_row_and_reason_is_shown(variant):
    check_complete(variant, hand_cases(variant), scenes(variant))


@pytest.mark.parametrize(("variant", "case"), _all(hand_cases))
def test_hand(variant, case):
    check_hand(variant, case)


@pytest.mark.parametrize(("variant", "scene"), _all(scenes))
def test_scene(variant, scene):
    check_scene(variant, scene)
