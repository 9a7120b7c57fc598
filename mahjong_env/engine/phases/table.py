"""What the phases of one step share: the state, the rules, the points paid, and the queues between phases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.wins import Scores, Source
from mahjong_env.state.arrays import NO_SEAT, State

_NO_GAMES: Games = np.zeros(0, np.intp)


@dataclass
class Won:
    """Wins that were said and granted, all from one source."""

    games: Games
    seat: Int8Array
    source: Source
    tile: Int8Array
    from_seat: Int8Array
    opening: bool = False


@dataclass
class Ended:
    """Hands that ended in this step, as they were settled. Seats are table seats, persons as they sat then."""

    games: Games
    winner: Int8Array  # [n] -1 after a draw
    source: Int8Array  # [n] Source, -1 after a draw
    from_seat: Int8Array  # [n]
    tile: Int8Array  # [n] the winning tile
    scores: Scores | None  # None for drawn hands
    person_at: Int8Array  # [n, S]


@dataclass
class Queue:
    """Games, each with the seat concerned, that wait for one phase."""

    _games: list[Games] = field(default_factory=list)
    _seats: list[Any] = field(default_factory=list)

    def put(self, games: Games, seats: Any) -> None:
        """Append games with their seats."""
        if games.size:
            self._games.append(games)
            self._seats.append(seats)

    def take(self) -> tuple[Games, Any]:
        """Empty the queue: [n] games and [n] seats."""
        if not self._games:
            return _NO_GAMES, _NO_GAMES
        games, seats = self._games, self._seats
        self._games, self._seats = [], []
        if len(games) == 1:
            return games[0], seats[0]
        return np.concatenate(games), np.concatenate(seats)


@dataclass
class Table:
    """A batch in the middle of a step."""

    state: State
    rules: Rules
    rewards: Int32Array = field(init=False)
    """[B, P] points paid in this step, by person; each step has its own."""
    several_hands: bool = False
    """Whether matches have several hands."""
    next_turns: Queue = field(default_factory=Queue)
    """Games whose given seat draws next."""
    replacements: Queue = field(default_factory=Queue)
    """Games whose given seat draws a replacement tile."""
    drawn_hands: Queue = field(default_factory=Queue)
    """Games whose hand ends without a winner."""
    opened: list[Games] = field(default_factory=list)
    """Games in which a question before the first turn has been answered by passes alone."""
    konged: list[tuple[Games, Int8Array, MeldType]] = field(default_factory=list)
    """Kongs made in this step, by seat and type; their replacement tiles are being drawn."""
    won: list[Won] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    is_flower: BoolArray = field(init=False)
    """[42] `Rules.flower_kinds`, asked once."""
    tiles: Int8Array = field(init=False)
    """[W] the kinds of all tiles, in order."""

    def __post_init__(self) -> None:
        """Ask what is the same in every hand."""
        self.is_flower = self.rules.flower_kinds
        self.tiles = np.repeat(np.arange(NUM_ALL_KINDS, dtype=np.int8), self.rules.deck)

    def pay(self, games: Games, amounts: Int32Array) -> None:
        """Pay [n, S] amounts by table seat."""
        persons = self.state.person_at[games]
        self.rewards[games[:, None], persons] += amounts
        self.state.points[games[:, None], persons] += amounts

    def wait_for(self, games: Games, seat: Any, phase: int) -> None:
        """The games now wait for this seat."""
        self.state.phase[games] = phase
        self.state.actor[games] = seat

    def end_without_winner(self, games: Games) -> None:
        """Queue drawn hands."""
        self.drawn_hands.put(games, np.full(len(games), NO_SEAT, np.int8))

    def close_question(self, games: Games) -> None:
        """Nobody is asked about a tile any more."""
        self.state.offered[games] = NO_TILE
        self.state.options[games] = 0
        self.state.best_key[games] = 0
