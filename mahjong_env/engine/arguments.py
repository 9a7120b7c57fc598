"""Checks of the arguments of an engine's methods: each raises a named error before anything has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.basics.chance import fold_seed
from mahjong_env.basics.errors import ActionError, IllegalActionError, MahjongError, RulesError
from mahjong_env.basics.memory import free_memory, size_text
from mahjong_env.basics.types import BoolArray, Games, Int64Array, is_integer
from mahjong_env.observation.planes import SHAPE
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import NO_SEAT, State

# Bytes that dealing needs for each tile of a wall beside the arrays, measured: 64-bit keys, and the sorting of them.
_BYTES_TO_DEAL_A_TILE: Final = 26
_BYTES_TO_REDRAW_A_TILE: Final = 56  # the same for the worlds of a view, whose tiles are sorted by 64-bit numbers
MOST_HANDS: Final = int(np.iinfo(np.int16).max)
"""The most hands that a match can have; they are counted in 16 bits."""
_ADDRESSABLE: Final = 2**47  # bytes that a process can address; the limit where the system reports no free memory
_ALWAYS_FITS: Final = 2**28  # bytes; asking for the free memory takes longer than copying a few games


def as_array(what: str, values: Any) -> np.ndarray[Any, Any]:
    """Convert values to an array; raise `ActionError` if that is not possible."""
    if isinstance(values, np.ma.MaskedArray):
        raise ActionError(f"{what} are a plain array, not a masked one: its masked values would be used as well")
    try:
        return np.asarray(values)
    except (ValueError, OverflowError) as error:  # lists of unequal lengths
        raise ActionError(f"{what} must be one number, or one for each game: {error}") from error


def check_count(name: str, value: Any, most: int | None = None) -> None:
    """Raise `RulesError` unless the value is an integer from 1, at most ``most`` if that is given."""
    if not is_integer(value) or value < 1 or (most is not None and value > most):
        raise RulesError(f"{name} is an integer from 1{'' if most is None else f' to {most}'}, not {value!r}")


def fold_seeds(seeds: Sequence[Any], number: int) -> list[int | None]:
    """Return the seeds as the state stores them, None where none is given; raise `MahjongError` if they are wrong."""
    if (isinstance(seeds, np.ndarray) and not seeds.ndim) or len(seeds) != number:
        raise MahjongError(
            f"seed is an integer from 0, or None, or a list with one for each of the {number} games, not {seeds!r}"
        )
    return [None if seed is None else fold_seed(seed) for seed in seeds]


def new_seeds(seed: Any, games: Games) -> tuple[Games, Any, Any]:
    """Return the games that get a new seed, these seeds, and the number (stream) of each game under its seed."""
    if seed is None:
        return games[:0], 0, 0
    is_list = isinstance(seed, Sequence) and not isinstance(seed, str | bytes)
    if not is_list and not (isinstance(seed, np.ndarray) and seed.ndim):
        return games, fold_seed(seed), games
    folded = fold_seeds(seed, len(games))
    return games[[each is not None for each in folded]], [each for each in folded if each is not None], 0


def check_room(rules: Rules, num_games: int, *, redrawn: bool = False) -> None:
    """Raise `RulesError` if these games do not fit into free memory when dealt, or ``redrawn`` as worlds."""
    axes = axes_of(rules, 1)
    for_a_tile = _BYTES_TO_REDRAW_A_TILE if redrawn else _BYTES_TO_DEAL_A_TILE
    needed = int(num_games) * (State.bytes_of(axes) + for_a_tile * axes["W"])
    if needed <= _ALWAYS_FITS:
        return
    free = free_memory()
    free = _ADDRESSABLE if free is None else free
    if needed > free:
        raise RulesError(f"{num_games} games would take about {size_text(needed)} of memory; {size_text(free)} is free")


def axes_of(rules: Rules, num_games: int) -> dict[str, int]:
    """Return the lengths of the axes that depend on the rules and the number of games, for `State.allocate`."""
    return {
        "B": num_games,
        "S": rules.seats,
        "P": rules.people,
        "W": int(rules.deck.sum()),
        "K": len(rules.marks),
        "V": rules.seats if rules.has_private_walls else 0,
    }


def game_numbers(games: Any, num_games: int, *, repeats: bool) -> Games:
    """Return [n] the games that a caller names, by their numbers or by a mask [num_games].

    Raises:
        ActionError: there are no such games, or a game is named twice although ``repeats`` is False.
    """
    numbers = as_array("games", games)
    if numbers.dtype == np.bool_:
        if numbers.shape != (num_games,):
            raise ActionError(f"a mask of games has shape ({num_games},), not {numbers.shape}")
        return np.flatnonzero(numbers)
    if numbers.size == 0:
        return np.zeros(0, np.intp)
    numbers = np.atleast_1d(numbers)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ActionError(
            f"games are a one-dimensional array of integers, not {numbers.dtype} of shape {numbers.shape}"
        )
    if not repeats and numbers.size > num_games:
        raise ActionError("games must not be named twice")
    wrong = numbers[(numbers < 0) | (numbers >= num_games)]
    if wrong.size:
        raise ActionError(f"there is no game {int(wrong[0])}; games are 0 to {num_games - 1}")
    numbers = numbers.astype(np.intp)  # before bincount, which takes no uint64 in numpy 1
    if not repeats and numbers.size > 1 and np.bincount(numbers).max() > 1:
        raise ActionError("games must not be named twice")
    return numbers


# Kept as arrays: numpy would convert a plain number in every call.
_FIRST = np.array(0, np.int8)
_END_OF_ACTIONS = np.array(NUM_ACTIONS, np.uint64)


def checked_actions(state: State, actions: Any, games: Games) -> Int64Array:
    """Check the actions [n] of games [n], and return [m] those of the games that are not over.

    Raises:
        ActionError: wrong shape or type.
        IllegalActionError: an action that is not legal.
    """
    given = as_array("actions", actions)
    if not given.size:
        given = given.astype(np.int64)  # numpy makes an empty list an array of floats
    if given.shape != games.shape or given.dtype.kind not in "iu":
        raise ActionError(
            f"actions are {games.shape[0]} integers (one for each game), not {given.dtype} of shape {given.shape}"
        )
    chosen = given.astype(np.int64, copy=False)
    inside = chosen.view(np.uint64) < _END_OF_ACTIONS  # as uint64, negative numbers are very large
    # Finished games have no legal action, so where all actions are legal nothing else has to be checked.
    is_possible = np.count_nonzero(inside) == len(games)
    if is_possible and np.count_nonzero(state.are_legal(games, chosen)) == len(games):
        return chosen
    live = state.actor[games] != NO_SEAT
    given, chosen, games, inside = given[live], chosen[live], games[live], inside[live]
    legal = inside & state.are_legal(games, chosen * inside)
    if not legal.all():
        place = int(np.flatnonzero(~legal)[0])
        raise IllegalActionError(_illegal(state, int(games[place]), int(given[place])))
    return chosen


def _illegal(state: State, game: int, number: int) -> str:
    name = f"{ACTIONS[number]!r} ({number})" if 0 <= number < NUM_ACTIONS else str(number)
    valid = ", ".join(repr(ACTIONS[legal]) for legal in np.flatnonzero(state.mask[game]))
    seat = state.person_at[game, state.actor[game]]
    return f"game {game}, seat {seat}: the action {name} is not legal; legal are {valid}"


@lru_cache(maxsize=16)
def _all_present(number: int) -> BoolArray:
    present = np.ones(number, np.bool_)
    present.flags.writeable = False
    return present


def who_looks(state: State, rules: Rules, games: Games, seats: Any) -> tuple[Games, BoolArray]:
    """Return [n] the table seats from which persons look at these games, and whether each sits at the table at all.

    Raises:
        ActionError: ``seats`` is not one person for all games, one for each, or None (the seats to act).
    """
    n, people = len(games), state.points.shape[1]
    if seats is None:
        return np.maximum(state.actor[games], _FIRST).astype(np.intp), _all_present(n)
    persons = as_array("seats", seats)
    if persons.ndim and persons.shape != games.shape:
        raise ActionError(f"seats are one for all games or {n}, not of shape {persons.shape}")
    if not persons.size:
        persons = persons.astype(np.intp)  # numpy makes an empty list an array of floats
    if persons.dtype.kind not in "iu" or ((persons < 0) | (persons >= people)).any():
        raise ActionError(f"seats are integers from 0 to {people - 1}, not {seats!r}")
    persons = np.broadcast_to(persons, games.shape)
    if not rules.people_move:
        return persons.astype(np.intp), _all_present(n)
    sits = state.person_at[games] == persons[:, None]
    return sits.argmax(axis=1), sits.any(axis=1)


_BUFFERS: Final = ("observation", "action_mask", "rewards")


def check_buffer(what: str, array: Any, shape: tuple[int, ...], dtype: type[np.generic]) -> None:
    """Raise `ActionError` unless this is a writable, C-contiguous array of this shape and type."""
    name = np.dtype(dtype).name
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise ActionError(f"{what} is a numpy array {list(shape)} {name} to be filled, not {type(array).__name__}")
    if array.shape != shape or array.dtype != dtype:
        raise ActionError(f"{what} is {list(shape)} {name}, not {list(array.shape)} {array.dtype.name}")
    if not (array.flags.c_contiguous and array.flags.writeable):
        raise ActionError(f"{what} is written to as one block of memory: it must be C-contiguous and writable")


def check_step_buffers(out: Any, games: int, people: int) -> None:
    """Raise `ActionError` unless a step of ``games`` games can fill these arrays; see `Engine.step`."""
    if not isinstance(out, Mapping):
        raise ActionError(f"out is a dictionary of arrays to be filled ({', '.join(_BUFFERS)}), not {out!r}")
    unknown = [name for name in out if name not in _BUFFERS]
    if unknown:
        raise ActionError(f"out has no place for {unknown[0]!r}; valid are {', '.join(_BUFFERS)}")
    asked: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
        "observation": ((games, *SHAPE), np.int8),
        "action_mask": ((games, NUM_ACTIONS), np.bool_),
        "rewards": ((games, people), np.int32),
    }
    for name, array in out.items():
        check_buffer(f"out[{name!r}]", array, *asked[name])
