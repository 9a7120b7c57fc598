"""A recorded match told in frames: the table at every moment, and what has just happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.table import Table, read_table
from mahjong_env.drawing.words import chinese_names
from mahjong_env.engine.outcome import StepResult
from mahjong_env.records import GameRecord, Replay
from mahjong_env.ruleset.questions import Rules

Frame = dict[str, Any]
"""``table`` (`Table` as a dictionary, all hands open), ``event``, ``points`` by person, and where there are any
``paid`` by person and ``note``: what the agent who acts next thought."""


def frames_of(record: GameRecord) -> Iterator[Frame]:
    """Play a record and tell it, frame by frame.

    Raises:
        RecordError: it cannot be played, or ends otherwise than it says.
    """
    replay = Replay(record)
    engine = replay.engine
    yield _frame(replay, {"type": "start"})
    for number, action in enumerate(record.actions):
        person, before = int(engine.seat_to_act[0]), read_table(engine)
        offered = before.offered[0]
        result = replay.step()
        event = _event(person, action, offered)
        rewards = result.rewards[0].tolist()
        if not result.hand_over[0]:
            yield _frame(replay, event, rewards)
            continue
        # The next hand has been dealt already: what won is shown on the table as it was.
        yield {
            "table": _plain(before),
            "event": _end(result, event, engine.rules),
            "points": result.outcome.points[0].tolist(),
            "paid": rewards,
        }
        if number + 1 < len(record.actions):
            yield _frame(replay, {"type": "start"})
    for _ in replay:  # nothing is left to play: the end is checked
        pass


def _frame(replay: Replay, event: dict[str, Any], rewards: list[int] | None = None) -> Frame:
    frame: Frame = {
        "table": _plain(read_table(replay.engine)),
        "event": event,
        "points": replay.engine.points[0].tolist(),
        "to_act": int(replay.engine.seat_to_act[0]),
    }
    if rewards is not None and any(rewards):
        frame["paid"] = rewards
    note = replay.record.notes.get(replay.position)
    if note:
        frame["note"] = dict(note)
    return frame


def _plain(table: Table) -> dict[str, Any]:
    return asdict(table)


def _event(person: int, action: int, offered: int) -> dict[str, Any]:
    """What somebody did: the verb of the action, and the tile that it is about."""
    verb, _, last = ACTIONS[action].rpartition(" ")
    if last in KIND_NAMES:
        return {"type": verb, "person": person, "tile": KIND_NAMES.index(last)}
    return {"type": ACTIONS[action], "person": person, "tile": offered}


def _end(result: StepResult, event: dict[str, Any], rules: Rules) -> dict[str, Any]:
    outcome, chinese = result.outcome, chinese_names(rules)
    return {
        "type": "end",
        "last": event,
        "winner": int(outcome.winner[0]),
        "source": str(outcome.source[0]),
        "from": int(outcome.from_seat[0]),
        "tile": int(outcome.tile[0]),
        "value": int(outcome.value[0]),
        "rows": [[name, chinese.get(name, ""), value] for name, value in outcome.rows[0]],
        "payments": outcome.payments[0].tolist(),
    }
