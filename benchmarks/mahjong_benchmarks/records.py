"""What a measurement looks like as JSON, and how it is read again."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from mahjong_benchmarks.footprint import Memory, Start
from mahjong_benchmarks.shares import Shares
from mahjong_benchmarks.timing import Result
from mahjong_env.basics.errors import MahjongError

FORMAT: Final = "mahjong_env.bench"
VERSION: Final = 1
"""Raised when older files can no longer be compared with newer ones."""

# Settings under which a line of one file means what the line of the same name in another file means.
_SAME: Final = ("clock", "knob")


class BenchFileError(MahjongError):
    """A file of an earlier measurement that cannot be compared with; the message lists everything that is wrong."""


def report_json(
    results: Sequence[Result],
    settings: dict[str, Any],
    memory: Sequence[Memory] = (),
    start: Sequence[Start] = (),
    shares: Sequence[Shares] = (),
) -> dict[str, Any]:
    """Everything measured, with the machine and the settings, as plain values.

    Args:
        results: the speeds.
        settings: how they were measured.
        memory: the memory of engines.
        start: how long imports take.
        shares: profiles.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "machine": machine(),
        "settings": settings,
        "results": [_result(result) for result in results],
        "memory": [asdict(one) for one in memory],
        "start": [asdict(one) for one in start],
        "profile": [asdict(one) for one in shares],
    }


def machine() -> dict[str, Any]:
    """Where this runs."""
    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    """The name of the processor; Linux tells it in a file only."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _result(result: Result) -> dict[str, Any]:
    return {
        "name": result.contender.name,
        **result.contender.facts,
        "decisions_per_second": result.rate,
        "runs": [asdict(reading) for reading in result.runs],
        "times_faster_than": {
            peer: {"median": median(each), "runs": list(each)} for peer, each in result.times.items()
        },
    }


def read_record(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Read an earlier measurement, to compare with it.

    Args:
        path: a file that ``bench --json`` wrote.
        settings: those of the present measurement.

    Raises:
        BenchFileError: it cannot be read, is something else, is of another format, or was measured otherwise.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BenchFileError(f"{path} is not JSON: {error}") from error
    wrong = _what_is_wrong(record) or _measured_otherwise(record["settings"], settings)
    if wrong:
        raise BenchFileError(f"{path} cannot be compared with: {'; '.join(wrong)}")
    return dict(record)


def _what_is_wrong(record: Any) -> list[str]:
    if not isinstance(record, dict):
        return [f"it holds a JSON {type(record).__name__}, not what `bench --json FILE` writes"]
    if record.get("format") != FORMAT:
        old = " (an older version wrote it)" if "results" in record and "machine" in record else ""
        return [f"its format is {record.get('format')!r}, not {FORMAT!r}{old}; measure again with --json"]
    if record.get("version") != VERSION:
        return [f"its version is {record.get('version')!r}, this is version {VERSION}; measure again with --json"]
    wrong = [
        f"{key!r} is not a JSON {kind.__name__}"
        for key, kind in (("settings", dict), ("machine", dict), ("results", list))
        if not isinstance(record.get(key), kind)
    ]
    if wrong:
        return wrong
    for place, result in enumerate(record["results"]):
        name, rate = (result.get(key) for key in ("name", "decisions_per_second")) if isinstance(result, dict) else "  "
        if not isinstance(name, str) or not name.strip():
            wrong.append(f"result {place} has no name")
        elif isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= sys.float_info.max:
            wrong.append(f"{name!r} has decisions_per_second {rate!r}, not a number above 0")
    names = [result["name"] for result in record["results"]] if not wrong else []
    return wrong + [f"{name!r} is there twice" for name in sorted({name for name in names if names.count(name) > 1})]


def _measured_otherwise(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [
        f"it was measured with --{key} {old.get(key)!r}, this run with {new[key]!r}"
        for key in _SAME
        if old.get(key) != new[key]
    ]
