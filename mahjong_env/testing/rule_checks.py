"""Checks of the rules: the mask is exact, its actions are possible, hands and matches end, and points add up."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from mahjong_env.basics.actions import (
    ACTIONS,
    ADDED_KONG,
    CHOW_LOW,
    CONCEALED_KONG,
    KONG,
    NUM_ACTIONS,
    PASS,
    PUNG,
    WIN,
)
from mahjong_env.basics.errors import IllegalActionError
from mahjong_env.basics.notation import MeldType, format_counts
from mahjong_env.basics.tiles import IS_SUITED, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.claim_rules import OPTION_ACTIONS
from mahjong_env.engine.outcome import Outcome
from mahjong_env.scoring.wins import Scores, Source, Wins, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, Phase
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    changed_array,
    frozen_arrays,
    live_games,
    most_actions,
    positions,
    random_actions,
    require,
)
from mahjong_env.testing.table_checks import require_tiles

# --- Masks -----------------------------------------------------------------------------------------------------------


def check_mask_exact(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Every action in the mask is applied, every other one is refused, and a refusal changes nothing."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in positions(engine, seed, every=7):
        if (live := live_games(engine)).size:
            _check_applied(engine)
            for game in rng.choice(live, min(2, len(live)), replace=False):
                _check_refused(engine, int(game), rng)


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
    require(moved, f"{ACTIONS[action[moved.argmin()]]!r} changes nothing", game)
    require_tiles(copies)


def _check_refused(engine: Engine, game: int, rng: np.random.Generator) -> None:
    """Try every illegal action alone, and one among legal ones."""
    before, illegal = frozen_arrays(engine), np.flatnonzero(~engine.action_mask[game]).tolist()
    among_legal = random_actions(engine.action_mask, rng)
    among_legal[game] = illegal[-1]
    alone = [(repr(ACTIONS[action]), action) for action in illegal] + [("-1", -1), (str(NUM_ACTIONS), NUM_ACTIONS)]
    tries: list[tuple[str, Any, Any]] = [(what, [action], [game]) for what, action in alone]
    for what, actions, games in (*tries, (f"{ACTIONS[illegal[-1]]!r} among legal actions", among_legal, None)):
        try:
            engine.step(actions, games)
        except IllegalActionError:
            if changed := changed_array(engine, before):
                raise ConformanceError(f"game {game}: the refusal of {what} changed {changed}") from None
        else:
            raise ConformanceError(f"game {game}: {what} is not in the mask, and was not refused")


def check_legal_actions(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Legal actions are those that phase and tiles allow, less what the variant takes out.

    The common rules are those of common.md#claims, common.md#kongs and common.md#wild-tiles.
    Wins are looked at by `check_scores`.
    """
    engine = make(games, seed=seed)
    for _ in positions(engine, seed):
        _check_possible(engine)


def _check_possible(engine: Engine) -> None:
    state, games = engine.state, live_games(engine)
    mask, phase = engine.action_mask[games], state.phase[games]
    possible = np.zeros(mask.shape, np.bool_)
    in_turn, claims = phase == Phase.TURN, phase == Phase.CLAIM
    possible[in_turn] = _possible_in_turn(engine, games[in_turn])
    possible[claims] = _possible_claims(engine, games[claims])
    possible[np.ix_(~in_turn & ~claims, [WIN, PASS])] = True
    expected = possible.copy()
    expected[in_turn] &= _kept_in_turn(engine, games[in_turn])
    expected[claims] &= _kept_claims(engine, games[claims])
    expected[:, WIN] &= mask[:, WIN]
    for wrong, what in ((mask & ~possible, "legal, but not possible"), (expected & ~mask, "possible, but not legal")):
        if wrong.any():
            row, action = np.argwhere(wrong)[0]
            raise ConformanceError(f"game {games[row]}, seat {state.actor[games[row]]}: {ACTIONS[action]!r} is {what}")
    require(~in_turn | mask[:, :NUM_KINDS].any(axis=1), "the seat in its turn may discard nothing", games)
    require(in_turn | mask[:, PASS], "a seat is asked and may not pass", games)
    require(in_turn | mask[:, :PASS].any(axis=1), "a seat is asked and has nothing to claim", games)


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


