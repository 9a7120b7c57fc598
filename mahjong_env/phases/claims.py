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

from mahjong_env.actions import CHOW_LOW, KONG, PASS, PUNG, WIN
from mahjong_env.notation import MeldType
from mahjong_env.phases import kongs
from mahjong_env.phases.draw import is_complete
from mahjong_env.phases.table import Table, Won
from mahjong_env.scoring import Source, wins_from_state
from mahjong_env.state import DISCARDED, MELDED, NO_SEAT, Phase
from mahjong_env.tiles import HONOURS, IS_SUITED, NO_TILE, NUM_ALL_KINDS
from mahjong_env.types import Games, Int8Array, Int64Array

MAY_CHOW_LOW, MAY_CHOW_MIDDLE, MAY_CHOW_HIGH, MAY_PUNG, MAY_KONG, MAY_WIN = (np.int8(1 << bit) for bit in range(6))
MAY_CHOW: Final = MAY_CHOW_LOW | MAY_CHOW_MIDDLE | MAY_CHOW_HIGH

# Option bits stand in the order of the actions from "chow low" to "win".
OPTION_ACTIONS: Final = np.arange(CHOW_LOW, PASS)


def _rank_of_options() -> Int8Array:
    ranks = np.zeros(64, np.int8)
    for options in range(64):
        ranks[options] = 3 if options & MAY_WIN else 2 if options & (MAY_PUNG | MAY_KONG) else 1 if options else 0
    return ranks


_RANK = _rank_of_options()
# The options for a tile of which a seat holds so many.
_BY_HELD = np.array([0, 0, MAY_PUNG, MAY_PUNG | MAY_KONG, MAY_PUNG | MAY_KONG], np.int8)
_ACTION_RANK = np.array([1, 1, 1, 2, 2, 3, 0], np.int8)  # from "chow low" to "pass"

# The neighbours two below, one below, one above and two above a kind; whether they are of its suit.
_STEPS = np.array([-2, -1, 1, 2])
_NEIGHBOURS = np.clip(np.arange(NUM_ALL_KINDS)[:, None] + _STEPS, 0, HONOURS - 1)
_IS_NEIGHBOUR = IS_SUITED[:, None] & (
    np.arange(NUM_ALL_KINDS)[:, None] // 9 == (np.arange(NUM_ALL_KINDS)[:, None] + _STEPS) // 9
)


def _nearness(seats: int) -> Int8Array:
    distance = (np.arange(seats) - np.arange(seats)[:, None] - 1) % seats
    return np.where(distance == seats - 1, 0, 3 - distance).astype(np.int8)


# By seats and giver: 3 for the seat after the giver, then 2, 1 and at last, for himself, 0.
_NEARNESS = {seats: _nearness(seats) for seats in (3, 4)}


# --- Offering a tile ------------------------------------------------------------------------------------------------


def offer_discard(table: Table, games: Games, seat: Int8Array, kind: Int8Array) -> None:
    """Find out who may want the tile just discarded; where nobody does, the next seat draws."""
    state, rules = table.state, table.rules
    state.offered[games] = kind
    state.offered_by[games] = seat
    options = _sets_wanted(table, games, seat, kind)
    _add_wins(table, games, seat, kind, Source.DISCARD, options)
    rules.limit_claims(state, games, options)
    dead = rules.unclaimable(state, games)
    if dead is not None:
        options[dead] = 0
    wanted = options.any(axis=1)
    _ask_first(table, games[wanted], options[wanted], Phase.CLAIM)
    _nobody_claims(table, games[~wanted])


def offer_added_tile(table: Table, games: Games, seat: Int8Array, kind: Int8Array) -> None:
    """Find out who may rob a tile that is being added to a pung; where nobody may, the kong stands."""
    state = table.state
    if not table.rules.robs_kongs:
        kongs.complete_added(table, games, seat, kind)
        return
    state.offered[games] = kind
    state.offered_by[games] = seat
    options = np.zeros((len(games), state.num_seats), np.int8)
    _add_wins(table, games, seat, kind, Source.KONG, options)
    table.rules.limit_claims(state, games, options)
    wanted = options.any(axis=1)
    _ask_first(table, games[wanted], options[wanted], Phase.ROB)
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
        _ask_first(table, here[asked], np.where(may_win[asked], MAY_WIN, np.int8(0)), Phase.OPENING)
        state.stage[here[~asked]] += 1
    if rules.opening_stages:
        done.append(games[state.stage[games] == rules.opening_stages])
    return np.concatenate(done)


