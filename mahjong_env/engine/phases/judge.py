"""Tests of hands: whether they are one tile away, complete, or allowed to win with the tile just drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.basics.types import BoolArray
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.scoring.wins import Source, wins_from_state
from mahjong_env.state.seats import Seats

# Kept as arrays: numpy would convert a plain number in every call.
_ZERO, _ONE = np.array(0, np.int8), np.array(1, np.int8)


def update_tenpai(context: StepContext, seats: Seats) -> None:
    """Set the flag "one tile away" of seats that are between turns."""
    state, rules = context.state, context.rules
    wilds = state.wilds_held(seats) if rules.has_wild else _ZERO
    short = rules.tiles_short(seats.of(state.code), wilds, seats.of(state.num_melds))
    seats.put(state.is_tenpai, short <= wilds + _ONE)


def is_complete(context: StepContext, seats: Seats, tile: Any = None) -> BoolArray:
    """Return [n] whether the concealed tiles, with one more ``tile`` [n] if given, are a complete hand."""
    state, rules = context.state, context.rules
    codes = seats.of(state.code) if tile is None else state.codes_with(seats, tile)
    wilds = state.wilds_held(seats) if rules.has_wild else _ZERO
    if tile is not None and rules.has_wild:
        wilds = wilds + (tile == state.wild[seats.game])
    return rules.tiles_short(codes, wilds, seats.of(state.num_melds)) <= wilds


def judge_turn(context: StepContext, seats: Seats, *, unflagged: bool = False, may_wait: bool = False) -> None:
    """Set whether seats that have drawn may win.

    Only the hands of seats that were one tile away are looked up, and only complete hands are judged exactly.

    Args:
        context: the batch.
        seats: [n] the seats.
        unflagged: whether to look at all of them; the dealer's first hand has no flag "one tile away".
        may_wait: whether hands may be left to `StepContext.unjudged`, as in a step before wins are paid.
    """
    state, rules = context.state, context.rules
    state.can_win[seats.game] = False
    hopeful = np.arange(len(seats)) if unflagged else seats.of(state.is_tenpai).nonzero()[0]
    if hopeful.size:
        complete = hopeful[is_complete(context, seats.take(hopeful))]
        if complete.size:
            winners = seats.take(complete)
            wins = wins_from_state(rules, state, winners, state.drawn[winners.game], Source.DRAW, -1)
            if may_wait and rules.judges_by_score:
                context.unjudged.append((winners.game, wins))
            else:
                state.can_win[winners.game] = rules.legal(wins)
    at_once = rules.may_win_at_once(state, seats)
    if at_once is not None:
        state.can_win[seats.game] |= at_once
