"""Ratings of the agents of an evaluation, by openskill's Plackett-Luce model (Weng and Lin, 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.results import LineupResult, Rating

MOST_DEALS: Final = 5000
"""Deals of each line-up that are rated, the first ones; ratings have long settled by then."""


def rate(results: Sequence[LineupResult], agents: int) -> tuple[Rating, ...]:
    """Rate agents by line-ups that were played.

    A match is one deal of a line-up: the agents are ranked by their points per seat over all orders in which it was
    played, so that nobody is rated for the tiles. Matches count in the order of the deals, for each deal in the order
    of the line-ups.

    Args:
        results: the line-ups; those of one agent alone are left out.
        agents: the number of agents.

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
    contests = [result for result in results if len(result.standings) > 1]
    for deal in range(min(MOST_DEALS, max((result.deals for result in contests), default=0))):
        for result in contests:
            if deal < result.deals:
                who = [standing.agent for standing in result.standings]
                seats = [result.orders * standing.seats for standing in result.standings]
                points = [float(total[deal] / number) for total, number in zip(result.totals, seats, strict=True)]
                rated = model.rate([[players[agent]] for agent in who], scores=points)  # equal ones are a draw
                for agent, (player,) in zip(who, rated, strict=True):
                    players[agent] = player
                    matches[agent] += 1
    return tuple(
        Rating(float(player.mu), float(player.sigma), number) for player, number in zip(players, matches, strict=True)
    )
