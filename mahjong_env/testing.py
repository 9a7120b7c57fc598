"""The conformance kit: what every variant, and every engine built on one, has to satisfy.

Each check plays random games and raises `ConformanceError` with the game, the seat and what was found. ``make`` is
anything that makes an engine: ``make(num_games, seed=..., **options)``. Run all of them with `check_variant`::

    from mahjong_env.testing import check_variant
    check_variant("hebei", cap=8)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np

from mahjong_env.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.engine import Engine, make_engine
from mahjong_env.errors import IllegalActionError
from mahjong_env.notation import Meld, MeldType, count_tiles, format_counts, parse_meld, parse_tiles
from mahjong_env.ruleset import Rules
from mahjong_env.snapshot import Snapshot
from mahjong_env.state import NO_SEAT, Phase
from mahjong_env.tiles import NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.types import BoolArray, Games, Int64Array

MAX_ACTIONS_PER_HAND: Final = 1200
"""No hand takes more actions than this: 84 tiles to draw, and at most a few answers to each discard."""


class ConformanceError(AssertionError):
    """A check of the kit failed; the message is a reproducible description."""


class MakeEngine(Protocol):
    """Makes the engine that is checked."""

    def __call__(self, num_games: int, *, seed: int, **options: Any) -> Engine:
        """An engine of so many games."""


def check_variant(variant: str | Rules, *, games: int = 32, seed: int = 0, **knobs: Any) -> None:
    """Run every check of the kit on a variant.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        games: games played by each check.
        seed: where their cards come from.
        **knobs: house rules.

    Raises:
        ConformanceError: the first check that fails.
    """

    def make(num_games: int, *, seed: int, **options: Any) -> Engine:
        return make_engine(variant, num_games, seed=seed, **options, **knobs)

    for check in CHECKS:
        check(make, games=games, seed=seed)


def random_actions(mask: BoolArray, rng: np.random.Generator) -> Int64Array:
    """[B] a random legal action for each row of a mask; 0 where none is legal."""
    return np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)


# --- Tiles and points ------------------------------------------------------------------------------------------


def count_all_tiles(engine: Engine) -> Int64Array:
    """[B, 42] tiles of each kind in hands, melds, flowers, discards, wall and the tile turned up."""
    state = engine.state
    games = engine.num_games
    counts = np.zeros((games, NUM_ALL_KINDS), np.int64)
    counts += state.flowers.sum(axis=1)
    counts[:, :NUM_KINDS] += state.hand.sum(axis=1)
    row, seat, place = np.nonzero(state.river >= 0)
    np.add.at(counts, (row, state.river[row, seat, place]), 1)
    for meld_type, steps, size in (
        (MeldType.CHOW, (0, 1, 2), 1),
        (MeldType.PUNG, (0,), 3),
        (MeldType.EXPOSED_KONG, (0,), 4),
        (MeldType.ADDED_KONG, (0,), 4),
        (MeldType.CONCEALED_KONG, (0,), 4),
    ):
        row, seat, place = np.nonzero(state.meld_type == meld_type)
        for step in steps:
            np.add.at(counts, (row, state.meld_kind[row, seat, place] + step), size)
    places = np.arange(state.wall.shape[1])
    inside = (places >= state.front[:, None]) & (places < state.wall.shape[1] - state.back[:, None])
    row, place = np.nonzero(inside)
    np.add.at(counts, (row, state.wall[row, place]), 1)
    turned = np.flatnonzero(state.indicator >= 0)
    counts[turned, state.indicator[turned]] += 1
    # A tile that is being robbed is in no hand and not yet in a meld.
    robbed = np.flatnonzero(state.phase == Phase.ROB)
    counts[robbed, state.offered[robbed]] += 1
    return counts


def check_tiles_conserved(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """No tile appears or vanishes, and codes and public planes say the same as hands and melds."""
    engine = make(games, seed=seed, num_hands=2)
    deck = engine.rules.deck

    def look(_: Any) -> None:
        live = engine.seat_to_act != NO_SEAT
        wrong = np.argwhere((count_all_tiles(engine) != deck) & live[:, None])
        if wrong.size:
            game, kind = wrong[0]
            have = count_all_tiles(engine)[game, kind]
            raise ConformanceError(f"game {game}: {have} tiles of kind {kind} instead of {deck[kind]}")
        _check_hand_sizes(engine, live)

    play_random(engine, seed, look)


def _check_hand_sizes(engine: Engine, live: BoolArray) -> None:
    state = engine.state
    size = state.hand.sum(axis=2) + 3 * state.num_melds
    wanted = np.full(size.shape, engine.rules.hand_size)
    holding = np.flatnonzero((state.phase == Phase.TURN) | (state.phase == Phase.OPENING))
    wanted[holding, state.turn[holding]] += 1
    wrong = np.argwhere((size != wanted) & live[:, None])
    if wrong.size:
        game, seat = wrong[0]
        raise ConformanceError(f"game {game}, seat {seat}: {size[game, seat]} tiles instead of {wanted[game, seat]}")


def check_zero_sum(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Every payment sums to zero, and running points are the starting points and all rewards."""
    engine = make(games, seed=seed, num_hands=3)
    points = engine.points.astype(np.int64)

    def look(result: Any) -> None:
        nonlocal points
        if result is None:
            return
        wrong = np.flatnonzero(result.rewards.sum(axis=1))
        if wrong.size:
            raise ConformanceError(f"game {wrong[0]}: rewards {result.rewards[wrong[0]].tolist()} do not sum to zero")
        points = points + result.rewards
        off = np.argwhere(points != engine.points)
        if off.size:
            raise ConformanceError(f"game {off[0][0]}: points {engine.points[off[0][0]]} are not those paid")

    play_random(engine, seed, look)


