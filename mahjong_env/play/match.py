"""A person's match against agents, one question at a time, with all that the browser shows and nothing hidden.

Every table in it is made from the person's own `View`. A step that the person cannot see (somebody passes, somebody is
asked) leaves no trace.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.errors import MahjongError, RecordError
from mahjong_env.drawing.table import HIDDEN, Table, person_of, read_table, seen_table
from mahjong_env.drawing.text import Deed, deeds, marks_in_words
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.environments.agents import Opponent, agent_name, ask_alone
from mahjong_env.play.hints import advice, prospects, why_not, win_now
from mahjong_env.records import GameRecord, Recorder, Replay
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import Event, Phase
from mahjong_env.viewer.story import (
    Frame,
    end_of_hand,
    event_of,
    examples_told,
    reasons_of_a_kong,
    receipt_told,
)


class PlayError(MahjongError):
    """A person has asked for something that cannot be done.

    Attributes:
        code: a word by which the page finds the message in the other language.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class StaleError(PlayError):
    """An answer to a question that is no longer, or not yet, being asked."""


class RequestError(PlayError):
    """A request that cannot be answered.

    Attributes:
        status: the HTTP status of the answer.
    """

    def __init__(self, status: HTTPStatus, message: str, code: str = "request") -> None:
        super().__init__(message, code)
        self.status = status


def show_command(file: str, match: int = 1) -> str:
    """Return the command that writes a match of a file as a page."""
    return f"python -m mahjong_env show {_quoted(file)}{_which(match)} --html page.html"


def review_command(file: str, match: int, person: int) -> str:
    """Return the command that reports what every choice of a person was worth."""
    return f"mahjong-env review --record {_quoted(file)}{_which(match)} --review --seat {person} --out review"


def play_on_command(file: str, match: int) -> str:
    """Return the command that plays on from a match of a file; ``--at`` and ``--seat`` are to be added to it."""
    return f"mahjong-env play --browser --from {_quoted(file)}{_which(match)}"


def _which(match: int) -> str:
    return f" --match {match}" if match != 1 else ""


def _quoted(file: str) -> str:
    if os.name != "nt":
        return shlex.quote(file)
    return f'"{file}"' if set(file) & set(" &()';") else file


_DEEDS: Final = {
    (Event.DISCARD, False): "discard",
    (Event.CHOW, True): "claimed chow",
    (Event.PUNG, True): "claimed pung",
    (Event.EXPOSED_KONG, True): "claimed kong",
    (Event.ADDED_KONG, True): "claimed kong",
    (Event.ADDED_KONG, False): "added kong",
    (Event.CONCEALED_KONG, False): "concealed kong",
}
"""The names of events, by the number in `View.events` and whether a discard was claimed."""
_KONGS: Final = (Event.CONCEALED_KONG, Event.EXPOSED_KONG, Event.ADDED_KONG)
DOWNLOAD: Final = "match.jsonl"
"""The file name of the record that a page saves."""


def _with_points(table: dict[str, Any], points: Sequence[int]) -> dict[str, Any]:
    """Return a table with other points, by person."""
    return table | {
        "places": [place and place | {"points": points[place["person"]]} for place in table["places"]],
        "sits_out": [(name, points[person_of(name)]) for name, _ in table["sits_out"]],
    }


