"""The action masks of the seats to act."""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, NUM_ACTIONS, PASS, WIN
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.claim_rules import MAY_WIN, OPTION_ACTIONS
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.state.arrays import Phase
from mahjong_env.state.seats import Seats

# Kept as arrays: numpy would convert a plain number in every call.
_TURN, _STRANDED, _OVER = (np.array(phase, np.int8) for phase in (Phase.TURN, Phase.STRANDED, Phase.OVER))
_NONE, _ALL_FOUR = np.array(0, np.int8), np.array(4, np.int8)


MASKS_OF_OPTIONS: Final = np.zeros((64, NUM_ACTIONS), np.bool_)
"""[64, 109] the mask of a seat that is asked, by its option bits: the claims that they name, and pass; none for 0."""
MASKS_OF_OPTIONS[:, OPTION_ACTIONS] = np.arange(64)[:, None] >> np.arange(len(OPTION_ACTIONS)) & 1
MASKS_OF_OPTIONS[1:, PASS] = True


def write_masks(context: StepContext, games: Games) -> None:
    """Set the action masks of these games."""
    phase = context.state.phase[games]
    is_turn = phase == _TURN
    in_turn = is_turn.nonzero()[0]
    if in_turn.size == len(games):
        _write_turns(context, games)
    else:
        asked = (~is_turn).nonzero()[0]
        _write_turns(context, games.take(in_turn))
        _write_questions(context, games.take(asked), phase.take(asked))


def _write_questions(context: StepContext, games: Games, phase: Int8Array) -> None:
    """Set masks outside turns: a seat's options where it is asked, win or pass if it is stranded, nothing if over."""
    state = context.state
    options = np.where(phase == _STRANDED, MAY_WIN, state.seats_to_act(games).of(state.options))
    state.set_masks(games, MASKS_OF_OPTIONS.take(options * (phase != _OVER), axis=0))


def _write_turns(context: StepContext, games: Games) -> None:
    if not games.size:
        return
    state, rules = context.state, context.rules
    seats = state.seats_to_act(games)
    held = seats.of(state.hand)
    holds = held > _NONE
    masks = np.zeros((len(games), NUM_ACTIONS), np.bool_)
    masks[:, :NUM_KINDS] = holds
    masks[:, WIN] = state.can_win[games]

    adds = seats.of(state.open_pung)
    adds &= holds
    # Kongs are rare, so one search over all kinds finds the rows that may have any.
    row = ((held == _ALL_FOUR) | adds).reshape(-1).nonzero()[0]
    if row.size:
        row = row // NUM_KINDS
        row = row[_may_kong(context, seats.take(row))]
        masks[row, CONCEALED_KONG:ADDED_KONG] = rules.concealed_kong_kinds(state, games[row], held[row])
        masks[row, ADDED_KONG:CHOW_LOW] = adds[row]
    state.set_masks(games, masks)
    rules.limit_turn(state, seats)


def _may_kong(context: StepContext, seats: Seats) -> BoolArray:
    """Return [n] whether seats may declare kongs in their turn: after a draw, if a replacement can be drawn.

    See common.md#when-a-kong-may-be-declared.
    """
    state, games = context.state, seats.game
    may_kong = (state.drawn[games] >= 0) & (state.left_to_next(games) > 0)
    if state.has_private_walls:
        may_kong &= state.left_to(seats) > 0
    return may_kong
