"""Checks of points: payments sum to zero, and what scoring says of a hand fits together."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from mahjong_env.basics.actions import WIN
from mahjong_env.basics.notation import format_counts
from mahjong_env.basics.tiles import IS_SUITED, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.claim_rules import MAY_WIN
from mahjong_env.engine.outcome import Outcome, StepResult
from mahjong_env.scoring.wins import Scores, Source, Wins, wins_from_state
from mahjong_env.state.arrays import Phase
from mahjong_env.testing.play import ConformanceError, MakeEngine, live_games, play_games

_WORDS = {source.word for source in Source}
_SAMPLED = 10  # every how many steps hands are made up


def check_zero_sum(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Every payment sums to zero, running points are the starting points and all rewards, and outcomes say the same."""
    engine = make(games, seed=seed, num_hands=3)
    points = engine.points.astype(np.int64)

    def look(result: StepResult | None) -> None:
        if result is None:
            return
        nonlocal points
        wrong = np.flatnonzero(result.rewards.sum(axis=1))
        if wrong.size:
            raise ConformanceError(f"game {wrong[0]}: rewards {result.rewards[wrong[0]].tolist()} do not sum to zero")
        points = points + result.rewards
        off = np.argwhere(points != engine.points)
        if off.size:
            raise ConformanceError(f"game {off[0][0]}: points {engine.points[off[0][0]]} are not those paid")
        _check_outcome(engine, result.outcome)

    play_games(engine, seed, look)


def _check_outcome(engine: Engine, outcome: Outcome) -> None:
    if not np.array_equal(outcome.points, engine.points[outcome.game]):
        raise ConformanceError("an outcome has other points than the game")
    for place, game in enumerate(outcome.game.tolist()):
        payments, rows = outcome.payments[place], outcome.rows[place]
        where = f"game {game}: the outcome has"
        if payments.sum():
            raise ConformanceError(f"{where} payments {payments.tolist()}, which do not sum to zero")
        won = outcome.winner[place] >= 0
        if not won and (payments.any() or rows or outcome.source[place] or outcome.value[place]):
            raise ConformanceError(f"{where} payments, rows, a source or a value, but no winner")
        if won and outcome.source[place] not in _WORDS:
            raise ConformanceError(f"{where} a winner, but no source")


def check_scores(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Scoring is consistent, on made-up complete hands in the situations of played games.

    A hand that may not win has a reason, no rows and no payments; of one that may, the winner is the only one who
    receives; what a hand scores does not depend on the hands beside it; `Rules.legal` and the mask of the seat to act
    say the same as `Rules.score`.
    """
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    turns = count()

    def look(_: StepResult | None) -> None:
        _check_wins_in_mask(engine)
        live = live_games(engine)
        if next(turns) % _SAMPLED == 0 and live.size:
            wins = _made_up_wins(engine, np.repeat(live, 4), rng)
            if len(wins):
                _check_scores_of(engine, wins, rng)

    play_games(engine, seed, look)


def _check_wins_in_mask(engine: Engine) -> None:
    """Seats in their turn, and seats that are asked, may win exactly if their hand is complete and scored as legal."""
    state, rules = engine.state, engine.rules
    for phase, source in ((Phase.TURN, Source.DRAW), (Phase.CLAIM, Source.DISCARD), (Phase.ROB, Source.ROBBED_KONG)):
        by_draw = source is Source.DRAW
        tile = state.drawn if by_draw else state.offered
        games = np.flatnonzero((state.phase == phase) & (tile >= 0))
        if not games.size:
            continue
        seat = state.actor[games]
        wins = wins_from_state(
            state, state.seats(games, seat), tile[games], source, -1 if by_draw else state.offered_by[games]
        )
        may_win = rules.complete(wins) & rules.score(wins).legal
        may_win &= _not_taken_out(engine, games, seat, by_draw=by_draw)
        at_once = rules.may_win_at_once(state, state.seats(games, seat)) if by_draw else None
        if at_once is not None:
            may_win |= at_once
        wrong = np.flatnonzero(may_win != engine.action_mask[games, WIN])
        if wrong.size:
            what = "may not win with a hand that is" if may_win[wrong[0]] else "may win with a hand that is not"
            raise ConformanceError(f"game {games[wrong[0]]}, seat {seat[wrong[0]]} {what} complete and legal")


def _not_taken_out(engine: Engine, games: Games, seat: Int8Array, *, by_draw: bool) -> BoolArray:
    """[n] seats whose win the rules do not take out of the mask by `limit_turn`, `limit_claims` or `unclaimable`."""
    copies = engine.select(games)
    state, rows = copies.state, np.arange(len(games))
    if by_draw:
        state.mask[:] = True
        engine.rules.limit_turn(state, state.seats(rows, seat))
        return state.mask[:, WIN].copy()
    options = np.full((1, len(games)), MAY_WIN)
    engine.rules.limit_claims(state, state.seats(rows, seat[None]), options)
    dead = engine.rules.unclaimable(state, rows)
    if dead is not None:
        options[:, dead] = 0
    return np.asarray(options[0] > 0)


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
    wins.from_seat = np.where(wins.source == Source.DRAW, -1, giver).astype(np.int8)
    by_draw = wins.source == Source.DRAW
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
    }
    some = rng.permutation(len(wins))[: len(wins) // 2 + 1]
    contradictions["what a hand scores depends on the hands beside it"] = _differ(
        rules.score(wins.take(some)), scores, some
    )
    for what, found in contradictions.items():
        rows = np.flatnonzero(np.asarray(found).reshape(len(wins), -1).any(axis=1))
        if rows.size:
            raise ConformanceError(f"{what}: {_describe(wins, int(rows[0]))}")


def _differ(apart: Scores, scores: Scores, some: Games) -> BoolArray:
    """[n] hands that score otherwise among some of the batch than among all of it."""
    differ = np.zeros(len(scores.legal), np.bool_)
    for name in ("legal", "reason", "row_count", "row_value", "points", "payments"):
        one, other = getattr(apart, name), getattr(scores, name)[some]
        differ[some] |= (one != other).reshape(len(some), -1).any(axis=1)
    return differ


def _describe(wins: Wins, place: int) -> str:
    """One win in words."""
    return (
        f"concealed {format_counts(wins.counts[place])} with winning tile kind {wins.winning_tile[place]}, "
        f"source {Source(wins.source[place]).word}, seat {wins.seat[place]}, {wins.own_melds[place]} melds, "
        f"wild kind {wins.wild[place]}"
    )
