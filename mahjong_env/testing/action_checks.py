"""Checks of what may be done: the mask is exact, its actions are possible, and hands and matches end."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import (
    ACTIONS,
    ADDED_KONG,
    CHOW_HIGH,
    CHOW_LOW,
    CONCEALED_KONG,
    KONG,
    NUM_ACTIONS,
    PASS,
    PUNG,
    WIN,
)
from mahjong_env.basics.errors import IllegalActionError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import IS_SUITED, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.claim_rules import OPTION_ACTIONS
from mahjong_env.engine.outcome import StepResult
from mahjong_env.state.arrays import NO_SEAT, Phase
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    changed_array,
    frozen_arrays,
    live_games,
    most_actions,
    play_games,
    random_actions,
)
from mahjong_env.testing.table_checks import require_tiles

_SAMPLED = 7  # every how many steps an expensive check looks


def check_mask_exact(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Every action in the mask is applied, every other one is refused, and a refusal changes nothing."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)

    def look(_: StepResult | None) -> None:
        if (live := live_games(engine)).size:
            _check_applied(engine)
            for game in rng.choice(live, min(2, len(live)), replace=False):
                _check_refused(engine, int(game), rng)

    play_games(engine, seed, look, every=_SAMPLED)


def _check_applied(engine: Engine) -> None:
    """Play every legal action of every game in a copy of its own."""
    game, action = np.nonzero(engine.action_mask)
    copies = engine.select(game)
    before = frozen_arrays(copies)
    try:
        copies.step(action)
    except IllegalActionError as error:
        raise ConformanceError(f"an action in the mask was refused: {error}") from error
    moved = np.zeros(len(game), np.bool_)
    for name, array in copies.state.arrays().items():
        moved |= (array != before[name]).reshape(len(game), -1).any(axis=1)
    if not moved.all():
        still = np.flatnonzero(~moved)[0]
        raise ConformanceError(f"game {game[still]}: {ACTIONS[action[still]]!r} changes nothing")
    require_tiles(copies)


def _check_refused(engine: Engine, game: int, rng: np.random.Generator) -> None:
    before = frozen_arrays(engine)
    for action in (*np.flatnonzero(~engine.action_mask[game]).tolist(), -1, NUM_ACTIONS):
        name = ACTIONS[action] if 0 <= action < NUM_ACTIONS else action
        try:
            engine.step([action], games=[game])
        except IllegalActionError:
            pass
        else:
            raise ConformanceError(f"game {game}: {name!r} is not in the mask, and was not refused")
        changed = changed_array(engine, before)
        if changed:
            raise ConformanceError(f"game {game}: the refused action {name!r} changed {changed}")
    # One wrong action among right ones: the whole step is refused.
    actions = random_actions(engine.action_mask, rng)
    actions[game] = np.flatnonzero(~engine.action_mask[game])[-1]
    try:
        engine.step(actions)
    except IllegalActionError:
        pass
    else:
        raise ConformanceError(f"game {game}: an action that is not in the mask was not refused among legal ones")
    changed = changed_array(engine, before)
    if changed:
        raise ConformanceError(f"an action refused in game {game} changed {changed} in the batch")


def check_legal_actions(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Legal actions are those that phase and tiles allow, less what the variant takes out.

    The common rules are those of common.md#claims, common.md#kongs and common.md#wild-tiles.
    Wins are looked at by `check_scores`.
    """
    engine = make(games, seed=seed)
    play_games(engine, seed, lambda _: _check_possible(engine))


def _check_possible(engine: Engine) -> None:
    state = engine.state
    games = live_games(engine)
    mask, phase = engine.action_mask[games], state.phase[games]
    possible = np.zeros(mask.shape, np.bool_)
    in_turn, claims = phase == Phase.TURN, phase == Phase.CLAIM
    possible[in_turn] = _possible_in_turn(engine, games[in_turn])
    possible[claims] = _possible_claims(engine, games[claims])
    asked = ~in_turn & ~claims
    possible[np.ix_(asked, [WIN, PASS])] = True
    expected = possible.copy()
    expected[in_turn] &= _kept_in_turn(engine, games[in_turn])
    expected[claims] &= _kept_claims(engine, games[claims])
    expected[:, WIN] &= mask[:, WIN]
    for wrong, what in ((mask & ~possible, "legal, but not possible"), (expected & ~mask, "possible, but not legal")):
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise ConformanceError(f"game {games[row]}, seat {state.actor[games[row]]}: {ACTIONS[action]!r} is {what}")
    lacking = {
        "is in its turn and may discard nothing": in_turn & ~mask[:, :NUM_KINDS].any(axis=1),
        "is asked and may not pass": ~in_turn & ~mask[:, PASS],
        "is asked and has nothing to claim": ~in_turn & ~mask[:, :PASS].any(axis=1),
    }
    for what, which in lacking.items():
        if which.any():
            game = games[which][0]
            raise ConformanceError(f"game {game}: seat {state.actor[game]} {what}")


