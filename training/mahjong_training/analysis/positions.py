"""Positions to look at: from a recorded game, or from a deal and the actions that follow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mahjong_env import Deal, Engine, Rules, action, make_engine
from mahjong_env.basics.errors import MahjongError
from mahjong_env.records import GameRecord, Recorder, Replay, read_records
from mahjong_training.errors import TrainingError


@dataclass(frozen=True)
class Positions:
    """Decisions of one match.

    Attributes:
        record: the match as far as it is known.
        decision: [n] numbers of the decisions, counted from 0 over all actions of the match, as in its notes.
        engine: n games, each at its decision.
        taken: [n] the actions that were played there; None: nothing was played.
    """

    record: GameRecord
    decision: NDArray[np.int64]
    engine: Engine
    taken: NDArray[np.int64] | None

    def take(self, which: NDArray[np.intp]) -> Positions:
        """Return some of them."""
        taken = None if self.taken is None else self.taken[which]
        return Positions(self.record, self.decision[which], self.engine.select(which), taken)


def read_record(path: Path, match: int) -> GameRecord:
    """Read one match of a file, counted from 1.

    Raises:
        MahjongError: no such file or match, or a damaged line.
    """
    if match < 1:
        raise TrainingError(f"--match is an integer from 1, not {match}")
    found = next(islice(read_records(path), match - 1, None), None)
    if found is None:
        raise TrainingError(f"{path} has no match {match}")
    return found


def decisions_of(record: GameRecord, seat: int | None) -> list[int]:
    """Return the numbers of all decisions with more than one legal action.

    Args:
        record: the match.
        seat: the person who decides; None: anybody.

    Raises:
        MahjongError: there is no such person, or the record cannot be played.
    """
    people = record.rules.people
    if seat is not None and not 0 <= seat < people:
        raise TrainingError(f"--seat is a person from 0 to {people - 1}, not {seat}")
    replay, found = Replay(record), []
    for number in range(len(record.actions)):
        person = int(replay.engine.seat_to_act[0])
        if replay.engine.action_mask[0].sum() > 1 and seat in (None, person):
            found.append(number)
        replay.step()
    return found


def recorded(record: GameRecord, decisions: Sequence[int]) -> Positions:
    """Return decisions of a recorded match.

    Raises:
        TrainingError: the record has no such decision.
        RecordError: it cannot be played.
    """
    last = len(record.actions) - 1
    for number in decisions:
        if not 0 <= number <= last:
            raise TrainingError(f"the match has the decisions 0 to {last}, not {number}")
    replay = Replay(record)
    engine = replay.engine.select(np.zeros(len(decisions), np.intp))
    numbers = np.array(decisions, np.int64)
    for number, played in enumerate(record.actions[: max(decisions, default=0)]):
        replay.step()  # which names a damaged record's action
        on = np.flatnonzero(numbers > number)
        engine.step(np.full(len(on), played), games=on)
    return Positions(record, numbers, engine, np.array(record.actions, np.int64)[numbers])


def dealt(rules: Rules, deal: Deal | None, actions: Sequence[str], seed: int) -> Positions:
    """Return the position that actions lead to from a deal.

    Args:
        rules: what is played.
        deal: how the hand begins; None: everything is shuffled from the seed.
        actions: names of the actions in order, each by the person to act.
        seed: of what the deal does not name.

    Raises:
        MahjongError: an impossible deal, an unknown or illegal action (the message names it and the legal ones), or a
            hand that is over.
    """
    engine = make_engine(rules, 1, seed=seed)
    parts: list[GameRecord] = []
    recorder = Recorder(engine, lambda *records: parts.extend(records))
    if deal is not None:
        recorder.reset(deals=deal)
    for number, name in enumerate(actions):
        try:
            recorder.step([action(name)])
        except MahjongError as error:
            raise TrainingError(f"action {number + 1} of --actions, {name!r}: {error}") from None
    if engine.seat_to_act[0] < 0:
        raise TrainingError("--actions lead to the end of the hand: there is nothing left to decide")
    reached, points = engine.select([0]), tuple(engine.points[0].tolist())
    recorder.step([int(engine.action_mask[0].argmax())])  # a record has at least one action; it is taken back below
    recorder.close()
    record = replace(parts[0], actions=parts[0].actions[:-1], points=points, is_complete=False)
    return Positions(record, np.array([len(actions)]), reached, None)
