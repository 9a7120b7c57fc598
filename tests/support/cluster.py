"""Helpers of the tests on local Ray clusters."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from mahjong_training.runtime.ray_cluster import connected

REASON = "Ray is not installed here; make distributed sets up its own environment and runs these tests"


# Fatal kills the worker that plays it, the first times that it is asked anything; later it plays like `First`.
AGENTS = """
import os, signal, time
from pathlib import Path

class First:
    name = "first"

    def act(self, view, rng):
        return view.action_mask.argmax(axis=1)

class Fatal(First):
    def __init__(self, marker: str, times: int = 1):
        self.marker, self.times = marker, times

    def act(self, view, rng):
        for number in range(self.times):
            try:
                Path(f"{self.marker}{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(view, rng)

class Slow(First):
    def act(self, view, rng):
        time.sleep(0.015)
        return super().act(view, rng)

class Broken(First):
    def act(self, view, rng):
        raise ZeroDivisionError("on purpose")
"""


def small_cluster(workers: int) -> AbstractContextManager[Any]:
    """Return a local cluster with as little memory as possible."""
    return connected("local", workers=workers, store=80 * 2**20)


def left_behind(session: int, patience: float = 120.0) -> list[str]:
    """Return the processes of a session (that of a driver with its own session) that are alive after some seconds."""
    end = time.monotonic() + patience
    while (found := _alive(session)) and time.monotonic() < end:
        time.sleep(0.2)
    return found


def _alive(session: int) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((folder / "cmdline").read_text(encoding="utf-8").replace("\0", " "))
        except OSError:
            continue
    return found
