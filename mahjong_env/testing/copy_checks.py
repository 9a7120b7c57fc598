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
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.scene import Deal
from mahjong_env.engine.snapshot import Snapshot
from mahjong_env.state.arrays import State
from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    changed_array,
    choose_actions,
    frozen_arrays,
    live_games,
    most_actions,
    play_games,
    play_together,
    require_same_states,
)


def check_seeds(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """The same seed and actions give the same games; other seeds, games and hands have other cards."""
    first, second = make(games, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    play_together(first, second, seed, np.arange(games), "the same seed")
    other, fresh = make(games, seed=seed + 1), make(games, seed=seed)
    walls = fresh.state.wall.copy()
    if (other.state.wall == walls).all(axis=1).any():
        raise ConformanceError("another seed deals the same cards")
    if len(np.unique(walls, axis=0)) < games:
        raise ConformanceError("two games of a seed are dealt the same cards")
    fresh.reset()
    if (fresh.state.wall == walls).all(axis=1).any():
        raise ConformanceError("the next hands of a seed are the same as the first")
    fresh.reset(seed=seed)
    if not np.array_equal(walls, fresh.state.wall):
        raise ConformanceError("a seed that is set anew deals other cards")
    went_on = second.state.hand_in_match > 0
    if (second.state.wall == walls)[went_on].all(axis=1).any():
        raise ConformanceError("the second hand of a match has the cards of the first")


def check_batch_independent(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """A game alone is the same as inside any batch, whichever games are stepped, reset or finished beside it."""
    everything = np.arange(games)
    alone, batch = make(1, seed=seed, num_hands=2), make(games, seed=seed, num_hands=2)
    play_together(alone, batch, seed, everything[:1], "a game alone")
    some = everything[::-2]
    batch, part = make(games, seed=seed), make(games, seed=seed).select(some)
    play_together(part, batch, seed, some, "selected games")
    _check_parts(make, games, seed)
    _check_neighbours_of_resets(make, games, seed)


def _check_parts(make: MakeEngine, games: int, seed: int) -> None:
    """Games stepped a part at a time, beside games stepped all at once."""
    whole, parted = make(games, seed=seed), make(games, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(most_actions(whole.rules)):
        if not live_games(whole).size:
            return
        actions = choose_actions(whole, rng)
        rewards = whole.step(actions).rewards
        order = rng.permutation(games)
        for part in np.array_split(order, 3):
            if not np.array_equal(parted.step(actions[part], games=part).rewards, rewards[part]):
                raise ConformanceError("games stepped a part at a time: rewards differ")
        require_same_states(parted, whole, np.arange(games), "games stepped a part at a time")


def _check_neighbours_of_resets(make: MakeEngine, games: int, seed: int) -> None:
    engine = make(games, seed=seed)
    before = engine.select(np.arange(games))
    again = np.arange(games) % 2 == 0
    engine.reset(games=again)
    others = np.flatnonzero(~again)
    require_same_states(engine.select(others), before, others, "games beside some that are dealt anew")
    if (engine.state.wall[again] == before.state.wall[again]).all(axis=1).any():
        raise ConformanceError("a game that is dealt anew has the same cards")


# What a deal does not name: chance, and what is left over from earlier hands.
_NOT_NAMED = ("seed", "stream", "hands_dealt", "turnover", "points", "dice")
_STEPS = 40  # steps after which a copy is taken: hands are in their middle, some games may be over
_SAMPLED = 8  # every how many games texts are written and read


def _play(engine: Engine, seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        engine.step(choose_actions(engine, rng))


def check_snapshots(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Snapshot, bytes and restore change nothing, here or in another engine: the games go on the same."""
    engine, twin = make(games, seed=seed, num_hands=2), make(games, seed=seed + 1, num_hands=2)
    _play(engine, seed, _STEPS)
    kept = engine.select(np.arange(games))
    snapshot = engine.snapshot()
    data = snapshot.to_bytes()
    _play(engine, seed, 2)
    everything = np.arange(games)
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
    before = frozen_arrays(engine)
    _play(copies, seed, 5)
    changed = changed_array(engine, before)
    if changed:
        raise ConformanceError(f"playing on in copies changed {changed} of the games that they were copied from")
    before = frozen_arrays(copies)
    _play(engine, seed, 5)
    changed = changed_array(copies, before)
    if changed:
        raise ConformanceError(f"playing on changed {changed} of copies")


def check_notation(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """Actions, hands, flowers and melds of played games, written and read again, are the same."""
    engine = make(games, seed=seed)
    for number, name in enumerate(ACTIONS):
        if action(name) != number:
            raise ConformanceError(f"the action {name!r} reads as {action(name)}, not as {number}")

    def look(_: StepResult | None) -> None:
        for game in range(0, games, _SAMPLED):
            for seat in range(engine.num_seats):
                _check_texts(engine.state, game, seat)
                _check_texts(engine.state, games - 1 - game, seat)

    play_games(engine, seed, look)


def _check_texts(state: State, game: int, seat: int) -> None:
    for counts in (state.hand[game, seat], state.flowers[game, seat]):
        text = format_counts(counts)
        if not np.array_equal(count_tiles(parse_tiles(text), len(counts)), counts):
            raise ConformanceError(f"game {game}: the tiles {text!r} do not read as they were written")
    for place in range(state.num_melds[game, seat]):
        meld = Meld(
            MeldType(state.meld_type[game, seat, place]),
            int(state.meld_kind[game, seat, place]),
            int(state.meld_from[game, seat, place]),
        )
        try:
            read = parse_meld(str(meld))
        except NotationError as error:
            raise ConformanceError(f"game {game}: the meld {meld} cannot be read: {error}") from error
        if read != meld:
            raise ConformanceError(f"game {game}: the meld {meld} does not read as it was written")


def check_deals(make: MakeEngine, *, games: int = 32, seed: int = 0) -> None:
    """A dealt hand that is written down as a `Deal` is dealt again, tile by tile."""
    engine, twin = make(games, seed=seed), make(games, seed=seed + 1)
    deals = [written_deal(engine, game) for game in range(games)]
    try:
        twin.reset(deals=deals)
    except MahjongError as error:
        raise ConformanceError(f"a hand that was dealt is refused as a deal: {error}") from error
    for name in State.names():
        if name in _NOT_NAMED:
            continue
        ours, theirs = getattr(engine.state, name), getattr(twin.state, name)
        differs = np.flatnonzero((ours != theirs).reshape(games, -1).any(axis=1))
        if differs.size:
            raise ConformanceError(f"game {differs[0]}: {name} is not as the deal names it: {deals[differs[0]]}")


def written_deal(engine: Engine, game: int) -> Deal:
    """The hand that a game has just been dealt, with every tile of its wall named."""
    state, rules = engine.state, engine.rules
    wall = state.wall[game].tolist()
    size, dealer = rules.hand_size, int(state.dealer[game])
    hands = [wall[seat * size : (seat + 1) * size] for seat in range(rules.seats)]
    place = rules.seats * size
    hands[dealer] = [*hands[dealer], wall[place]]
    place += 1
    turned: list[int] = []
    while rules.turns_indicator and (not turned or rules.flower_kinds[turned[-1]]):
        turned.append(wall[place])
        place += 1
    winds = [int(wind) + EAST for wind in state.house_wind[game]]
    return Deal(
        hands=[format_tiles(hand) for hand in hands],
        draws=format_tiles(wall[place:]),
        indicator=format_tiles(turned) if turned else None,
        dealer=dealer,
        dealer_streak=int(state.streak[game]),
        round_wind=format_tiles([int(state.round_wind[game]) + EAST]),
        house_winds=format_tiles(winds),
    )
