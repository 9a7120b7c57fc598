"""Programs that play: a process, the pipes to it, what it says and how it ends."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

_END_SECONDS: Final = 1.0
_HELD: Final = 2**22  # bytes of what a bot says that wait to be read, at most; then it waits itself
_LONGEST: Final = 2**16  # bytes of a line, if nothing else is said
_ERRORS: Final = 2000  # bytes of a bot's errors that are kept
_SHOWN: Final = 5  # their lines in a message


class BotError(Exception):
    """What a bot has done wrong, in words."""


class BotProcess:
    """A running program and its pipes, which threads serve: it cannot hold anybody up, nor fill the memory.

    It runs in a process group of its own, which ends with this object or with Python; ``end()`` ends it at once.
    """

    def __init__(self, command: str, log: Path | None, log_name: str = "", longest: int = _LONGEST) -> None:
        """Start it.

        Args:
            command: the program and its arguments, quoted as for a POSIX shell, which is not asked (on Windows as
                there).
            log: a folder, in which a file says what was said.
            log_name: the name of that file; by default the process id.
            longest: bytes of a line that it may write.

        Raises:
            BotError: it cannot be started.
        """
        on_windows = os.name == "nt"
        try:
            if log is not None:
                log.mkdir(parents=True, exist_ok=True)
            words = command if on_windows else shlex.split(command)
            if not words:
                raise BotError("it names no program")
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            self._process = subprocess.Popen(words, start_new_session=not on_windows, **pipes)  # type: ignore[call-overload]
        except (OSError, ValueError) as error:
            raise BotError(f"it cannot be started: {error}") from None
        self.note = partial(_log, None if log is None else log / f"{log_name or self._process.pid}.jsonl")
        self._to: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._from: queue.Queue[bytes] = queue.Queue(max(1, _HELD // longest))
        self._errors, self._longest = bytearray(), longest
        self.end = weakref.finalize(self, _end, self._process, self._to, self._from)
        self._threads = [
            threading.Thread(target=serve, args=(pipe, other), daemon=True)
            for serve, pipe, other in (
                (_write, self._process.stdin, self._to),
                (partial(_read, longest=longest), self._process.stdout, self._from.put),
                (_read, self._process.stderr, partial(_keep_errors, self._errors, self.note)),
            )
        ]
        for thread in self._threads:
            thread.start()

    def say(self, text: str, *, last: bool = False) -> None:
        """Send text, without waiting for it to be read; if it is the ``last``, its input ends there."""
        self._to.put(text.encode())
        if last:
            self._to.put(None)

    def line(self, seconds: float, *, may_end: bool = False) -> str | None:
        """The next line that it writes; None at the end of its output, if it ``may_end``.

        Raises:
            BotError: there is none in time, it has ended, or the line has no end.
        """
        try:
            line = self._from.get(timeout=seconds)
        except queue.Empty:
            raise BotError(f"it has not answered within {seconds:g} s") from None
        text = line.removesuffix(b"\n")
        if len(text) > self._longest:
            raise BotError(f"it writes a line of more than {self._longest} bytes")
        if text != line or (text and may_end):  # the last line may have no end
            return text.decode(errors="replace")
        self._from.put(b"")
        if may_end:
            return None
        raise BotError(f"it has ended ({self.exit()})")

    def exit(self) -> str:
        """How it has ended, in words."""
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


def short(said: Any) -> str:
    """What a bot has said, for messages."""
    text = repr(said)
    return text if len(text) < 200 else f"{text[:200]}..."


def _write(pipe: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    with suppress(OSError), pipe:  # the process has ended, which its output tells
        while (data := lines.get()) is not None:
            pipe.write(data)
            pipe.flush()


def _read(pipe: IO[bytes], take: Callable[[bytes], object], longest: int = _LONGEST) -> None:
    with suppress(OSError), pipe:
        while line := pipe.readline(longest + 1):
            take(line)
    take(b"")


def _keep_errors(kept: bytearray, note: Callable[[str, str], object], line: bytes) -> None:
    kept.extend(line)
    del kept[:-_ERRORS]
    if line:
        note("errors", json.dumps(line.decode(errors="replace")))


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
