"""The written cases of every variant: described hands against `score`, scenes against the engine."""

from __future__ import annotations

import pytest

from mahjong_env.testing.cases import check_cases
from oracle import referee
from support.case_files import CASES, hand_cases, scenes


@pytest.mark.parametrize("variant", sorted(referee.VARIANTS))
def test_written_cases(variant):
    """Hands and scenes as written down; every row and reason is shown. All that fail are named at once."""
    assert len(hand_cases(variant)) > 20
    assert len(scenes(variant)) > 10
    check_cases(variant, CASES / f"{variant}.toml", CASES / f"{variant}_play.toml")
