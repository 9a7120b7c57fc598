"""House rules of each variant, and knobs that need others."""

from collections.abc import Mapping
from typing import Any

HOUSES: dict[str, dict[str, Any]] = {
    "wuhan": {"discard_payers": "discarder", "dealer_rule": "winner_becomes", "wild_hand_discard_win": False, "cap": 8},
    "hangzhou": {
        **{"fortune": "white", "lao_dice": True, "kong_capture": "always", "discard_payment": "all_shares"},
        **{"match_end": "points", "cap": 64, "base_score": 5, "initial_points": 4},
    },
    "hebei": {
        **{"players": 3, "rotation": True, "single_hanging": "any_single_wait", "discard_payers": "all"},
        **{"cap": 4, "base_score": 2},
    },
    "taiwan": {"dealer_is_east": True, "add_discard_to_pung": False, "dead_tiles": 0, "base_score": 0, "unit": 3},
    "mcr": {"change_seats": True, "minimum_points": 1, "base": 0},
    "fuzhou": {
        **{"rob_kong": True, "specials": "highest", "dealer_on_draw": "stay", "discard_payers": "all"},
        **{"base_score": 3},
    },
}
"""House rules of each variant: how a game goes, who pays, caps that are reached, and factors that are not 1."""


def with_needed(knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Return knobs together with those that they need."""
    needed: dict[str, Any] = {}
    if knobs.get("rotation"):
        needed["players"] = 3  # four people of whom three play
    if knobs.get("private_walls"):
        needed["flower_tiles"] = False
    return {**knobs, **needed}
