"""A turn begins: a tile from the front of the wall, or a replacement from its back; flowers are laid open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mahjong_env.basics.actions import WIN
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int8Array, Int64Array
from mahjong_env.engine.phases import kongs
from mahjong_env.engine.phases.context import Kongs, StepContext, Won
from mahjong_env.engine.phases.judge import judge_turn
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import NO_SEAT, Phase
from mahjong_env.state.seats import Seats

# Arrays, as numpy turns plain numbers into arrays in every call.
_ZERO, _ONE = np.array(0, np.int16), np.array(1, np.int8)


def begin_turns(context: StepContext, seats: Seats | None) -> list[Games]:
    """The seats after these draw a tile; the games in which there is none left come back."""
    if seats is None:
        return []
    state, games = context.state, seats.game
    seats = state.next_seats(seats)
    ended: list[Games] = []
    left = state.left_before_draw[games] = state.left(games)
    if state.has_private_walls:
        left = state.left_to_next(games)
    is_last = (left <= _ZERO) | state.closing[games]
    if np.count_nonzero(is_last):
        ended.append(games[is_last])
        seats = seats.take(~is_last)
        if not len(seats):
            return ended
    state.begin_turn(seats)
    return ended + _receive(context, seats, state.take_front(seats).astype(np.intp))


def replace_kongs(context: StepContext, made: Sequence[Kongs]) -> list[Games]:
    """Pay kongs that stand and draw their replacements; the games in which a flower then ends the hand come back."""
    if not made:
        return []
    for kong in made:
        kongs.pay(context, kong)
    seats = Seats.join([kong.seats for kong in made])
    if seats is None:
        return []
    state = context.state
    state.turn[seats.game] = seats.seat
    state.flower_draw[seats.game] = False
    state.left_before_draw[seats.game] = state.left(seats.game)
    ended = _receive(context, seats, state.take_back(seats))
    for kong in made:
        context.rules.after_kong(state, kong.seats, kong.meld_type)
    return ended


def _receive(context: StepContext, seats: Seats, tile: Games | Int8Array) -> list[Games]:
    """Put the drawn tiles into the hands; the games in which a flower ends the hand come back."""
    ended: list[Games] = []
    if context.rules.uses_flowers:
        seats, tile, ended = _replace_flowers(context, seats, tile)
        if not len(seats):
            return ended
    state = context.state
    state.drawn[seats.game] = tile
    state.add_tile(seats, tile)
    state.wait_for(seats, Phase.TURN)
    judge_turn(context, seats, may_wait=True)
    return ended


def _replace_flowers(context: StepContext, seats: Seats, tile: Any) -> tuple[Seats, Any, list[Games]]:
    """Lay flowers open and draw for them until none is drawn; games that run out of tiles leave.

    common.md#a-flower-that-cannot-be-replaced.
    """
    state = context.state
    places = context.is_flower[tile].nonzero()[0]
    if not places.size:
        return seats, tile, []
    stranded: list[Games] = []
    ended: list[Games] = []
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
            ended += _strand(context, drawers.take(out))
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
        return seats.take(stays), tile[stays], ended
    return seats, tile, ended


def _strand(context: StepContext, seats: Seats) -> list[Games]:
    """A flower that cannot be replaced: the seat may win if its flowers allow it, else the hand is drawn."""
    state = context.state
    state.drawn[seats.game] = NO_TILE
    may_win = context.rules.may_win_at_once(state, seats)
    if may_win is None:
        may_win = np.zeros(len(seats), np.bool_)
    state.can_win[seats.game] = may_win
    state.wait_for(seats.take(may_win), Phase.STRANDED)
    return [seats.game[~may_win]]


class StrandedAnswers(NamedTuple):
    """The answers of seats that were stranded."""

    wins: tuple[Won, ...] = ()
    passed: tuple[Games, ...] = ()
    """Games in which the seat passed, and the hand is drawn."""


NOBODY_STRANDED: Final = StrandedAnswers()


def take_stranded(context: StepContext, games: Games, actions: Int64Array) -> StrandedAnswers:
    """Take the answers of seats that drew a flower without a replacement, and might win all the same."""
    if not games.size:
        return NOBODY_STRANDED
    state, wins = context.state, actions == WIN
    winners = state.seats_to_act(games[wins])
    won = Won(winners, Source.DRAW, state.drawn[winners.game], NO_SEAT)
    return StrandedAnswers((won,) if len(winners) else (), (games[~wins],))
