"""The best claim is granted: the tile is taken off the table, and the claimer goes on."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import CHOW_LOW, CHOW_STEPS, KONG, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.engine.phases.context import Kongs, Offer, StepContext, Won
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import NO_SEAT, Phase
from mahjong_env.state.seats import Seats

_PUNG, _KONG, _WIN = (np.array(action, np.int8) for action in (PUNG, KONG, WIN))
_CHOW_STEPS = np.array(CHOW_STEPS, np.int8)


def grant(context: StepContext, games: Games) -> None:
    """Carry out the best answers of these games."""
    if not games.size:
        return
    action = context.state.best_action[games]
    for take, is_it in (
        (_take_chow, action < _PUNG),
        (_take_pung, action == _PUNG),
        (_take_kong, action == _KONG),
        (_take_win, action == _WIN),
    ):
        which = is_it.nonzero()[0]
        if which.size:
            take(context, games.take(which))


def _take_win(context: StepContext, games: Games) -> None:
    state, phase = context.state, context.state.phase[games]
    for asked_in, source in (
        (Phase.CLAIM, Source.DISCARD),
        (Phase.ROB, Source.ROBBED_KONG),
        (Phase.OPENING, Source.DRAW),
    ):
        g = games.take((phase == asked_in).nonzero()[0])
        if g.size:
            is_opening = asked_in == Phase.OPENING
            giver = NO_SEAT if is_opening else state.offered_by[g]
            context.wins.append(Won(state.seats(g, state.best_seat[g]), source, state.offered[g], giver, is_opening))


def _take_tile(context: StepContext, games: Games) -> tuple[Seats, Int8Array, Int8Array]:
    """Take the claimed tile out of the river; return the claimers, [n] its kind and [n] who discarded it."""
    state = context.state
    kind, giver = state.offered[games], state.offered_by[games]
    state.take_discard(state.seats(games, giver), kind, state.best_seat[games])
    context.close_question(games)
    return state.seats(games, state.best_seat[games]), kind, giver


def _begin_claimed_turn(context: StepContext, seats: Seats) -> None:
    """Begin a turn without a draw: the claimer discards, and may neither win nor declare a kong.

    See common.md#when-a-kong-may-be-declared.
    """
    state, games = context.state, seats.game
    state.turn[games] = seats.seat
    state.left_before_draw[games] = state.left(games)
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    state.kong_draws[games] = 0
    state.flower_draw[games] = False
    state.wait_for(seats, Phase.TURN)


def _take_chow(context: StepContext, games: Games) -> None:
    state = context.state
    place = state.best_action[games] - np.int8(CHOW_LOW)  # where the claimed tile stands in the run
    seats, kind, giver = _take_tile(context, games)
    for step in _CHOW_STEPS.T:
        state.remove_tiles(seats, kind + step[place])
    state.lay_meld(seats, MeldType.CHOW, kind - place, giver, kind)
    _begin_claimed_turn(context, seats)


def _take_pung(context: StepContext, games: Games) -> None:
    state = context.state
    seats, kind, giver = _take_tile(context, games)
    state.remove_tiles(seats, kind, 2)
    state.lay_meld(seats, MeldType.PUNG, kind, giver, kind)
    _begin_claimed_turn(context, seats)


def _take_kong(context: StepContext, games: Games) -> None:
    """Make a kong of the tile and three tiles of the hand, or add the tile to an open pung."""
    state = context.state
    seats, kind, giver = _take_tile(context, games)
    state.kong_draws[games] = 0
    adds = state.has_open_pung(seats, kind)
    if adds.any():
        context.joining.append(Offer(seats.take(adds), kind[adds]))
    if adds.all():
        return
    seats, kind, giver = seats.take(~adds), kind[~adds], giver[~adds]
    state.remove_tiles(seats, kind, 3)
    state.lay_meld(seats, MeldType.EXPOSED_KONG, kind, giver, kind)
    context.kongs.append(Kongs(seats, MeldType.EXPOSED_KONG, giver))
