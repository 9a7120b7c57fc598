"""Who may want a tile, who is asked, to whom it is granted.

Each seat with an option is asked once, with all its options together: in order of its best option (win, then kong and
pung, then chow), and nearest to the seat that gave the tile first. Its answer is kept and shown to nobody. As soon
as no unasked seat could outrank the best answer, that answer is granted and nobody else is asked.

The options of a seat are bits; the rank of an option and the distance of its seat make one *key*, so that "outranks" is
"is greater": key = 4 x (3 win, 2 kong or pung, 1 chow) + (4 - distance), where the giver himself, who can only be asked
before the first turn, has distance 4. Key 0 is a pass.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.actions import CHOW_LOW, PASS, WIN
from mahjong_env.phases import grants, kongs
from mahjong_env.phases.draw import is_complete
from mahjong_env.phases.table import Table, Won
from mahjong_env.scoring import Source, wins_from_state
from mahjong_env.state import NO_SEAT, Phase
from mahjong_env.tiles import HONOURS, IS_SUITED, NO_TILE, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.types import BoolArray, Games, Int8Array, Int64Array

MAY_CHOW_LOW, MAY_CHOW_MIDDLE, MAY_CHOW_HIGH, MAY_PUNG, MAY_KONG, MAY_WIN = (np.int8(1 << bit) for bit in range(6))
MAY_CHOW: Final = MAY_CHOW_LOW | MAY_CHOW_MIDDLE | MAY_CHOW_HIGH

# Option bits stand in the order of the actions from "chow low" to "win".
OPTION_ACTIONS: Final = np.arange(CHOW_LOW, PASS)


def _rank_of_options() -> Int8Array:
    ranks = np.zeros(64, np.int8)
    for options in range(64):
        ranks[options] = 3 if options & MAY_WIN else 2 if options & (MAY_PUNG | MAY_KONG) else 1 if options else 0
    return ranks


# 4 x rank by option bits.
_RANK_KEY = 4 * _rank_of_options()
_ACTION_RANK = np.array([1, 1, 1, 2, 2, 3, 0], np.int8)  # from "chow low" to "pass"

# [4, 42] the neighbours two below, one below, one above and two above a kind; whether they are of its suit.
_STEPS = np.array([-2, -1, 1, 2])[:, None]
_NEIGHBOURS = np.clip(np.arange(NUM_ALL_KINDS) + _STEPS, 0, HONOURS - 1)
_IS_NEIGHBOUR = IS_SUITED & (np.arange(NUM_ALL_KINDS) // 9 == (np.arange(NUM_ALL_KINDS) + _STEPS) // 9)


def _nearness(seats: int) -> Int8Array:
    distance = (np.arange(seats)[:, None] - np.arange(seats) - 1) % seats
    return np.where(distance == seats - 1, 0, 3 - distance).astype(np.int8)


# By seats, seat and giver: 3 for the seat after the giver, then 2, 1 and at last, for himself, 0.
_NEARNESS = {seats: _nearness(seats) for seats in (3, 4)}


# --- Offering a tile ------------------------------------------------------------------------------------------------


def offer_discard(table: Table, games: Games, seat: Int8Array, kind: Int8Array) -> None:
    """Find out who may want the tile just discarded; where nobody does, the next seat draws."""
    state = table.state
    state.offered[games] = kind
    state.offered_by[games] = seat
    options = _sets_wanted(table, games, seat, kind)
    _add_wins(table, games, seat, kind, Source.DISCARD, options)
    wanted = _limit(table, games, options)
    _ask_first(table, games[wanted], options.compress(wanted, axis=1), Phase.CLAIM)
    _nobody_claims(table, games[~wanted], seat[~wanted])


def offer_added_tile(table: Table, games: Games, seat: Int8Array, kind: Int8Array) -> None:
    """Find out who may rob a tile that is being added to a pung; where nobody may, the kong stands."""
    state = table.state
    if not table.rules.robs_kongs:
        kongs.complete_added(table, games, seat, kind)
        return
    state.offered[games] = kind
    state.offered_by[games] = seat
    options = np.zeros((state.num_seats, len(games)), np.int8)
    _add_wins(table, games, seat, kind, Source.KONG, options)
    table.rules.limit_claims(state, games, options.T)
    wanted = options.any(axis=0)
    _ask_first(table, games[wanted], options[:, wanted], Phase.ROB)
    _nobody_robs(table, games[~wanted])


def offer_opening(table: Table, games: Games) -> Games:
    """Ask the questions before the first turn, from each game's next stage on.

    Returns:
        The games in which none is left.
    """
    state, rules = table.state, table.rules
    done = [games] if rules.opening_stages == 0 else []
    for stage in range(rules.opening_stages):
        here = games[state.stage[games] == stage]
        if not here.size:
            continue
        may_win, giver = rules.opening_options(state, here, stage)
        asked = may_win.any(axis=1)
        state.offered_by[here] = giver
        _ask_first(table, here[asked], np.where(may_win[asked].T, MAY_WIN, np.int8(0)), Phase.OPENING)
        state.stage[here[~asked]] += 1
    if rules.opening_stages:
        done.append(games[state.stage[games] == rules.opening_stages])
    return np.concatenate(done)


def _sets_wanted(table: Table, games: Games, giver: Int8Array, kind: Int8Array) -> Int8Array:
    """[S, n] option bits for pung, kong and chow."""
    state, rules = table.state, table.rules
    columns = np.arange(len(games))
    held = state.flat.hand[state.all_chairs(games) * NUM_KINDS + kind]
    held[giver, columns] = 0
    options = (held >= 2) * MAY_PUNG + (held >= 3) * MAY_KONG
    adds = rules.added_from_discard(state, games)
    if adds is not None:
        options[adds.T] |= MAY_KONG

    next_seat = (giver + np.int8(1)) % np.int8(state.num_seats)
    neighbours = _NEIGHBOURS.take(kind, axis=1)
    around = state.flat.hand[state.chairs(games, next_seat) * NUM_KINDS + neighbours] > 0
    around &= _IS_NEIGHBOUR.take(kind, axis=1)
    if rules.has_wild:
        around &= neighbours != state.wild[games]
    two_below, below, above, two_above = around
    chows = (above & two_above) * MAY_CHOW_LOW + (below & above) * MAY_CHOW_MIDDLE + (two_below & below) * MAY_CHOW_HIGH
    options[next_seat, columns] |= chows
    # The discard after the last tile can only be won on (rulebook 0.7).
    last = (state.left(games) <= 0) | state.closing[games]
    if last.any():
        options[:, last] = 0
    return options


def _add_wins(
    table: Table, games: Games, giver: Int8Array, kind: Int8Array, source: Source, options: Int8Array
) -> None:
    """Add the win bit to [S, n] options of seats that may win with the tile."""
    state, rules = table.state, table.rules
    seat, column = divmod(np.flatnonzero(state.flat.ready[state.all_chairs(games)]), len(games))
    others = seat != giver[column]
    seat, column = seat[others], column[others]
    if not column.size:
        return
    g = games[column]
    complete = is_complete(table, g, state.chairs(g, seat), kind[column])
    seat, column = seat[complete], column[complete]
    if not column.size:
        return
    legal = rules.legal(wins_from_state(state, games[column], seat, kind[column], source, giver[column]))
    options[seat[legal], column[legal]] |= MAY_WIN


def _limit(table: Table, games: Games, options: Int8Array) -> BoolArray:
    """Take out of the [S, n] options for a discard what the variant forbids; [n] where any is left."""
    table.rules.limit_claims(table.state, games, options.T)
    wanted = np.bitwise_or.reduce(options, axis=0) > 0
    dead = table.rules.unclaimable(table.state, games)
    if dead is not None:
        wanted &= ~dead
    return wanted


def ask_again(table: Table, games: Games) -> None:
    """After hidden tiles were redistributed: who else will be asked about the offered tile.

    Seats that would have been asked before the seat to act count as having passed, and the answers kept so far are
    forgotten: nobody at the table knows of them.
    """
    state = table.state
    opening = state.phase[games] == Phase.OPENING
    if opening.any():
        _ask_opening_again(table, games[opening])
        games = games[~opening]
    kind, giver = state.offered[games], state.offered_by[games]
    robbing = state.phase[games] == Phase.ROB
    options = _sets_wanted(table, games, giver, kind)
    options[:, robbing] = 0
    for is_rob, source in ((False, Source.DISCARD), (True, Source.KONG)):
        some = np.flatnonzero(robbing == is_rob)
        part = options[:, some]
        _add_wins(table, games[some], giver[some], kind[some], source, part)
        options[:, some] = part
    options *= _limit(table, games, options)
    _ask_the_rest(table, games, options)


def _ask_opening_again(table: Table, games: Games) -> None:
    state, rules = table.state, table.rules
    for stage in range(rules.opening_stages):
        here = games[state.stage[games] == stage]
        may_win, _ = rules.opening_options(state, here, stage)
        _ask_the_rest(table, here, np.where(may_win.T, MAY_WIN, np.int8(0)))


def _ask_the_rest(table: Table, games: Games, options: Int8Array) -> None:
    """Keep the [S, n] options of the seat to act, and of others only those that come after its own."""
    state = table.state
    columns, actor = np.arange(len(games)), state.actor[games]
    options[actor, columns] = state.options[games, actor]
    keys = _keys(table, games, options)
    options[keys > keys[actor, columns]] = 0
    state.options[games] = options.T
    state.best_key[games] = 0


# --- Asking and answering ---------------------------------------------------------------------------------------------


def _ask_first(table: Table, games: Games, options: Int8Array, phase: int) -> None:
    if not games.size:
        return
    state = table.state
    state.flat.options[state.all_chairs(games)] = options
    state.best_key[games] = 0
    table.wait_for(games, _keys(table, games, options).argmax(axis=0), phase)


def _keys(table: Table, games: Games, options: Int8Array) -> Int8Array:
    """[S, n] the rank of what each unasked seat could answer at best, given the option bits [S, n]."""
    state = table.state
    nearness = _NEARNESS[state.num_seats].take(state.offered_by[games], axis=1)
    return (_RANK_KEY[options] + nearness) * (options > 0)


def answer(table: Table, games: Games, actions: Int64Array) -> None:
    """Take the answers of seats that were asked; ask the next ones, or grant."""
    if not games.size:
        return
    state = table.state
    stranded = state.phase[games] == Phase.STRANDED
    if stranded.any():
        _answer_stranded(table, games[stranded], actions[stranded])
        games, actions = games[~stranded], actions[~stranded]
        if not games.size:
            return
    seat = state.actor[games]
    rank = _ACTION_RANK[actions - CHOW_LOW]
    key = (4 * rank + _NEARNESS[state.num_seats][seat, state.offered_by[games]]) * (rank > 0)
    better = key > state.best_key[games]
    if better.any():
        improved = games[better]
        state.best_key[improved] = key[better]
        state.best_seat[improved] = seat[better]
        state.best_action[improved] = actions[better]
    chairs = state.all_chairs(games)
    state.flat.options[state.chairs(games, seat)] = 0

    keys = _keys(table, games, state.flat.options[chairs])
    best_key = state.best_key[games]
    asks = keys.max(axis=0) > best_key
    if asks.any():
        state.actor[games[asks]] = keys[:, asks].argmax(axis=0)
    grants.grant(table, games[~asks & (best_key > 0)])
    _all_passed(table, games[~asks & (best_key == 0)])


def _answer_stranded(table: Table, games: Games, actions: Int64Array) -> None:
    state = table.state
    wins = actions == WIN
    g = games[wins]
    if g.size:
        table.won.append(Won(g, state.actor[g], Source.DRAW, state.drawn[g], np.full(len(g), NO_SEAT, np.int8)))
    table.end_without_winner(games[~wins])


def _all_passed(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    phase = state.phase[games]
    unclaimed = games[phase == Phase.CLAIM]
    _nobody_claims(table, unclaimed, state.offered_by[unclaimed])
    _nobody_robs(table, games[phase == Phase.ROB])
    opening = games[phase == Phase.OPENING]
    if opening.size:
        table.close_question(opening)
        state.stage[opening] += 1
        table.opened.append(opening)


def _nobody_claims(table: Table, games: Games, giver: Int8Array) -> None:
    if not games.size:
        return
    state = table.state
    next_seat = (giver + np.int8(1)) % np.int8(state.num_seats)
    state.offered[games] = NO_TILE
    table.next_turns.put(games, next_seat)


def _nobody_robs(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    seat, kind = state.offered_by[games], state.offered[games]
    table.close_question(games)
    kongs.complete_added(table, games, seat, kind)
