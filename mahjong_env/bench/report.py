"""What the benchmark says: a table for the terminal, JSON for machines."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from mahjong_env.bench.timing import Result


def ratios(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """For each contender, how many times faster it is than those that it is compared with."""
    rates = {result.contender.name: result.rate for result in results}
    return {
        result.contender.name: {
            peer: result.rate / rates[peer] for peer in result.contender.compared_with if peer in rates
        }
        for result in results
    }


def report_text(results: Sequence[Result]) -> str:
    """One line for each contender: its speed, and how many times faster it is than its peers."""
    times = ratios(results)
    width = max(len(result.contender.name) for result in results)
    lines = [f"{'':<{width}}  decisions/s"]
    for result in results:
        name = result.contender.name
        compared = ", ".join(f"{ratio:.1f} x {peer}" for peer, ratio in times[name].items())
        lines.append(f"{name:<{width}}  {result.rate:>11,.0f}  {compared}".rstrip())
    return "\n".join(lines)


def report_json(results: Sequence[Result], settings: dict[str, Any]) -> dict[str, Any]:
    """Everything measured, with the machine and the settings, as plain values.

    Args:
        results: what was measured.
        settings: how.
    """
    times = ratios(results)
    return {
        "machine": {
            "platform": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "settings": settings,
        "results": [
            {
                "name": result.contender.name,
                **result.contender.facts,
                "decisions_per_second": result.rate,
                "rounds": list(result.rounds),
                "times_faster_than": times[result.contender.name],
            }
            for result in results
        ],
    }
