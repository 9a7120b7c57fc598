"""Files of records: lines are appended whole, and read one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Self

from mahjong_env.basics.errors import RecordError
from mahjong_env.records.record import GameRecord


class RecordWriter:
    """Appends records to a file, which is made if it does not exist.

    Every record is written with one call, so that a writer that is killed leaves whole lines, but for the last one
    on a full disk; a torn last line is cut off when the file is opened again.

    Attributes:
        path: the file.
        written: records written so far by this writer.

    Raises:
        RecordError: the file cannot be written, or holds something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(path)
        except TypeError:
            raise RecordError(f"a file of records is named by its path, not by {path!r}") from None
        self.written = 0
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        except (OSError, ValueError) as error:  # a path with a zero in it
            why = error.strerror if isinstance(error, OSError) else error
            raise RecordError(f"records cannot be written to {self.path}: {why}") from None
        try:
            self._cut_torn_line()
        except BaseException:
            self.close()
            raise

    def write(self, *records: GameRecord) -> None:
        """Append records, all of them with one call.

        Raises:
            RecordError: they cannot be written, as on a full disk; no part of a line is left behind.
        """
        if not records:
            return
        self._append("".join(f"{record.to_json()}\n" for record in records).encode())
        self.written += len(records)

    def complete(self, lines: bytes) -> None:
        """Append lines of `GameRecord.to_json`, each with its newline, but for those with which the file ends already.

        A process that was killed while it appended lines appends the same lines again: each of them is there once.
        """
        tail = b""
        if size := os.fstat(self._file).st_size:  # pipes have no length
            try:
                with self.path.open("rb") as file:
                    file.seek(max(0, size - len(lines)))
                    tail = file.read(len(lines))
            except OSError as error:
                raise RecordError(f"records cannot be read from {self.path}: {error.strerror}") from None
        missing = lines[_overlap(tail, lines) :]
        self._append(missing)
        self.written += missing.count(b"\n")

    def _append(self, lines: bytes) -> None:
        before = os.fstat(self._file).st_size
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            with suppress(OSError):  # devices and pipes have no length
                os.ftruncate(self._file, before)
            raise RecordError(f"records cannot be written to {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        """Give the writer itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the file."""
        self.close()

    def _cut_torn_line(self) -> None:
        """Cut a last line that was not written whole; refuse to append to a file that is not one of records."""
        size = os.fstat(self._file).st_size
        if not size:
            return
        with self.path.open("rb") as file:
            first = file.readline()
            if first.endswith(b"\n"):
                try:
                    GameRecord.from_json(first.decode("utf-8"))
                except (RecordError, UnicodeDecodeError) as error:
                    raise RecordError(f"{self.path} is not a file of records, and is left as it is: {error}") from None
            elif not first.startswith(b'{"format":"mahjong_env.record"'[: len(first)]):
                raise RecordError(f"{self.path} is not a file of records; it is left as it is")
            file.seek(size - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                os.ftruncate(self._file, sum(len(line) for line in file if line[-1:] == b"\n"))


def _overlap(tail: bytes, lines: bytes) -> int:
    """The number of bytes at the end of a file that are the beginning of some lines."""
    first = lines[: lines.find(b"\n") + 1]
    at = tail.find(first) if first else -1
    while at >= 0:
        if lines.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(first, at + 1)
    return 0


def read_records(path: str | os.PathLike[str]) -> Iterator[GameRecord]:
    """Read a file of records, one at a time; empty lines are passed over.

    Raises:
        RecordError: the file cannot be read, or a line of it is not a record; the message names the line.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield GameRecord.from_json(line, read_from=f"{os.fspath(path)}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise RecordError(f"records cannot be read from {os.fspath(path)}: {reason}") from None


def count_records(path: str | os.PathLike[str]) -> int:
    """The number of records in a file; they are not read.

    Raises:
        RecordError: the file cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError as error:
        raise RecordError(f"records cannot be read from {os.fspath(path)}: {error.strerror}") from None


def nth_record(path: str | os.PathLike[str], number: int = 1) -> GameRecord:
    """One record of a file, counted from 1.

    Raises:
        RecordError: the file cannot be read, or has no such record.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise RecordError(f"matches of a file are counted from 1, not {number!r}")
    record = next(islice(read_records(path), number - 1, None), None)
    if record is None:
        raise RecordError(f"{os.fspath(path)} has no match {number}")
    return record