# --- Actions -----------------------------------------------------------------------------------------------------


def check_mask_exact(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Every action in the mask is applied, every other is refused, and a refusal changes nothing."""
    engine = make(games, seed=seed)
    rng = np.random.default_rng(seed)
    turns = 0

    def look(_: Any) -> None:
        nonlocal turns
        turns += 1
        if turns % 7 != 1:
            return
        game, action = np.nonzero(engine.action_mask)
        try:
            engine.select(game).step(action)
        except IllegalActionError as error:
            raise ConformanceError(f"an action in the mask was refused: {error}") from error
        live = np.flatnonzero(engine.seat_to_act != NO_SEAT)
        for number in rng.choice(live, min(2, len(live)), replace=False):
            _check_refusals(engine, int(number))

    play_random(engine, seed, look)


def _check_refusals(engine: Engine, game: int) -> None:
    before = {name: array.copy() for name, array in engine.state.arrays().items()}
    for action in np.flatnonzero(~engine.action_mask[game]):
        try:
            engine.step([action], games=[game])
        except IllegalActionError:
            pass
        else:
            raise ConformanceError(f"game {game}: {ACTIONS[action]!r} is not in the mask, and was not refused")
    for name, array in engine.state.arrays().items():
        if not np.array_equal(array, before[name]):
            raise ConformanceError(f"game {game}: a refused action changed {name}")


def check_length(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Somebody always has a legal action until the end, and the end comes."""
    engine = make(games, seed=seed)
    play_random(engine, seed, lambda _: None)


# --- Chance ------------------------------------------------------------------------------------------------------


def check_seeds(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """The same seed and actions give the same games; another seed gives others; the next hands are others again."""
    first, second = make(games, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    _play_together(first, second, seed, np.arange(games), "the same seed")
    other = make(games, seed=seed + 1)
    fresh = make(games, seed=seed)
    if np.array_equal(other.state.wall, fresh.state.wall):
        raise ConformanceError("another seed deals the same cards")
    walls = fresh.state.wall.copy()
    fresh.reset()
    if np.array_equal(walls, fresh.state.wall):
        raise ConformanceError("the next hands of a seed are the same as the first")
    fresh.reset(seed=seed)
    if not np.array_equal(walls, fresh.state.wall):
        raise ConformanceError("a seed that is set anew deals other cards")


def check_batch_independent(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """A game alone is the same as inside any batch."""
    batch = make(games, seed=seed, num_hands=2)
    alone = make(1, seed=seed, num_hands=2)
    _play_together(alone, batch, seed, np.arange(1), "a game alone")
    batch, part = make(games, seed=seed), make(games, seed=seed).select(np.arange(games)[::-2])
    _play_together(part, batch, seed, np.arange(games)[::-2], "selected games")


def _play_together(small: Engine, big: Engine, seed: int, games: Games, what: str) -> None:
    """Play the same actions in ``small`` and in ``games`` of ``big`` (whose other games play at random)."""
    rng = np.random.default_rng(seed)
    for _ in range(MAX_ACTIONS_PER_HAND * 2):
        if (small.seat_to_act == NO_SEAT).all():
            return
        actions = random_actions(big.action_mask, rng)
        ours, theirs = small.step(actions[games]), big.step(actions)
        if not np.array_equal(ours.rewards, theirs.rewards[games]):
            raise ConformanceError(f"{what}: rewards differ")
        for name, array in small.state.arrays().items():
            if not np.array_equal(array, getattr(big.state, name)[games]):
                raise ConformanceError(f"{what}: {name} differs")


# --- Knowledge and copies ------------------------------------------------------------------------------------------


def check_no_leak(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Permuting all that a seat cannot see leaves its observation and its legal actions unchanged."""
    engine = make(games, seed=seed, num_hands=2)
    rng = np.random.default_rng(seed)
    turns = 0

    def look(_: Any) -> None:
        nonlocal turns
        turns += 1
        if turns % 5:
            return
        live = np.flatnonzero(engine.seat_to_act != NO_SEAT)
        for seat in range(engine.num_people):
            twin = engine.select(live)
            before = twin.observe(seats=seat)
            twin.resample_hidden(seat, rng)
            after = twin.observe(seats=seat)
            changed = np.argwhere(before != after)
            if changed.size:
                game, plane, place = changed[0]
                raise ConformanceError(
                    f"game {live[game]}: seat {seat} sees what it cannot know (plane {plane}, place {place})"
                )

    play_random(engine, seed, look)


def check_snapshots(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Snapshot, bytes and restore change nothing: the games go on the same."""
    engine, twin = make(games, seed=seed, num_hands=2), make(games, seed=seed + 1, num_hands=2)
    rng = np.random.default_rng(seed)
    for _ in range(40):
        engine.step(random_actions(engine.action_mask, rng))
    data = engine.snapshot().to_bytes()
    twin.restore(Snapshot.from_bytes(data))
    if twin.snapshot().to_bytes() != data:
        raise ConformanceError("a restored engine gives another snapshot")
    _play_together(twin, engine, seed, np.arange(games), "a restored engine")


def check_notation(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Hands and melds of played games, written and read again, are the same."""
    engine = make(games, seed=seed)

    def look(_: Any) -> None:
        state = engine.state
        for game in range(0, games, 8):
            for seat in range(engine.num_seats):
                hand = state.hand[game, seat]
                if not np.array_equal(count_tiles(parse_tiles(format_counts(hand))), hand):
                    raise ConformanceError(
                        f"game {game}: the hand {format_counts(hand)} does not read as it was written"
                    )
                for place in range(state.num_melds[game, seat]):
                    meld = Meld(
                        MeldType(state.meld_type[game, seat, place]),
                        int(state.meld_kind[game, seat, place]),
                        int(state.meld_from[game, seat, place]),
                    )
                    if parse_meld(str(meld)) != meld:
                        raise ConformanceError(f"game {game}: the meld {meld} does not read as it was written")

    play_random(engine, seed, look)


def play_random(engine: Engine, seed: int, look: Callable[[Any], None]) -> None:
    """Play every game to the end of its match at random; ``look`` is called before the first and after each step.

    Raises:
        ConformanceError: a game waits for an action and has none, or does not end.
    """
    rng = np.random.default_rng(seed)
    look(None)
    for _ in range(MAX_ACTIONS_PER_HAND * engine.num_hands):
        live = engine.seat_to_act != NO_SEAT
        if not live.any():
            return
        mask = engine.action_mask
        stuck = np.flatnonzero(live & ~mask.any(axis=1))
        if stuck.size:
            raise ConformanceError(f"game {stuck[0]}: seat {engine.seat_to_act[stuck[0]]} has no legal action")
        if mask.shape[1] != NUM_ACTIONS or mask[~live].any():
            raise ConformanceError("finished games have legal actions")
        look(engine.step(random_actions(mask, rng)))
    raise ConformanceError(f"games do not end within {MAX_ACTIONS_PER_HAND * engine.num_hands} actions")


CHECKS: Final[tuple[Callable[..., None], ...]] = (
    check_tiles_conserved,
    check_zero_sum,
    check_mask_exact,
    check_length,
    check_seeds,
    check_batch_independent,
    check_no_leak,
    check_snapshots,
    check_notation,
)
"""Every check of the kit."""
