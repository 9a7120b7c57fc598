"""Offering tiles to other seats, and taking their answers; `claim_rules` says who may claim and who has priority.

An answer is stored and shown to nobody. A seat is asked once about a tile: if it chooses a lower claim, it is not asked
again about a higher one. A seat that could only pass is never asked.
"""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array, IntArray
from mahjong_env.engine.claim_rules import (
    ARE_NEIGHBOURS,
    MAY_KONG,
    MAY_WIN,
    NEIGHBOURS,
    precedence_of_answer,
    seats_not_yet_asked,
    seats_to_ask_first,
    sets_wanted,
)
from mahjong_env.engine.phases.context import Offer, StepContext
from mahjong_env.engine.phases.judge import is_complete
from mahjong_env.scoring.wins import Source, wins_from_state
from mahjong_env.state.arrays import Phase
from mahjong_env.state.seats import Seats

_ZERO = np.array(0, np.int8)  # kept as an array: numpy would convert a plain number in every call


# --- Offering a tile ------------------------------------------------------------------------------------------------
# Options and the seats that may be asked are [m, n], in the order of the seats after the giver.


def offer_discards(context: StepContext, offer: Offer | None) -> None:
    """Ask who claims the tiles just discarded."""
    if offer is None:
        return
    state, (givers, kind) = context.state, offer
    games = givers.game
    state.offered_by[games] = givers.seat
    others = state.seats_after(games, givers.seat, state.num_seats - 1)
    options = _sets_wanted(context, others, kind)
    _add_wins(context, others, Offer(givers, kind), Source.DISCARD, options)
    if not np.count_nonzero(options):
        context.unclaimed.append(givers)
        return
    wanted = np.bitwise_or.reduce(options, axis=0).nonzero()[0]
    state.offered[games[wanted]] = kind[wanted]
    is_asked = np.zeros(len(games), np.bool_)
    is_asked[wanted] = _ask(context, others.take(wanted), options.take(wanted, axis=1), Phase.CLAIM)
    unclaimed = givers.take(~is_asked)
    state.offered[unclaimed.game] = NO_TILE
    context.unclaimed.append(unclaimed)


def offer_added_tiles(context: StepContext, offer: Offer | None) -> None:
    """Ask who robs the tiles that are being added to pungs."""
    if offer is None:
        return
    if not context.rules.may_rob_kongs:
        context.joining.append(offer)
        return
    state, (givers, kind) = context.state, offer
    state.offered[givers.game] = kind
    state.offered_by[givers.game] = givers.seat
    others = state.seats_after(givers.game, givers.seat, state.num_seats - 1)
    options = np.zeros(others.index.shape, np.int8)
    _add_wins(context, others, offer, Source.ROBBED_KONG, options)
    is_asked = _ask(context, others, options, Phase.ROB)
    context.close_question(givers.game[~is_asked])
    context.joining.append(Offer(givers.take(~is_asked), kind[~is_asked]))


def offer_opening(context: StepContext, games: Games) -> Games:
    """Ask the questions before the first turn, from each game's stage on; return the games with none left."""
    state, rules = context.state, context.rules
    if rules.opening_stages == 0:
        return games
    for stage in range(rules.opening_stages):
        here = games[state.stage[games] == stage]
        if here.size:
            seats, options = _opening_question(context, here, stage)
            state.stage[here[~_ask_the_first(context, seats, options, Phase.OPENING)]] += 1
    return games[state.stage[games] == rules.opening_stages]


def _opening_question(context: StepContext, games: Games, stage: int) -> tuple[Seats, Int8Array]:
    """Return [S, n] all seats in the order in which they would be asked, and their options."""
    state = context.state
    may_win, giver = context.rules.opening_options(state, games, stage)
    state.offered_by[games] = giver
    seats = state.seats_after(games, giver, state.num_seats)
    return seats, np.where(may_win[np.arange(len(games)), seats.seat], MAY_WIN, np.int8(0))


def _sets_wanted(context: StepContext, others: Seats, kind: IntArray) -> Int8Array:
    """Return [m, n] the sets that the others could make with a tile."""
    state, rules = context.state, context.rules
    held = state.held(others, kind)
    may_add = state.has_open_pung(others, kind) if rules.adds_discards else None
    beside = None
    if rules.claims_chows:
        neighbours = NEIGHBOURS.take(kind, axis=1)
        beside = (state.held(others.row(0), neighbours) > _ZERO) & ARE_NEIGHBOURS.take(kind, axis=1)
        if rules.has_wild:
            beside &= neighbours != state.wild[others.game]
    return sets_wanted(held, beside, may_add)


def _add_wins(context: StepContext, others: Seats, offer: Offer, source: Source, options: Int8Array) -> None:
    """Add the win to the options [m, n] of seats that may win with the tile."""
    state, (givers, kind) = context.state, offer
    place = others.of(state.is_tenpai).reshape(-1).nonzero()[0]
    if not place.size:
        return
    tile = kind[place % len(givers)]
    complete = is_complete(context, others.pick(place), tile)
    place, tile = place[complete], tile[complete]
    if not place.size:
        return
    seats = others.pick(place)
    legal = context.rules.legal(
        wins_from_state(context.rules, state, seats, tile, source, state.offered_by[seats.game])
    )
    options.reshape(-1)[place[legal]] |= MAY_WIN


