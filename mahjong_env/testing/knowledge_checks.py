"""Checks of what seats see: observations keep to their declaration, and nothing hidden shows in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.observation.planes import FACTS, PIECES, SLOTS, plane
from mahjong_env.observation.view import View
from mahjong_env.state.arrays import MAX_MELDS, MELD_PLACES, NO_SEAT, Phase, array_fields
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    choose_actions,
    live_games,
    play_games,
    view_differences,
)
from mahjong_env.testing.table_checks import require_books, require_tiles

_SAMPLED = 5  # every so many steps, a check that is dear looks

# The least and the greatest number in each piece of the observation (PIECES says what they mean).
_RANGES = {
    "hand": (0, 4),
    "drawn": (0, 1),
    "offered": (0, 1),
    "wild": (0, 1),
    "indicator": (0, 1),
    "hidden_kongs": (0, 4),
    "table": (0, 127),
    "flowers": (0, 4),
    "melds": (0, NUM_KINDS),
    "facts": (-127, 127),
    "points": (-127, 127),
    "legal_discards": (0, 1),
    "legal_concealed_kongs": (0, 1),
    "legal_added_kongs": (0, 1),
    "legal_claims": (0, 1),
}
_ONE_TILE = ("drawn", "offered", "wild", "indicator")


def check_observation(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Observations have their shape, type and ranges, and say the same as views, masks and the state."""
    engine = make(games, seed=seed, num_hands=2)
    turns = 0

    def look(_: StepResult | None) -> None:
        nonlocal turns
        turns += 1
        live = live_games(engine)
        if turns % _SAMPLED == 1 and live.size:
            for person in (None, *range(engine.num_people)):
                _check_seen(engine, live, person)

    play_games(engine, seed, look)


def _check_seen(engine: Engine, games: Games, person: int | None) -> None:
    """What one person sees in each game; None: the person who is to act."""
    seen = engine.observe(games, person)
    if seen.shape != (len(games), *engine.observation_shape) or seen.dtype != np.int8:
        raise ConformanceError(f"an observation is {seen.dtype} of shape {seen.shape}")
    pieces = {piece.name: seen[:, plane(piece.name)] for piece in PIECES}
    for name, (low, high) in _RANGES.items():
        _require((pieces[name] >= low) & (pieces[name] <= high), games, person, f"{name} is not within {low} to {high}")
    for name in _ONE_TILE:
        _require(pieces[name].sum(axis=(1, 2)) <= 1, games, person, f"{name} marks several tiles")
    _require(np.isin(pieces["hidden_kongs"], (0, 4)), games, person, "hidden_kongs are not whole kongs")
    _require(_unused(pieces, engine) == 0, games, person, "places that mean nothing are not 0")

    view = engine.view(games, person)
    if not np.array_equal(view.observation, seen):
        raise ConformanceError(f"{_who(person)}: view and observe differ")
    for name, (in_planes, in_view) in _seen_twice(pieces, view).items():
        _require(in_planes == in_view, games, person, f"observation and view differ in {name}")
    people = engine.num_people if person is not None else 0
    is_to_act = engine.seat_to_act[games] == person if people else np.ones(len(games), np.bool_)
    mask = engine.action_mask[games] & is_to_act[:, None]
    _require(view.action_mask == mask, games, person, "the mask of the view is not that of the engine")
    sits = (engine.state.person_at[games] == person).any(axis=1) if people else is_to_act
    seat = (engine.state.person_at[games] == person).argmax(axis=1) if people else engine.state.actor[games]
    own = engine.state.hand[games, seat] * sits[:, None]
    _require(view.hand == own, games, person, "the hand is not the seat's own")