def _sets_wanted(table: Table, games: Games, giver: Int8Array, kind: Int8Array) -> Int8Array:
    """[n, S] option bits for pung, kong and chow."""
    state, rules = table.state, table.rules
    seats = state.num_seats
    rows = np.arange(len(games))
    options = _BY_HELD[state.hand[games, :, kind]]
    options[rows, giver] = 0
    adds = rules.added_from_discard(state, games)
    if adds is not None:
        options[adds] |= MAY_KONG

    next_seat = (giver + 1) % seats
    around = state.hand[games[:, None], next_seat[:, None], _NEIGHBOURS[kind]] > 0
    around &= _IS_NEIGHBOUR[kind]
    if rules.has_wild:
        around &= _NEIGHBOURS[kind] != state.wild[games][:, None]
    two_below, below, above, two_above = around.T
    chows = (above & two_above) * MAY_CHOW_LOW + (below & above) * MAY_CHOW_MIDDLE + (two_below & below) * MAY_CHOW_HIGH
    options[rows, next_seat] |= chows
    wanted = np.flatnonzero(options.any(axis=1))
    if wanted.size:
        # The discard after the last tile can only be won on (rulebook 0.7).
        last = (state.left(games[wanted]) <= 0) | state.closing[games[wanted]]
        options[wanted[last]] = 0
    return options


def _add_wins(
    table: Table, games: Games, giver: Int8Array, kind: Int8Array, source: Source, options: Int8Array
) -> None:
    """Add the win bit for seats that may win with the tile."""
    state, rules = table.state, table.rules
    flagged = state.ready[games].copy()
    flagged[np.arange(len(games)), giver] = False
    row, seat = np.nonzero(flagged)
    if not row.size:
        return
    complete = is_complete(table, games[row], seat, kind[row])
    row, seat = row[complete], seat[complete]
    if not row.size:
        return
    wins = wins_from_state(state, games[row], seat, kind[row], source, giver[row])
    legal = rules.legal(wins)
    options[row[legal], seat[legal]] |= MAY_WIN


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
    options[robbing] = 0
    for is_rob, source in ((False, Source.DISCARD), (True, Source.KONG)):
        some = np.flatnonzero(robbing == is_rob)
        part = options[some]
        _add_wins(table, games[some], giver[some], kind[some], source, part)
        options[some] = part
    table.rules.limit_claims(state, games, options)
    dead = table.rules.unclaimable(state, games)
    if dead is not None:
        options[dead] = 0
    _ask_the_rest(table, games, options)


def _ask_opening_again(table: Table, games: Games) -> None:
    state, rules = table.state, table.rules
    for stage in range(rules.opening_stages):
        here = games[state.stage[games] == stage]
        may_win, _ = rules.opening_options(state, here, stage)
        _ask_the_rest(table, here, np.where(may_win, MAY_WIN, np.int8(0)))


def _ask_the_rest(table: Table, games: Games, options: Int8Array) -> None:
    """Keep the options of the seat to act, and of others only those that come after its own."""
    state = table.state
    rows, actor = np.arange(len(games)), state.actor[games]
    options[rows, actor] = state.options[games, actor]
    state.options[games] = options
    keys = _keys(table, games)
    options[keys > keys[rows, actor][:, None]] = 0
    state.options[games] = options
    state.best_key[games] = 0


# --- Asking and answering ---------------------------------------------------------------------------------------------


def _ask_first(table: Table, games: Games, options: Int8Array, phase: int) -> None:
    if not games.size:
        return
    state = table.state
    state.options[games] = options
    state.best_key[games] = 0
    keys = _keys(table, games)
    table.wait_for(games, keys.argmax(axis=1), phase)


