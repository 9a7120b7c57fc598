"""Bots in any language: programs that answer lines of JSON, ``command:./bot --fast`` (docs/bots.md)."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.bot_messages import EVENT_BYTES, VERSION, Told
from mahjong_agents.bot_process import BotError, BotProcess, short
from mahjong_env import ACTIONS, AgentError, View

_LOGGER: Final = logging.getLogger(__name__)
_NUMBERS: Final = {name: number for number, name in enumerate(ACTIONS)}
_START_SECONDS: Final = 60.0
_AT_ONCE: Final = 64  # requests that are sent together
# Tables are remembered up to this many times the most that a bot was asked about at once; older ones are forgotten.
_SPARE: Final = 8


class Tables:
    """The tables that a bot knows; a row of a view continues the one whose seat had seen what the row's seat had seen.

    A table is a hand as one seat sees it.
    """

    def __init__(self, spare: int) -> None:
        """Begin with no table; ``spare`` times the most that were asked about at once are remembered."""
        self._spare = spare
        self._known: dict[bytes, list[int]] = {}  # the numbers of tables by what was seen, longest unused first
        self._last = self._most = 0

    def take(self, told: Told, row: int) -> tuple[int, int]:
        """Return the table that a row continues and how many of its events were told; or a new table and -1."""
        before, events = told.before[row], told.events[row]
        whole = before + events
        for length in range(len(whole), len(before) - 1, -EVENT_BYTES):
            if tables := self._known.get(whole[:length]):
                table = tables.pop(0)
                if not tables:
                    del self._known[whole[:length]]
                return table, (length - len(before)) // EVENT_BYTES
        self._last += 1
        return self._last, -1

    def keep(self, told: Told, row: int, table: int) -> None:
        """Remember what has been told of a table."""
        self._known.setdefault(told.now[row] + told.events[row], []).append(table)

    def forget(self, asked: int) -> list[int]:
        """Forget the tables unused for longest, if there are too many, and return their numbers.

        Args:
            asked: how many tables were just asked about at once.
        """
        self._most = max(self._most, asked)
        spare = sum(map(len, self._known.values())) - self._spare * self._most
        forgotten: list[int] = []
        while len(forgotten) < spare:
            forgotten += self._known.pop(next(iter(self._known)))
        return forgotten

    def clear(self) -> None:
        """Forget all tables."""
        self._known.clear()


class ProgramAgent(ABC):
    """The base class of agents that ask programs: their options, and what becomes of failed decisions.

    The constructor of a subclass defines which options can stand in the text that names the agent.

    A program fails to make a decision if it ends, does not answer in time, or gives no legal answer. The decision is
    then made for it: it passes, or discards the tile just drawn, or else makes the last of its legal discards.

    Attributes:
        name: see the subclasses.
        games_at_once: see `mahjong_agents.base.games_at_once`.
        failed: [n] bool which of the latest decisions were made for the program.
    """

    name: str
    is_command = True

    def __init__(
        self, command: str, milliseconds: int, failures: int, games: int, log: Path | None, **more: Any
    ) -> None:
        if min(milliseconds, games) < 1 or failures < 0:
            raise AgentError("milliseconds and games must be at least 1, failures at least 0")
        options = {"milliseconds": milliseconds, "failures": failures, "games": games, "log": log, **more}
        self._made = partial(type(self), **options), (command,)
        self._command, self._seconds, self._limit, self._log = command, milliseconds / 1000, failures, log
        self._failures = 0
        self.games_at_once, self.failed = games, np.zeros(0, np.bool_)

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Let the program choose; see `mahjong_agents.Agent.act`. One number is drawn for each row.

        Raises:
            AgentError: more decisions have failed than allowed, or the program cannot be asked at all.
        """
        told, actions = Told(view, rng.random(len(view))), np.full(len(view), -1, np.int64)
        self.failed = np.zeros(len(view), np.bool_)
        try:
            self._choose(view, told, actions)
        except BaseException:  # late answers would be taken for answers to other requests
            self._stop()
            raise
        return actions

    @abstractmethod
    def _choose(self, view: View, told: Told, actions: NDArray[np.int64]) -> None:
        """Fill in the actions [n]."""

    @abstractmethod
    def _stop(self) -> None:
        """End all processes; later ones are told of every table from its beginning."""

    def _decide(self, told: Told, row: int, error: BotError, errors: str) -> int:
        """Count a failure; return the action that is taken instead."""
        self._failures += 1
        self.failed[row] = True
        action = told.decide(row)
        what = f"{self.name}: {error}{errors}"
        if self._failures > self._limit:
            raise AgentError(f"{what}. That is failure {self._failures}; {self._limit} are tolerated (?failures=...)")
        done = f"failure {self._failures} of {self._limit} that are tolerated; {ACTIONS[action]!r} is played instead"
        _LOGGER.warning("%s. (%s)", what, done)
        return action

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options, so that copies have processes of their own."""
        return self._made


class CommandAgent(ProgramAgent):
    """Plays the answers of a program that runs beside this one; every copy has a process of its own.

    Its name is ``command:`` and the name that the program gives itself, or else its command.
    """

    def __init__(
        self,
        command: str,
        *,
        milliseconds: int = 10_000,
        failures: int = 10,
        games: int = 1000,
        log: Path | None = None,
    ) -> None:
        """Start the program.

        Args:
            command: the program and its arguments, quoted as for a POSIX shell, although no shell is run (on Windows,
                quoted as is usual there).
            milliseconds: the time limit: if no answer comes for this long while decisions are owed, the program fails.
            failures: how many failed decisions are made for the program before the next failure is an error.
            games: how many games are played at once.
            log: a folder for one file per process with all that was said; None writes no files.

        Raises:
            AgentError: the program cannot be started, or does not answer the greeting.
        """
        super().__init__(command, milliseconds, failures, games, log)
        self._tables = Tables(_SPARE)
        self.name = f"command:{command}"
        self._process: BotProcess | None = self._start()

    def _choose(self, view: View, told: Told, actions: NDArray[np.int64]) -> None:
        while owed := [row for row in told.order if actions[row] < 0]:
            self._ask(told, owed, actions)

    def _ask(self, told: Told, rows: list[int], actions: NDArray[np.int64]) -> None:
        """Ask about some rows and fill in their actions; only some of them if the process fails."""
        process = self._process = self._process or self._start()
        waiting: dict[int, int] = {}
        if process.has_spoken():  # it would be taken for the answer to the next request of its table
            try:
                self._answer(process, waiting)
            except BotError as error:
                actions[rows[0]] = self._begin_anew(told, rows[0], process, error)
                return
        lines: list[str] = []
        for more, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
            table, since = self._tables.take(told, row)
            if since < 0:
                lines.append(told.start(row, table))
            lines += told.happened(row, table, max(0, since))
            lines.append(told.request(row, table, more))
            waiting[table] = row
            if more % _AT_ONCE == 0:  # send these, so that the bot can begin
                _tell(process, lines)
                lines = []
        while waiting:
            try:
                table, action = self._answer(process, waiting)
            except BotError as error:
                table, row = next(iter(waiting.items()))
                error = BotError(f"asked about the table {table}, {error}")
                actions[row] = self._begin_anew(told, row, process, error)
                return
            row = waiting.pop(table)
            number = _NUMBERS.get(action, -1)
            if number < 0 or not told.mask[row, number]:
                valid = ", ".join(ACTIONS[legal] for legal in told.legal(row))
                wrong = BotError(f"asked about the table {table}, it answers {short(action)}; legal are {valid}")
                number = self._decide(told, row, wrong, process.last_errors())
            actions[row] = number
            self._tables.keep(told, row, table)
        _tell(process, [f'{{"type":"end","table":{table}}}\n' for table in self._tables.forget(len(rows))])

    def _begin_anew(self, told: Told, row: int, process: BotProcess, error: BotError) -> int:
        """End the process, which has failed; return the action that is taken instead of its answer for a row."""
        self._stop()
        return self._decide(told, row, error, process.last_errors())

    def _answer(self, process: BotProcess, waiting: Mapping[int, int]) -> tuple[int, str]:
        """Return the table and the action of the next answer.

        Raises:
            BotError: none comes in time, or a bad one, or one for a table that is not waiting.
        """
        message = _message(process, self._seconds)
        table, action = message.get("table"), message.get("action")
        if message.get("type") != "answer" or type(table) is not int or not isinstance(action, str):
            raise BotError(f"{short(message)} is not an answer")
        if table not in waiting:
            raise BotError(f"it answers for the table {table}, which is not waiting")
        return table, action

    def _start(self) -> BotProcess:
        """Start and greet the program; raise `AgentError` if it cannot be started, or does not answer the greeting."""
        process = None
        try:
            process = BotProcess(self._command, self._log)
            _tell(process, [f'{{"type":"hello","version":{VERSION}}}\n'])
            ready = _message(process, _START_SECONDS)
            if ready.get("type") != "ready" or not isinstance(ready.get("name", ""), str):
                raise BotError(f"it answers the greeting with {short(ready)}, not with a message of the type 'ready'")
        except BotError as error:
            errors = ""
            if process is not None:
                process.end()
                errors = process.last_errors()
            raise AgentError(f"the bot {self._command!r}: {error}{errors}") from None
        name = "".join(each if each.isprintable() else "\ufffd" for each in ready.get("name", ""))
        self.name = f"command:{name or self._command}"  # which files and terminals can show, in one line
        return process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.end()
        self._process = None
        self._tables.clear()


def _tell(process: BotProcess, lines: list[str]) -> None:
    if lines:
        text = "".join(lines)
        process.note("to", text)
        process.say(text)


def _message(process: BotProcess, seconds: float) -> dict[str, Any]:
    """Return the next line as an object; raise `BotError` if none comes in time, or it is not a JSON object."""
    text = process.line(seconds) or ""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    process.note("from", text if isinstance(message, dict) else json.dumps(text))
    if not isinstance(message, dict):
        raise BotError(f"{short(text)} is not a message: a line is one JSON object")
    return message
