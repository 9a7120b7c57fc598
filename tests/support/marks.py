"""Choice of the cases of slow tests that run every day; the others are marked thorough."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from mahjong_env import VARIANTS


def variants(*quick: str) -> list[Any]:
    """Return all variants as parameters of a test, with all but the quick ones marked thorough."""
    return everyday(sorted(VARIANTS), quick)


def everyday(cases: Collection[Any], quick: Collection[Any]) -> list[Any]:
    """Return cases as parameters of a test, with all but the quick ones marked thorough."""
    assert quick, "none would be run every day"
    assert all(case in cases for case in quick), "a quick case that there is not"
    return [pytest.param(case, marks=() if case in quick else pytest.mark.thorough) for case in cases]