def _possible_in_turn(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the actions that the tiles in the hand allow."""
    state = engine.state
    seat = state.actor[games]
    held = state.hand[games, seat]
    possible = np.zeros((len(games), NUM_ACTIONS), np.bool_)
    possible[:, :CONCEALED_KONG] = held > 0
    pungs = np.where(state.meld_type[games, seat] == MeldType.PUNG, state.meld_kind[games, seat], -1)
    has_pung = (pungs[..., None] == np.arange(NUM_KINDS)).any(axis=1)
    may_kong = ((state.drawn[games] >= 0) & (state.left(games) > 0))[:, None]
    possible[:, CONCEALED_KONG:ADDED_KONG] = (held == 4) & may_kong
    possible[:, ADDED_KONG:CHOW_LOW] = (held > 0) & has_pung & may_kong
    possible[:, WIN] = state.drawn[games] >= 0
    return possible


def _kept_in_turn(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the actions that the rules leave in a turn."""
    copies = engine.select(games)
    state, rows, rules = copies.state, np.arange(len(games)), engine.rules
    state.mask[:] = True
    rules.limit_turn(state, state.seats_to_act(rows))
    kept = state.mask.copy()
    kept[:, CONCEALED_KONG:ADDED_KONG] &= rules.concealed_kong_kinds(state, rows, state.hand[rows, state.actor])
    return kept


def _kept_claims(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the claims for a discard that the rules leave."""
    copies = engine.select(games)
    state, rows, rules = copies.state, np.arange(len(games)), engine.rules
    options = np.full((1, len(games)), -1, np.int8)  # all bits
    rules.limit_claims(state, state.seats(rows, state.actor[None]), options)
    kept = np.ones((len(games), NUM_ACTIONS), np.bool_)
    kept[:, OPTION_ACTIONS] = options[0, :, None] >> np.arange(len(OPTION_ACTIONS)) & 1
    kept[:, KONG] &= rules.adds_discards | (state.natural_hands(rows)[rows, state.actor, state.offered] >= 3)
    return kept


def _possible_claims(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the claims that the tiles in the hand allow."""
    state = engine.state
    seat, kind, giver = state.actor[games], state.offered[games], state.offered_by[games]
    rows = np.arange(len(games))
    natural = state.natural_hands(games)[rows, seat]
    is_dead = kind == state.wild[games]
    is_last = (state.left(games) <= 0) | state.closing[games]
    may_meld = (seat != giver) & ~is_dead & ~is_last
    possible = np.zeros((len(games), NUM_ACTIONS), np.bool_)
    possible[:, PUNG] = may_meld & (natural[rows, kind] >= 2)
    pungs = (state.meld_type[games, seat] == MeldType.PUNG) & (state.meld_kind[games, seat] == kind[:, None])
    possible[:, KONG] = may_meld & ((natural[rows, kind] >= 3) | pungs.any(axis=1))
    is_next = seat == (giver + 1) % engine.num_seats
    for place in range(3):
        run = kind[:, None] - place + np.delete(np.arange(3), place)
        inside = (run >= 0) & (run < NUM_KINDS)
        run = np.where(inside, run, 0)
        has_both = inside.all(axis=1) & (natural[rows[:, None], run] > 0).all(axis=1)
        in_suit = IS_SUITED[kind] & (run // 9 == kind[:, None] // 9).all(axis=1)
        possible[:, CHOW_LOW + place] = may_meld & is_next & has_both & in_suit
    possible[:, WIN] = (seat != giver) & ~is_dead
    possible[:, PASS] = True
    assert CHOW_HIGH == CHOW_LOW + 2
    return possible


def check_length(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Somebody always has a legal action until the hand ends, hands end in time, and matches after their hands."""
    engine = make(games, seed=seed, num_hands=2)
    limit = most_actions(engine.rules)
    actions, hands = np.zeros(games, np.intp), np.zeros(games, np.intp)
    done = np.zeros(games, np.bool_)

    def look(result: StepResult | None) -> None:
        if result is None:
            return
        nonlocal actions, hands, done
        actions = np.where(result.hand_over | done, 0, actions + 1)
        hands += result.hand_over
        done |= result.done
        endless = np.flatnonzero(actions > limit)
        if endless.size:
            raise ConformanceError(f"game {endless[0]}: a hand does not end within {limit} actions")
        if not np.array_equal(done, engine.seat_to_act == NO_SEAT):
            raise ConformanceError("matches that are done wait for an action, or others wait for none")
        if engine.rules.ends_by_hands and (hands > engine.num_hands).any():
            raise ConformanceError(f"a match of {engine.num_hands} hands goes on after them")

    play_games(engine, seed, look)
    if engine.rules.ends_by_hands and not done.all():
        game = np.flatnonzero(~done)[0]
        raise ConformanceError(f"game {game}: {engine.num_hands} hands do not end within {limit} actions each")
