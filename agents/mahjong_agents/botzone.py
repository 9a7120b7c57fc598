"""An agent that plays bots of Botzone, which hosts a competition in Chinese Standard Mahjong (docs/botzone.md).

Its text is ``botzone:COMMAND``, such as ``botzone:./bot``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.bot_messages import Told
from mahjong_agents.bot_process import BotError, BotProcess, short
from mahjong_agents.bots import ProgramAgent, Tables
from mahjong_env import ACTIONS, AgentError, View
from mahjong_env.basics.actions import CHOW_LOW, CHOW_STEPS, PUNG
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.records.botzone import KINDS, PRESET, TILES, action_of
from mahjong_env.state.arrays import Event, Phase

KEEP_RUNNING: Final = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
"""The line with which a bot asks to be kept running."""
_ANSWER: Final = 2**20  # the most characters of an answer
_MOST_THREADS: Final = 16
# Tables are remembered up to this many times the most that were asked about at once; older ones end, with their
# processes.
_SPARE: Final = 4


@dataclass
class _Table:
    """What the agent knows of a hand beside what its seat sees."""

    number: int
    drawn: dict[int, int] = field(default_factory=dict)
    """The tile of each draw, by the number of the draw."""
    said: dict[int, str] = field(default_factory=dict)
    """The bot's answer to each request, by the number of the request."""
    thrown: int = NO_TILE
    """The discard that the bot named with its latest claim."""
    stored: dict[str, Any] = field(default_factory=dict)
    """What the bot wants to be given back, under "data"."""
    process: BotProcess | None = None
    heard: int = 0
    """The number of requests that the process, or the bot, has been told."""

    def responses(self, seen: Seen) -> list[str]:
        """Return all answers: those that were carried out, and those that had no effect."""
        done = enumerate(seen.responses)
        return [self.said.get(number, "PASS") if response == "PASS" else response for number, response in done]

    def stop(self) -> None:
        """End the table's process; the next one is told of the hand from its beginning."""
        if self.process is not None:
            self.process.end()
        self.process = None


class BotzoneAgent(ProgramAgent):
    """Plays the answers of a Botzone bot, for which every hand of a seat is a game of its own.

    Its name is ``botzone:`` and its command.
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
        """Set the program, which is started when it is first asked.

        Args:
            command: the program and its arguments, quoted as for a POSIX shell, although no shell is run (on Windows,
                quoted as is usual there).
            io: "json" if the program reads and writes JSON, "simple" for the lines of "simplified interaction".
            keep_running: whether the program may keep running for a whole hand if it asks to; it is then told of every
                turn. Otherwise it is started for each decision and told everything since the deal.
            every_turn: whether to start the program in every turn, as the platform does, including those in which it
                can only pass; for bots that store ``data`` for later turns.
            milliseconds: the time limit of an answer, the start of the program included.
            failures: how many failed decisions are made for the program before the next failure is an error.
            games: how many games are played at once.
            log: a folder for one file per table with all that was said; None writes no files.

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
        """Return the bot's action for a row; or what went wrong, and the bot's last error messages."""
        legal = view.action_mask[row]
        try:
            if seen.has_claimed and table.thrown != NO_TILE:
                action, table.thrown = table.thrown, NO_TILE
                return action
            answer = self._answer(table, seen)
            words = answer.split()
            claimed = int(view.offered[row]) if view.phase[row] in (Phase.CLAIM, Phase.ROB) else NO_TILE
            if seen.has_claimed:  # the table begins after a claim: what would the bot have discarded?
                action = KINDS.get(words[-1], -1) if words else -1
            else:
                action = action_of(words, claimed)
            if not 0 <= action < len(legal) or not legal[action]:
                valid = ", ".join(ACTIONS[each] for each in legal.nonzero()[0])
                raise BotError(f"{seen.requests[-1]!r} is answered by {short(answer)}; legal are {valid}")
            table.thrown = _thrown(view.hand[row], action, words, claimed)
        except BotError as error:
            table.said.pop(len(seen.requests) - 1, None)
            return error, "" if table.process is None else table.process.last_errors()
        return action

    def _answer(self, table: _Table, seen: Seen) -> str:
        """Tell the bot what it has not heard yet; return its answer to the last request."""
        last = len(seen.requests) - 1
        if self._keeps and table.process is None:
            table.heard = 0
        if (self._keeps or self._every_turn) and table.heard > last and last in table.said:
            return table.said[last]  # the game has gone back; the bot would hear the turn twice
        turns = range(min(table.heard, last), last + 1) if self._keeps or self._every_turn else range(last, last + 1)
        for turn in turns:
            table.said[turn] = self._converse(table, seen.requests[: turn + 1], table.responses(seen)[:turn])
            table.heard = turn + 1
        return table.said[last]

    def _converse(self, table: _Table, requests: list[str], responses: list[str]) -> str:
        """Play one turn with the program, which is started if it does not run; return its response."""
        process = table.process
        try:
            if process is None:
                process = table.process = BotProcess(self._command, self._log, f"table-{table.number}", _ANSWER)
                text = self._history(table, requests, responses)
            else:
                if process.has_spoken():  # it would be taken for the answer to this request
                    raise BotError(f"it writes {short(process.line(0))} when nothing was asked")
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
        """Return the input of a bot that has just been started: the game so far."""
        stored = table.stored | self._stored_for_all
        if not self._is_simple:
            return json.dumps({"requests": requests, "responses": responses, **stored})
        pairs = [line for pair in zip(requests, responses, strict=False) for line in pair]
        # One line is data and the rest is globaldata. Where nothing is stored there is none of them: a bot that keeps
        # running might take it for the next request.
        last = [str(stored.get(name, "")) for name in ("data", "globaldata")] if stored else []
        return "\n".join([str(len(requests)), *pairs, requests[-1], *last])

    def _take(self, table: _Table, answer: str) -> str:
        """Return the response in an answer, and keep what the bot wants stored."""
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
            raise BotError(f"{short(answer)} has no 'response' that is text")
        for name, stored in (("data", table.stored), ("globaldata", self._stored_for_all)):
            if told.get(name):
                stored[name] = told[name]
        return str(told["response"]).strip()


