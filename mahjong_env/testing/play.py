"""How the checks of the kit play through games, at random and towards wins, and how they report what they find."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import CHOW_LOW, CONCEALED_KONG, NUM_ACTIONS, WIN
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.phases.settle import most_actions
from mahjong_env.hands.distance import cheapest_hands, kinds_to_spare
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.observation.view import View
from mahjong_env.state.arrays import NO_SEAT, Phase

_FAR: Final = 200.0  # more than the number of tiles that any hand lacks
_WILD: Final = 127  # the number of tiles that a hand is taken to lack if it discards a wild tile

MakeEngine = Callable[..., Engine]
"""Makes the engine that is checked: ``make(num_games, seed=..., **options)``."""


class ConformanceError(AssertionError):
    """A check of the kit has failed; the message describes it so that it can be reproduced."""


def require(holds: Any, what: str, games: Games | None = None) -> None:
    """Raise `ConformanceError` with the first game in which something does not hold.

    Args:
        holds: [n, ...] bool.
        what: what is wrong where it is False.
        games: [n] the numbers of the games; None for 0 to n - 1.
    """
    holds = np.asarray(holds, np.bool_)
    wrong = np.flatnonzero(~holds.reshape(len(holds), math.prod(holds.shape[1:])).all(axis=1))
    if wrong.size:
        raise ConformanceError(f"game {wrong[0] if games is None else games[wrong[0]]}: {what}")


# --- Choosing --------------------------------------------------------------------------------------------------------


def random_actions(mask: BoolArray, rng: np.random.Generator) -> Int64Array:
    """Return [B] a random legal action for each row of a mask; 0 where none is legal."""
    return np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)


def eager_actions(engine: Engine, rng: np.random.Generator) -> Int64Array:
    """Return [B] actions of seats that play to win, because random play hardly ever wins.

    The seats win when they may, answer claims at random, declare every other kong, and discard what leaves the hand
    nearest to sets and a pair.
    """
    mask, state = engine.action_mask, engine.state
    worth = rng.random(mask.shape)
    worth[:, CONCEALED_KONG:CHOW_LOW] *= 2
    worth[:, WIN] += 2
    g = np.flatnonzero(state.phase == Phase.TURN)
    if g.size:
        seat = state.actor[g]
        natural = state.natural_hands(g)[np.arange(len(g)), seat]
        wilds = state.wilds_held(state.seats(g, seat))
        hands = cheapest_hands(state.code[g, seat].T, engine.rules.sets - state.num_melds[g, seat])
        lacking = np.maximum((hands.short - wilds)[:, None] + ~unpack(kinds_to_spare(hands)), 0)
        worth[g, :NUM_KINDS] = 1 - (np.where(natural > 0, lacking, _WILD) + worth[g, :NUM_KINDS]) / _FAR
    return np.where(mask, worth, -1.0).argmax(axis=1)


def choose_actions(engine: Engine, rng: np.random.Generator) -> Int64Array:
    """Return [B] actions, random in games of even number and eager in the others, to reach all sorts of positions."""
    actions = random_actions(engine.action_mask, rng)
    actions[1::2] = eager_actions(engine, rng)[1::2]
    return actions


# --- Walking ---------------------------------------------------------------------------------------------------------


def live_games(engine: Engine) -> Games:
    """Return [n] the games that wait for an action."""
    return np.flatnonzero(engine.seat_to_act != NO_SEAT)


def positions(engine: Engine, seed: int, *, every: int = 1, first: int = 0) -> Iterator[StepResult | None]:
    """Play by `choose_actions`, for as many actions as the hands of a match can take, or until all games are over.

    Args:
        engine: the games.
        seed: the seed of the choices.
        every: the number of steps between two positions that are yielded.
        first: the step before which the first one is yielded.

    Yields:
        The result of the last step, None before the first one.

    Raises:
        ConformanceError: a game waits for an action and has no legal one, or a finished one has some.
    """
    rng = np.random.default_rng(seed)
    result: StepResult | None = None
    for step in range(most_actions(engine.rules) * engine.num_hands + 1):
        if step >= first and (step - first) % every == 0:
            yield result
        live, mask = engine.seat_to_act != NO_SEAT, engine.action_mask
        if not live.any():
            return
        if mask.shape != (engine.num_games, NUM_ACTIONS):
            raise ConformanceError(f"the mask has shape {mask.shape}")
        require(live | ~mask.any(axis=1), "it is over, and has legal actions")
        require(~live | mask.any(axis=1), "the seat to act has no legal action")
        result = engine.step(choose_actions(engine, rng))


def play_together(small: Engine, big: Engine, seed: int, games: Games, what: str, *, parts: int = 1) -> None:
    """Play the same actions in ``small`` and in ``games`` of ``big``, while the other games of ``big`` play their own.

    Args:
        small: [n] games.
        big: the games that include them.
        seed: the seed of the choices.
        games: [n] their numbers in ``big``.
        what: what the games of ``small`` are, for messages.
        parts: the number of parts in which the games of ``small`` are stepped.

    Raises:
        ConformanceError: the games do not stay the same.
    """
    rng = np.random.default_rng(seed)
    require_same_states(small, big, games, what)
    for _ in range(most_actions(big.rules) * big.num_hands):
        if not live_games(small).size:
            return
        actions = choose_actions(big, rng)
        expected = big.step(actions).rewards[games]
        for part in np.array_split(rng.permutation(len(games)), parts):
            require(small.step(actions[games[part]], part).rewards == expected[part], f"{what}: rewards differ")
        require_same_states(small, big, games, what)


# --- Comparing -------------------------------------------------------------------------------------------------------


def require_same_states(small: Engine, big: Engine, games: Games, what: str) -> None:
    """Raise `ConformanceError` unless the games of ``small`` are those games of ``big``, array by array."""
    for name, array in small.state.arrays().items():
        require(array == getattr(big.state, name)[games], f"{what}: {name} differs", games)


def frozen_arrays(engine: Engine) -> dict[str, Any]:
    """Return copies of all arrays of an engine's state."""
    return {name: array.copy() for name, array in engine.state.arrays().items()}


def changed_array(engine: Engine, before: dict[str, Any]) -> str | None:
    """Return the name of the first array that has changed, None if none has."""
    arrays = engine.state.arrays().items()
    return next((name for name, array in arrays if not np.array_equal(array, before[name])), None)


def view_differences(one: View, other: View) -> list[tuple[str, Games]]:
    """Return, for each array that differs between two views of the same seats, its name and the rows."""
    found = []
    for name in (*View.array_names(), "exposed"):
        ours, theirs = getattr(one, name), getattr(other, name)
        if name == "exposed":  # its width is the length of the view's longest list
            length = max(ours.shape[1], theirs.shape[1])
            ours, theirs = (np.pad(array, ((0, 0), (0, length - array.shape[1]))) for array in (ours, theirs))
        rows = np.flatnonzero((ours != theirs).reshape(len(ours), math.prod(ours.shape[1:])).any(axis=1))
        if rows.size:
            found.append((name, rows))
    return found
