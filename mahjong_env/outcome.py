"""What a step gives back, and the record of the hands that ended in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mahjong_env.phases.table import Ended
from mahjong_env.ruleset import Rules
from mahjong_env.scoring import Source
from mahjong_env.types import BoolArray, Games, Int8Array, Int32Array, Int64Array

if TYPE_CHECKING:
    from mahjong_env.state import State

# Indexed by Source; -1, the last entry, is a drawn hand.
_WORDS = np.array([*(source.word for source in Source), ""])


@dataclass(frozen=True)
class Outcome:
    """The hands that ended in a step, one a row, in the order of their games.

    Attributes:
        game: [n] number of the game.
        winner: [n] int8 person, -1 after a draw.
        source: [n] text: "draw", "discard", "kong" (robbed), "flowers", or "" after a draw.
        from_seat: [n] int8 person who gave the winning tile, -1 if nobody did.
        tile: [n] int8 kind of the winning tile, -1 if there is none.
        value: [n] int64 value of the winning hand (`HandScore.points`), 0 after a draw.
        payments: [n, P] int32 what the win moved; kongs that were paid at once are not in it.
        points: [n, P] int32 running points after the hand.
        rows: for each hand the rows scored, as (name, value) pairs.
    """

    game: Games
    winner: Int8Array
    source: NDArray[np.str_]
    from_seat: Int8Array
    tile: Int8Array
    value: Int64Array
    payments: Int32Array
    points: Int32Array
    rows: tuple[list[tuple[str, int | float]], ...] = field(repr=False)

    def __len__(self) -> int:
        """The number of hands that ended."""
        return len(self.game)

    @classmethod
    def collect(cls, ended: list[Ended], rules: Rules, state: State) -> Outcome:
        """Put the records of a step together; seats become persons, points are read before the next deal."""
        if not ended:
            return _nothing(rules.people)
        games = np.concatenate([end.games for end in ended])
        order = np.argsort(games, kind="stable")
        parts = [_by_person(end, rules) for end in ended]
        winner, giver, payments, value = (
            np.concatenate(part)[order] for part in zip(*(p[:4] for p in parts), strict=True)
        )
        rows = [row for part in parts for row in part[4]]
        source = np.concatenate([end.source for end in ended])[order]
        tile = np.concatenate([end.tile for end in ended])[order]
        games = games[order]
        return cls(
            games,
            winner,
            _WORDS[source],
            giver,
            tile,
            value,
            payments,
            state.points[games],
            tuple(rows[place] for place in order),
        )


def _by_person(
    end: Ended, rules: Rules
) -> tuple[Int8Array, Int8Array, Int32Array, Int64Array, list[list[tuple[str, int | float]]]]:
    n = len(end.games)
    places = np.arange(n)
    winner = np.where(end.winner >= 0, end.person_at[places, end.winner], -1).astype(np.int8)
    giver = np.where(end.from_seat >= 0, end.person_at[places, end.from_seat], -1).astype(np.int8)
    payments = np.zeros((n, rules.people), np.int32)
    if end.scores is None:
        return winner, giver, payments, np.zeros(n, np.int64), [[] for _ in range(n)]
    payments[places[:, None], end.person_at] = end.scores.payments
    rows = [end.scores.rows_of(place, rules.rows) for place in range(n)]
    return winner, giver, payments, end.scores.points, rows


def _nothing(people: int) -> Outcome:
    nobody = np.zeros(0, np.int8)
    nothing = np.zeros((0, people), np.int32)
    return Outcome(
        np.zeros(0, np.intp),
        nobody,
        np.zeros(0, _WORDS.dtype),
        nobody,
        nobody,
        np.zeros(0, np.int64),
        nothing,
        nothing,
        (),
    )


@dataclass(frozen=True)
class StepResult:
    """What one step did, one row for each game stepped.

    Attributes:
        rewards: [n, P] int32 points that changed hands, by person; each row sums to zero.
        hand_over: [n] bool a hand ended (and, if the match goes on, the next one has been dealt).
        done: [n] bool the match ended.
        truncated: [n] bool it was cut short, which only happens to matches that end by points.
        outcome: the hands that ended.
    """

    rewards: Int32Array
    hand_over: BoolArray
    done: BoolArray
    truncated: BoolArray
    outcome: Outcome