def _read_answer(process: BotProcess, seconds: float) -> tuple[str, bool]:
    """Return the output of a bot up to `KEEP_RUNNING` or its end, and whether it asks to be kept running."""
    lines: list[str] = []
    deadline = time.monotonic() + seconds
    while (line := process.line(seconds, deadline, may_end=True)) is not None:
        if line.strip() == KEEP_RUNNING:
            return "\n".join(lines), True
        lines.append(line.rstrip("\r"))
        if sum(map(len, lines)) > _ANSWER:
            raise BotError(f"it answers with more than {_ANSWER} characters")
    if not any(lines):
        raise BotError(f"it has ended ({process.exit()}) without an answer")
    return "\n".join(lines), False


def _thrown(hand: NDArray[np.int8], action: int, words: Sequence[str], claimed: int) -> int:
    """Return the discard named with a chow or pung (`BotError` if the seat does not hold it), `NO_TILE` otherwise."""
    if not CHOW_LOW <= action <= PUNG:
        return NO_TILE
    left = hand.copy()
    used = [claimed] * 2 if action == PUNG else [claimed + step for step in CHOW_STEPS[action - CHOW_LOW]]
    np.subtract.at(left, used, 1)
    kind = KINDS.get(words[-1], -1) if len(words) == 2 + (action != PUNG) else -1
    if not 0 <= kind < len(left) or left[kind] < 1:
        raise BotError(f"{' '.join(words)!r} names no tile to be discarded that is held after the claim")
    return kind


# --- What a bot is told ---------------------------------------------------------------------------------------

_NOTHING: Final = [Event.NOTHING, -1, NO_TILE, NO_TILE, NO_TILE]
_NOW: Final = 10**6  # the time at which tiles that are still in the hand count as used


class Seen(NamedTuple):
    """What was said at a table.

    Attributes:
        requests: what the seat was told; the last request is to be answered.
        responses: its answers to all requests but the last.
        has_claimed: whether the last answer was a successful chow or pung; the seat then owes the discard named with
            it.
    """

    requests: list[str]
    responses: list[str]
    has_claimed: bool


