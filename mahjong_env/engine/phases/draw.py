"""A turn begins: a tile from the front of the wall, or a replacement from its back; flowers are laid open."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.phases.table import Table
from mahjong_env.hands import SUIT, suit_summaries
from mahjong_env.scoring.wins import Source, wins_from_state
from mahjong_env.state.arrays import Phase
from mahjong_env.state.places import code_steps


def begin_turns(table: Table) -> None:
    """Draw for every game queued in `Table.next_turns`; a hand without drawable tiles is drawn."""
    games, seat = table.next_turns.take()
    if not games.size:
        return
    state = table.state
    left = state.left(games)
    state.left_before_draw[games] = left
    has_tiles = (left > 0) & ~state.closing[games]
    if np.count_nonzero(has_tiles) < len(games):
        table.end_without_winner(games[~has_tiles])
        games, seat = games[has_tiles], seat[has_tiles]
        if not games.size:
            return
    state.turn[games] = seat
    state.flat.turns[state.chairs(games, seat)] += 1
    state.kong_draws[games] = 0
    state.flower_draw[games] = False
    place = state.front[games]
    tile = state.flat.wall[state.places.wall(games, place)]
    state.front[games] = place + np.int16(1)
    _receive(table, games, seat, tile.astype(np.intp))


def draw_replacements(table: Table) -> None:
    """Draw a replacement for every game queued in `Table.replacements` (a kong that stands)."""
    games, seat = table.replacements.take()
    if not games.size:
        return
    state = table.state
    state.turn[games] = seat
    state.flower_draw[games] = False
    state.left_before_draw[games] = state.left(games)
    _receive(table, games, seat, take_back(table, games))
    for konged, konger, meld_type in table.konged:
        table.rules.after_kong(state, state.seats(konged, konger), meld_type)
    table.konged.clear()


def take_back(table: Table, games: Games) -> Int8Array:
    """[n] the last tiles of the walls, taken away; there must be a drawable one."""
    state = table.state
    taken = state.back[games] + np.int16(1)
    state.back[games] = taken
    return state.flat.wall[state.places.wall(games, state.wall_size - taken)]


def _receive(table: Table, games: Games, seat: Any, tile: Games | Int8Array) -> None:
    state = table.state
    if table.rules.uses_flowers:
        games, seat, tile = _replace_flowers(table, games, seat, tile)
        if not games.size:
            return
    state.drawn[games] = tile
    seats = state.seats(games, seat)
    chair = seats.index
    state.add_tile(seats, tile)
    table.wait_for(games, seat, Phase.TURN)
    judge_turn(table, games, seat, chair)


def _replace_flowers(
    table: Table, games: Games, seat: Any, tile: Games | Int8Array
) -> tuple[Games, Any, Games | Int8Array]:
    """Lay flowers open and draw for them until none is drawn; games that run out of tiles leave.

    common.md#a-flower-that-cannot-be-replaced.
    """
    state, rules = table.state, table.rules
    places = table.is_flower[tile].nonzero()[0]
    stranded: list[Games] = []
    if places.size:
        state.fresh_flowers[games[places]] = 0
    while places.size:
        g, s = games[places], seat[places]
        state.flat.flowers[state.chairs(g, s) * NUM_ALL_KINDS + tile[places]] += 1
        state.fresh_flowers[g, tile[places]] += 1
        state.flower_draw[g] = True
        rules.on_flower(state, state.seats(g, s))
        out = state.left(g) <= 0
        if out.any():
            stranded.append(places[out])
            _strand(table, g[out], s[out])
            places = places[~out]
        drawn = take_back(table, games[places])
        tile[places] = drawn
        places = places[table.is_flower[drawn]]
    if stranded:
        stays = np.ones(len(games), np.bool_)
        stays[np.concatenate(stranded)] = False
        return games[stays], seat[stays], tile[stays]
    return games, seat, tile


def _strand(table: Table, games: Games, seat: Int8Array) -> None:
    """A flower that cannot be replaced: the seat may win if its flowers allow it, else the hand is drawn."""
    state = table.state
    state.drawn[games] = NO_TILE
    may_win = table.rules.may_win_at_once(state, state.seats(games, seat))
    if may_win is None:
        may_win = np.zeros(len(games), np.bool_)
    state.can_win[games] = may_win
    table.wait_for(games[may_win], seat[may_win], Phase.STRANDED)
    table.end_without_winner(games[~may_win])


def update_tenpai(table: Table, games: Games, chair: Games) -> None:
    """Set the flag "one tile away" of a chair whose seat is between turns."""
    state = table.state
    words = suit_summaries(state.by_chair.code.take(chair, axis=0))
    wilds = state.wilds_held(state.seats_by_index(games, chair)) if table.rules.has_wild else 0
    state.flat.is_tenpai[chair] = table.rules.tiles_short(words, wilds, state.flat.num_melds[chair]) <= wilds + 1


def is_complete(table: Table, games: Games, chair: Games, tile: Any = None) -> BoolArray:
    """[n] whether a chair's concealed tiles, with one more where given, are a complete hand."""
    state, rules = table.state, table.rules
    codes = state.by_chair.code.take(chair, axis=0)
    wilds = state.wilds_held(state.seats_by_index(games, chair)) if rules.has_wild else 0
    if tile is not None:
        wild = state.wild[games]
        codes[np.arange(len(games)), SUIT[tile]] += code_steps(wild, tile, 1)
        if rules.has_wild:
            wilds = wilds + (tile == wild)
    return rules.tiles_short(suit_summaries(codes), wilds, state.flat.num_melds[chair]) <= wilds


def judge_turn(table: Table, games: Games, seat: Any, chair: Games, *, unflagged: bool = False) -> None:
    """Set whether a seat that has drawn may win.

    Only seats that were one tile away look their hand up, and only complete hands are judged exactly;
    ``unflagged`` looks at all of them (the dealer's first hand was never "one tile away").
    """
    state = table.state
    state.can_win[games] = False
    hopeful = np.arange(len(games)) if unflagged else state.flat.is_tenpai[chair].nonzero()[0]
    if hopeful.size:
        complete = hopeful[is_complete(table, games[hopeful], chair[hopeful])]
        if complete.size:
            g, s = games[complete], seat[complete]
            wins = wins_from_state(state, state.seats(g, s), state.drawn[g], Source.DRAW, -1)
            state.can_win[g] = table.rules.legal(wins)
    at_once = table.rules.may_win_at_once(state, state.seats(games, seat))
    if at_once is not None:
        state.can_win[games] |= at_once
