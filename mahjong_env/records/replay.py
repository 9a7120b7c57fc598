"""Plays a recorded match again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.errors import MahjongError, RulesError
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.records.record import GameRecord


class Replay:
    """A match as it was played.

    Attributes:
        record: what is played.
        engine: an engine of one game, at the position that has been reached.
        position: actions played so far.

    Raises:
        RecordError: the variant, a knob, the variant's version or the deal is not known here.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        try:
            self.engine = Engine(record.rules, 1, seed=0, num_hands=record.num_hands, start=record.start)
        except RulesError as error:
            raise record.refused(f"the record cannot be played here: {error}") from None
        self.rewind()

    def rewind(self) -> None:
        """Go back to the first decision."""
        record = self.record
        try:
            deal_again(self.engine, record.seed, record.stream, record.hand, deals=record.deal)
        except (ValueError, TypeError, OverflowError) as error:  # numpy's for numbers that it cannot hold
            raise record.refused(f"the record's deal cannot be dealt: {error}") from None
        self.position = 0

    def step(self) -> StepResult:
        """Play the next action.

        Raises:
            RecordError: the action is not legal here: the record is damaged, or was made by other rules.
            IndexError: all actions have been played.
        """
        number = self.record.actions[self.position]
        if self.engine.seat_to_act[0] < 0:
            raise self.record.refused(f"action {self.position} of the record comes after the end of the match")
        try:
            result = self.engine.step([number])
        except MahjongError as error:
            raise self.record.refused(f"action {self.position} of the record, {ACTIONS[number]!r}: {error}") from None
        self.position += 1
        return result

    def __iter__(self) -> Iterator[StepResult]:
        """Play the actions that are left; at the end the points must be those of the record.

        Raises:
            RecordError: an illegal action, other points than recorded, or a match that has not ended as it should.
        """
        while self.position < len(self.record.actions):
            yield self.step()
        points = tuple(self.engine.state.points[0].tolist())
        is_over = bool(self.engine.seat_to_act[0] < 0)
        if is_over != self.record.is_complete:
            how = "has not ended" if self.record.is_complete else "has ended although it is recorded as unfinished"
            raise self.record.refused(f"after the last action of the record the match {how}")
        if points != self.record.points:
            raise self.record.refused(f"the match ends with the points {points}, but {self.record.points} are recorded")


def deal_again(engine: Engine, seed: Any, stream: Any, hand: Any = 0, *, deals: Any = None) -> None:
    """Deal every game of an engine as it was dealt when it was recorded.

    ``seed``, ``stream`` and ``hand`` are those of `GameRecord`, [B] or one; ``deals`` and errors as of `Engine.reset`.
    """
    state = engine.state
    state.seed[:] = np.asarray(seed, np.uint64)
    state.stream[:], state.hands_dealt[:] = stream, hand
    engine.reset(deals=deals)


def replay_points(record: GameRecord) -> tuple[int, ...]:
    """Play a record to its end and return the points of each person.

    Raises:
        RecordError: it cannot be played, or ends otherwise than it says.
    """
    replay = Replay(record)
    for _ in replay:
        pass
    return tuple(replay.engine.state.points[0].tolist())
