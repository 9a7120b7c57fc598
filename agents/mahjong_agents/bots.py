"""Bots of any language: programs that are asked in lines of JSON, ``command:./bot --fast`` (docs/bots.md)."""

from __future__ import annotations

import json
import logging
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.bot_messages import EVENT_BYTES, VERSION, Told
from mahjong_env import ACTIONS, AgentError, View

_LOGGER: Final = logging.getLogger(__name__)
_NUMBERS: Final = {name: number for number, name in enumerate(ACTIONS)}
_START_SECONDS: Final = 60.0
_END_SECONDS: Final = 1.0
_CHUNK: Final = 2**16
_CHUNKS: Final = 64  # of what a bot says that wait to be read; then it waits itself
_AT_ONCE: Final = 64  # requests
_LONGEST: Final = 2**16  # bytes of a line
_ERRORS: Final = 2000  # bytes of a bot's errors that are kept
_SHOWN: Final = 5  # their lines in a message
_SPARE: Final = 8  # times the most tables that a bot was asked about at once: it is told to forget those beyond


class CommandAgent:
    """Plays what a program says that runs beside this one; a copy has a process of its own.

    A decision that the program fails to make (it ends, says nothing in time, or says what is no legal answer) is made
    for it: it passes, or discards what it has drawn, or else the last of its legal discards.

    Attributes:
        name: what the program calls itself, behind ``command:``; or the command.
        games_at_once: see `mahjong_agents.base.games_at_once`.
        failed: [n] of the latest answers, which were made for it.
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
            command: the program and its arguments, quoted as for a POSIX shell, which is not asked (on Windows as
                there).
            milliseconds: the time limit: without an answer for so long, while decisions are owed, it fails.
            failures: how many decisions of a process are made for it before the next failure is an error.
            games: how many are played at once.
            log: a folder, in which a file for each process says what was said.

        Raises:
            AgentError: the program cannot be started, or does not answer the greeting.
        """
        if min(milliseconds, games) < 1 or failures < 0:
            raise AgentError("milliseconds and games are from 1, failures from 0")
        self._made: tuple[str, dict[str, Any]] = (
            command,
            {"milliseconds": milliseconds, "failures": failures, "games": games, "log": log},
        )
        self._command, self._seconds, self._limit, self._log = command, milliseconds / 1000, failures, log
        self._failures, self._most, self._last = 0, 0, 0
        self.games_at_once, self.failed = games, np.zeros(0, np.bool_)
        # What is known of the tables, the longest unused first: the numbers of those where a seat has seen just that.
        self._tables: dict[bytes, list[int]] = {}
        self._open = 0
        self._process: _Process | None = self._start()
        self.name = f"command:{self._process.name or command}"

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Have the program choose; see `mahjong_agents.Agent.act`. One number is drawn for each row, and told.

        Raises:
            AgentError: more decisions have failed than may, or the program cannot be started again.
        """
        told = Told(view, rng.random(len(view)))
        actions = np.full(len(view), -1, np.int64)
        self.failed = np.zeros(len(view), np.bool_)
        try:
            while owed := [row for row in told.order if actions[row] < 0]:
                self._ask(told, owed, actions)
        except BaseException:  # answers that come later would be taken for others
            self._stop()
            raise
        return actions

    def _ask(self, told: Told, rows: list[int], actions: NDArray[np.int64]) -> None:
        """Ask about some rows, and fill in their actions: all of them, or fewer if the process fails."""
        process = self._process = self._process or self._start()
        waiting: dict[int, int] = {}
        lines: list[str] = []
        for more, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
            table, since = self._table_of(told, row)
            if since < 0:
                lines.append(told.start(row, table))
            lines += told.happened(row, table, max(0, since))
            lines.append(told.request(row, table, more))
            waiting[table] = row
            if more % _AT_ONCE == 0:  # the bot may begin
                process.say(lines)
                lines = []
        self._most = max(self._most, len(rows))
        while waiting:
            try:
                table, action = process.answer(self._seconds)
                if table not in waiting:
                    raise _BotError(f"it answers for the table {table}, which does not wait")
            except _BotError as error:
                table, row = next(iter(waiting.items()))
                self._stop()
                error = _BotError(f"asked about the table {table}, {error}")
                actions[row] = self._decide(told, row, error, process)
                return
            row = waiting.pop(table)
            number = _NUMBERS.get(action, -1)
            if number < 0 or not told.mask[row, number]:
                valid = ", ".join(ACTIONS[legal] for legal in told.legal(row))
                wrong = _BotError(f"asked about the table {table}, it answers {_short(action)}; legal are {valid}")
                number = self._decide(told, row, wrong, process)
            actions[row] = number
            self._tables.setdefault(told.now[row] + told.events[row], []).append(table)
            self._open += 1
        process.say(self._forget())

    def _table_of(self, told: Told, row: int) -> tuple[int, int]:
        """The table that a row continues, and how many of its events the bot knows; a new one, and -1."""
        before, events = told.before[row], told.events[row]
        whole = before + events
        for length in range(len(whole), len(before) - 1, -EVENT_BYTES):
            if tables := self._tables.get(whole[:length]):
                table = tables.pop(0)
                if not tables:
                    del self._tables[whole[:length]]
                self._open -= 1
                return table, (length - len(before)) // EVENT_BYTES
        self._last += 1
        return self._last, -1

    def _forget(self) -> list[str]:
        """Messages that end the tables that have not been asked about for longest, where they are too many."""
        lines = []
        while self._open > _SPARE * self._most:
            tables = self._tables.pop(next(iter(self._tables)))
            self._open -= len(tables)
            lines += [f'{{"type":"end","table":{table}}}\n' for table in tables]
        return lines

    def _decide(self, told: Told, row: int, error: _BotError, process: _Process) -> int:
        """Count a failure; return the action that is taken instead."""
        self._failures += 1
        self.failed[row] = True
        action = told.decide(row)
        what = f"{self.name}: {error}{process.last_errors()}"
        if self._failures > self._limit:
            raise AgentError(f"{what}. That is failure {self._failures}; {self._limit} are let pass (?failures=...)")
        done = f"failure {self._failures} of {self._limit} that are let pass; {ACTIONS[action]!r} is played for it"
        _LOGGER.warning("%s. (%s)", what, done)
        return action

    def _start(self) -> _Process:
        try:
            return _Process(self._command, self._log)
        except _BotError as error:
            raise AgentError(f"the bot {self._command!r}: {error}") from None

    def _stop(self) -> None:
        """End the process; the next one is told of every table from its beginning."""
        if self._process is not None:
            self._process.end()
        self._process = None
        self._tables.clear()
        self._open = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies have processes of their own."""
        command, options = self._made
        return partial(CommandAgent, **options), (command,)


