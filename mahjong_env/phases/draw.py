"""A turn begins: a tile from the front of the wall, or a replacement from its back; flowers are laid open."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.hands import POWER, SUIT, look_up
from mahjong_env.phases.table import Table
from mahjong_env.scoring import Source, wins_from_state
from mahjong_env.state import Phase
from mahjong_env.tiles import NO_TILE
from mahjong_env.types import BoolArray, Games, Int8Array


def begin_turns(table: Table) -> None:
    """Draw for every game queued in `Table.next_turns`; a hand without drawable tiles is drawn."""
    games, seat = table.next_turns.take()
    if not games.size:
        return
    state = table.state
    has_tiles = (state.left(games) > 0) & ~state.closing[games]
    if not has_tiles.all():
        table.end_without_winner(games[~has_tiles])
        games, seat = games[has_tiles], seat[has_tiles]
        if not games.size:
            return
    state.turn[games] = seat
    state.turns[games, seat] += 1
    state.kong_draws[games] = 0
    state.flower_draw[games] = False
    tile = state.wall[games, state.front[games]]
    state.front[games] += 1
    _receive(table, games, seat, tile)


def draw_replacements(table: Table) -> None:
    """Draw a replacement for every game queued in `Table.replacements` (a kong that stands)."""
    games, seat = table.replacements.take()
    if not games.size:
        return
    state = table.state
    state.turn[games] = seat
    state.flower_draw[games] = False
    _receive(table, games, seat, take_back(table, games))
    for konged, konger, meld_type in table.konged:
        table.rules.after_kong(state, konged, konger, meld_type)
    table.konged.clear()


def take_back(table: Table, games: Games) -> Int8Array:
    """[n] the last tiles of the walls, taken away; there must be a drawable one."""
    state = table.state
    tile = state.wall[games, state.wall.shape[1] - 1 - state.back[games]]
    state.back[games] += 1
    return tile


def _receive(table: Table, games: Games, seat: Any, tile: Int8Array) -> None:
    state = table.state
    if table.rules.uses_flowers:
        games, seat, tile = _replace_flowers(table, games, seat, tile)
        if not games.size:
            return
    state.drawn[games] = tile
    state.add_tiles(games, seat, tile, 1)
    table.wait_for(games, seat, Phase.TURN)
    judge_turn(table, games, seat)


def _replace_flowers(table: Table, games: Games, seat: Any, tile: Int8Array) -> tuple[Games, Any, Int8Array]:
    """Lay flowers open and draw for them until none is drawn; games that run out of tiles leave (rulebook 0.13)."""
    state, rules = table.state, table.rules
    is_flower = rules.flower_kinds
    while (flowered := is_flower[tile]).any():
        g, s = games[flowered], seat[flowered]
        state.flowers[g, s, tile[flowered]] += 1
        state.flower_draw[g] = True
        rules.on_flower(state, g, s)
        stranded = flowered & (state.left(games) <= 0)
        if stranded.any():
            _strand(table, games[stranded], seat[stranded])
            games, seat, tile, flowered = games[~stranded], seat[~stranded], tile[~stranded], flowered[~stranded]
        tile = tile.copy()
        tile[flowered] = take_back(table, games[flowered])
    return games, seat, tile


def _strand(table: Table, games: Games, seat: Int8Array) -> None:
    """A flower that cannot be replaced: the seat may win if its flowers allow it, else the hand is drawn."""
    state = table.state
    state.drawn[games] = NO_TILE
    may_win = table.rules.may_win_at_once(state, games, seat)
    if may_win is None:
        may_win = np.zeros(len(games), np.bool_)
    state.can_win[games] = may_win
    table.wait_for(games[may_win], seat[may_win], Phase.STRANDED)
    table.end_without_winner(games[~may_win])


def update_ready(table: Table, games: Games, seat: Any) -> None:
    """Set the flag "one tile away" of a seat that is between turns."""
    state = table.state
    words = look_up(state.code[games, seat])
    wilds = state.wilds_held(games, seat) if table.rules.has_wild else 0
    state.ready[games, seat] = table.rules.missing(words, wilds, state.num_melds[games, seat]) <= wilds + 1


def is_complete(table: Table, games: Games, seat: Any, tile: Any = None) -> BoolArray:
    """[n] whether a seat's concealed tiles, with one more where given, are a complete hand."""
    state, rules = table.state, table.rules
    codes = state.code[games, seat]
    wilds = state.wilds_held(games, seat) if rules.has_wild else 0
    if tile is not None:
        steps = POWER[tile]
        if rules.has_wild:
            is_wild = tile == state.wild[games]
            steps = np.where(is_wild, 0, steps)
            wilds = wilds + is_wild
        codes[np.arange(len(games)), SUIT[tile]] += steps
    return rules.missing(look_up(codes), wilds, state.num_melds[games, seat]) <= wilds


def judge_turn(table: Table, games: Games, seat: Any, *, unflagged: bool = False) -> None:
    """Set whether a seat that has drawn may win.

    Only seats that were one tile away look their hand up, and only complete hands are judged exactly;
    ``unflagged`` looks at all of them (the dealer's first hand was never "one tile away").
    """
    state = table.state
    state.can_win[games] = False
    hopeful = np.arange(len(games)) if unflagged else np.flatnonzero(state.ready[games, seat])
    if hopeful.size:
        g, s = games[hopeful], seat[hopeful]
        complete = is_complete(table, g, s)
        g, s = g[complete], s[complete]
        if g.size:
            wins = wins_from_state(state, g, s, state.drawn[g], Source.DRAW, -1)
            state.can_win[g] = table.rules.legal(wins)
    at_once = table.rules.may_win_at_once(state, games, seat)
    if at_once is not None:
        state.can_win[games] |= at_once
