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

from mahjong_env.basics.actions import CHOW_LOW, PASS, WIN
from mahjong_env.basics.tiles import FIRST_HONOUR, NO_TILE, NUM_ALL_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array
from mahjong_env.engine.phases import grants, kongs
from mahjong_env.engine.phases.draw import is_complete
from mahjong_env.engine.phases.table import Table, Won
from mahjong_env.scoring.wins import Source, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, Phase

MAY_CHOW_LOW, MAY_CHOW_MIDDLE, MAY_CHOW_HIGH, MAY_PUNG, MAY_KONG, MAY_WIN = (np.int8(1 << bit) for bit in range(6))
MAY_CHOW: Final = MAY_CHOW_LOW | MAY_CHOW_MIDDLE | MAY_CHOW_HIGH

# Option bits stand in the order of the actions from "chow low" to "win".
OPTION_ACTIONS: Final = np.arange(CHOW_LOW, PASS)


def _ranks() -> Int8Array:
    ranks = np.zeros(64, np.int8)
    for options in range(64):
        ranks[options] = 3 if options & MAY_WIN else 2 if options & (MAY_PUNG | MAY_KONG) else 1 if options else 0
    return ranks


def _chows() -> Int8Array:
    """[42 x 16] options for a kind of which the next seat holds these neighbours: bits 8, 4, 2, 1 as in `_STEPS`."""
    options = np.zeros((NUM_ALL_KINDS, 16), np.int8)
    for kind in range(FIRST_HONOUR):
        for held in range(16):
            two_below, below, above, two_above = (
                held & bit > 0 and (kind + step) // 9 == kind // 9
                for bit, step in zip((8, 4, 2, 1), _STEPS.flat, strict=True)
            )
            low, middle, high = above and two_above, below and above, two_below and below
            options[kind, held] = MAY_CHOW_LOW * low | MAY_CHOW_MIDDLE * middle | MAY_CHOW_HIGH * high
    return options.reshape(-1)


# By the place after the giver, he himself being the last: 3, 2, 1 and 0.
_NEARNESS = {seats: np.array([*range(3, 4 - seats, -1), 0], np.int8)[:, None] for seats in (3, 4)}
# [S x 64] the key by place and options.
_KEYS = {
    seats: ((4 * _ranks() + nearness) * (_ranks() > 0)).astype(np.int8).reshape(-1)
    for seats, nearness in _NEARNESS.items()
}
_KEYS_OF_PLACE = 64 * np.arange(4, dtype=np.int16)[:, None]
# The options for a tile of which a seat holds so many.
_BY_HELD = np.array([0, 0, MAY_PUNG, MAY_PUNG | MAY_KONG, MAY_PUNG | MAY_KONG], np.int8)
_ACTION_RANK = np.array([1, 1, 1, 2, 2, 3, 0], np.int8)  # from "chow low" to "pass"

# [4, 42] the neighbours two below, one below, one above and two above a kind; those of other suits count for nothing.
_STEPS = np.array([-2, -1, 1, 2])[:, None]
_NEIGHBOURS = np.clip(np.arange(NUM_ALL_KINDS) + _STEPS, 0, FIRST_HONOUR - 1)
_CHOWS = _chows()


# --- Offering a tile ------------------------------------------------------------------------------------------------
# Chairs and options of the seats that may be asked are [m, n], in the order of the seats after the giver.


def offer_discard(table: Table, games: Games, seat: Games, kind: Int64Array) -> None:
    """Find out who may want the tile just discarded; where nobody does, the next seat draws."""
    state = table.state
    state.offered_by[games] = seat
    chairs = state.places.chairs_after(games, seat, state.num_seats - 1)
    options = _sets_wanted(table, games, chairs, kind)
    _add_wins(table, games, chairs, kind, Source.DISCARD, options)
    wanted = np.bitwise_or.reduce(options, axis=0).nonzero()[0]
    if wanted.size:
        g = games[wanted]
        state.offered[g] = kind[wanted]
        asked = wanted[_ask(table, g, chairs.take(wanted, axis=1), options.take(wanted, axis=1), Phase.CLAIM)]
        unasked = np.ones(len(games), np.bool_)
        unasked[asked] = False
        games, seat = games[unasked], seat[unasked]
    _nobody_claims(table, games, seat)