class _BotError(Exception):
    """What a bot has done wrong, in words."""


class _Process:
    """A running program and its pipes, which threads serve: it cannot hold anybody up, nor fill the memory.

    Attributes:
        name: what it calls itself; "" for nothing.
    """

    def __init__(self, command: str, log: Path | None) -> None:
        """Start it in a process group of its own, which ends with this object or with Python, and greet it."""
        on_windows = os.name == "nt"
        try:
            if log is not None:
                log.mkdir(parents=True, exist_ok=True)
            words = command if on_windows else shlex.split(command)
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            self._process = subprocess.Popen(words, bufsize=0, start_new_session=not on_windows, **pipes)  # type: ignore[call-overload]
        except (OSError, ValueError, IndexError) as error:
            raise _BotError(f"it cannot be started: {error}") from None
        self._note = partial(_log, None if log is None else log / f"{self._process.pid}.jsonl")
        self._to: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._from: queue.Queue[bytes] = queue.Queue(_CHUNKS)
        self._errors = bytearray()
        self._lines: Iterator[bytes] = iter(())
        self._rest = b""
        self.end = weakref.finalize(self, _end, self._process, self._to, self._from)
        self._threads = [
            threading.Thread(target=serve, args=(pipe, other), daemon=True)
            for serve, pipe, other in (
                (_write, self._process.stdin, self._to),
                (_read, self._process.stdout, self._from.put),
                (_read, self._process.stderr, partial(_keep_errors, self._errors, self._note)),
            )
        ]
        for thread in self._threads:
            thread.start()
        self.say([f'{{"type":"hello","version":{VERSION}}}\n'])
        try:
            ready = self._message(_START_SECONDS)
            if ready.get("type") != "ready" or not isinstance(ready.get("name", ""), str):
                raise _BotError(f"it answers the greeting with {_short(ready)}, not with a message of the type 'ready'")
        except _BotError as error:
            self.end()
            raise _BotError(f"{error}{self.last_errors()}") from None
        self.name: str = ready.get("name", "")

    def say(self, lines: list[str]) -> None:
        """Send lines, without waiting for them to be read."""
        if lines:
            text = "".join(lines)
            self._note("to", text)
            self._to.put(text.encode())

    def answer(self, seconds: float) -> tuple[int, str]:
        """The next answer: its table and action; `_BotError` if there is none in time, or if it is none."""
        message = self._message(seconds)
        table, action = message.get("table"), message.get("action")
        if message.get("type") != "answer" or type(table) is not int or not isinstance(action, str):
            raise _BotError(f"{_short(message)} is no answer")
        return table, action

    def _message(self, seconds: float) -> dict[str, Any]:
        """The next line."""
        deadline = time.monotonic() + seconds
        while (line := next(self._lines, None)) is None:
            try:
                chunk = self._from.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise _BotError(f"it has not answered within {seconds:g} s") from None
            if not chunk:
                raise _BotError(f"it has ended ({self._exit()})")
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._lines = iter(whole)
            if max(map(len, (*whole, self._rest))) > _LONGEST:
                raise _BotError(f"it writes a line of more than {_LONGEST} bytes")
        text = line.decode(errors="replace")
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        self._note("from", text if isinstance(message, dict) else json.dumps(text))
        if not isinstance(message, dict):
            raise _BotError(f"{_short(text)} is no message: a line is one JSON object")
        return message

    def _exit(self) -> str:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it has closed its output"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def last_errors(self) -> str:
        """The last lines of what it has written to its standard error, for messages."""
        if not self.end.alive:  # it has ended, and so does the thread that reads them
            self._threads[-1].join(_END_SECONDS)
        lines = bytes(self._errors).decode(errors="replace").strip().splitlines()[-_SHOWN:]
        return ". Its last errors: " + " | ".join(line.strip() for line in lines) if lines else ""


