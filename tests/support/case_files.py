"""The written cases of the shipped variants; `mahjong_env.testing.cases` describes their format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mahjong_env.testing.cases import read_hands, read_scenes

CASES = Path(__file__).parents[1] / "cases"


def hand_cases(variant: str) -> list[dict[str, Any]]:
    """Return the described hands of a variant."""
    return read_hands(CASES / f"{variant}.toml")


def scenes(variant: str) -> list[dict[str, Any]]:
    """Return the scenes of a variant."""
    return read_scenes(CASES / f"{variant}_play.toml")
