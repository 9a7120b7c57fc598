"""The context that the phases of a step share, and the values that one phase passes on to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, IntArray
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.wins import Scores, Source, Wins
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats


@dataclass
class StepContext:
    """A batch in the middle of a step: its games, their rules, the points paid, and the work left to later phases.

    No game is in two of the lists at once, except that a game whose kong has been replaced may also be in `unjudged`.
    """

    state: State
    rules: Rules
    several_hands: bool = False
    """Whether matches have several hands."""
    rewards: Int32Array = field(init=False)
    """[B, P] the points paid in this step, by person; a new array in every step."""
    unclaimed: list[Seats] = field(init=False)
    """The seats whose discards nobody claims; the seats after them draw."""
    joining: list[Offer] = field(init=False)
    """Tiles that join open pungs of seats: claimed discards, and added tiles that nobody has robbed."""
    kongs: list[Kongs] = field(init=False)
    """Kongs that stand; they are still to be paid, and wait for a replacement tile."""
    wins: list[Won] = field(init=False)
    """Wins that were declared and granted; they are still to be scored and paid."""
    drawn: list[Games] = field(init=False)
    """Games whose hand has ended without a winner."""
    unjudged: list[tuple[Games, Wins]] = field(init=False)
    """Games whose seat in turn has a complete hand, and these hands; they are judged when wins are paid."""
    is_flower: BoolArray = field(init=False)
    """[42] `Rules.flower_kinds`, which is the same in every hand."""
    tiles: Int8Array = field(init=False)
    """[W] the kinds of all tiles of the set, in ascending order."""

    def __post_init__(self) -> None:
        """Store what is the same in every hand."""
        self.is_flower = self.rules.flower_kinds
        self.tiles = np.repeat(np.arange(NUM_ALL_KINDS, dtype=np.int8), self.rules.deck)
        self.begin_step()

    def begin_step(self) -> None:
        """Begin a step: nothing has been paid, and all lists are empty."""
        self.unclaimed, self.joining, self.kongs, self.wins, self.drawn, self.unjudged = [], [], [], [], [], []
        self.rewards = np.zeros(self.state.points.shape, np.int32)

    def pay(self, games: Games, amounts: Int32Array) -> None:
        """Pay [n, S] amounts by table seat."""
        at = self.state.person_at.take(games, axis=0) + games[:, None] * self.rewards.shape[1]
        self.rewards.reshape(-1)[at] += amounts
        self.state.points.reshape(-1)[at] += amounts

    def close_question(self, games: Games) -> None:
        """End the question about a tile, so that nobody is asked any more."""
        self.state.offered[games] = NO_TILE
        self.state.options[games] = 0
        self.state.best_precedence[games] = 0


# --- What phases pass on ----------------------------------------------------------------------------------------------


class Offer(NamedTuple):
    """Tiles that others may claim: discards, or tiles that are being added to a pung."""

    givers: Seats
    kind: IntArray  # [n]


class Kongs(NamedTuple):
    """Kongs of one type that stand; they are still to be paid, and wait for a replacement tile."""

    seats: Seats
    meld_type: MeldType
    from_seat: int | Int8Array  # [n] the seat that gave the tile (for an added kong: the pung), or -1


@dataclass
class Won:
    """Wins that were declared and granted, all from one source."""

    seats: Seats
    source: Source
    tile: Int8Array  # [n] the winning tile
    from_seat: int | Int8Array  # [n] the seat that gave it, or -1
    opening: bool = False  # before the first turn


@dataclass
class Ended:
    """Hands that ended in this step, as they were settled.

    Seats are table seats; `person_at` says who sat there in that hand.
    """

    games: Games
    winner: Int8Array  # [n] -1 after a draw
    source: Int8Array  # [n] Source, -1 after a draw
    from_seat: Int8Array  # [n]
    tile: Int8Array  # [n] the winning tile
    scores: Scores | None  # None for drawn hands
    person_at: Int8Array  # [n, S]
