"""Recording of games while a batched engine plays them, and replay of recorded games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.errors import MahjongError, RecordError, RulesError
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.arguments import game_numbers
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.phases.context import Ended
from mahjong_env.engine.scene import Deal
from mahjong_env.records.record import GameRecord
from mahjong_env.state.arrays import NO_SEAT, Phase

_OVER = np.int8(-1)
_MOST_STEPS_KEPT = 4096


class Recorder:
    """Steps an engine and passes on the record of every match that ends.

    The actions of a step are kept as one array, and a match is put together when it ends, so playing thousands of games
    costs hardly more than without a recorder.

    Example::

        with RecordWriter("games.jsonl") as writer:
            recorder = Recorder(engine, writer.write, agents=["greedy"] * 4)
            while writer.written < 1000:
                recorder.step(agent.act(engine.view(), rng))

    Attributes:
        engine: the games; step and reset them only through the recorder.
        thoughts: by number of the game, what the agent thought about the action that is played next, to be filled by
            `mahjong_env.environments.agents.ask` and the like; None if thoughts are not recorded.
    """

    def __init__(
        self,
        engine: Engine,
        write: Callable[..., object],
        *,
        agents: Sequence[str] | Callable[[int], Sequence[str]] = (),
        thoughts: bool = False,
    ) -> None:
        """Begin with matches that are just beginning.

        Args:
            engine: the games, just dealt: the recorder does not know what was played before.
            write: takes `GameRecord`s, as `RecordWriter.write` does.
            agents: the names of the players, by person; or a function that returns them for the number of a game and
                is called when its match has ended.
            thoughts: whether to ask for agents' thoughts and record them.

        Raises:
            RecordError: the agents are not one name for each person, or none at all.
        """
        if not callable(agents) and (
            len(agents) not in (0, engine.num_people) or not all(isinstance(name, str) for name in agents)
        ):
            raise RecordError(f"agents are {engine.num_people} names, one text for each person, not {agents!r}")
        self.engine, self._write = engine, write
        self.thoughts: dict[int, Mapping[str, Any]] | None = {} if thoughts else None
        self._agents = agents if callable(agents) else (lambda game: agents)
        self._knobs = engine.rules.changed_knobs
        self._steps: list[Int8Array] = []  # [B] the actions of each step, -1 for games that were not stepped
        self._dropped = 0  # number of steps that no running match needs any more
        self._deals: dict[int, Deal] = {}
        self._notes: dict[int, dict[int, dict[str, Any]]] = {}
        self._first_step = np.zeros(engine.num_games, np.int64)
        self._lengths = np.zeros(engine.num_games, np.int64)  # actions of the running matches
        self._first_hand = np.zeros(engine.num_games, np.int64)
        self._is_known = np.ones(engine.num_games, np.bool_)  # everything since the deal has been seen
        self._begin(np.arange(engine.num_games))

    def reset(self, seed: int | None = None, deals: Any = None, games: Any = None) -> None:
        """Begin new matches, as `Engine.reset` does; matches that were running are recorded as they stand."""
        self.note_reset(lambda: self.engine.reset(seed, deals, games), deals, games)

    def note_reset(self, deal: Callable[[], None], deals: Any = None, games: Any = None) -> None:
        """Note that ``deal()`` deals these games anew, for callers that deal themselves; see `reset`."""
        which = self._numbers(games)
        unfinished = self.so_far(self._begun(which))
        deal()
        listed = [deals] * len(which) if isinstance(deals, Deal) or deals is None else deals
        self._begin(which)
        self._deals.update({int(game): deal for game, deal in zip(which, listed, strict=True) if deal is not None})
        self._write(*unfinished)  # last, so that the new matches have begun even if this fails

    def step(self, actions: Any, games: Any = None, *, notes: Sequence[Any] | None = None) -> StepResult:
        """Play actions as `Engine.step` does.

        Args:
            actions: see `Engine.step`.
            games: see `Engine.step`.
            notes: for each action what its agent thought, or None; see `GameRecord.notes`.

        Raises:
            RecordError: the notes are not one mapping or None for each action, and nothing has been played.
            MahjongError: see `Engine.step`; or the record of a match that has ended cannot be written.
        """
        return self.note_step(lambda: self.engine.step(actions, games), actions, games, notes=notes)

    def note_step(
        self, play: Callable[[], StepResult], actions: Any, games: Any = None, *, notes: Sequence[Any] | None = None
    ) -> StepResult:
        """Note that ``play()`` plays these actions, for callers that play themselves; see `step`."""
        engine, which = self.engine, self._numbers(games)
        if notes is not None and len(notes) != len(which):
            raise RecordError(f"notes are one for each of the {len(which)} actions, not {len(notes)}")
        told = [] if notes is None else list(zip(which.tolist(), notes, strict=True))
        told += (self.thoughts or {}).items()
        if wrong := [note for _, note in told if not isinstance(note, Mapping | None)]:
            raise RecordError(f"a note is a mapping or None, not {wrong[0]!r}")
        is_live = engine.state.actor != NO_SEAT
        result = play()
        if self.thoughts:
            self.thoughts.clear()
        played = np.full(engine.num_games, _OVER)
        played[which] = actions
        played[~is_live] = _OVER
        for game, note in told:
            if note:
                self._notes.setdefault(game, {})[int(self._lengths[game])] = dict(note)
        self._first_step[(played >= 0) & (self._lengths == 0)] = self._dropped + len(self._steps)
        self._lengths += played >= 0
        self._steps.append(played)
        ended, records = which[result.done], list[GameRecord]()
        if ended.size:
            known = ended[self._is_known[ended]]
            points = dict(zip(result.outcome.game.tolist(), result.outcome.points.tolist(), strict=True))
            records = self._records(known, [points[game] for game in known.tolist()], is_complete=True)
            self._begin(ended)
        if len(self._steps) > _MOST_STEPS_KEPT:
            kept = self._dropped + len(self._steps)
            needed = int(self._first_step[self._lengths > 0].min(initial=kept))
            del self._steps[: needed - self._dropped]
            self._dropped = needed
        if ended.size:
            self._write(*records)  # last, so that the next matches have begun even if this fails
        return result

    def forget(self, games: Any = None) -> None:
        """Stop recording the current matches of these games (None: of all), because something else changed them."""
        self._is_known[self._numbers(games)] = False

    def close(self) -> None:
        """Write the unfinished matches as far as they have been played; the rest of them is not recorded."""
        begun = self._begun(np.arange(self.engine.num_games))
        self._write(*self.so_far(begun))
        self.forget(begun)

    def _begin(self, games: Games) -> None:
        """Note where the matches of these games begin, which have just been dealt (or are over)."""
        state = self.engine.state
        self._is_known[games] = True
        self._lengths[games] = 0
        self._first_step[games] = self._dropped + len(self._steps)
        for game in games.tolist():
            self._notes.pop(game, None)
            self._deals.pop(game, None)
        self._first_hand[games] = state.hands_dealt[games] - 1

    def so_far(self, games: Any = None) -> list[GameRecord]:
        """Return the records of running matches as far as they have been played; ``games`` [n], None for all games.

        Matches of which not everything was seen (see `forget`) have none.
        """
        which = self._numbers(games)
        which = which[self._is_known[which]]
        return self._records(which, self.engine.state.points[which].tolist(), is_complete=False)

    def _numbers(self, games: Any) -> Games:
        number = self.engine.num_games
        return np.arange(number) if games is None else game_numbers(games, number, repeats=False)

    def _begun(self, games: Games) -> Games:
        """Return those of these games whose matches have begun, and are known from their deal on."""
        return games[self._is_known[games] & (self._lengths[games] > 0)]

    def _records(self, games: Games, points: Sequence[list[int]], *, is_complete: bool) -> list[GameRecord]:
        """Return the records of the matches of [n] games, with the points of each person."""
        engine = self.engine
        starts = np.maximum(self._first_step[games] - self._dropped, 0)  # below 0 for games never stepped
        first = int(starts.min(initial=len(self._steps)))
        played = [step[games] for step in self._steps[first:]]
        actions = np.array(played, np.int8).reshape(len(played), len(games))
        records = []
        for game, column, start, held in zip(games.tolist(), actions.T, (starts - first).tolist(), points, strict=True):
            own = column[start:]
            record = GameRecord(
                variant=engine.rules.name,
                rules_version=engine.rules.version,
                knobs=self._knobs,
                num_hands=engine.num_hands,
                start=engine.start,
                seed=int(engine.state.seed[game]),
                stream=int(engine.state.stream[game]),
                hand=int(self._first_hand[game]),
                deal=self._deals.get(game),
                actions=tuple(own[own >= 0].tolist()),
                points=tuple(held),
                is_complete=is_complete,
                agents=tuple(self._agents(game)),
                notes=self._notes.get(game, {}),
            )
            records.append(record)
        return records


class _ReplayedEngine(Engine):
    """An engine that reports how a hand has ended before it deals the next one."""

    at_hand_end: Callable[[], object] | None = None

    def _begin_next_hands(self, games: Games, ended: list[Ended]) -> tuple[BoolArray, BoolArray, BoolArray]:
        if ended and self.at_hand_end is not None:
            self.state.phase[:], self.state.actor[:] = Phase.OVER, NO_SEAT
            self.at_hand_end()
        return super()._begin_next_hands(games, ended)


class Replay:
    """A replay of a recorded match.

    Attributes:
        record: the record.
        engine: an engine of one game, at the position that has been reached.
        position: the number of actions played so far.

    Raises:
        RecordError: the variant, a knob, the variant's version or the deal is not known here.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        try:
            self.engine = _ReplayedEngine(record.rules, 1, seed=0, num_hands=record.num_hands, start=record.start)
        except RulesError as error:
            raise record.refused(f"the record cannot be played here: {error}") from None
        self.rewind()

    def rewind(self) -> None:
        """Go back to the first decision."""
        record = self.record
        try:
            deal_again(self.engine, record.seed, record.stream, record.hand, deals=record.deal)
        except (ValueError, TypeError, OverflowError) as error:  # numpy's, for numbers that it cannot hold
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
        """Play the remaining actions; at the end the points must be those of the record.

        Raises:
            RecordError: an action is illegal, the points are not those recorded, or the match has not ended as it
                should.
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

    def hand_events(self, person: int = 0) -> Iterator[Int8Array]:
        """Play the remaining actions, and yield the events of each hand when it has ended.

        For a hand that was not played to its end, the events go up to the last action. For what a seat saw when it
        decided, read ``replay.engine.view().events`` between the actions.

        Args:
            person: who looks: events are in this person's slots, and without what only others know.

        Yields:
            [T, 5] int8, see `View.events`.

        Raises:
            RecordError: as when the replay is iterated.
            ActionError: there is no such person.
        """
        engine, found = self.engine, list[Int8Array]()
        engine.view(seats=person)  # refuses a person who does not exist before anything is played
        engine.at_hand_end = lambda: found.append(engine.view(seats=person).events[0])
        try:
            for _ in self:
                yield from found
                found.clear()
        finally:
            engine.at_hand_end = None
        if engine.seat_to_act[0] >= 0:
            yield engine.view(seats=person).events[0]


def deal_again(engine: Engine, seed: Any, stream: Any, hand: Any = 0, *, deals: Any = None) -> None:
    """Deal every game of an engine as it was dealt when it was recorded.

    ``seed``, ``stream`` and ``hand`` are those of `GameRecord`, [B] or one for all; for ``deals`` and errors see
    `Engine.reset`.
    """
    state = engine.state
    if np.any(np.asarray(hand) > (most := np.iinfo(state.hands_dealt.dtype).max)):  # numpy 1 would deal another hand
        raise ValueError(f"hands are numbered up to {most}")
    state.seed[:] = np.asarray(seed, np.uint64)
    state.stream[:], state.hands_dealt[:] = stream, hand
    engine.reset(deals=deals)


def replay_points(record: GameRecord) -> tuple[int, ...]:
    """Play a record to its end and return the points of each person.

    Raises:
        RecordError: the record cannot be played, or ends differently from what it says.
    """
    replay = Replay(record)
    for _ in replay:
        pass
    return tuple(replay.engine.state.points[0].tolist())
