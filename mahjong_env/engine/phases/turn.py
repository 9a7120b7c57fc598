"""The seat that has drawn or claimed a tile: it discards, declares a kong, or wins."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.phases import claims, kongs
from mahjong_env.engine.phases.draw import update_tenpai
from mahjong_env.engine.phases.table import Table, Won
from mahjong_env.scoring.wins import Source
from mahjong_env.state.arrays import DISCARDED, LATEST, MAX_DISCARDS, NO_SEAT


def play(table: Table, games: Games, actions: Int64Array) -> None:
    """Carry out the actions of seats in their turn."""
    if not games.size:
        return
    state = table.state
    discards = actions < CONCEALED_KONG
    if np.count_nonzero(discards) == len(games):
        discard(table, games, actions)
        return
    discard(table, games[discards], actions[discards])
    concealed = (actions >= CONCEALED_KONG) & (actions < ADDED_KONG)
    if concealed.any():
        concealed_kong(table, games[concealed], actions[concealed] - CONCEALED_KONG)
    added = (actions >= ADDED_KONG) & (actions < CHOW_LOW)
    if added.any():
        added_kong(table, games[added], actions[added] - ADDED_KONG)
    wins = actions == WIN
    if wins.any():
        g = games[wins]
        table.won.append(Won(g, state.actor[g], Source.DRAW, state.drawn[g], np.full(len(g), NO_SEAT, np.int8)))


def discard(table: Table, games: Games, kind: Int64Array) -> None:
    """Discard one tile a game, and ask who wants it."""
    if not games.size:
        return
    state, flat = table.state, table.state.flat
    seat = state.actor[games].astype(np.intp)
    chair = state.chairs(games, seat)
    seats = state.seats(games, seat)
    state.remove_tiles(seats, kind)
    number = state.num_discards[games] + np.int8(1)
    state.num_discards[games] = number
    flat.public[state.places.public(chair, DISCARDED, kind)] += 1
    flat.public[state.places.public(chair, LATEST, kind)] = number
    place = flat.river_size[chair]
    flat.river[chair * MAX_DISCARDS + place] = kind + 1
    flat.river_size[chair] = place + np.int8(1)
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    update_tenpai(table, games, chair)
    table.rules.on_discard(state, seats, kind)
    claims.offer_discard(table, games, seat, kind)


def concealed_kong(table: Table, games: Games, kind: Int64Array) -> None:
    """Lay down four tiles of the hand."""
    state = table.state
    seat = state.actor[games]
    seats = state.seats(games, seat)
    state.remove_tiles(seats, kind, 4)
    state.lay_meld(seats, MeldType.CONCEALED_KONG, kind, shown=not table.rules.hides_concealed_kongs)
    kongs.stand(table, games, seat, MeldType.CONCEALED_KONG, NO_SEAT)


def added_kong(table: Table, games: Games, kind: Int64Array) -> None:
    """Add a tile of the hand to an open pung, unless somebody wins with it."""
    state = table.state
    seat = state.actor[games]
    state.remove_tiles(state.seats(games, seat), kind)
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    claims.offer_added_tile(table, games, seat, kind)
