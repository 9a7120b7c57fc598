"""Checks that games are the same: by seed, in any batch, from snapshots, copies, written deals and notation."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.actions import ACTIONS, action
from mahjong_env.basics.errors import MahjongError, NotationError, SnapshotError
from mahjong_env.basics.notation import (
    Meld,
    MeldType,
    count_tiles,
    format_counts,
    format_tiles,
    parse_meld,
    parse_tiles,
)
from mahjong_env.basics.tiles import EAST
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.scene import Deal
from mahjong_env.engine.snapshot import Snapshot
from mahjong_env.state.arrays import State
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    changed_array,
    choose_actions,
    frozen_arrays,
    play_together,
    positions,
    require,
    require_same_states,
)

# What a deal does not name: chance, and what is left over from earlier hands.
_NOT_NAMED = ("seed", "stream", "hands_dealt", "turnover", "points", "dice")
_STEPS = 40  # steps after which a copy is taken: hands are in their middle, some games may be over


def check_seeds(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """The same seed and actions give the same games; other seeds, games and hands have other cards."""
    first, second = make(games, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    play_together(first, second, seed, np.arange(games), "the same seed")
    other, fresh = make(games, seed=seed + 1), make(games, seed=seed)
    walls = fresh.state.wall.copy()
    require((other.state.wall != walls).any(axis=1), "another seed deals the same cards")
    if len(np.unique(walls, axis=0)) < games:
        raise ConformanceError("two games of a seed are dealt the same cards")
    fresh.reset()
    require((fresh.state.wall != walls).any(axis=1), "the next hands of a seed are the same as the first")
    fresh.reset(seed=seed)
    require(fresh.state.wall == walls, "a seed that is set anew deals other cards")
    is_new = (second.state.wall != walls).any(axis=1) | (second.state.hand_in_match == 0)
    require(is_new, "the second hand of a match has the cards of the first")


def check_batch_independent(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """A game alone is the same as inside any batch, whichever games are stepped, reset or finished beside it."""
    everything = np.arange(games)
    alone, batch = make(1, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    play_together(alone, batch, seed, everything[:1], "a game alone")
    some = everything[::-2]
    batch, part = make(games, seed=seed), make(games, seed=seed).select(some)
    play_together(part, batch, seed, some, "selected games")
    whole, parted = make(games, seed=seed), make(games, seed=seed)
    play_together(parted, whole, seed, everything, "games stepped a part at a time", parts=3)
    engine = make(games, seed=seed)
    before = engine.select(everything)
    again, others = everything[::2], everything[1::2]
    engine.reset(games=again)
    require_same_states(engine.select(others), before, others, "games beside some that are dealt anew")
    is_new = (engine.state.wall[again] != before.state.wall[again]).any(axis=1)
    require(is_new, "a game that is dealt anew has the same cards", again)


def _play(engine: Engine, seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        engine.step(choose_actions(engine, rng))


def check_snapshots(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Snapshot, bytes and restore change nothing, here or in another engine: the games go on the same."""
    engine, twin = make(games, seed=seed, num_hands=2), make(games, seed=seed + 1, num_hands=2)
    everything = np.arange(games)
    _play(engine, seed, _STEPS)
    kept = engine.select(everything)
    snapshot = engine.snapshot()
    data = snapshot.to_bytes()
    _play(engine, seed, 2)
    try:
        twin.restore(Snapshot.from_bytes(data))
        require_same_states(twin, kept, everything, "an engine restored from bytes")
        if twin.snapshot().to_bytes() != data:
            raise ConformanceError("a restored engine gives another snapshot")
        engine.restore(snapshot)
    except SnapshotError as error:
        raise ConformanceError(f"an engine cannot be restored from a snapshot of its like: {error}") from error
    require_same_states(engine, kept, everything, "an engine that went back to a snapshot")
    play_together(twin, engine, seed, everything, "a restored engine")


def check_copies(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Selected games are copies: playing on in them leaves the others as they were, and the other way round."""
    engine = make(games, seed=seed)
    _play(engine, seed, _STEPS // 2)
    chosen = np.array([games - 1, 0, games - 1])
    copies = engine.select(chosen)
    if type(copies) is not type(engine) or copies.num_games != len(chosen):
        raise ConformanceError(f"select gives a {type(copies).__name__} of {copies.num_games} games")
    require_same_states(copies, engine, chosen, "a copied game")
    for moved, still, whose in ((copies, engine, "of what they were copied from"), (engine, copies, "of copies")):
        before = frozen_arrays(still)
        _play(moved, seed, 5)
        if changed := changed_array(still, before):
            raise ConformanceError(f"playing on changed {changed} {whose}")


def check_notation(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Actions, hands, flowers and melds of played games, written and read again, are the same."""
    engine = make(games, seed=seed)
    for number, name in enumerate(ACTIONS):
        if action(name) != number:
            raise ConformanceError(f"the action {name!r} reads as {action(name)}, not as {number}")
    for _ in positions(engine, seed):
        for game in {*range(0, games, 8), *range(games - 1, -1, -8)}:
            for seat in range(engine.num_seats):
                _check_texts(engine.state, game, seat)


def _check_texts(state: State, game: int, seat: int) -> None:
    for counts in (state.hand[game, seat], state.flowers[game, seat]):
        text = format_counts(counts)
        if not np.array_equal(count_tiles(parse_tiles(text), len(counts)), counts):
            raise ConformanceError(f"game {game}: the tiles {text!r} do not read as they were written")
    for place in range(state.num_melds[game, seat]):
        kind, giver = int(state.meld_kind[game, seat, place]), int(state.meld_from[game, seat, place])
        meld = Meld(MeldType(state.meld_type[game, seat, place]), kind, giver)
        try:
            read = parse_meld(str(meld))
        except NotationError as error:
            raise ConformanceError(f"game {game}: the meld {meld} cannot be read: {error}") from error
        if read != meld:
            raise ConformanceError(f"game {game}: the meld {meld} does not read as it was written")


def check_deals(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """A dealt hand that is written down as a `Deal` is dealt again, tile by tile."""
    engine, twin = make(games, seed=seed), make(games, seed=seed + 1)
    try:
        twin.reset(deals=[_written_deal(engine, game) for game in range(games)])
    except MahjongError as error:
        raise ConformanceError(f"a hand that was dealt is refused as a deal: {error}") from error
    for name in State.names():
        if name not in _NOT_NAMED:
            require(getattr(engine.state, name) == getattr(twin.state, name), f"{name} is not as the deal names it")


def _written_deal(engine: Engine, game: int) -> Deal:
    """The hand that a game has just been dealt, with every tile of its wall named."""
    state, rules = engine.state, engine.rules
    wall = state.wall[game].tolist()
    size, dealer = rules.hand_size, int(state.dealer[game])
    hands = [wall[seat * size : (seat + 1) * size] for seat in range(rules.seats)]
    place = rules.seats * size
    hands[dealer].append(wall[place])
    place += 1
    turned: list[int] = []
    while rules.turns_indicator and (not turned or rules.flower_kinds[turned[-1]]):
        turned.append(wall[place])
        place += 1
    return Deal(
        hands=[format_tiles(hand) for hand in hands],
        draws=format_tiles(wall[place:]),
        indicator=format_tiles(turned) if turned else None,
        dealer=dealer,
        dealer_streak=int(state.streak[game]),
        round_wind=format_tiles([int(state.round_wind[game]) + EAST]),
        house_winds=format_tiles([int(wind) + EAST for wind in state.house_wind[game]]),
    )