class PersonsMatch:
    """A match of one person against agents.

    Attributes:
        person: the number of the person.
        engine: the game. It holds everybody's tiles: show only `seen_table` of the person's view.
        position: the number of the question; every answer raises it.
        waits_for: "answer" (a question is asked), "next" (a hand has ended and the next one waits), or "over".
        record: the record of the match, once it is over or has been left.
        written: the number of the match in its file, from 1, once it is written.
    """

    def __init__(
        self,
        rules: Rules,
        agents: Sequence[Opponent | None],
        *,
        seed: int,
        num_hands: int = 1,
        hints: Opponent | None = None,
        write: Callable[[GameRecord], int | None] | None = None,
        file: str = "",
        thoughts: bool = False,
        begun: tuple[GameRecord, int] | None = None,
        tell: Callable[[Engine, Deed | list[int] | StepResult | None], object] = lambda engine, what: None,
    ) -> None:
        """Deal, and let the agents play until the person is asked.

        Args:
            rules: the rules.
            agents: the agent for each person; None for the person who plays.
            seed: the seed of the tiles and of the agents' random numbers.
            num_hands: the number of hands of the match.
            hints: the agent that gives hints; None for no hints.
            write: writes the record when the match is over, and returns the number of the match in its file.
            file: the name of that file.
            thoughts: whether to record the agents' reasons for their choices.
            begun: a recorded match and the number of its actions after which to go on, with its own tiles and hands.
            tell: is called with what the person sees while agents play: None when a hand begins or the match goes on,
                then every deed, the points by person that are paid at once for a kong, and the step in which the hand
                ends.

        Raises:
            RecordError: the recorded match cannot be played, or is over by that action.
        """
        self.rules, self.person, self.agents = rules, agents.index(None), agents
        self.engine = Engine(rules, 1, seed=seed, num_hands=num_hands) if begun is None else Replay(begun[0]).engine
        self._hints, self._write, self._file, self._tell = hints, write, file, tell
        self._rng = np.random.default_rng(seed)
        self.names = ["you" if agent is None else agent_name(agent) for agent in agents]
        self._recorder = Recorder(self.engine, self._keep, agents=self.names, thoughts=thoughts)
        self.position, self.waits_for = 0, "answer"
        self.record: GameRecord | None = None
        self.written: int | None = None
        self.points_by_hand: list[list[int]] = [self.engine.points[0].tolist()]
        self.frames: list[Frame] = []
        self._last: Frame = {}
        if begun is None:
            self._start_hand()
        else:
            self._go_on(*begun)

    def play_on(self, played: int) -> PersonsMatch:
        """Return a new match of the same people that goes on from a position of this one.

        Args:
            played: the number of actions before the position.

        Raises:
            StaleError: this match is not over, so that its tiles must stay hidden.
            RecordError: it has fewer actions.
        """
        return PersonsMatch(
            self.rules,
            self.agents,
            seed=int(self._rng.integers(2**32)),
            hints=self._hints,
            write=self._write,
            file=self._file,
            thoughts=self._recorder.thoughts is not None,
            begun=(self.played(), played),
        )

    def played(self) -> GameRecord:
        """Return the record of the match.

        Raises:
            StaleError: the match is not over.
        """
        if self.record is None:
            raise StaleError("the record is available when the match is over, because it shows all cards", "early")
        return self.record

    def so_far(self) -> GameRecord | None:
        """Return the record of what has been played so far, hidden tiles included; None if the match is over."""
        return None if self.record is not None else self._recorder.so_far()[0]

    # --- what the person does ------------------------------------------------------------------------------------
    def answer(self, position: int, name: str) -> None:
        """Play an action of the person, and let the agents play until the next question.

        Raises:
            StaleError: another question is being asked by now.
            PlayError: there is no such action, or it is not legal; the message says why. The match is unchanged. Or the
                match is over, and its record cannot be written (code "unwritten").
        """
        self._check(position, "answer")
        if name not in ACTIONS:
            raise PlayError(f"there is no action {name!r}; legal are {', '.join(self.legal())}", "unknown")
        action = ACTIONS.index(name)
        if not self.engine.action_mask[0, action]:
            raise PlayError(f"{name!r} is not legal: {why_not(self.engine, action)}", "illegal")
        self.position += 1
        self.frames = []
        self._step(action)
        self._let_agents_play()

    def next_hand(self, position: int) -> None:
        """Start the next hand after one has ended.

        Raises:
            StaleError: no hand has ended, or the next one has started already.
        """
        self._check(position, "next")
        self.position += 1
        self._start_hand()

    def hint(self, position: int) -> dict[str, Any]:
        """Return an agent's advice, the prospects of each action, and the value of a win now.

        Raises:
            StaleError: another question is being asked by now.
        """
        self._check(position, "answer")
        view = self.engine.view()
        told: dict[str, Any] = {
            "prospects": [{**asdict(one), "tiles": one.tiles} for one in prospects(view)],
            "win": win_now(self.engine),
        }
        if told["win"] is not None:
            told["win"] |= receipt_told(told["win"].pop("receipt"), self.rules)
        if self._hints is not None:
            told["agent"], told["advice"] = advice(self._hints, self.engine)
        return told

    def leave(self) -> None:
        """Write the match as far as it is played, if it is not over and the person has answered at least once."""
        if self.position and self.record is None:
            self._recorder.close()
            self._write_record()

    def legal(self) -> list[str]:
        """Return the names of the actions that the person may choose from."""
        return [ACTIONS[number] for number in np.flatnonzero(self.engine.action_mask[0])]

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, as plain values: the frames since the last answer, and the question."""
        asked, afterwards = self._is_asked(), None
        if self.waits_for == "over":  # name the file that the match was written to, or the one that the page saves
            file, match = (self._file, self.written) if self.written is not None else (DOWNLOAD, 1)
            look, review = show_command(file, match), review_command(file, match, self.person)
            afterwards = {"file": self._file, "match": self.written, "look": look, "review": review}
        return {
            "position": self.position,
            "waitsFor": self.waits_for,
            "frames": self.frames or [self._last],
            "legal": self.legal() if asked else [],
            "phase": int(self.engine.state.phase[0]) if asked else Phase.OVER,
            "pointsByHand": self.points_by_hand,
            "afterwards": afterwards,
        }

    def about(self) -> dict[str, Any]:
        """Return the facts that stay the same throughout the match."""
        return {
            "title": self.rules.title,
            "chinese": self.rules.chinese,
            "agents": self.names,
            "people": self.rules.people,
            "person": self.person,
            "marks": marks_in_words(self.rules),
            "variant": self.rules.name,
            "examples": examples_told(self.rules),
        }

    def _is_asked(self) -> bool:
        """Return whether the person is asked; False if an agent has failed in its turn."""
        return self.waits_for == "answer" and int(self.engine.seat_to_act[0]) == self.person

    def _check(self, position: int, waits_for: str) -> None:
        if self.waits_for != waits_for:
            now = {"answer": "you are asked", "next": "the hand has ended", "over": "the match is over"}
            raise StaleError(f"that cannot be done now: {now[self.waits_for]}", self.waits_for)
        if position != self.position:
            raise StaleError(f"that was question {position}; question {self.position} is being asked now", "stale")
        if waits_for == "answer" and not self._is_asked():
            raise StaleError("that cannot be done now: it is not your turn", "turn")

    # --- how it goes on ------------------------------------------------------------------------------------------
    def _go_on(self, record: GameRecord, played: int) -> None:
        if not 0 <= played < len(record.actions) + (not record.is_complete):
            actions = f"{'fewer than' if record.is_complete else 'at most'} its {len(record.actions)} actions"
            raise record.refused(f"the match can be continued after 0 or more and {actions}, not after {played}")
        self._recorder.note_reset(lambda: None, record.deal)
        for action in record.actions[:played]:
            try:
                result = self._recorder.step([action])
            except MahjongError as error:
                raise record.refused(f"the match cannot be replayed: {error}") from None
            if result.hand_over[0]:
                self.points_by_hand.append(result.outcome.points[0].tolist())
        if self.engine.seat_to_act[0] < 0:
            raise record.refused("the match is over by then")
        self._show({"type": "resumed"})
        self._tell(self.engine, None)
        self._let_agents_play()

    def _start_hand(self) -> None:
        self.waits_for = "answer"
        self.frames = []
        self._show({"type": "start"})
        self._tell(self.engine, None)
        self._let_agents_play()

    def _let_agents_play(self) -> None:
        while self.waits_for == "answer":
            agent = self.agents[int(self.engine.seat_to_act[0])]
            if agent is None:
                # Show the question itself: the person's draw, or the tile that is offered.
                self._show({"type": "asked"})
                return
            self._step(ask_alone(agent, self.engine, self._rng, self._recorder.thoughts))

    def _step(self, action: int) -> None:
        before, told = read_table(self.engine, below=self.person), len(deeds(self.engine.view(seats=self.person)))
        last = event_of(int(self.engine.seat_to_act[0]), action, before.offered[0])
        result = self._recorder.step([action])
        if result.hand_over[0]:
            self.points_by_hand.append(result.outcome.points[0].tolist())
            self._show_kong_paid(before)
            # What others have answered to a discard stays hidden.
            self.frames.append(end_of_hand(result, before, self.rules, last if last["type"] == "discard" else None))
            self._last = self.frames[-1]
            self.waits_for = "over" if result.done[0] else "next"
            self._tell(self.engine, result)
            self._write_record()  # last, so that the match is over even if this fails
            return
        for deed in deeds(self.engine.view(seats=self.person))[told:]:
            event, person, kind, detail, giver = deed
            if event == Event.FLOWER:  # the table shows it
                self._tell(self.engine, deed)
                continue
            # The new frame tells what has been paid for a kong: after this kong, but before any other deed.
            is_kong = event in _KONGS
            if is_kong:
                self._tell(self.engine, deed)
            claimed = detail >= 0 and event != Event.DISCARD
            shown = {"type": _DEEDS[event, claimed], "person": person, "tile": detail if claimed else kind}
            self._show({**shown, "from": giver} if claimed else shown)
            if not is_kong:
                self._tell(self.engine, deed)

    def _show(self, event: dict[str, Any]) -> None:
        """Add a frame of what the person sees now; changed points show what has been paid since the last frame."""
        table = asdict(seen_table(self.engine.view(seats=self.person)))
        before = self._last.get("points", self.engine.points[0].tolist())
        # The points may include the payment for a kong that can still be robbed: show it once the match goes on.
        is_open = event["type"] in ("added kong", "resumed")
        self._add(_with_points(table, before) if is_open else table, event)

    def _show_kong_paid(self, before: Table) -> None:
        """Add a frame of the payment for a kong that was not robbed, if the hand ended before it could be seen."""
        held = self._points_seen(asdict(before))
        if held != self._last["points"]:
            now = {"turn": before.turn, "offered": (HIDDEN, None), "is_robbed": False}
            self._add(_with_points(self._last["table"] | now, held), {"type": "kong paid"})

    def _add(self, table: dict[str, Any], event: dict[str, Any]) -> None:
        points = self._points_seen(table)
        frame: Frame = {"table": table, "event": event, "points": points}
        paid = [now - then for now, then in zip(points, self._last.get("points", points), strict=True)]
        if any(paid):
            frame |= {"paid": paid, "reasons": reasons_of_a_kong(paid, event)}
            self._tell(self.engine, paid)
        self.frames.append(frame)
        self._last = frame

    def _points_seen(self, table: dict[str, Any]) -> list[int]:
        points = [0] * self.rules.people
        for place in table["places"]:
            if place is not None:
                points[place["person"]] = place["points"]
        for name, held in table["sits_out"]:
            points[person_of(name)] = held
        return points

    def _keep(self, *records: GameRecord) -> None:
        for record in records:
            self.record = record

    def _write_record(self) -> None:
        if self.record is None or self._write is None:
            return
        try:
            self.written = self._write(self.record)
        except RecordError as error:
            raise PlayError(str(error), "unwritten") from error
