"""``mahjong-env bench``: measure decisions per second, memory, and the time to start."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from math import inf
from statistics import median
from typing import Any

import numpy as np

from mahjong_benchmarks.command import BenchConfig
from mahjong_benchmarks.contenders import many_games, one_game, peers
from mahjong_benchmarks.footprint import footprint_text, measure_memory, measure_start
from mahjong_benchmarks.timing import Result, aligned, measure, spread
from mahjong_env.basics.errors import MahjongError
from mahjong_env.cli.arguments import check_writable, write_text
from mahjong_env.engine.arguments import check_room
from mahjong_env.environments.agents import find_agent
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.runtime.console import status


def run(config: BenchConfig) -> None:
    """Measure, print tables, and write the file if one is named.

    Raises:
        MahjongError: settings cannot be used; nothing has been measured then.
    """
    if not config.variant:
        raise MahjongError("--variant names at least one variant")
    if min(config.batches, default=0) < 1 or config.runs < 1 or not 0 < config.seconds < inf:
        raise MahjongError("--batches and --runs are integers from 1, --seconds is a number above 0")
    played = [read_rules(variant, list(config.knobs)) for variant in config.variant]
    for rules in played:
        check_room(rules, max(config.batches))
    for play in config.play:
        find_agent(play)
    if config.json:
        check_writable(config.json)
    with status() as tell:
        others = peers() if config.peers else []
        groups = []
        for rules in played:
            batches = [one for play in config.play for one in many_games(rules, config.batches, play)]
            groups.append([*others, *batches, *one_game(rules)])
        results = measure(groups, config.seconds, config.runs, tell)
        tables = [report_text(results)]
        measured: dict[str, Any] = {"results": [_plain(result) for result in results]}
        if config.footprint:
            tell("memory and start")
            memory = [measure_memory(rules, max(config.batches)) for rules in played]
            start = [measure_start(rules) for rules in played]
            tables.append(footprint_text(memory, start))
            measured |= {"memory": [asdict(one) for one in memory], "start": [asdict(one) for one in start]}
    print("\n\n".join(tables))
    if config.json:
        settings = asdict(config) | {"json": str(config.json)}
        write_text(config.json, json.dumps({"machine": machine(), "settings": settings, **measured}, indent=2) + "\n")


def report_text(results: Sequence[Result]) -> str:
    """Return two tables: the environments' time alone, and loops over one game in which choosing counts."""
    alone = [("the environment's time", "decisions/s", "with choosing", "hands/1000", "")]
    loops = [("one game, choosing counted", "decisions/s", "hands/1000", "")]
    for result in results:
        name, readings = result.contender.name, result.readings
        rate = spread([reading.rate for reading in readings], ",.0f")
        hands = f"{median(reading.hands for reading in readings):.1f}"
        how = " with choosing" if result.contender.compared == "with_choosing" else ""
        ratios = ", ".join(f"{spread(each, '.2f')} x {peer}{how}" for peer, each in result.times.items())
        if result.contender.counts_choosing:
            loops.append((name, rate, hands, ratios))
        else:
            choosing = spread([reading.with_choosing for reading in readings], ",.0f")
            alone.append((name, rate, choosing, hands, ratios))
    return f"{aligned(alone)}\n\n{aligned(loops)}"


def _plain(result: Result) -> dict[str, Any]:
    return {
        "name": result.contender.name,
        **result.contender.facts,
        "decisions_per_second": median(reading.rate for reading in result.readings),
        "runs": [asdict(reading) for reading in result.readings],
        "times_faster_than": {peer: {"median": median(each), "runs": each} for peer, each in result.times.items()},
    }


def machine() -> dict[str, Any]:
    """Return a description of the machine and of its software."""
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