def offer_added_tile(table: Table, games: Games, seat: Int8Array, kind: Int64Array) -> None:
    """Find out who may rob a tile that is being added to a pung; where nobody may, the kong stands."""
    state = table.state
    if not table.rules.robs_kongs:
        kongs.complete_added(table, games, seat, kind)
        return
    state.offered[games] = kind
    state.offered_by[games] = seat
    chairs = state.places.chairs_after(games, seat, state.num_seats - 1)
    options = np.zeros(chairs.shape, np.int8)
    _add_wins(table, games, chairs, kind, Source.ROBBED_KONG, options)
    _nobody_robs(table, games[~_ask(table, games, chairs, options, Phase.ROB)])


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
        state.offered_by[here] = giver
        chairs, options = _opening_question(table, here, may_win)
        state.stage[here[~_ask_first(table, here, chairs, options, Phase.OPENING)]] += 1
    if rules.opening_stages:
        done.append(games[state.stage[games] == rules.opening_stages])
    return np.concatenate(done)


def _opening_question(table: Table, games: Games, may_win: BoolArray) -> tuple[Games, Int8Array]:
    """Chairs and options of all seats; ``may_win`` [n, S] by seat."""
    state = table.state
    chairs = state.places.chairs_after(games, state.offered_by[games], state.num_seats)
    by_place = may_win[np.arange(len(games)), state.places.seat(games, chairs)]
    return chairs, np.where(by_place, MAY_WIN, np.int8(0))


def _sets_wanted(table: Table, games: Games, chairs: Games, kind: Int64Array) -> Int8Array:
    """[m, n] option bits for pung, kong and chow."""
    state, rules = table.state, table.rules
    tiles = state.places.tile(chairs, kind)
    options = _BY_HELD.take(state.flat.hand[tiles])
    if rules.adds_discards:
        options |= state.flat.open_pung[tiles] * MAY_KONG
    neighbours = _NEIGHBOURS.take(kind, axis=1)
    around = state.flat.hand[state.places.tile(chairs[0], neighbours)] > 0
    if rules.has_wild:
        around &= neighbours != state.wild[games]
    options[0] |= _CHOWS.take(kind * 16 + (np.packbits(around, axis=0)[0] >> 4))
    return options


def _add_wins(table: Table, games: Games, chairs: Games, kind: Int64Array, source: Source, options: Int8Array) -> None:
    """Add the win bit to the options of seats that may win with the tile."""
    state, rules = table.state, table.rules
    place = state.flat.is_tenpai[chairs].reshape(-1).nonzero()[0]
    if not place.size:
        return
    column, chair = place % len(games), chairs.reshape(-1)[place]
    complete = is_complete(table, games[column], chair, kind[column])
    place, column, chair = place[complete], column[complete], chair[complete]
    if not place.size:
        return
    g = games[column]
    legal = rules.legal(
        wins_from_state(state, state.seats_by_index(g, chair), kind[column], source, state.offered_by[g])
    )
    options.reshape(-1)[place[legal]] |= MAY_WIN


def _limit(table: Table, games: Games, chairs: Games, options: Int8Array) -> None:
    """Take out of the options what the end of the wall and the variant forbid."""
    state, rules = table.state, table.rules
    # The discard after the last tile can only be won on (common.md#after-the-last-tile).
    last = (state.left(games) <= 0) | state.closing[games]
    options[:, last] &= MAY_WIN
    dead = rules.unclaimable(state, games)
    if dead is not None:
        options[:, dead] = 0
    place = np.flatnonzero(options)
    g = games[place % len(games)]
    bits = options.reshape(-1)[place]
    rules.limit_claims(state, state.seats_by_index(g, chairs.reshape(-1)[place]), bits)
    options.reshape(-1)[place] = bits