def seen_by(view: View, row: int, drawn: dict[int, int]) -> Seen:
    """Return what Botzone's judge and the seat of a row would have said at their table so far.

    The judge asks all players in every turn. So there is one request, in order, for every event that it would have
    told, and the seat's answer to each, which follows from what happened next.

    Args:
        view: the views of seats that are to act.
        row: the row of the seat.
        drawn: the tiles that the seat drew, by the number of the draw, as far as they are known. The latest draw is
            added to it; unknown draws are made up.
    """
    events = [event for event in view.events[row].tolist() if event[0]]
    at_deal = next((at for at, event in enumerate(events) if event[0] != Event.FLOWER), len(events))
    flowers: list[list[int]] = [[], [], [], []]
    players = view.house_wind[row].tolist()
    for _, slot, kind, *_ in events[:at_deal]:
        flowers[players[slot]].append(kind)
    # On Botzone the dealer draws its first tile, which is dealt here; a flower is told instead of its draw.
    events = [[Event.DRAW, int(view.dealer[row]), NO_TILE, NO_TILE, NO_TILE], *events[at_deal:]]
    following = [*events[1:], _NOTHING]
    events = [
        event
        for event, after in zip(events, following, strict=True)
        if not (event[0] == Event.DRAW and after[0] == Event.FLOWER)
    ]
    dealt, draws = _own_tiles(view, row, events, drawn)
    names = [TILES[kind] for kind in (*dealt, *(kind for own in flowers for kind in own))]
    told = " ".join(["1", *(str(len(own)) for own in flowers), *names])
    requests, responses = [f"0 {players[0]} {int(view.round_wind[row])}", told], ["PASS", "PASS"]
    own_draws = iter(draws)
    for at, (event, slot, kind, *_) in enumerate(events):
        after = [*events[at + 1 : at + 3], _NOTHING, _NOTHING]
        claims, who = event in (Event.CHOW, Event.PUNG), f"3 {players[slot]}"
        if claims and after[0] is _NOTHING:
            return Seen(requests, responses[: len(requests) - 1], True)
        if event == Event.DRAW:
            requests.append(f"2 {TILES[next(own_draws)]}" if slot == 0 else f"{who} DRAW")
            responses.append(_turn(after[0]) if slot == 0 else "PASS")
        elif claims:
            requests.append(f"{who} CHI {TILES[kind + 1]}" if event == Event.CHOW else f"{who} PENG")
        elif event == Event.DISCARD:
            if at and events[at - 1][0] in (Event.CHOW, Event.PUNG):  # the discard is told with the claim
                requests[-1] += f" {TILES[kind]}"
            else:
                requests.append(f"{who} PLAY {TILES[kind]}")
            responses.append(_claim(*after[:2]))
        else:
            word = {Event.FLOWER: "BUHUA", Event.ADDED_KONG: "BUGANG"}.get(event)
            requests.append(f"{who} GANG" if word is None else f"{who} {word} {TILES[kind]}")
            responses.append("PASS")
    return Seen(requests, responses[: len(requests) - 1], False)


def _turn(after: list[int]) -> str:
    """Return what the seat did with a tile that it drew, in the words of the protocol."""
    verb = {Event.DISCARD: "PLAY", Event.CONCEALED_KONG: "GANG", Event.ADDED_KONG: "BUGANG"}.get(after[0], "PASS")
    return verb if verb == "PASS" else f"{verb} {TILES[after[2]]}"


def _claim(after: list[int], thrown: list[int]) -> str:
    """Return what the seat answered to a discard, in the words of the protocol."""
    event, slot, kind, *_ = after
    if slot != 0 or event not in (Event.CHOW, Event.PUNG, Event.EXPOSED_KONG):
        return "PASS"
    if event == Event.EXPOSED_KONG:
        return "GANG"
    verb = f"CHI {TILES[kind + 1]}" if event == Event.CHOW else "PENG"
    return verb if thrown is _NOTHING else f"{verb} {TILES[thrown[2]]}"


def _own_tiles(view: View, row: int, events: list[list[int]], drawn: dict[int, int]) -> tuple[list[int], list[int]]:
    """Return the tiles that the seat was dealt, and those that it has drawn since, in order.

    The events tell which tiles the seat has held, but not when each was drawn. A draw is known if ``drawn`` has it, or
    if the seat discarded the tile at once and the event says so. Of other draws it is only certain that the tile was
    not used before; they are filled with the tiles that were used last.
    """
    uses = [(_NOW, kind) for kind, count in enumerate(view.hand[row].tolist()) for _ in range(count)]
    draws: list[int | None] = []
    for at, (event, slot, kind, detail, _) in enumerate(events):
        if slot != 0:
            continue
        if event == Event.DRAW:
            if at == len(events) - 1:
                drawn[len(draws)] = int(view.drawn[row])
            _, owner, thrown, was_drawn, _ = [*events[at + 1 : at + 2], _NOTHING][0]
            is_seen = owner == 0 and was_drawn == 1 and events[at + 1][0] == Event.DISCARD
            draws.append(drawn.get(len(draws), thrown if is_seen else None))
            continue
        number = {Event.DISCARD: 1, Event.ADDED_KONG: 1, Event.PUNG: 2, Event.EXPOSED_KONG: 3, Event.CONCEALED_KONG: 4}
        used = [kind + step for step in range(3) if kind + step != detail] if event == Event.CHOW else []
        uses += [(at, each) for each in used or [kind] * number.get(event, 0)]
    uses.sort()
    for known in draws:
        if known is not None:
            uses.pop(max(at for at, (_, used) in enumerate(uses) if used == known))
    made_up = [uses.pop()[1] for known in draws if known is None]  # the latest draw was used last
    return [kind for _, kind in uses], [made_up.pop() if known is None else known for known in draws]
