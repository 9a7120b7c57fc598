"""Bots of Botzone, where Chinese Standard Mahjong is a competition: ``botzone:./bot`` (docs/botzone.md)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.bot_messages import Told
from mahjong_agents.bot_process import BotError, BotProcess, short
from mahjong_agents.bots import ProgramAgent, Tables
from mahjong_agents.botzone_messages import Seen, seen_by
from mahjong_env import ACTIONS, AgentError, View
from mahjong_env.basics.actions import CHOW_LOW, CHOW_STEPS, PUNG
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.records.botzone import KINDS, PRESET, action_of
from mahjong_env.state.arrays import Phase

KEEP_RUNNING: Final = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
"""The line with which a bot asks to be kept running."""
_ANSWER: Final = 2**20  # characters of an answer
_MOST_THREADS: Final = 16
_SPARE: Final = 4  # times the most tables that were asked about at once: those beyond, and their processes, end


@dataclass
class _Table:
    """What is known of a hand beside what its seat sees."""

    number: int
    drawn: dict[int, int] = field(default_factory=dict)
    """By number of the draw, what was drawn."""
    said: dict[int, str] = field(default_factory=dict)
    """By number of the request, what the bot answered."""
    thrown: int = NO_TILE
    """The discard that it named with its latest claim."""
    stored: dict[str, Any] = field(default_factory=dict)
    """What it wants to be given back: "data"."""
    process: BotProcess | None = None
    heard: int = 0
    """Requests that the process, or the bot, was told."""

    def responses(self, seen: Seen) -> list[str]:
        """What was answered: what was done, and what was said in vain."""
        done = enumerate(seen.responses)
        return [self.said.get(number, "PASS") if response == "PASS" else response for number, response in done]

    def stop(self) -> None:
        """End its process; the next one is told of the hand from its beginning."""
        if self.process is not None:
            self.process.end()
        self.process = None


class BotzoneAgent(ProgramAgent):
    """Plays what a bot of Botzone answers; a hand seen from a seat is a game to it.

    It is called by its command, behind ``botzone:``.
    """

    def __init__(
        self,
        command: str,
        *,
        io: Literal["json", "simple"] = "json",
        keep_running: bool = False,
        every_turn: bool = False,
        milliseconds: int = 10_000,
        failures: int = 10,
        games: int = 8,
        log: Path | None = None,
    ) -> None:
        """Name the program; it is started when it is first asked.

        Args:
            command: the program and its arguments, quoted as for a POSIX shell, which is not asked (on Windows as
                there).
            io: whether it reads and writes JSON, or the lines of "simplified interaction".
            keep_running: whether it may go on running for a whole hand, if it asks to; it is then told of every turn.
                Otherwise it is started for each decision and told everything since the deal.
            every_turn: start it in every turn as the platform does, those too in which it can only pass: for bots that
                store ``data`` for later turns.
            milliseconds: the time limit of an answer, starting included.
            failures: how many decisions are made for it before the next failure is an error.
            games: how many are played at once.
            log: a folder, in which a file for each table says what was said.

        Raises:
            AgentError: an option has no valid value.
        """
        if io not in ("json", "simple"):
            raise AgentError(f"io is 'json' or 'simple', not {io!r}")
        more = {"io": io, "keep_running": keep_running, "every_turn": every_turn}
        super().__init__(command, milliseconds, failures, games, log, **more)
        self._is_simple, self._keeps, self._every_turn = io == "simple", keep_running, every_turn
        self._known, self._tables = Tables(_SPARE), dict[int, _Table]()
        self._stored_for_all: dict[str, Any] = {}  # "globaldata"
        self.name = f"botzone:{command}"

    def _choose(self, view: View, told: Told, actions: NDArray[np.int64]) -> None:
        if PRESET not in view.rules.presets:
            raise AgentError(f"{self.name}: {view.rules.name} is not played on Botzone")
        asked: list[tuple[int, _Table, Seen]] = []
        for row in told.order:
            number, _ = self._known.take(told, row)
            table = self._tables.setdefault(number, _Table(number))
            if view.phase[row] == Phase.TURN and view.drawn[row] != NO_TILE:
                table.drawn[seen_by(view, row, {}).draws - 1] = int(view.drawn[row])
            asked.append((row, table, seen_by(view, row, table.drawn)))
            self._known.keep(told, row, number)
        with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:
            answers = list(threads.map(lambda each: self._ask(view, *each), asked))
        for (row, table, _), answer in zip(asked, answers, strict=True):
            if isinstance(answer, int):
                actions[row] = answer
            else:
                error, errors = answer
                actions[row] = self._decide(told, row, error, errors)
                table.stop()
        for number in self._known.forget(len(asked)):
            self._tables.pop(number).stop()

    def _stop(self) -> None:
        for table in self._tables.values():
            table.stop()

    def _ask(self, view: View, row: int, table: _Table, seen: Seen) -> int | tuple[BotError, str]:
        """Ask about a row: its action; or what went wrong, and the bot's last errors."""
        legal = view.action_mask[row]
        try:
            if seen.has_claimed and table.thrown != NO_TILE:
                action, table.thrown = table.thrown, NO_TILE
                return action
            answer = self._answer(table, seen)
            words = answer.split()
            claimed = int(view.offered[row]) if view.phase[row] in (Phase.CLAIM, Phase.ROB) else NO_TILE
            if seen.has_claimed:  # a table that begins with this: what would it have discarded?
                action = KINDS.get(words[-1], -1) if words else -1
            else:
                action = action_of(words, claimed)
                table.thrown = _thrown(view.hand[row], action, words, claimed)
            if not 0 <= action < len(legal) or not legal[action]:
                valid = ", ".join(ACTIONS[each] for each in legal.nonzero()[0])
                raise BotError(f"{seen.requests[-1]!r} is answered by {short(answer)}; legal are {valid}")
        except BotError as error:
            table.said.pop(len(seen.requests) - 1, None)
            return error, "" if table.process is None else table.process.last_errors()
        return action

    def _answer(self, table: _Table, seen: Seen) -> str:
        """Tell a bot what it has not heard yet; return its answer to the last request."""
        last = len(seen.requests) - 1
        if self._keeps and table.process is None:
            table.heard = 0
        turns = range(min(table.heard, last), last + 1) if self._keeps or self._every_turn else range(last, last + 1)
        for turn in turns:
            table.said[turn] = self._converse(table, seen.requests[: turn + 1], table.responses(seen)[:turn])
            table.heard = turn + 1
        return table.said[last]

    def _converse(self, table: _Table, requests: list[str], responses: list[str]) -> str:
        """One turn: start the program, or go on with it; return what it answers."""
        process = table.process
        try:
            if process is None:
                process = table.process = BotProcess(self._command, self._log, f"table-{table.number}")
                text = self._history(table, requests, responses)
            else:
                text = requests[-1] if self._is_simple else json.dumps(requests[-1])
            process.note("to", json.dumps(text))
            process.say(f"{text}\n", last=not self._keeps)
            answer, goes_on = _read_answer(process, self._seconds)
            process.note("from", json.dumps(answer))
            response = self._take(table, answer)
        except BotError:
            if process is not None:
                process.end()
            raise
        if not (goes_on and self._keeps):
            table.stop()
        return response

    def _history(self, table: _Table, requests: list[str], responses: list[str]) -> str:
        """What a bot that is started is told."""
        stored = table.stored | self._stored_for_all
        if not self._is_simple:
            return json.dumps({"requests": requests, "responses": responses, **stored})
        pairs = [line for pair in zip(requests, responses, strict=False) for line in pair]
        return "\n".join([str(len(requests)), *pairs, requests[-1], *(str(value) for value in stored.values())])

    def _take(self, table: _Table, answer: str) -> str:
        """The response in an answer; what is to be stored is kept."""
        if self._is_simple:
            lines = [*answer.split("\n"), "", "", ""]
            told: Any = {"response": lines[0], "data": lines[2], "globaldata": "\n".join(lines[3:]).strip()}
        else:
            try:
                told = json.loads(answer)
            except (ValueError, RecursionError):
                raise BotError(f"{short(answer)} is not JSON") from None
            told = told if isinstance(told, dict) else {"response": told}
        if not isinstance(told.get("response"), str):
            raise BotError(f"{short(answer)} has no 'response' in words")
        for name, stored in (("data", table.stored), ("globaldata", self._stored_for_all)):
            if told.get(name):
                stored[name] = told[name]
        return str(told["response"]).strip()


