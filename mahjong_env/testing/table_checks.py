"""Checks of what lies on the table: no tile is lost, and all arrays tell the same story."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import KIND_NAMES, NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.hands.codes import encode
from mahjong_env.hands.summaries import suit_summaries
from mahjong_env.state.arrays import (
    CLAIMED,
    DISCARDED,
    LATEST,
    MAX_DISCARDS,
    MAX_MELDS,
    MELD_LIST,
    MELD_PLACES,
    MELDED,
    NO_SEAT,
    SLOT_OF_OFFSET,
    Phase,
)
from mahjong_env.testing.play import ConformanceError, MakeEngine, positions, require


def check_tiles_conserved(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """No tile appears or vanishes, nobody holds less than none, and every seat has as many tiles as it should."""
    engine = make(games, seed=seed, num_hands=2)
    for _ in positions(engine, seed):
        require_tiles(engine)


def require_tiles(engine: Engine) -> None:
    """Raise `ConformanceError` unless the running games hold each tile of the set once."""
    state, deck = engine.state, engine.rules.deck
    is_over = engine.seat_to_act == NO_SEAT
    counts = count_all_tiles(engine)
    wrong = np.argwhere((counts != deck) & ~is_over[:, None])
    if wrong.size:
        game, kind = wrong[0]
        raise ConformanceError(f"game {game}: {counts[game, kind]} tiles {KIND_NAMES[kind]} instead of {deck[kind]}")
    for name, tiles in (("hand", state.hand), ("flowers", state.flowers)):
        if (tiles < 0).any():
            game, seat, kind = np.argwhere(tiles < 0)[0]
            number = tiles[game, seat, kind]
            raise ConformanceError(f"game {game}, seat {seat}: {number} tiles {KIND_NAMES[kind]} in {name}")
    require(state.front + state.back <= state.wall.shape[1], "more tiles have been drawn than there are")
    size = state.hand.sum(axis=2) + 3 * state.num_melds
    wanted = np.full(size.shape, engine.rules.hand_size)
    holding = np.flatnonzero((state.phase == Phase.TURN) | (state.phase == Phase.OPENING))
    wanted[holding, state.turn[holding]] += 1
    wrong = np.argwhere((size != wanted) & ~is_over[:, None])
    if wrong.size:
        game, seat = wrong[0]
        raise ConformanceError(f"game {game}, seat {seat}: {size[game, seat]} tiles instead of {wanted[game, seat]}")


def count_all_tiles(engine: Engine) -> Int64Array:
    """[B, 42] tiles of each kind in hands, melds, flowers, discards, wall and the tile turned up."""
    state = engine.state
    counts = np.zeros((engine.num_games, NUM_ALL_KINDS), np.int64)
    counts += state.flowers.sum(axis=1)
    counts[:, :NUM_KINDS] += state.hand.sum(axis=1) + _melded_tiles(engine, hidden=True).sum(axis=1)
    row, seat, place = np.nonzero((state.river > 0) & (state.river <= CLAIMED))  # discards that nobody has claimed
    np.add.at(counts, (row, state.river[row, seat, place] - 1), 1)
    places = np.arange(state.wall.shape[1])
    inside = (places >= state.front[:, None]) & (places < state.wall.shape[1] - state.back[:, None])
    row, place = np.nonzero(inside)
    np.add.at(counts, (row, state.wall[row, place]), 1)
    # A tile that is being robbed is in no hand and not yet in a meld.
    for outside, kind in ((state.indicator >= 0, state.indicator), (state.phase == Phase.ROB, state.offered)):
        row = np.flatnonzero(outside)
        np.add.at(counts, (row, kind[row]), 1)
    return counts


def check_bookkeeping(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """What is kept twice agrees: codes, public planes, lists of melds and discards, "one tile away" flags."""
    engine = make(games, seed=seed, num_hands=2)
    for _ in positions(engine, seed):
        require_books(engine)


def require_books(engine: Engine) -> None:
    """Raise `ConformanceError` where an array of a running game contradicts those that it follows from."""
    state = engine.state
    everyone, kinds = np.arange(engine.num_games), np.arange(NUM_KINDS)
    holds_extra = np.isin(state.phase, (Phase.TURN, Phase.OPENING, Phase.ROB, Phase.STRANDED))
    between_turns = ~(holds_extra[:, None] & (np.arange(engine.num_seats) == state.turn[:, None]))
    pung_kinds = np.where(state.meld_type == MeldType.PUNG, state.meld_kind, NO_TILE)
    flower_kinds = engine.rules.flower_kinds
    compared: dict[str, tuple[Any, Any]] = {
        "code": (state.code, encode(state.natural_hands(everyone))),
        "num_melds": (np.arange(MAX_MELDS) < state.num_melds[..., None], state.meld_type > MeldType.NONE),
        "open_pung": (state.open_pung, (pung_kinds[..., None] == kinds).any(axis=2)),
        "river_size": (np.arange(MAX_DISCARDS) < state.river_size[..., None], state.river > 0),
        "public (discards)": (state.public[:, :, DISCARDED], (state.river[..., None] == kinds + 1).sum(axis=2)),
        "river (claimed discards)": (state.river > CLAIMED, state.river_claimed > 0),
        "public (claimed discards)": _claimed_discards(engine),
        "public (melded tiles)": (state.public[:, :, MELDED], _melded_tiles(engine, hidden=False)),
        "public (list of melds)": (state.public[:, :, MELD_LIST], _meld_list(engine)),
        "public (latest discards)": _latest_discards(engine),
        "flowers": (np.where(flower_kinds, 0, state.flowers), 0),
        "hand (flowers in it)": (np.where(flower_kinds[:NUM_KINDS], state.hand, 0), 0),
        "is_tenpai": (state.is_tenpai & between_turns, _is_tenpai(engine) & between_turns),
    }
    if engine.rules.has_wild:
        compared["wild"] = (state.wild, engine.rules.wild_kinds(state.indicator))
    is_over = engine.seat_to_act == NO_SEAT
    for name, (kept, counted) in compared.items():
        agree = (kept == counted).reshape(engine.num_games, -1).all(axis=1)
        require(agree | is_over, f"{name} does not agree with hands, melds and discards")


def _melded_tiles(engine: Engine, *, hidden: bool) -> Int64Array:
    """[B, S, 34] tiles in melds, counted from the list of melds; ``hidden``: with those that not all may see."""
    state = engine.state
    counts = np.zeros((engine.num_games, engine.num_seats, NUM_KINDS), np.int64)
    counted = state.meld_type != MeldType.NONE
    if engine.rules.hides_concealed_kongs and not hidden:
        counted &= state.meld_type != MeldType.CONCEALED_KONG
    game, seat, place = np.nonzero(counted)
    meld_type, kind = state.meld_type[game, seat, place], state.meld_kind[game, seat, place]
    is_chow = meld_type == MeldType.CHOW
    np.add.at(counts, (game, seat, kind), np.where(is_chow, 1, np.where(meld_type == MeldType.PUNG, 3, 4)))
    for step in (1, 2):
        np.add.at(counts, (game[is_chow], seat[is_chow], kind[is_chow] + step), 1)
    return counts


def _meld_list(engine: Engine) -> Int64Array:
    """[B, S, 34] the plane MELD_LIST, written anew from the arrays of melds."""
    state = engine.state
    listed = np.zeros((engine.num_games, engine.num_seats, NUM_KINDS), np.int64)
    is_hidden = (state.meld_type == MeldType.CONCEALED_KONG) & engine.rules.hides_concealed_kongs
    offset = (state.meld_from - np.arange(engine.num_seats)[:, None]) % engine.num_seats
    giver = np.where(state.meld_from >= 0, SLOT_OF_OFFSET[engine.num_seats][offset], 0)
    entries = (state.meld_type, np.where(is_hidden, 0, state.meld_kind + 1), giver, state.meld_claimed + 1)
    for meld in range(MAX_MELDS):
        for place, entry in enumerate(entries):
            listed[..., meld * MELD_PLACES + place] = np.where(state.meld_type > 0, entry, 0)[..., meld]
    claimed = slice(4, MAX_MELDS * MELD_PLACES, MELD_PLACES)  # compared with the rivers by `_claimed_discards`
    listed[..., claimed] = state.public[:, :, MELD_LIST, claimed]
    return listed


def _claimed_discards(engine: Engine) -> tuple[Any, Any]:
    """[B, S, M] the claimed kind of each meld, and that of the discard that the list of melds names; 0 for none."""
    state = engine.state
    number = state.public[:, :, MELD_LIST, 4 : MAX_MELDS * MELD_PLACES : MELD_PLACES]
    game, seat, meld = np.nonzero(state.meld_from >= 0)
    giver, place = state.meld_from[game, seat, meld], number[game, seat, meld] - 1
    slot = SLOT_OF_OFFSET[engine.num_seats][(seat - giver) % engine.num_seats]
    is_it = (place >= 0) & (state.river_claimed[game, giver, place] == slot)
    named = np.zeros(number.shape, np.int64)
    named[game, seat, meld] = np.where(is_it, state.river[game, giver, place] - CLAIMED, -1)
    return state.meld_claimed + 1, named


def _latest_discards(engine: Engine) -> tuple[Any, Any]:
    """[B, 3] the highest number of a discard, whether a lying one has none and whether two share one; and as wanted."""
    state = engine.state
    latest = state.public[:, :, LATEST].reshape(engine.num_games, -1)
    lying = state.public[:, :, DISCARDED].reshape(engine.num_games, -1) > 0
    unnumbered = (lying & (latest == 0)).any(axis=1)
    numbers = np.sort(latest, axis=1)
    twice = ((numbers[:, 1:] == numbers[:, :-1]) & (numbers[:, 1:] > 0)).any(axis=1)
    kept = np.column_stack([latest.max(axis=1), unnumbered, twice])
    return kept, np.column_stack([state.num_discards, np.zeros((engine.num_games, 2), np.int64)])


def _is_tenpai(engine: Engine) -> BoolArray:
    """[B, S] whether concealed tiles lack one tile at most."""
    state = engine.state
    natural = state.natural_hands(np.arange(engine.num_games))
    wilds = state.hand.sum(axis=2) - natural.sum(axis=2)
    lacking = engine.rules.tiles_short(suit_summaries(encode(natural)), wilds, state.num_melds)
    return np.asarray(lacking <= wilds + 1)
