"""The start of a turn: a tile from the front of the wall, or a replacement from its back; flowers are laid open."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.basics.actions import WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int8Array, Int64Array
from mahjong_env.engine.phases.context import Kongs, StepContext, Won
from mahjong_env.engine.phases.judge import judge_turn, update_tenpai
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import NO_SEAT, Phase
from mahjong_env.state.seats import Seats

# Kept as arrays: numpy would convert a plain number in every call.
_ZERO, _ONE = np.array(0, np.int16), np.array(1, np.int8)


def begin_turns(context: StepContext) -> None:
    """Begin the turns after discards that nobody claims: the next seats draw a tile, if one is left."""
    seats = Seats.join(context.unclaimed)
    if seats is None:
        return
    state, games = context.state, seats.game
    seats = state.next_seats(seats)
    left = state.left_before_draw[games] = state.left(games)
    if state.has_private_walls:
        left = state.left_to_next(games)
    is_last = (left <= _ZERO) | state.closing[games]
    if np.count_nonzero(is_last):
        context.drawn.append(games[is_last])
        seats = seats.take(~is_last)
        if not len(seats):
            return
    state.begin_turn(seats)
    _receive(context, seats, state.take_front(seats).astype(np.intp))


def replace_kongs(context: StepContext) -> None:
    """Add tiles to their pungs; then pay all kongs that stand, and draw their replacement tiles."""
    state, made = context.state, context.kongs
    for joining, kind in context.joining:
        if len(joining):
            made.append(Kongs(joining, MeldType.ADDED_KONG, state.add_to_pung(joining, kind)))
    if not made:
        return
    for kong in made:
        _pay_kong(context, kong)
    seats = Seats.join([kong.seats for kong in made])
    assert seats is not None
    state.turn[seats.game] = seats.seat
    state.flower_draw[seats.game] = False
    state.left_before_draw[seats.game] = state.left(seats.game)
    _receive(context, seats, state.take_back(seats))
    for kong in made:
        context.rules.after_kong(state, kong.seats, kong.meld_type)


def _pay_kong(context: StepContext, made: Kongs) -> None:
    state, (seats, meld_type, from_seat) = context.state, made
    games = seats.game
    state.undisturbed[games] = False
    state.kong_draws[games] += 1
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    amounts = context.rules.kong_payments(state, seats, meld_type, from_seat)
    if amounts is not None:
        context.pay(games, amounts)
    update_tenpai(context, seats)


def _receive(context: StepContext, seats: Seats, tile: Games | Int8Array) -> None:
    """Put the drawn tiles into the hands, after replacing flowers."""
    if context.rules.uses_flowers:
        seats, tile = _replace_flowers(context, seats, tile)
        if not len(seats):
            return
    state = context.state
    state.drawn[seats.game] = tile
    state.add_tile(seats, tile)
    state.wait_for(seats, Phase.TURN)
    judge_turn(context, seats, may_wait=True)


def _replace_flowers(context: StepContext, seats: Seats, tile: Any) -> tuple[Seats, Any]:
    """Lay flowers open and draw again until no flower is drawn; leave out games that run out of tiles.

    The seats that remain are returned with the tiles that they keep. See common.md#a-flower-that-cannot-be-replaced.
    """
    state = context.state
    places = context.is_flower[tile].nonzero()[0]
    if not places.size:
        return seats, tile
    stranded: list[Games] = []
    drawers, kind = seats.take(places), tile[places]
    laid_open: list[tuple[Seats, Any]] = []
    left = state.left(drawers.game)
    state.fresh_flowers[drawers.game] = 0
    state.marks_before_flowers[drawers.game] = drawers.of(state.marks)
    state.flower_draw[drawers.game] = True
    while True:
        laid_open.append((drawers, kind))
        state.expose_flower(drawers, kind)
        state.fresh_flowers[drawers.game, kind] += _ONE
        context.rules.on_flower(state, drawers)
        out = left <= _ZERO
        if np.count_nonzero(out):
            stranded.append(places[out])
            _strand(context, drawers.take(out))
            drawers, places, left = drawers.take(~out), places[~out], left[~out]
        drawn = state.take_back(drawers)
        tile[places] = drawn
        again = context.is_flower[drawn].nonzero()[0]
        if not again.size:
            break
        drawers, places, kind, left = drawers.take(again), places[again], drawn[again], left[again] - _ONE
    state.note_flowers(laid_open)
    if stranded:
        stays = np.ones(len(seats), np.bool_)
        stays[np.concatenate(stranded)] = False
        return seats.take(stays), tile[stays]
    return seats, tile


def _strand(context: StepContext, seats: Seats) -> None:
    """Let a seat whose flower cannot be replaced win if its flowers allow it; otherwise the hand is drawn."""
    state = context.state
    state.drawn[seats.game] = NO_TILE
    may_win = context.rules.may_win_at_once(state, seats)
    if may_win is None:
        may_win = np.zeros(len(seats), np.bool_)
    state.can_win[seats.game] = may_win
    state.wait_for(seats.take(may_win), Phase.STRANDED)
    context.drawn.append(seats.game[~may_win])


def take_stranded(context: StepContext, games: Games, actions: Int64Array) -> None:
    """Take the answers of seats that drew a flower which cannot be replaced, and that were asked whether they win."""
    if not games.size:
        return
    state, wins = context.state, actions == WIN
    winners = state.seats_to_act(games[wins])
    if len(winners):
        context.wins.append(Won(winners, Source.DRAW, state.drawn[winners.game], NO_SEAT))
    context.drawn.append(games[~wins])