def _possible_claims(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the claims that the tiles in the hand allow."""
    state, rows = engine.state, np.arange(len(games))
    seat, kind, giver = state.actor[games], state.offered[games], state.offered_by[games]
    natural = state.natural_hands(games)[rows, seat]
    may_win = (seat != giver) & (kind != state.wild[games])
    may_meld = may_win & (state.left(games) > 0) & ~state.closing[games]
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
    possible[:, WIN] = may_win
    possible[:, PASS] = True
    return possible


def _kept_in_turn(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the actions that the rules leave to seats in their turn."""
    state, rows, rules = engine.select(games).state, np.arange(len(games)), engine.rules
    state.mask[:] = True
    rules.limit_turn(state, state.seats_to_act(rows))
    kept = state.mask.copy()
    kept[:, CONCEALED_KONG:ADDED_KONG] &= rules.concealed_kong_kinds(state, rows, state.hand[rows, state.actor])
    return kept


def _kept_claims(engine: Engine, games: Games) -> BoolArray:
    """[n, 109] the claims that the rules leave to seats that are asked."""
    state, rows, rules = engine.select(games).state, np.arange(len(games)), engine.rules
    options = np.full((1, len(games)), -1, np.int8)  # all bits
    rules.limit_claims(state, state.seats(rows, state.actor[None]), options)
    dead = rules.unclaimable(state, rows)
    if dead is not None:
        options[:, dead] = 0
    kept = np.ones((len(games), NUM_ACTIONS), np.bool_)
    kept[:, OPTION_ACTIONS] = options[0, :, None] >> np.arange(len(OPTION_ACTIONS)) & 1
    kept[:, KONG] &= rules.adds_discards | (state.natural_hands(rows)[rows, state.actor, state.offered] >= 3)
    return kept


# --- Ends ------------------------------------------------------------------------------------------------------------


def check_length(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Somebody always has a legal action until the hand ends, hands end in time, and matches after their hands."""
    engine = make(games, seed=seed, num_hands=2)
    limit, num_hands, ends_by_hands = most_actions(engine.rules), engine.num_hands, engine.rules.ends_by_hands
    actions, hands, done = np.zeros(games, np.intp), np.zeros(games, np.intp), np.zeros(games, np.bool_)
    for result in positions(engine, seed):
        if result is None:
            continue
        actions = np.where(result.hand_over | done, 0, actions + 1)
        hands += result.hand_over
        done |= result.done
        require(actions <= limit, f"a hand does not end within {limit} actions")
        require(done == (engine.seat_to_act == NO_SEAT), "the match is done and waits, or is not and waits for nobody")
        if ends_by_hands:
            require(hands <= num_hands, f"a match of {num_hands} hands goes on after them")
    if ends_by_hands:
        require(done, f"{num_hands} hands do not end within {limit} actions each")


# --- Points ----------------------------------------------------------------------------------------------------------


def check_zero_sum(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Every payment sums to zero, running points are the starting points and all rewards, and outcomes say the same."""
    engine = make(games, seed=seed, num_hands=3)
    points = engine.points.astype(np.int64)
    for result in positions(engine, seed):
        if result is not None:
            require(result.rewards.sum(axis=1) == 0, "rewards do not sum to zero")
            points += result.rewards
            require(points == engine.points, "points of the game are not those paid")
            _check_outcome(engine, result.outcome)


def _check_outcome(engine: Engine, outcome: Outcome) -> None:
    games, sources = outcome.game, {source.word for source in Source}
    require(outcome.points == engine.points[games], "an outcome has other points than the game", games)
    require(outcome.payments.sum(axis=1) == 0, "payments of an outcome do not sum to zero", games)
    for place, game in enumerate(games.tolist()):
        source, payments = outcome.source[place], outcome.payments[place]
        if outcome.winner[place] >= 0:
            if source not in sources:
                raise ConformanceError(f"game {game}: the outcome has a winner, but no source")
        elif payments.any() or outcome.rows[place] or source or outcome.value[place]:
            raise ConformanceError(f"game {game}: the outcome has payments, rows, a source or a value, but no winner")


def check_scores(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Scoring is consistent, on made-up complete hands in the situations of played games.

    A hand that may not win has a reason, no rows and no payments; of one that may, the winner is the only one who
    receives; what a hand scores does not depend on the hands beside it; `Rules.legal` and the mask of the seat to act
    say the same as `Rules.score`.
    """
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    steps = count()
    for _ in positions(engine, seed):
        _check_wins_in_mask(engine)
        if next(steps) % 10 == 0 and (live := live_games(engine)).size:
            wins = _made_up_wins(engine, np.repeat(live, 4), rng)
            if len(wins):
                _check_scores_of(engine, wins, rng)


def _check_wins_in_mask(engine: Engine) -> None:
    """Seats in their turn, and seats that are asked, may win exactly if their hand is complete and scored as legal."""
    state, rules = engine.state, engine.rules
    for phase, source in ((Phase.TURN, Source.DRAW), (Phase.CLAIM, Source.DISCARD), (Phase.ROB, Source.ROBBED_KONG)):
        by_draw = source is Source.DRAW
        tile = state.drawn if by_draw else state.offered
        games = np.flatnonzero((state.phase == phase) & (tile >= 0))
        if not games.size:
            continue
        seats = state.seats(games, state.actor[games])
        wins = wins_from_state(state, seats, tile[games], source, -1 if by_draw else state.offered_by[games])
        kept = _kept_in_turn(engine, games) if by_draw else _kept_claims(engine, games)
        may_win = rules.complete(wins) & rules.score(wins).legal & kept[:, WIN]
        at_once = rules.may_win_at_once(state, seats) if by_draw else None
        if at_once is not None:
            may_win |= at_once
        offered = engine.action_mask[games, WIN]
        require(offered | ~may_win, "a seat may not win with a hand that is complete and legal", games)
        require(may_win | ~offered, "a seat may win with a hand that is not complete and legal", games)


def _made_up_wins(engine: Engine, games: Games, rng: np.random.Generator) -> Wins:
    """Wins with complete hands by all sources; seats, melds and all else are those of the games."""
    state, rules = engine.state, engine.rules
    seat = rng.integers(0, engine.num_seats, len(games))
    wins = wins_from_state(state, state.seats(games, seat), np.zeros(len(games), np.int8), Source.DRAW, -1)
    counts = _complete_hands(rules.sets - wins.own_melds, ~rules.never_melded[:NUM_KINDS], rng)
    row = np.arange(len(games))
    if rules.has_wild:
        has_wild = wins.wild >= 0
        counts[row[has_wild], wins.wild[has_wild]] = 0
        lacking = rules.sets * 3 + 2 - 3 * wins.own_melds - counts.sum(axis=1)
        counts[row[has_wild], wins.wild[has_wild]] = lacking[has_wild]
    wins.counts = counts
    wins.winning_tile = np.where(counts > 0, rng.random(counts.shape), -1).argmax(axis=1).astype(np.int8)
    wins.source = rng.choice([Source.DRAW, Source.DISCARD, Source.ROBBED_KONG], len(games)).astype(np.int8)
    giver = (seat + rng.integers(1, engine.num_seats, len(games))) % engine.num_seats
    by_draw = wins.source == Source.DRAW
    wins.from_seat = np.where(by_draw, -1, giver).astype(np.int8)
    wins.kong_draws, wins.flower_draw = wins.kong_draws * by_draw, wins.flower_draw & by_draw
    wins.first_draw = wins.first_draw & by_draw
    return wins.take((counts <= 4).all(axis=1))


def _complete_hands(sets: Int8Array, kinds: BoolArray, rng: np.random.Generator) -> Int8Array:
    """[n, 34] the given numbers of random sets of these kinds and a pair, sometimes with more than four of a kind."""
    n, row = len(sets), np.arange(len(sets))
    starts = kinds & IS_SUITED[:NUM_KINDS] & (np.arange(NUM_KINDS) % 9 < 7)
    counts = np.zeros((n, NUM_KINDS), np.int8)
    counts[row, rng.choice(np.flatnonzero(kinds), n)] = 2
    for number in range(int(sets.max(initial=0))):
        is_run = rng.random(n) < 0.5
        counts[row, rng.choice(np.flatnonzero(kinds), n)] += np.where((number < sets) & ~is_run, 3, 0).astype(np.int8)
        start = rng.choice(np.flatnonzero(starts), n)
        for step in range(3):
            counts[row, start + step] += ((number < sets) & is_run).astype(np.int8)
    return counts


def _check_scores_of(engine: Engine, wins: Wins, rng: np.random.Generator) -> None:
    rules = engine.rules
    scores = rules.score(wins)
    winner = wins.seat[:, None] == np.arange(engine.num_seats)
    some = rng.permutation(len(wins))[: len(wins) // 2 + 1]
    contradictions: dict[str, Any] = {
        "a hand is legal and has a reason against it, or neither": scores.legal != (scores.reason == 0),
        "a hand that may not win has rows": ~scores.legal & scores.row_count.any(axis=1),
        "a hand that may not win has points": ~scores.legal & (scores.points != 0),
        "a hand that may not win is paid": ~scores.legal & scores.payments.any(axis=1),
        "a hand has less than no points": scores.points < 0,
        "payments do not sum to zero": scores.payments.sum(axis=1, dtype=np.int64) != 0,
        "the winner pays": (scores.payments < 0) & winner,
        "somebody else is paid": (scores.payments > 0) & ~winner,
        "there is no such reason": (scores.reason < 0) | (scores.reason >= len(rules.reasons)),
        "a hand may win and is not complete": scores.legal & ~rules.complete(wins),
        "legal() and score() differ": rules.complete(wins) & (rules.legal(wins) != scores.legal),
        "what a hand scores depends on the hands beside it": _differ(rules.score(wins.take(some)), scores, some),
    }
    for what, found in contradictions.items():
        rows = np.flatnonzero(np.asarray(found).reshape(len(wins), -1).any(axis=1))
        if rows.size:
            row = rows[0]
            raise ConformanceError(
                f"{what}: concealed {format_counts(wins.counts[row])} with winning tile kind {wins.winning_tile[row]}, "
                f"source {Source(wins.source[row]).word}, seat {wins.seat[row]}, {wins.own_melds[row]} melds, "
                f"wild kind {wins.wild[row]}"
            )


def _differ(apart: Scores, scores: Scores, some: Games) -> BoolArray:
    """[n] hands that score otherwise among some of the batch than among all of it."""
    differ = np.zeros(len(scores.legal), np.bool_)
    for name in ("legal", "reason", "row_count", "row_value", "points", "payments"):
        one, other = getattr(apart, name), getattr(scores, name)[some]
        differ[some] |= (one != other).reshape(len(some), -1).any(axis=1)
    return differ
