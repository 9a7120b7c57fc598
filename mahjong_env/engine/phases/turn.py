"""The action of the seat in turn, which has drawn or claimed a tile: it discards, declares a kong, or wins."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.phases.context import Kongs, Offer, StepContext, Won
from mahjong_env.engine.phases.judge import update_tenpai
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import NO_SEAT, Event
from mahjong_env.state.seats import Seats

_NO_DISCARD = np.array(CONCEALED_KONG)  # kept as an array: numpy would convert a plain number in every call


def act(context: StepContext, games: Games, actions: Int64Array) -> tuple[Offer | None, Offer | None]:
    """Carry out the actions of seats in their turn; return their discards, and the tiles that they add to pungs."""
    if not games.size:
        return None, None
    seats = context.state.seats_to_act(games)
    is_discard = actions < _NO_DISCARD
    discards = is_discard.nonzero()[0]
    if discards.size == len(games):
        return _discard(context, seats, actions), None
    others = (~is_discard).nonzero()[0]
    other = actions.take(others)
    added = others[(other >= ADDED_KONG) & (other < CHOW_LOW)]
    concealed = others[other < ADDED_KONG]
    wins = others[other == WIN]
    _conceal(context, seats.take(concealed), actions.take(concealed) - CONCEALED_KONG)
    if wins.size:
        winners = seats.take(wins)
        context.wins.append(Won(winners, Source.DRAW, context.state.drawn[winners.game], NO_SEAT))
    return (
        _discard(context, seats.take(discards), actions.take(discards)),
        _add(context, seats.take(added), actions.take(added) - ADDED_KONG),
    )


def _discard(context: StepContext, seats: Seats, kind: Int64Array) -> Offer | None:
    if not len(seats):
        return None
    state = context.state
    state.discard(seats, kind)
    state.can_win[seats.game] = False
    update_tenpai(context, seats)
    context.rules.on_discard(state, seats, kind)
    return Offer(seats, kind)


def _conceal(context: StepContext, seats: Seats, kind: Int64Array) -> None:
    if not len(seats):
        return
    state = context.state
    state.remove_tiles(seats, kind, 4)
    state.lay_meld(seats, MeldType.CONCEALED_KONG, kind, shown=not context.rules.hides_concealed_kongs)
    context.kongs.append(Kongs(seats, MeldType.CONCEALED_KONG, NO_SEAT))


def _add(context: StepContext, seats: Seats, kind: Int64Array) -> Offer | None:
    """Take the tile out of the hand; it joins the pung later, unless somebody wins with it."""
    if not len(seats):
        return None
    state = context.state
    state.note(seats.game, seats.seat, Event.ADDED_KONG, state.pungs_of(seats, kind))
    state.remove_tiles(seats, kind)
    state.drawn[seats.game] = NO_TILE
    state.can_win[seats.game] = False
    update_tenpai(context, seats)  # `Engine.hidden` may be called while others are asked whether they rob it
    return Offer(seats, kind)
