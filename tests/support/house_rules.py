"""Knobs that cannot be without others."""

from collections.abc import Mapping
from typing import Any


def with_needed(knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Some knobs, and what they need."""
    needed: dict[str, Any] = {}
    if knobs.get("rotation"):
        needed["players"] = 3  # four people of whom three play
    if knobs.get("private_walls"):
        needed["flower_tiles"] = False
    return {**knobs, **needed}
