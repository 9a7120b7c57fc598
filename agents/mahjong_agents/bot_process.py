"""Processes of programs that play: the pipes to them, what they say and how they end."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

_END_SECONDS: Final = 1.0
_HELD: Final = 2**22  # the most bytes of a bot's output that wait to be read; beyond them the bot itself has to wait
_LONGEST: Final = 2**16  # the most bytes of a line, unless another limit is given
_ERRORS: Final = 2000  # bytes of a bot's error output that are kept
_SHOWN: Final = 5  # lines of it that a message shows


class BotError(Exception):
    """A bot has done something wrong; the message says what."""


class BotProcess:
    """A running program and its pipes.

    Threads serve the pipes, so that the program can neither block the caller nor fill the memory. It runs in a process
    group of its own, which ends with this object or with Python; ``end()`` ends it at once.
    """

    def __init__(self, command: str, log: Path | None, log_name: str = "", longest: int = _LONGEST) -> None:
        """Start the program.

        Args:
            command: the program and its arguments, quoted as for a POSIX shell, although no shell is run (on Windows,
                quoted as is usual there).
            log: a folder for a file with all that is said; None writes no file.
            log_name: the name of that file; by default the process id.
            longest: the most bytes of a line that the program may write.

        Raises:
            BotError: the program cannot be started.
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
        """Send text without waiting for it to be read; after the ``last`` text, the program's input ends."""
        self._to.put(text.encode())
        if last:
            self._to.put(None)

    def line(self, seconds: float, deadline: float | None = None, *, may_end: bool = False) -> str | None:
        """Return the next line that the program writes; None at the end of its output, if it ``may_end``.

        Args:
            seconds: the time limit.
            deadline: when it ends, on the clock `time.monotonic`; None if it begins now.
            may_end: whether the program may end its output.

        Raises:
            BotError: no line comes in time, the program has ended, or the line is too long.
        """
        try:
            line = self._from.get(timeout=seconds if deadline is None else max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise BotError(f"it has not answered within {seconds:g} s") from None
        text = line.removesuffix(b"\n")
        if len(text) > self._longest:
            raise BotError(f"it writes a line of more than {self._longest} bytes")
        if text != line or (text and may_end):  # the last line may lack a newline
            return text.decode(errors="replace")
        self._from.put(b"")
        if may_end:
            return None
        raise BotError(f"it has ended ({self.exit()})")

    def has_spoken(self) -> bool:
        """Whether the program has written a line, other than an empty one, that nobody has read yet."""
        with self._from.mutex:
            return any(line.strip() for line in self._from.queue)

    def exit(self) -> str:
        """Return in words how the program has ended."""
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it has closed its output"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def last_errors(self) -> str:
        """Return the last lines that the program has written to its standard error, for messages."""
        if not self.end.alive:  # the program has ended, and so will the thread that reads them
            self._threads[-1].join(_END_SECONDS)
        lines = bytes(self._errors).decode(errors="replace").strip().splitlines()[-_SHOWN:]
        return ". Its last errors: " + " | ".join(line.strip() for line in lines) if lines else ""


def short(said: Any) -> str:
    """Return what a bot has said, shortened for messages."""
    text = repr(said)
    return text if len(text) < 200 else f"{text[:200]}..."


def _write(pipe: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    with suppress(OSError), pipe:  # the process has ended, which the reader of its output notices
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
    """Close a program's input and give it a moment to end; then kill it and everything that it has started."""
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
    with suppress(queue.Empty):  # the reading thread may wait for a place in the queue
        while said.get(timeout=_END_SECONDS):
            pass


def _log(file: Path | None, who: str, text: str) -> None:
    """Append what somebody said to a file, if there is one; ``text`` is lines of JSON."""
    if file is None:
        return
    with file.open("a", encoding="utf-8") as log:
        log.writelines(f'{{"{who}":{line}}}\n' for line in text.splitlines())
