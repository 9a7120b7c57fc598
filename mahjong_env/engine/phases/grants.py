"""A claim that nobody outranks is granted: the tile is taken off the table, and the claimer goes on."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import CHOW_LOW, KONG, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.engine.phases import kongs
from mahjong_env.engine.phases.table import Table, Won
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import NO_SEAT, Phase

# By where the claimed tile stands in a run: how far above the lowest tile the two others are.
_OTHERS_OF_RUN = np.array([[1, 2], [0, 2], [0, 1]], np.int8)


def grant(table: Table, games: Games) -> None:
    """Carry out the best answers of these games."""
    if not games.size:
        return
    state = table.state
    action = state.best_action[games]
    chows = action < PUNG
    _take_chow(table, games[chows], action[chows] - np.int8(CHOW_LOW))
    _take_pung(table, games[action == PUNG])
    _take_kong(table, games[action == KONG])
    _take_win(table, games[action == WIN])


def _take_win(table: Table, games: Games) -> None:
    state = table.state
    phase = state.phase[games]
    for asked_in, source in (
        (Phase.CLAIM, Source.DISCARD),
        (Phase.ROB, Source.ROBBED_KONG),
        (Phase.OPENING, Source.DRAW),
    ):
        g = games[phase == asked_in]
        if g.size:
            is_opening = asked_in == Phase.OPENING
            giver = np.full(len(g), NO_SEAT, np.int8) if is_opening else state.offered_by[g]
            table.won.append(Won(g, state.best_seat[g], source, state.offered[g], giver, is_opening))


def _lift_discard(table: Table, games: Games) -> tuple[Int8Array, Int8Array, Int8Array]:
    """Take the claimed tile off the table: [n] claimer, kind, giver."""
    state = table.state
    seat, kind, giver = state.best_seat[games], state.offered[games], state.offered_by[games]
    state.take_discard(state.seats(games, giver), kind, seat)
    table.close_question(games)
    return seat, kind, giver


def _begin_claimed_turn(table: Table, games: Games, seat: Int8Array) -> None:
    """The claimer goes on without a draw: he discards, and may neither win nor declare a kong.

    common.md#when-a-kong-may-be-declared.
    """
    state = table.state
    state.turn[games] = seat
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    state.kong_draws[games] = 0
    state.flower_draw[games] = False
    table.wait_for(games, seat, Phase.TURN)


def _take_chow(table: Table, games: Games, place: Int8Array) -> None:
    """``place``: [n] where the claimed tile stands in the run, 0 to 2."""
    if not games.size:
        return
    state = table.state
    seat, kind, giver = _lift_discard(table, games)
    seats, low = state.seats(games, seat), kind - place
    for other in _OTHERS_OF_RUN.T:
        state.remove_tiles(seats, low + other[place])
    state.lay_meld(seats, MeldType.CHOW, low, giver, kind)
    _begin_claimed_turn(table, games, seat)


def _take_pung(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    seat, kind, giver = _lift_discard(table, games)
    seats = state.seats(games, seat)
    state.remove_tiles(seats, kind, 2)
    state.lay_meld(seats, MeldType.PUNG, kind, giver, kind)
    _begin_claimed_turn(table, games, seat)


def _take_kong(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    seat, kind, giver = _lift_discard(table, games)
    state.kong_draws[games] = 0
    adds = state.open_pung[games, seat, kind]
    g = games[adds]
    if g.size:
        kongs.complete_added(table, g, seat[adds], kind[adds])
    g, seat, kind, giver = games[~adds], seat[~adds], kind[~adds], giver[~adds]
    if g.size:
        seats = state.seats(g, seat)
        state.remove_tiles(seats, kind, 3)
        state.lay_meld(seats, MeldType.EXPOSED_KONG, kind, giver, kind)
        kongs.stand(table, g, seat, MeldType.EXPOSED_KONG, giver)
