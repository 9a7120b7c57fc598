"""Wins and drawn hands become points; dealer and match go on."""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.phases.table import Ended, Table, Won
from mahjong_env.scoring.wins import Source, Wins, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, Phase

CUT_AFTER: Final = 200
"""Hands after which a match that ends by points is cut short."""


def settle(table: Table) -> None:
    """Pay the wins of this step and record the hands that ended."""
    if table.won:
        games = np.concatenate([won.games for won in table.won])
        wins = Wins.join([describe(table, won) for won in table.won])
        scores = table.rules.score(wins)
        table.pay(games, scores.payments)
        source = wins.source if scores.source is None else scores.source
        tile = np.where(source == Source.FLOWERS, np.int8(NO_TILE), wins.winning_tile)
        person_at = table.state.person_at[games]
        table.ended.append(Ended(games, wins.seat, source, wins.from_seat, tile, scores, person_at))
    table.won.clear()
    drawn, nobody = table.drawn_hands.take()
    if drawn.size:
        no_tile = np.full(len(drawn), NO_TILE, np.int8)
        table.ended.append(Ended(drawn, nobody, no_tile, nobody, no_tile, None, table.state.person_at[drawn]))


def describe(table: Table, won: Won) -> Wins:
    """The wins that were said, as scoring wants them."""
    seats = table.state.seats(won.games, won.seat)
    if won.opening:
        return table.rules.take_opening(table.state, seats, table.state.stage[won.games])
    return wins_from_state(table.state, seats, won.tile, won.source, won.from_seat)


def next_hands(table: Table, games: Games, winner: Int8Array, num_hands: int) -> tuple[BoolArray, BoolArray]:
    """End these hands: close matches that are over, and seat everybody for the next hand of the others.

    Args:
        table: the batch.
        games: [n] games whose hand ended.
        winner: [n] table seat of the winner, -1 after a draw.
        num_hands: hands of a match.

    Returns:
        [n] matches that are over, and [n] those among them that were cut short (after `CUT_AFTER` hands).
    """
    state, rules = table.state, table.rules
    played = state.hand_in_match[games] + 1
    cut = np.zeros(len(games), np.bool_)
    by_rule = rules.match_over(state, games, winner)
    over = played >= num_hands if rules.ends_by_hands else played >= CUT_AFTER
    if not rules.ends_by_hands:
        cut = over.copy()
    if by_rule is not None:
        over = over | by_rule
        cut &= ~by_rule
    state.phase[games] = Phase.OVER
    state.actor[games] = NO_SEAT
    state.can_win[games] = False
    on, winner_on = games[~over], winner[~over]
    if on.size:
        state.hand_in_match[on] += 1
        rules.succeed(state, on, winner_on)
        rules.rotate(state, on, winner_on)
    return over, cut
