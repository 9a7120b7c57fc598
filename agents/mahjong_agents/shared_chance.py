"""Common random numbers for the agents of games that are compared with each other.

A deal is played in several orders of seats, a wall under two rules, a world after two actions. If an agent drew new
random numbers in each of these games, the games would soon differ for this reason alone, and little of what they share
would cancel.

`SharedChance` gives every decision numbers that follow from its key. `RowChance` draws numbers for each game once and
hands them to the rows of that game; `PairedAgent` wraps an agent with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import Agent
from mahjong_env import Engine, View
from mahjong_env.basics.chance import GOLDEN, mix

_LOW_HALF, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_DECISIONS = np.uint64(1 << 20)
_CALLS = np.arange(1, 4097, dtype=np.uint64) * GOLDEN


class SharedChance(np.random.Generator):
    """A generator whose `random` gives every row of a view numbers of its own, which follow from the row's key.

    The result of ``random((n, ...))``, with n the number of rows, depends only on the key of each row and on the number
    of earlier calls for these keys. Every other request is answered from an ordinary stream. Agents that make such
    requests work as well, but their games have less in common.
    """

    def __init__(self, seed: np.random.SeedSequence) -> None:
        """Begin the ordinary stream. The seed is not kept, as the tables may have been dealt from it as well."""
        super().__init__(np.random.PCG64(seed.generate_state(8).tolist()))
        self._keys: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._calls = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state, so that copies draw the same numbers."""
        return _restored, (self.bit_generator, self._keys, self._calls)

    def decide(self, keys: NDArray[np.uint64]) -> Self:
        """Begin decisions, given a key [n] for each row of the view that an agent is about to see."""
        self._keys, self._calls = keys, 0
        return self

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return numbers from 0 to below 1, as `numpy.random.Generator.random` does."""
        shape = _shape(size)
        if out is not None or not shape or shape[0] != len(self._keys) or not len(self._keys):
            return super().random(size, dtype, out)
        self._calls += 1
        keys = mix(self._keys + _CALLS[self._calls % len(_CALLS)])
        each = int(np.prod(shape[1:], dtype=np.int64))
        numbers = _floats if np.dtype(dtype) == np.float32 else _doubles
        return numbers(keys, each).reshape(shape)


def _shape(size: Any) -> tuple[int, ...]:
    return (int(size),) if isinstance(size, int | np.integer) else tuple(size or ())


def _restored(bits: np.random.BitGenerator, keys: NDArray[np.uint64], calls: int) -> SharedChance:
    chance = SharedChance.__new__(SharedChance)
    np.random.Generator.__init__(chance, bits)
    chance._keys, chance._calls = keys, calls
    return chance


def decision_keys(deals: NDArray[np.uint64], people: NDArray[Any], number: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return [n] keys of decisions.

    Args:
        deals: [n] keys of the deals.
        people: [n] the number of the person or seat that decides.
        number: [n] how many decisions the same person or seat has made before.
    """
    place = people.astype(np.uint64) * _DECISIONS + number.astype(np.uint64)
    return mix(deals + place * GOLDEN)


def deal_keys(seed: int, deals: NDArray[Any]) -> NDArray[np.uint64]:
    """Return [n] keys of deals from their numbers; the agents' random numbers are independent of the tiles."""
    state = np.random.SeedSequence(seed, spawn_key=(0xA6E17,)).generate_state(1, np.uint64)
    return mix(deals.astype(np.uint64) * GOLDEN ^ state[0])


def _doubles(keys: NDArray[np.uint64], each: int) -> NDArray[np.float64]:
    """Return [n, each] random numbers from 0 to below 1, of 53 bits."""
    places = np.arange(1, each + 1, dtype=np.uint64) * GOLDEN
    numbers = mix(keys[:, None] + places) >> np.uint64(11)
    return numbers.astype(np.float64) * 2.0**-53


def _floats(keys: NDArray[np.uint64], each: int) -> NDArray[np.float32]:
    """Return [n, each] random numbers from 0 to below 1, of 24 bits; three times as fast as `_doubles`.

    They are made by mixing the 32-bit halves of the key in turn. The mixing function is Chris Wellons's lowbias32
    (https://github.com/skeeto/hash-prospector).
    """
    low, high = (keys & _LOW_HALF).astype(np.uint32), (keys >> _HALF).astype(np.uint32)
    places = np.arange(1, each + 1, dtype=np.uint32) * np.uint32(0x9E3779B9)
    numbers = _mix32(low[:, None] ^ places)
    numbers = _mix32(numbers + high[:, None]) >> np.uint32(8)
    return numbers.astype(np.float32) * np.float32(2.0**-24)


def _mix32(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    values ^= values >> np.uint32(16)
    values *= np.uint32(0x7FEB352D)
    values ^= values >> np.uint32(15)
    values *= np.uint32(0x846CA68B)
    values ^= values >> np.uint32(16)
    return values


class RowChance(np.random.Generator):
    """A generator that gives the rows of a view the uniform numbers of their game, where one is drawn for each row."""

    def __init__(self, bits: np.random.BitGenerator, rows: NDArray[np.intp], number: int) -> None:
        """Set the game of each row.

        Args:
            bits: the source of the numbers.
            rows: [n] the number of each row's game; rows of the same number share their random numbers.
            number: how many games there are.
        """
        super().__init__(bits)
        self._rows, self._number = rows, number

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw as `numpy.random.Generator.random` does; arrays [n, ...] are drawn once for each game."""
        shape = _shape(size)
        if out is not None or not shape or shape[0] != len(self._rows):
            return super().random(size, dtype, out)
        return super().random((self._number, *shape[1:]), dtype).take(self._rows, axis=0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state, so that copies draw the same numbers."""
        return RowChance, (self.bit_generator, self._rows, self._number)


class PairedAgent:
    """An agent whose random numbers depend only on the game and the number of the move."""

    def __init__(self, engine: Engine, agent: Agent, rows: NDArray[np.intp], seed: Sequence[int]) -> None:
        """Wrap an agent, for the games of one engine in which all games move at the same time.

        Args:
            engine: the games.
            agent: the agent that chooses.
            rows: [B] the number of each game; games of the same number share their random numbers.
            seed: the seed of the random numbers.
        """
        self.name = agent.name
        self._engine, self._agent, self._rows, self._seed = engine, agent, rows, tuple(seed)
        self._number = int(rows.max(initial=-1)) + 1

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Let the agent choose; ``rng`` is not used."""
        games, moves = self._engine.games_of(view)
        bits = np.random.SFC64(np.random.SeedSequence(self._seed, spawn_key=(int(moves[:1].sum()),)))
        return self._agent.act(view, RowChance(bits, self._rows.take(games), self._number))


def pair(engine: Engine, agents: Sequence[Agent], rows: NDArray[np.intp], seed: int) -> list[PairedAgent]:
    """Wrap several agents, each with random numbers of its own; the arguments are those of `PairedAgent`."""
    return [PairedAgent(engine, agent, rows, (seed, number)) for number, agent in enumerate(agents)]
