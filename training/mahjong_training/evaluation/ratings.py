"""Ratings of the agents of an evaluation, by openskill's Plackett-Luce model (Weng and Lin, 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.lineups import LineupResult

MOST_DEALS: Final = 5000
"""Deals of each line-up that are rated, the first ones; ratings have long settled by then."""


@dataclass(frozen=True)
class Rating:
    """What openskill thinks of an agent.

    Attributes:
        mu: its strength; every agent begins with 25.
        sigma: how unsure that is, as a standard deviation; it begins with 25 / 3. It knows nothing of the same tiles
            having been played from other seats, and stays above 0 however much is played: whether one agent is better
            than another is said by the points and their intervals, not by this.
        matches: deals of line-ups in which it took part.
    """

    mu: float
    sigma: float
    matches: int


def rate(results: Sequence[LineupResult], agents: int) -> tuple[Rating, ...]:
    """Rate agents by line-ups that were played.

    A match is one deal of a line-up: the agents are ranked by their points per seat over all orders in which it was
    played, so that nobody is rated for the tiles. Matches count in the order of the deals, for each deal in the order
    of the line-ups.

    Args:
        results: the line-ups; those of one agent alone are left out.
        agents: how many there are.

    Raises:
        MissingExtraError: openskill is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError as error:
        raise MissingExtraError("ratings need openskill: pip install 'mahjong-env[evaluate]'") from error
    model = PlackettLuce()
    players = [model.rating() for _ in range(agents)]
    matches = [0] * agents
    contests = [(result, _points_per_seat(result)) for result in results if len(result.standings) > 1]
    for deal in range(min(MOST_DEALS, max((result.deals for result, _ in contests), default=0))):
        for result, points in contests:
            if deal < result.deals:
                who = [standing.agent for standing in result.standings]
                # `scores`: more is better, and equal ones are a draw.
                rated = model.rate([[players[agent]] for agent in who], scores=[float(of[deal]) for of in points])
                for agent, (player,) in zip(who, rated, strict=True):
                    players[agent] = player
                    matches[agent] += 1
    return tuple(
        Rating(float(player.mu), float(player.sigma), number) for player, number in zip(players, matches, strict=True)
    )


def _points_per_seat(result: LineupResult) -> list[Any]:
    return [
        total / (result.orders * standing.seats)
        for standing, total in zip(result.standings, result.totals, strict=True)
    ]