def _unused(pieces: dict[str, Int8Array], engine: Engine) -> Int8Array:
    """[n, ...] the numbers that the declaration leaves at 0."""
    n = len(pieces["hand"])
    facts = pieces["facts"][:, 0, len(FACTS) - (3 - len(engine.rules.marks)) * SLOTS :]
    melds = pieces["melds"].reshape(n, SLOTS, NUM_KINDS)
    in_melds = melds[..., : MAX_MELDS * MELD_PLACES].reshape(n, SLOTS, MAX_MELDS, MELD_PLACES)[..., 4:]
    unused = [facts, in_melds, melds[..., MAX_MELDS * MELD_PLACES :], pieces["points"][:, 0, 2 * SLOTS :]]
    unused.append(pieces["flowers"][..., NUM_ALL_KINDS - NUM_KINDS : FIRST_HONOUR])
    if engine.num_seats == 3:
        unused += [pieces["table"].reshape(n, SLOTS, -1)[:, 2], melds[:, 2], pieces["flowers"][:, 2]]
    return np.concatenate([part.reshape(n, -1) for part in unused], axis=1)


def _seen_twice(pieces: dict[str, Int8Array], view: View) -> dict[str, tuple[Any, Any]]:
    """Facts that stand both in the planes and in the arrays of a view."""
    n = len(view)
    table = pieces["table"].reshape(n, SLOTS, -1, NUM_KINDS)
    melds = pieces["melds"][..., : MAX_MELDS * MELD_PLACES].reshape(n, SLOTS, MAX_MELDS, MELD_PLACES)
    claims = pieces["legal_claims"][:, 0, : view.action_mask.shape[1] - CHOW_LOW]
    facts = pieces["facts"][:, 0]
    hundreds, rest = pieces["points"][:, 0, :SLOTS], pieces["points"][:, 0, SLOTS : 2 * SLOTS]
    in_range = abs(view.points) < 12700
    return {
        "hand": (pieces["hand"][:, 0], view.hand),
        "drawn": (pieces["drawn"][:, 0], view.drawn[:, None] == np.arange(NUM_KINDS)),
        "offered": (pieces["offered"][:, 0], view.offered[:, None] == np.arange(NUM_KINDS)),
        "wild": (pieces["wild"][:, 0], view.wild[:, None] == np.arange(NUM_KINDS)),
        "discards": (table[:, :, 0], view.discards),
        "latest discards": (table[:, :, 1], view.latest),
        "melded tiles": (table[:, :, 2], view.melded),
        "types of melds": (melds[..., 0], view.meld_type),
        "kinds of melds": (_shown(melds[..., 1] - 1, melds), _shown(view.meld_kind, melds)),
        "tiles left": (facts[:, 1], view.left),
        "points": (np.where(in_range, 100 * hundreds.astype(np.int32) + rest, 0), np.where(in_range, view.points, 0)),
        "legal discards": (pieces["legal_discards"][:, 0], view.action_mask[:, :CONCEALED_KONG]),
        "legal concealed kongs": (
            pieces["legal_concealed_kongs"][:, 0],
            view.action_mask[:, CONCEALED_KONG:ADDED_KONG],
        ),
        "legal added kongs": (pieces["legal_added_kongs"][:, 0], view.action_mask[:, ADDED_KONG:CHOW_LOW]),
        "legal claims": (claims, view.action_mask[:, CHOW_LOW:]),
    }


def _shown(kinds: Int8Array, melds: Int8Array) -> Int8Array:
    """The kinds of melds that all may see; a hidden kong's kind stands in a plane of its own."""
    return np.where(melds[..., 1] > 0, kinds, -1)


def _who(person: int | None) -> str:
    return "the seat to act" if person is None else f"person {person}"


def _require(holds: Any, games: Games, person: int | None, what: str) -> None:
    wrong = np.flatnonzero(~np.asarray(holds, np.bool_).reshape(len(games), -1).all(axis=1))
    if wrong.size:
        raise ConformanceError(f"game {games[wrong[0]]}, {_who(person)}: {what}")


# --- Leaks -------------------------------------------------------------------------------------------------------


