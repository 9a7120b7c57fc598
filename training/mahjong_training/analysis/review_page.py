"""The page of a review: the viewer's page, with what every choice was worth as plain values."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env import ACTIONS
from mahjong_env.viewer import viewer_html
from mahjong_training.analysis.review_report import ENDS, PATTERNS, Findings, reasons
from mahjong_training.evaluation.estimates import Estimate

_DECIMALS: Final = 2


def html_text(found: Findings, *, play_on: str = "", command: str = "") -> str:
    """Return the page; it loads nothing from anywhere.

    Args:
        found: the review.
        play_on: the address that a position is played on from, less the number of actions before it.
        command: the command that plays on, less the person and that number, for a page without a server.
    """
    return viewer_html(found.positions.record, review_told(found) | {"playOn": play_on, "command": command})


def review_told(found: Findings) -> dict[str, Any]:
    """Return what the page shows of a review.

    Returns:
        ``agents``, ``worlds`` (least and most) and ``hindsight``; ``lost`` by person, and ``choices`` in their order:
        ``at`` (actions played before), ``person``, ``taken``, ``isPlayed`` (False: the agent would), ``cost``,
        ``gain``, ``why`` (of the best action: `review_report.Reason`) and ``lines``, the best one first: action, points
        to the end of the hand, these less those of the best other action, shares of wins and deal-ins. Intervals are
        [low, mean, high].
        ``patterns`` and ``ends`` are what reasons are made of, in English and Chinese.
    """
    worlds = found.values.worlds
    # The actions of a position by their names, as lines are in another order.
    coded = {
        (position, ACTIONS[action]): why
        for position, action, why in zip(
            found.values.position.tolist(), found.values.action.tolist(), reasons(found.values), strict=True
        )
    }
    return {
        "agents": found.settings["agents"],
        "worlds": [int(worlds.min()), int(worlds.max())],
        "hindsight": found.settings["hindsight"],
        "lost": {str(seat): _ends(found.lost(seat)) for seat in sorted({one.seat for one in found.decisions})},
        "choices": [
            {
                "at": one.number,
                "person": one.seat,
                "taken": one.taken.action,
                "isPlayed": found.positions.taken is not None,
                "cost": _ends(one.cost),
                "gain": round(one.gain[0], _DECIMALS),
                "why": coded[place, one.lines[0].action],
                "lines": [
                    [
                        line.action,
                        round(line.points, _DECIMALS),
                        _ends(line.against_best),
                        *(round(share, 3) for share in (line.wins, line.deal_ins)),
                    ]
                    for line in one.lines
                ],
            }
            for place, one in enumerate(found.decisions)
        ],
        "patterns": PATTERNS,
        "ends": {end: words[:2] for end, words in ENDS.items()},
    }


def _ends(found: Estimate) -> list[float | None]:
    return [round(end, _DECIMALS) if np.isfinite(end) else None for end in (found.low, found.mean, found.high)]