def _read_answer(process: BotProcess, seconds: float) -> tuple[str, bool]:
    """All that a bot writes up to the line that asks to keep it running, or to its end; whether it asks for that."""
    lines: list[str] = []
    deadline = time.monotonic() + seconds
    while (line := process.line(max(0.0, deadline - time.monotonic()), may_end=True)) is not None:
        if line.strip() == KEEP_RUNNING:
            return "\n".join(lines), True
        lines.append(line.rstrip("\r"))
        if sum(map(len, lines)) > _ANSWER:
            raise BotError(f"it answers with more than {_ANSWER} characters")
    if not any(lines):
        raise BotError(f"it has ended ({process.exit()}) without an answer")
    return "\n".join(lines), False


def _thrown(hand: NDArray[np.int8], action: int, words: Sequence[str], claimed: int) -> int:
    """The discard that is named with a chow or a pung, which must be held then; -1 with other actions."""
    if not CHOW_LOW <= action <= PUNG:
        return NO_TILE
    left = hand.copy()
    used = [claimed] * 2 if action == PUNG else [claimed + step for step in CHOW_STEPS[action - CHOW_LOW]]
    np.subtract.at(left, used, 1)
    kind = KINDS.get(words[-1], -1) if len(words) == 2 + (action != PUNG) else -1
    if not 0 <= kind < len(left) or left[kind] < 1:
        raise BotError(f"{' '.join(words)!r} names no tile to be discarded that is held after the claim")
    return kind