def _short(said: Any) -> str:
    text = repr(said)
    return text if len(text) < 200 else f"{text[:200]}..."


def _write(pipe: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    with suppress(OSError), pipe:  # the process has ended, which its output tells
        while (data := lines.get()) is not None:
            while data:
                data = data[pipe.write(data) :]


def _read(pipe: IO[bytes], take: Callable[[bytes], object]) -> None:
    with suppress(OSError), pipe:
        while chunk := pipe.read(_CHUNK):
            take(chunk)
    take(b"")


def _keep_errors(kept: bytearray, note: Callable[[str, str], object], chunk: bytes) -> None:
    kept.extend(chunk)
    del kept[:-_ERRORS]
    if chunk:
        note("errors", json.dumps(chunk.decode(errors="replace")))


def _end(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None], said: queue.Queue[bytes]) -> None:
    """Close its input, and give it a moment to end; then end it, and whatever it has started."""
    lines.put(None)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    with suppress(OSError):
        if os.name == "nt":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        else:
            os.kill(-process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    with suppress(queue.Empty):  # the thread that reads may wait for a place in the queue
        while said.get(timeout=_END_SECONDS):
            pass


def _log(file: Path | None, who: str, text: str) -> None:
    """Write down who said what in a file, if there is one; ``text`` is lines of JSON."""
    if file is None:
        return
    with file.open("a", encoding="utf-8") as log:
        log.writelines(f'{{"{who}":{line}}}\n' for line in text.splitlines())
