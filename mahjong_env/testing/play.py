"""Play for the checks of the kit: at random and towards wins, alone and beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np

from mahjong_env.basics.actions import CHOW_LOW, CONCEALED_KONG, NUM_ACTIONS, WIN
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.hands.distance import cheapest_hands, kinds_to_spare
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.observation.view import View
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import NO_SEAT, Phase

_FAR: Final = 200.0  # more than the tiles that any hand lacks
_WILD: Final = 127  # as if a hand without one of its wild tiles lacked this many


class ConformanceError(AssertionError):
    """A check of the kit failed; the message is a reproducible description."""


class MakeEngine(Protocol):
    """Makes the engine that is checked."""

    def __call__(self, num_games: int, *, seed: int, **options: Any) -> Engine:
        """An engine of ``num_games`` games."""


Look = Callable[[StepResult | None], None]
"""The look of a check before the first step (with None) and after each one."""


def most_actions(rules: Rules) -> int:
    """No hand takes more actions than this.

    Every discard follows a tile of the wall or a claim, a seat claims at most as many tiles as it lays down sets, and
    each other seat answers once to a discard, to a tile added to a pung, and to each question before the first turn.
    """
    melds = rules.seats * (rules.hand_size // 3)
    discards = int(rules.deck.sum()) - rules.seats * rules.hand_size + melds
    return (discards + melds) * rules.seats + rules.opening_stages * rules.seats


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
        sets = engine.rules.sets - state.num_melds[g, seat]
        wilds = state.wilds_held(state.seats(g, seat))
        hands = cheapest_hands(state.code[g, seat].T, sets)
        lacking = np.maximum((hands.short - wilds)[:, None] + ~unpack(kinds_to_spare(hands)), 0)
        worth[g, :NUM_KINDS] = 1 - (np.where(natural > 0, lacking, _WILD) + worth[g, :NUM_KINDS]) / _FAR
    return np.where(mask, worth, -1.0).argmax(axis=1)


def choose_actions(engine: Engine, rng: np.random.Generator) -> Int64Array:
    """[B] random actions in games of even number, eager ones in the others: every sort of position comes up."""
    actions = random_actions(engine.action_mask, rng)
    actions[1::2] = eager_actions(engine, rng)[1::2]
    return actions


def live_games(engine: Engine) -> Games:
    """[n] the games that wait for an action."""
    return np.flatnonzero(engine.seat_to_act != NO_SEAT)


def play_games(engine: Engine, seed: int, look: Look, *, every: int = 1, first: int = 0) -> None:
    """Play as `choose_actions` says, for as many actions as the hands of a match can take, or until all games are over.

    Args:
        engine: the games.
        seed: of the choices.
        look: is called before the first step and after each one,
        every: or only every this many times,
        first: beginning with this one.

    Raises:
        ConformanceError: a game waits for an action and has none, or a finished one has some.
    """
    rng = np.random.default_rng(seed)
    result: StepResult | None = None
    for step in range(most_actions(engine.rules) * engine.num_hands + 1):
        if step >= first and (step - first) % every == 0:
            look(result)
        live = engine.seat_to_act != NO_SEAT
        if not live.any():
            return
        mask = engine.action_mask
        if mask.shape != (engine.num_games, NUM_ACTIONS) or mask[~live].any():
            raise ConformanceError("finished games have legal actions")
        stuck = np.flatnonzero(live & ~mask.any(axis=1))
        if stuck.size:
            raise ConformanceError(f"game {stuck[0]}: seat {engine.seat_to_act[stuck[0]]} has no legal action")
        result = engine.step(choose_actions(engine, rng))


def play_together(small: Engine, big: Engine, seed: int, games: Games, what: str) -> None:
    """Play the same actions in ``small`` and in ``games`` of ``big``, whose other games play on by themselves.

    Raises:
        ConformanceError: the games do not stay the same.
    """
    rng = np.random.default_rng(seed)
    require_same_states(small, big, games, what)
    for _ in range(most_actions(big.rules) * big.num_hands):
        if not live_games(small).size:
            return
        actions = choose_actions(big, rng)
        ours, theirs = small.step(actions[games]), big.step(actions)
        if not np.array_equal(ours.rewards, theirs.rewards[games]):
            raise ConformanceError(f"{what}: rewards differ")
        require_same_states(small, big, games, what)


def require_same_states(small: Engine, big: Engine, games: Games, what: str) -> None:
    """Raise `ConformanceError` unless the games of ``small`` are those games of ``big``, array by array."""
    for name, array in small.state.arrays().items():
        differs = np.flatnonzero((array != getattr(big.state, name)[games]).reshape(len(games), -1).any(axis=1))
        if differs.size:
            raise ConformanceError(f"{what}: {name} differs in game {games[differs[0]]}")


def frozen_arrays(engine: Engine) -> dict[str, Any]:
    """Copies of all arrays of an engine's state."""
    return {name: array.copy() for name, array in engine.state.arrays().items()}


def changed_array(engine: Engine, before: dict[str, Any]) -> str | None:
    """The name of the first array that is not as it was, None if all are."""
    for name, array in engine.state.arrays().items():
        if not np.array_equal(array, before[name]):
            return name
    return None


def view_differences(one: View, other: View) -> list[tuple[str, Games]]:
    """For each array of two views of the same seats that differs: its name, and the rows."""
    found = []
    for name in View.array_names():
        ours, theirs = getattr(one, name), getattr(other, name)
        rows = np.flatnonzero((ours != theirs).reshape(len(ours), math.prod(ours.shape[1:])).any(axis=1))
        if rows.size:
            found.append((name, rows))
    return found
