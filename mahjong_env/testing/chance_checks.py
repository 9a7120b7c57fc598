"""Checks of chance: the same seed, the same games; other seeds, others; the neighbours in a batch do not matter."""

from __future__ import annotations

import numpy as np

from mahjong_env.testing.play import (
    ConformanceError,
    MakeEngine,
    choose_actions,
    live_games,
    most_actions,
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
