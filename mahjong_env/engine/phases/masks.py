"""What the seat to act may do."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, PASS, WIN
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.phases.table import Table
from mahjong_env.state.arrays import Phase

# The last seven columns of the mask for each of the 64 combinations of option bits: the claims named, and pass.
_CLAIM_COLUMNS = np.array([[*((options >> bit) & 1 for bit in range(6)), 1] for options in range(64)], np.bool_)


def write_masks(table: Table, games: Games) -> None:
    """Set the action masks of these games."""
    state = table.state
    phase = state.phase[games]
    if len(games) == len(state.mask):
        state.mask[...] = False
    else:
        state.mask[games] = False
    in_turn = phase == Phase.TURN
    if np.count_nonzero(in_turn) == len(games):
        _write_turns(table, games)
    else:
        _write_turns(table, games[in_turn])
        _write_questions(table, games[~in_turn], phase[~in_turn])


def _write_questions(table: Table, games: Games, phase: Int8Array) -> None:
    state = table.state
    asked = games[(phase == Phase.CLAIM) | (phase == Phase.ROB) | (phase == Phase.OPENING)]
    if asked.size:
        state.mask[asked, CHOW_LOW:] = _CLAIM_COLUMNS[state.options[asked, state.actor[asked]]]
    stranded = games[phase == Phase.STRANDED]
    if stranded.size:
        state.mask[stranded, WIN] = True
        state.mask[stranded, PASS] = True


def _write_turns(table: Table, games: Games) -> None:
    if not games.size:
        return
    state, rules = table.state, table.rules
    seat = state.actor[games]
    chair = state.chairs(games, seat)
    held = state.by_chair.hand.take(chair, axis=0)
    holds = held > 0
    state.mask[games, :NUM_KINDS] = holds
    state.mask[games, WIN] = state.can_win[games]

    adds = state.by_chair.open_pung.take(chair, axis=0)
    adds &= holds
    # Kongs are rare: their rows are looked for once, in all tiles at a time.
    row = ((held == 4) | adds).reshape(-1).nonzero()[0] // NUM_KINDS
    if row.size:
        row = row[_may_kong(table, games[row])]
        g = games[row]
        state.mask[g, CONCEALED_KONG:ADDED_KONG] = rules.concealed_kong_kinds(state, g, held[row])
        state.mask[g, ADDED_KONG:CHOW_LOW] = adds[row]
    rules.limit_turn(state, state.seats(games, seat))


def _may_kong(table: Table, games: Games) -> BoolArray:
    """[n] whether kongs of one's own are possible: after a draw, if a replacement can be drawn.

    common.md#when-a-kong-may-be-declared.
    """
    return (table.state.drawn[games] >= 0) & (table.state.left(games) > 0)