def ask_again(table: Table, games: Games) -> None:
    """After hidden tiles were redistributed: who else will be asked about the offered tile.

    Seats that would have been asked before the seat to act count as having passed, and the answers kept so far are
    forgotten: nobody at the table knows of them.
    """
    state, rules = table.state, table.rules
    phase = state.phase[games]
    for stage in range(rules.opening_stages):
        here = games[(phase == Phase.OPENING) & (state.stage[games] == stage)]
        if here.size:
            may_win, _ = rules.opening_options(state, here, stage)
            _ask_the_rest(table, here, *_opening_question(table, here, may_win))
    for asked_in, source in ((Phase.CLAIM, Source.DISCARD), (Phase.ROB, Source.ROBBED_KONG)):
        here = games[phase == asked_in]
        if here.size:
            kind, giver = state.offered[here].astype(np.int64), state.offered_by[here]
            chairs = state.places.chairs_after(here, giver, state.num_seats - 1)
            options = _sets_wanted(table, here, chairs, kind) * np.int8(asked_in == Phase.CLAIM)
            _add_wins(table, here, chairs, kind, source, options)
            _limit(table, here, chairs, options)
            _ask_the_rest(table, here, chairs, options)


def _ask_the_rest(table: Table, games: Games, chairs: Games, options: Int8Array) -> None:
    """Keep the options of the seat to act, and of others only those that come after its own."""
    state = table.state
    own = chairs == state.chairs(games, state.actor[games])
    options = np.where(own, state.flat.options[chairs], options)
    keys = _keys(table, options)
    options[keys > np.where(own, keys, 0).max(axis=0)] = 0
    state.options[games] = 0
    state.flat.options[chairs] = options
    state.best_key[games] = 0


# --- Asking and answering ---------------------------------------------------------------------------------------------


def _ask(table: Table, games: Games, chairs: Games, options: Int8Array, phase: int) -> BoolArray:
    """Ask about a tile, as far as the rules allow; [n] whether anybody is asked."""
    if not games.size:
        return np.zeros(0, np.bool_)
    _limit(table, games, chairs, options)
    return _ask_first(table, games, chairs, options, phase)


def _ask_first(table: Table, games: Games, chairs: Games, options: Int8Array, phase: int) -> BoolArray:
    """Ask the first of those with an option; [n] whether there is one."""
    state = table.state
    asked = np.bitwise_or.reduce(options, axis=0) > 0
    if not asked.all():
        games, chairs, options = games[asked], chairs[:, asked], options[:, asked]
    if games.size:
        state.flat.options[chairs] = options
        state.best_key[games] = 0
        _wait_for_highest(table, games, chairs, _keys(table, options))
        state.phase[games] = phase
    return asked


def _wait_for_highest(table: Table, games: Games, chairs: Games, keys: Int8Array) -> None:
    state = table.state
    chair = chairs[keys.argmax(axis=0), np.arange(len(games))]
    state.actor[games] = state.places.seat(games, chair)


def _keys(table: Table, options: Int8Array) -> Int8Array:
    """[m, n] the rank of what each unasked seat could answer at best."""
    return _KEYS[table.state.num_seats].take(options + _KEYS_OF_PLACE[: len(options)])


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
    giver = state.offered_by[games]
    nearness = _NEARNESS[state.num_seats][(seat - giver - 1) % state.num_seats, 0]
    key = (4 * rank + nearness) * (rank > 0)
    better = key > state.best_key[games]
    if better.any():
        improved = games[better]
        state.best_key[improved] = key[better]
        state.best_seat[improved] = seat[better]
        state.best_action[improved] = actions[better]
    state.flat.options[state.chairs(games, seat)] = 0

    chairs = state.places.chairs_after(games, giver, state.num_seats)
    keys = _keys(table, state.flat.options[chairs])
    best_key = state.best_key[games]
    asks = keys.max(axis=0) > best_key
    if asks.any():
        _wait_for_highest(table, games[asks], chairs[:, asks], keys[:, asks])
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


def _nobody_claims(table: Table, games: Games, giver: Games | Int8Array) -> None:
    if not games.size:
        return
    state = table.state
    state.offered[games] = NO_TILE
    table.next_turns.put(games, state.places.seats_after_each[0].take(giver))


def _nobody_robs(table: Table, games: Games) -> None:
    if not games.size:
        return
    state = table.state
    seat, kind = state.offered_by[games], state.offered[games]
    table.close_question(games)
    kongs.complete_added(table, games, seat, kind)
