"""The end of a hand: wins and drawn hands become points, and the match ends or goes on to its next hand."""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.phases.context import Ended, StepContext, Won
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.wins import Source, Wins, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, Event, Phase

_NO_GAMES: Final = np.zeros(0, np.intp)
CUT_AFTER: Final = 200
"""The number of hands after which a match that ends by points is cut short."""


def settle(context: StepContext) -> list[Ended]:
    """Pay wins, judge the hands that still have to be judged, and return the hands that ended."""
    state, won = context.state, context.wins
    ended: list[Ended] = []
    if won:
        games = np.concatenate([part.seats.game for part in won])
        wins = Wins.join([describe(context, part) for part in won])
        if context.unjudged:
            asked, hands = _unjudged(context)
            scores, may_win = context.rules.score_and_judge(wins, hands)
            state.can_win[asked] |= may_win
        else:
            scores = context.rules.score(wins)
        context.pay(games, scores.payments)
        source = wins.source if scores.source is None else scores.source
        tile = np.where(source == Source.FLOWERS, np.int8(NO_TILE), wins.winning_tile)
        event = np.where(wins.from_seat == NO_SEAT, Event.WIN, Event.WIN_FROM)
        state.note(games, wins.seat, event, tile)
        ended.append(Ended(games, wins.seat, source, wins.from_seat, tile, scores, state.person_at[games]))
    elif context.unjudged:
        asked, hands = _unjudged(context)
        state.can_win[asked] |= context.rules.legal(hands)
    without_winner = np.concatenate([_NO_GAMES, *context.drawn])
    if without_winner.size:
        nobody = np.full(len(without_winner), NO_SEAT, np.int8)
        no_tile = np.full(len(without_winner), NO_TILE, np.int8)
        person_at = state.person_at[without_winner]
        state.note(without_winner, 0, Event.DRAWN_HAND, NO_TILE)
        ended.append(Ended(without_winner, nobody, nobody, nobody, no_tile, None, person_at))
    return ended


def _unjudged(context: StepContext) -> tuple[Games, Wins]:
    games, hands = zip(*context.unjudged, strict=True)
    return np.concatenate(games), Wins.join(list(hands))


def describe(context: StepContext, won: Won) -> Wins:
    """Describe declared wins for scoring."""
    state, seats = context.state, won.seats
    if won.opening:
        wins = context.rules.take_opening(state, seats, state.stage[seats.game])
    else:
        wins = wins_from_state(context.rules, state, seats, won.tile, won.source, won.from_seat)
    if context.rules.turned_up_after_win:
        wins.turned_up = state.next_tiles(seats.game, context.rules.turned_up_after_win)
    return wins


def most_actions(rules: Rules) -> int:
    """Return an upper bound on the number of actions in a hand.

    Every discard follows a tile of the wall or a claim. A seat claims at most as many tiles as it lays down sets. Each
    other seat answers once to a discard, to a tile added to a pung, and to each question before the first turn.
    """
    melds = rules.seats * (rules.hand_size // 3)
    discards = int(rules.deck.sum()) - rules.seats * rules.hand_size + melds
    return (discards + melds) * rules.seats + rules.opening_stages * rules.seats


def most_hands(rules: Rules, num_hands: int) -> int:
    """Return the most hands that a match can have."""
    return num_hands if rules.ends_by_hands else CUT_AFTER


def next_hands(context: StepContext, games: Games, winner: Int8Array, num_hands: int) -> tuple[BoolArray, BoolArray]:
    """End these hands: close the matches that are over, and prepare the others for their next hand.

    Args:
        context: the batch.
        games: [n] games whose hand ended.
        winner: [n] the table seat of the winner, -1 after a drawn hand.
        num_hands: the number of hands of a match.

    Returns:
        [n] whether the match is over, and [n] whether it was cut short (after `CUT_AFTER` hands).
    """
    state, rules = context.state, context.rules
    played = state.hand_in_match[games] + 1
    cut = np.zeros(len(games), np.bool_)
    by_rule = rules.match_over(state, games, winner)
    over = played >= most_hands(rules, num_hands)
    if not rules.ends_by_hands:
        cut = over.copy()
    if by_rule is not None:
        over = over | by_rule
        cut &= ~by_rule
    state.phase[games] = Phase.OVER
    state.actor[games] = NO_SEAT
    state.can_win[games] = False
    state.mask[games] = False
    on, winner_on = games[~over], winner[~over]
    if on.size:
        state.hand_in_match[on] += 1
        rules.succeed(state, on, winner_on)
        rules.rotate(state, on, winner_on)
    return over, cut
