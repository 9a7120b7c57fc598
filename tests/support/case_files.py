"""Where the written cases of the shipped variants lie; `mahjong_env.testing.cases` says how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mahjong_env.testing.cases import read_hands, read_scenes

CASES = Path(__file__).parents[1] / "cases"


def hand_cases(variant: str) -> list[dict[str, Any]]:
    """The described hands of a variant."""
    return read_hands(CASES / f"{variant}.toml")


def scenes(variant: str) -> list[dict[str, Any]]:
    """The scenes of a variant."""
    return read_scenes(CASES / f"{variant}_play.toml")