def check_no_leak(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Whatever a seat cannot see, replaced by noise, leaves its observation, view and legal actions unchanged.

    What it cannot see is taken from the declaration of the state's arrays (``seen_by`` in `mahjong_env.state.arrays`).
    """
    engine = make(games, seed=seed, num_hands=2)
    rng = np.random.default_rng(seed)
    turns = 0

    def look(_: StepResult | None) -> None:
        nonlocal turns
        turns += 1
        live = live_games(engine)
        if turns % _SAMPLED == 0 and live.size:
            for person in range(engine.num_people):
                twin = engine.select(live)
                before = twin.view(seats=person)
                _replace_hidden(twin, person, rng)
                _require_same_view(before, twin, live, person)

    play_games(engine, seed, look)


def _require_same_view(before: View, twin: Engine, games: Games, person: int) -> None:
    """Raise `ConformanceError` unless a person sees in ``twin`` what was seen ``before``."""
    observed = np.flatnonzero((twin.observe(seats=person) != before.observation).any(axis=(1, 2)))
    differences = view_differences(before, twin.view(seats=person))
    if observed.size:
        differences.append(("observe()", observed))
    for name, rows in differences:
        raise ConformanceError(f"game {games[rows[0]]}: person {person} sees what it cannot know, in {name}")


def _replace_hidden(engine: Engine, person: int, rng: np.random.Generator) -> None:
    """Put noise wherever a person cannot see."""
    state = engine.state
    games = np.arange(engine.num_games)
    sits = state.person_at == person
    others = ~sits
    in_turn = state.phase == Phase.TURN
    own_turn = sits[games, state.turn]
    is_asked = sits[games, np.maximum(state.actor, 0)] & (state.actor != NO_SEAT)
    _hide_kongs(engine, others, rng)
    # Whether and what others are asked about a claim is not seen; a person who is asked knows that.
    elsewhere = (state.actor + rng.integers(1, engine.num_seats, len(games))) % engine.num_seats
    unknown = ~in_turn & ~is_asked & ~sits[games, elsewhere]
    state.actor[unknown] = elsewhere[unknown]
    for item in array_fields():
        array, who = getattr(state, item.name), item.metadata["seen_by"]
        by_seat = item.metadata["axes"].startswith("BS")
        if who == "nobody" or (who == "engine" and not by_seat and item.name != "mask"):
            hidden: BoolArray = np.ones(array.shape, np.bool_)
        elif who in ("owner", "engine") and by_seat:
            hidden = np.broadcast_to(others.reshape(*others.shape, *[1] * (array.ndim - 2)), array.shape)
        elif who == "owner of turn":
            hidden = ~own_turn
        elif item.name == "mask":
            hidden = np.broadcast_to(~is_asked[:, None], array.shape)
        else:
            continue
        array[hidden] = _noise(array, rng)[hidden]


def _noise(array: Any, rng: np.random.Generator) -> Any:
    """Numbers that occur in hands, codes, walls and masks."""
    return rng.integers(0, 2 if array.dtype == np.bool_ else 4, array.shape).astype(array.dtype)


def _hide_kongs(engine: Engine, others: BoolArray, rng: np.random.Generator) -> None:
    """Other kinds for the concealed kongs of other seats, where they are hidden."""
    if not engine.rules.hides_concealed_kongs:
        return
    state = engine.state
    hidden = (state.meld_type == MeldType.CONCEALED_KONG) & others[..., None]
    state.meld_kind[hidden] = _noise(state.meld_kind, rng)[hidden]


def check_resampling(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """`Engine.resample_hidden` changes what a seat cannot see, nothing that it sees, and leaves games that go on."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    turns = 0

    def look(_: StepResult | None) -> None:
        nonlocal turns
        turns += 1
        live = live_games(engine)
        if turns % _SAMPLED == 0 and live.size:
            _check_resampled(engine, live, turns // _SAMPLED % engine.num_people, rng)

    play_games(engine, seed, look)


def _check_resampled(engine: Engine, games: Games, person: int, rng: np.random.Generator) -> None:
    twin = engine.select(games)
    before = twin.view(seats=person)
    twin.resample_hidden(person, rng)
    _require_same_view(before, twin, games, person)
    require_tiles(twin)
    require_books(twin)
    hidden = engine.state.wall[games] == twin.state.wall
    hands = (engine.state.hand[games] == twin.state.hand).all(axis=(1, 2))
    if len(games) > 1 and hidden.all() and hands.all():
        raise ConformanceError(f"person {person}: resampling what is hidden changes nothing")
    for _ in range(4):
        if live_games(twin).size:
            twin.step(choose_actions(twin, rng))
            require_tiles(twin)
