"""How the checks of the kit walk through games, at random and towards wins, and how they report what they find."""

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

_FAR: Final = 200.0  # more than the tiles that any hand lacks
_WILD: Final = 127  # as if a hand without one of its wild tiles lacked this many

MakeEngine = Callable[..., Engine]
"""Makes the engine that is checked: ``make(num_games, seed=..., **options)``."""


class ConformanceError(AssertionError):
    """A check of the kit failed; the message is a reproducible description."""


def require(holds: Any, what: str, games: Games | None = None) -> None:
    """Raise `ConformanceError` with the first game in which something does not hold.

    Args:
        holds: [n, ...] bool.
        what: what is wrong where it is False.
        games: [n] the numbers of the games; None: 0 to n - 1.
    """
    holds = np.asarray(holds, np.bool_)
    wrong = np.flatnonzero(~holds.reshape(len(holds), math.prod(holds.shape[1:])).all(axis=1))
    if wrong.size:
        raise ConformanceError(f"game {wrong[0] if games is None else games[wrong[0]]}: {what}")


# --- Choosing --------------------------------------------------------------------------------------------------------


def random_actions(mask: BoolArray, rng: np.random.Generator) -> Int64Array:
    """[B] a random legal action for each row of a mask; 0 where none is legal."""
    return np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=1)


def eager_actions(engine: Engine, rng: np.random.Generator) -> Int64Array:
    """[B] actions of seats that want to win: random play hardly ever does, and then no win would be looked at.

    They win when they may, answer claims at random, declare every other kong, and discard what leaves the hand nearest
    to sets and a pair.
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
    """[B] random actions in games of even number, eager ones in the others: every sort of position comes up."""
    actions = random_actions(engine.action_mask, rng)
    actions[1::2] = eager_actions(engine, rng)[1::2]
    return actions


# --- Walking ---------------------------------------------------------------------------------------------------------


def live_games(engine: Engine) -> Games:
    """[n] the games that wait for an action."""
    return np.flatnonzero(engine.seat_to_act != NO_SEAT)


def positions(engine: Engine, seed: int, *, every: int = 1, first: int = 0) -> Iterator[StepResult | None]:
    """Play as `choose_actions` says, for as many actions as the hands of a match can take, or until all games are over.

    Args:
        engine: the games.
        seed: of the choices.
        every: how many steps lie between two positions that are looked at.
        first: the step before which the first one lies.

    Yields:
        The result of the last step, None before the first one.

    Raises:
        ConformanceError: a game waits for an action and has none, or a finished one has some.
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
    """Play the same actions in ``small`` and in ``games`` of ``big``, whose other games play on by themselves.

    Args:
        small: [n] games.
        big: the games among which they are.
        seed: of the choices.
        games: [n] their numbers in ``big``.
        what: what the games of ``small`` are, for messages.
        parts: how many parts the games of ``small`` are stepped in.

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
    """Copies of all arrays of an engine's state."""
    return {name: array.copy() for name, array in engine.state.arrays().items()}


def changed_array(engine: Engine, before: dict[str, Any]) -> str | None:
    """The name of the first array that is not as it was, None if all are."""
    arrays = engine.state.arrays().items()
    return next((name for name, array in arrays if not np.array_equal(array, before[name])), None)


def view_differences(one: View, other: View) -> list[tuple[str, Games]]:
    """For each array of two views of the same seats that differs: its name, and the rows."""
    found = []
    for name in (*View.array_names(), "exposed"):
        ours, theirs = getattr(one, name), getattr(other, name)
        if name == "exposed":  # as long as the longest list of a view
            length = max(ours.shape[1], theirs.shape[1])
            ours, theirs = (np.pad(array, ((0, 0), (0, length - array.shape[1]))) for array in (ours, theirs))
        rows = np.flatnonzero((ours != theirs).reshape(len(ours), math.prod(ours.shape[1:])).any(axis=1))
        if rows.size:
            found.append((name, rows))
    return found
