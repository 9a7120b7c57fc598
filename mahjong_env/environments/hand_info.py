"""One ended hand as plain Python values: what environments put into their infos and the text rendering prints."""

from __future__ import annotations

from typing import Any

from mahjong_env.engine.outcome import Outcome


def hand_info(outcome: Outcome, place: int) -> dict[str, Any]:
    """The hand in one row of an outcome.

    Args:
        outcome: the hands that ended in a step.
        place: the row.

    Returns:
        ``winner`` (person, -1 after a draw), ``source`` ("draw", "discard", "kong", "flowers" or ""), ``from_seat``
        (person, -1 if nobody gave the winning tile), ``tile`` (kind, -1 for none), ``value``, ``payments`` and
        ``points`` (one integer for each person), ``rows`` (a tuple of (name, value) pairs).
    """
    return {
        "winner": int(outcome.winner[place]),
        "source": str(outcome.source[place]),
        "from_seat": int(outcome.from_seat[place]),
        "tile": int(outcome.tile[place]),
        "value": int(outcome.value[place]),
        "payments": outcome.payments[place].tolist(),
        "points": outcome.points[place].tolist(),
        "rows": tuple(outcome.rows[place]),
    }
