"""Checks of what seats see: observations keep to their declaration, and nothing hidden shows in them."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from mahjong_env.basics.actions import ACTIONS, PASS
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import Games
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.phases import claims
from mahjong_env.engine.phases.judge import judge_turn
from mahjong_env.engine.phases.masks import write_masks
from mahjong_env.observation.one_seat import MOST_GAMES
from mahjong_env.observation.planes import LAYOUT, PIECES, plane
from mahjong_env.observation.view import View
from mahjong_env.observation.visibility import hidden_entries
from mahjong_env.state.arrays import Phase
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    choose_actions,
    live_games,
    positions,
    require,
    view_differences,
)
from mahjong_env.testing.table_checks import require_books, require_tiles

_SAMPLED = 5  # every how many steps a check looks
_UNWRITTEN = 99  # what stands where nothing has been written yet; in no piece it means anything
_QUESTIONS = (Phase.CLAIM, Phase.ROB, Phase.OPENING)


def check_observation(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Observations have their shape, type and ranges, and say the same as views, masks and the state.

    Small batches are observed in plain Python, and are looked at too.
    """
    for number in {games, min(games, MOST_GAMES)}:
        engine = make(number, seed=seed, num_hands=2)
        for _ in positions(engine, seed, every=_SAMPLED):
            if (live := live_games(engine)).size:
                for person in (None, *range(engine.num_people)):
                    _check_seen(engine, live, person)


def _check_seen(engine: Engine, games: Games, person: int | None) -> None:
    """Check one person's observations; None: those of the persons to act."""
    state, who = engine.state, "the seat to act" if person is None else f"person {person}"
    seen = engine.observe(games, person)
    if seen.shape != (len(games), *engine.observation_shape) or seen.dtype != np.int8:
        raise ConformanceError(f"an observation is {seen.dtype} of shape {seen.shape}")
    low, high = LAYOUT.ranges()
    view = engine.view(games, person)
    for piece in PIECES:
        planes = plane(piece.name)
        numbers = seen[:, planes]
        inside = (numbers >= low[planes]) & (numbers <= high[planes])
        what = f"{who}: {piece.name} is not within its range, or a place that means nothing is not 0"
        require(inside, what, games)
        written = np.full((len(games), piece.planes, NUM_KINDS), _UNWRITTEN, np.int8)
        piece.write(view, written)
        require(written == numbers, f"{who}: observation and view differ in {piece.name}", games)
    require(view.observation == seen, f"{who}: view and observe differ", games)
    seat, sits = state.actor[games], np.ones(len(games), np.bool_)
    if person is not None:
        at = state.person_at[games] == person
        seat, sits = at.argmax(axis=1), at.any(axis=1)
    is_to_act = sits & (seat == state.actor[games])
    mask = engine.action_mask[games] & is_to_act[:, None]
    require(view.action_mask == mask, f"{who}: the mask of the view is not that of the engine", games)
    require(view.hand == state.hand[games, seat] * sits[:, None], f"{who}: the hand is not the seat's own", games)


# --- Leaks -----------------------------------------------------------------------------------------------------------