def _take_out(context: StepContext, seats: Seats, options: Int8Array) -> None:
    """Remove from the options [m, n] what the end of the wall and the variant forbid."""
    state, rules, games = context.state, context.rules, seats.game
    # The discard after the last tile can only be won on (common.md#after-the-last-tile).
    options[:, (state.left_to_next(games) <= 0) | state.closing[games]] &= MAY_WIN
    if state.has_private_walls:
        options[state.left_to(seats) <= 0] &= ~MAY_KONG  # a kong could not draw its replacement tile
    dead = rules.unclaimable(state, games)
    if dead is not None:
        options[:, dead] = 0
    rules.limit_claims(state, seats, options)


# --- Asking ---------------------------------------------------------------------------------------------------------


def _ask(context: StepContext, seats: Seats, options: Int8Array, phase: int) -> BoolArray:
    """Ask about a tile as far as the rules allow; return [n] whether anybody is asked."""
    _take_out(context, seats, options)
    return _ask_the_first(context, seats, options, phase)


def _ask_the_first(context: StepContext, seats: Seats, options: Int8Array, phase: int) -> BoolArray:
    """Ask the first of the seats with an option; return [n] whether there is one."""
    state = context.state
    is_asked = np.bitwise_or.reduce(options, axis=0) > 0
    asked = is_asked.nonzero()[0]
    if asked.size < len(is_asked):
        seats, options = seats.take(asked), options.take(asked, axis=1)
    if seats.game.size:
        seats.put(state.options, options)
        state.best_precedence[seats.game] = 0
        row, _ = seats_to_ask_first(options)
        state.wait_for(seats.choose(row), phase)
    return is_asked


def ask_again(context: StepContext, games: Games, *, keeps_own: bool = True) -> None:
    """Work out anew who will be asked about the offered tile, after hidden tiles were redistributed.

    Seats that would have been asked before the seat to act count as having passed; the caller decides whose answers are
    kept nevertheless. The options of the seat to act stay as they are; without ``keeps_own`` they are worked out anew.
    """
    state, rules = context.state, context.rules
    phase = state.phase[games]
    for stage in range(rules.opening_stages):
        here = games[(phase == Phase.OPENING) & (state.stage[games] == stage)]
        if here.size:
            _ask_the_rest(context, *_opening_question(context, here, stage), keeps_own)
    for asked_in, source in ((Phase.CLAIM, Source.DISCARD), (Phase.ROB, Source.ROBBED_KONG)):
        here = games[phase == asked_in]
        if here.size:
            kind, giver = state.offered[here].astype(np.int64), state.offered_by[here]
            others = state.seats_after(here, giver, state.num_seats - 1)
            options = _sets_wanted(context, others, kind) * np.int8(asked_in == Phase.CLAIM)
            _add_wins(context, others, Offer(state.seats(here, giver), kind), source, options)
            _take_out(context, others, options)
            _ask_the_rest(context, others, options, keeps_own)


def _ask_the_rest(context: StepContext, seats: Seats, options: Int8Array, keeps_own: bool) -> None:
    """Store the options of the seat to act and of the seats that would be asked after it, and drop all others."""
    state, games = context.state, seats.game
    is_asked = seats.seat == state.actor[games]
    if keeps_own:
        options = np.where(is_asked, seats.of(state.options), options)
    options = seats_not_yet_asked(options, is_asked)
    state.options[games] = 0
    seats.put(state.options, options)


# --- Answering ------------------------------------------------------------------------------------------------------


def take_answers(context: StepContext, games: Games, actions: Int64Array) -> tuple[Games, Games]:
    """Take the answers of seats that were asked, and ask the next ones.

    Returns:
        The games whose best answer is to be granted, and those in which all have passed on a question before the first
        turn.
    """
    if not games.size:
        return games, games
    state, num_seats = context.state, context.state.num_seats
    giver = state.offered_by[games]
    answering = state.seats_to_act(games)
    heard = precedence_of_answer(actions, (answering.seat - giver - 1) % num_seats)
    better = (heard > state.best_precedence[games]).nonzero()[0]
    if better.size:
        improved = games.take(better)
        state.best_precedence[improved] = heard.take(better)
        state.best_seat[improved] = answering.seat.take(better)
        state.best_action[improved] = actions.take(better)
    answering.put(state.options, 0)

    seats = state.seats_after(games, giver, num_seats)
    row, could_be_heard = seats_to_ask_first(seats.of(state.options))
    best = state.best_precedence[games]
    is_asked = could_be_heard > best
    asked = is_asked.nonzero()[0]
    if asked.size:
        state.actor[games.take(asked)] = seats.take(asked).choose(row.take(asked)).seat
    passed, granted = (~is_asked & (best == 0)).nonzero()[0], (~is_asked & (best > 0)).nonzero()[0]
    return games.take(granted), _all_passed(context, games.take(passed))


def _all_passed(context: StepContext, passed: Games) -> Games:
    """Pass on the games in which everybody has passed, by what was asked; return those of opening questions."""
    if not passed.size:
        return passed
    state = context.state
    phase = state.phase[passed]
    unclaimed, unrobbed, opened = (
        passed.take((phase == asked_in).nonzero()[0]) for asked_in in (Phase.CLAIM, Phase.ROB, Phase.OPENING)
    )
    if unrobbed.size:
        context.joining.append(Offer(state.seats(unrobbed, state.offered_by[unrobbed]), state.offered[unrobbed]))
    context.unclaimed.append(state.seats(unclaimed, state.offered_by[unclaimed]))
    context.close_question(passed)
    state.stage[opened] += 1
    return opened