def _keys(table: Table, games: Games) -> Int8Array:
    """[n, S] the rank of what each unasked seat could answer at best."""
    state = table.state
    ranks = _RANK[state.options[games]]
    return np.where(ranks > 0, 4 * ranks + _NEARNESS[state.num_seats][state.offered_by[games]], 0).astype(np.int8)


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
    key = np.where(rank > 0, 4 * rank + _NEARNESS[state.num_seats][state.offered_by[games], seat], 0)
    better = key > state.best_key[games]
    improved = games[better]
    state.best_key[improved] = key[better]
    state.best_seat[improved] = seat[better]
    state.best_action[improved] = actions[better]
    state.options[games, seat] = 0

    keys = _keys(table, games)
    asks = keys.max(axis=1) > state.best_key[games]
    state.actor[games[asks]] = keys[asks].argmax(axis=1)
    decided = games[~asks]
    claimed = state.best_key[decided] > 0
    _grant(table, decided[claimed])
    _all_passed(table, decided[~claimed])


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
    phase = table.state.phase[games]
    _nobody_claims(table, games[phase == Phase.CLAIM])
    _nobody_robs(table, games[phase == Phase.ROB])
    opening = games[phase == Phase.OPENING]
    if opening.size:
        table.close_question(opening)
        table.state.stage[opening] += 1
        table.opened.append(opening)


def _nobody_claims(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    next_seat = (state.offered_by[games] + 1) % state.num_seats
    state.offered[games] = NO_TILE
    table.next_turns.put(games, next_seat)


def _nobody_robs(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    seat, kind = state.offered_by[games], state.offered[games]
    table.close_question(games)
    kongs.complete_added(table, games, seat, kind)


# --- Granting ---------------------------------------------------------------------------------------------------------


def _grant(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    action = state.best_action[games]
    for number in range(CHOW_LOW, PUNG):
        _take_chow(table, games[action == number], number - CHOW_LOW)
    _take_pung(table, games[action == PUNG])
    _take_kong(table, games[action == KONG])
    _take_win(table, games[action == WIN])


def _take_win(table: Table, games: Games) -> None:
    state = table.state
    phase = state.phase[games]
    for asked_in, source in ((Phase.CLAIM, Source.DISCARD), (Phase.ROB, Source.KONG), (Phase.OPENING, Source.DRAW)):
        g = games[phase == asked_in]
        if g.size:
            is_opening = asked_in == Phase.OPENING
            giver = np.full(len(g), NO_SEAT, np.int8) if is_opening else state.offered_by[g]
            table.won.append(Won(g, state.best_seat[g], source, state.offered[g], giver, is_opening))


def _lift_discard(table: Table, games: Games) -> tuple[Int8Array, Int8Array, Int8Array]:
    """Take the claimed tile off the table: [n] claimer, kind, giver."""
    state = table.state
    seat, kind, giver = state.best_seat[games], state.offered[games], state.offered_by[games]
    state.public[games, giver, DISCARDED, kind] -= 1
    place = state.river_size[games, giver] - np.int8(1)
    state.river[games, giver, place] = NO_TILE
    state.river_size[games, giver] = place
    state.undisturbed[games] = False
    table.close_question(games)
    return seat, kind, giver


def _begin_claimed_turn(table: Table, games: Games, seat: Int8Array) -> None:
    """The claimer goes on without a draw: he discards, and may neither win nor declare a kong (rulebook 0.5)."""
    state = table.state
    state.turn[games] = seat
    state.drawn[games] = NO_TILE
    state.can_win[games] = False
    state.kong_draws[games] = 0
    state.flower_draw[games] = False
    table.wait_for(games, seat, Phase.TURN)


def _take_chow(table: Table, games: Games, place: int) -> None:
    """``place``: where the claimed tile stands in the run, 0 to 2."""
    if not games.size:
        return
    state = table.state
    seat, kind, giver = _lift_discard(table, games)
    low = kind - np.int8(place)
    for step in range(3):
        state.public[games, seat, MELDED, low + step] += 1
        if step != place:
            state.add_tiles(games, seat, low + np.int8(step), -1)
    state.add_meld(games, seat, MeldType.CHOW, low, giver, kind)
    _begin_claimed_turn(table, games, seat)


def _take_pung(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    seat, kind, giver = _lift_discard(table, games)
    state.public[games, seat, MELDED, kind] += 3
    state.add_tiles(games, seat, kind, -2)
    state.add_meld(games, seat, MeldType.PUNG, kind, giver, kind)
    state.open_pung[games, seat, kind] = True
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
        state.public[g, seat, MELDED, kind] += 4
        state.add_tiles(g, seat, kind, -3)
        state.add_meld(g, seat, MeldType.EXPOSED_KONG, kind, giver, kind)
        kongs.stand(table, g, seat, MeldType.EXPOSED_KONG, giver)