def check_no_leak(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Whatever a seat cannot see, replaced by noise, leaves its observation, view and legal actions unchanged.

    What it cannot see is taken from the declaration of the state's arrays (``seen_by`` in `mahjong_env.state.arrays`,
    read by `mahjong_env.observation.visibility`). Legal actions are worked out anew with other hidden tiles. And nobody
    sees that somebody else has been asked and has passed.
    """
    engine = make(games, seed=seed, num_hands=2)
    rng = np.random.default_rng(seed)
    for _ in positions(engine, seed, every=_SAMPLED, first=_SAMPLED - 1):
        if not (live := live_games(engine)).size:
            continue
        for person in range(engine.num_people):
            twin = engine.select(live)
            before = twin.view(seats=person)
            _replace_hidden(twin, person, rng)
            _require_same_view(before, twin, live, person)
            _check_masks(engine, live, person, rng)
        _check_passes(engine, live)


def _require_same_view(before: View, twin: Engine, games: Games, person: int) -> None:
    """Raise `ConformanceError` unless a person sees in ``twin`` what was seen ``before``."""
    what = f"person {person} sees what it cannot know, in"
    for name, rows in view_differences(before, twin.view(seats=person)):
        raise ConformanceError(f"game {games[rows[0]]}: {what} {name}")
    require(twin.observe(seats=person) == before.observation, f"{what} observe()", games)


def _replace_hidden(engine: Engine, person: int, rng: np.random.Generator) -> None:
    """Put noise wherever a person cannot see."""
    state = engine.state
    games, sits = np.arange(engine.num_games), state.person_at == person
    seat, present = sits.argmax(axis=1), sits.any(axis=1)
    is_asked = (state.actor == seat) & present
    # Whether and what others are asked about a claim is not seen; a person who is asked knows that.
    elsewhere = (state.actor + rng.integers(1, engine.num_seats, len(games))) % engine.num_seats
    unknown = (state.phase != Phase.TURN) & ~is_asked & ~sits[games, elsewhere]
    state.actor[unknown] = elsewhere[unknown]
    for name, hidden in hidden_entries(state, engine.rules, games, seat, present).items():
        array = getattr(state, name)
        # Numbers that occur in hands, codes, walls and masks.
        noise = rng.integers(0, 2 if array.dtype == np.bool_ else 4, array.shape).astype(array.dtype)
        array[hidden] = noise[hidden]


def _check_masks(engine: Engine, games: Games, person: int, rng: np.random.Generator) -> None:
    """Check that a person's legal actions follow from what it sees: they are the same with other hidden tiles."""
    asked = games[engine.seat_to_act[games] == person]
    if not asked.size:
        return
    twin = engine.select(asked)
    twin.resample_hidden(person, rng)
    state, context, everyone = twin.state, twin._context, np.arange(twin.num_games)
    drawn = everyone[(state.phase == Phase.TURN) & (state.drawn >= 0)]
    judge_turn(context, state.seats_to_act(drawn), unflagged=True)
    claims.ask_again(context, everyone[np.isin(state.phase, _QUESTIONS)], keeps_own=False)
    write_masks(context, everyone)
    wrong = np.argwhere(twin.action_mask != engine.action_mask[asked])
    if wrong.size:
        row, action = wrong[0]
        what = f"whether person {person} may {ACTIONS[action]!r} depends on what it cannot know"
        raise ConformanceError(f"game {asked[row]}: {what}")


def _check_passes(engine: Engine, games: Games) -> None:
    """A pass is seen by nobody: a seat that is neither asked nor next in turn sees the same after it."""
    state = engine.state
    games = games[np.isin(state.phase[games], _QUESTIONS) & (state.best_precedence[games] == 0)]
    if not games.size:
        return
    twin = engine.select(games)
    before = [twin.view(seats=person) for person in range(twin.num_people)]
    knows = np.zeros((len(games), twin.num_people), np.bool_)
    over = np.zeros(len(games), np.bool_)
    while (waiting := np.flatnonzero(np.isin(twin.state.phase, _QUESTIONS) & ~over)).size:
        knows[waiting, twin.seat_to_act[waiting]] = True
        over[waiting] |= twin.step(np.full(len(waiting), PASS), games=waiting).hand_over
    for person, seen in enumerate(before):
        rows = np.flatnonzero(~knows[:, person] & (twin.seat_to_act != person) & ~over)
        for name, where in view_differences(seen.take(rows), twin.view(seats=person).take(rows)):
            game = games[rows[where[0]]]
            raise ConformanceError(f"game {game}: person {person} sees that others have passed, in {name}")


def check_resampling(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """`Engine.resample_hidden` changes what a seat cannot see, nothing that it sees, and leaves games that go on."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    persons = cycle(range(engine.num_people))
    for _ in positions(engine, seed, every=_SAMPLED, first=_SAMPLED - 1):
        if (live := live_games(engine)).size:
            _check_resampled(engine, live, next(persons), rng)


def _check_resampled(engine: Engine, games: Games, person: int, rng: np.random.Generator) -> None:
    twin = engine.select(games)
    before = twin.view(seats=person)
    twin.resample_hidden(person, rng)
    _require_same_view(before, twin, games, person)
    require_tiles(twin)
    require_books(twin)
    is_same = np.array_equal(engine.state.wall[games], twin.state.wall)
    if len(games) > 1 and is_same and np.array_equal(engine.state.hand[games], twin.state.hand):
        raise ConformanceError(f"person {person}: resampling what is hidden changes nothing")
    for _ in range(4):
        if live_games(twin).size:
            twin.step(choose_actions(twin, rng))
            require_tiles(twin)
