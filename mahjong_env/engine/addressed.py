"""What callers say to an engine in terms of persons and actions, checked against its games."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.basics.errors import ActionError, IllegalActionError
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array
from mahjong_env.engine.arguments import as_array
from mahjong_env.state.arrays import NO_SEAT, State

# Arrays, as numpy turns plain numbers into arrays in every call.
_FIRST = np.array(0, np.int8)
_END_OF_ACTIONS = np.array(NUM_ACTIONS, np.uint64)


def checked_actions(state: State, actions: Any, games: Games) -> Int64Array:
    """[m] the actions [n] of those of the games [n] that are not over.

    Raises:
        ActionError: wrong shape or type.
        IllegalActionError: an action that is not legal.
    """
    chosen = as_array("actions", actions)
    if not chosen.size:
        chosen = chosen.astype(np.int64)  # an empty list is one of floats
    if chosen.shape != games.shape or chosen.dtype.kind not in "iu":
        raise ActionError(
            f"actions are {games.shape[0]} integers (one for each game), not {chosen.dtype} of shape {chosen.shape}"
        )
    chosen = chosen.astype(np.int64, copy=False)
    inside = chosen.view(np.uint64) < _END_OF_ACTIONS  # negative numbers are very large ones
    # Finished games have no legal action: where all actions are legal, nothing else has to be looked at.
    is_possible = np.count_nonzero(inside) == len(games)
    if is_possible and np.count_nonzero(state.are_legal(games, chosen)) == len(games):
        return chosen
    live = state.actor[games] != NO_SEAT
    chosen, games, inside = chosen[live], games[live], inside[live]
    legal = inside & state.are_legal(games, chosen * inside)
    if not legal.all():
        place = int(np.flatnonzero(~legal)[0])
        raise IllegalActionError(_illegal(state, int(games[place]), int(chosen[place])))
    return chosen


def _illegal(state: State, game: int, number: int) -> str:
    name = f"{ACTIONS[number]!r} ({number})" if 0 <= number < NUM_ACTIONS else str(number)
    valid = ", ".join(repr(ACTIONS[legal]) for legal in np.flatnonzero(state.mask[game]))
    seat = persons_at(state, state.actor)[game]
    return f"game {game}, seat {seat}: the action {name} is not legal; legal are {valid}"


def persons_at(state: State, table_seats: Int8Array) -> Int8Array:
    """[B] int8 who sits at these table seats, one in each game; -1 for no seat."""
    if state.points.shape[1] == state.num_seats:  # nobody ever sits out: everybody has the seat of his number
        return table_seats.copy()
    persons = state.person_at[np.arange(len(table_seats)), table_seats]
    return np.where(table_seats >= 0, persons, np.int8(NO_SEAT))


@lru_cache(maxsize=16)
def _all_present(number: int) -> BoolArray:
    present = np.ones(number, np.bool_)
    present.flags.writeable = False
    return present


def who_looks(state: State, games: Games, seats: Any) -> tuple[Games, BoolArray]:
    """[n] the table seats from which persons look at these games, and whether they sit at the table at all.

    Raises:
        ActionError: ``seats`` (one person for all games, or one for each; None: the seats to act) are something else.
    """
    n, people = len(games), state.points.shape[1]
    if seats is None:
        return np.maximum(state.actor[games], _FIRST).astype(np.intp), _all_present(n)
    persons = as_array("seats", seats)
    if persons.ndim and persons.shape != games.shape:
        raise ActionError(f"seats are one for all games or {n}, not of shape {persons.shape}")
    if persons.dtype.kind not in "iu" or ((persons < 0) | (persons >= people)).any():
        raise ActionError(f"seats are integers from 0 to {people - 1}, not {seats!r}")
    persons = np.broadcast_to(persons, games.shape)
    if people == state.num_seats:
        return persons.astype(np.intp), _all_present(n)
    sits = state.person_at[games] == persons[:, None]
    return sits.argmax(axis=1), sits.any(axis=1)
