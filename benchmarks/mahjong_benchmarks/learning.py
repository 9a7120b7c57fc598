"""``mahjong-env bench-learning``: how fast a learner's decisions are played, and learned from.

Three things are measured, each containing the one before: **play** (the tables and the opponents, with a learner that
plays at random), **rollout** (the same with a MaskablePPO that plays and writes down, as Stable-Baselines3 collects it)
and **training** (rollouts and updates). All are decisions of the learner a second; the opponents' are not counted.

The contenders are the batched tables of `mahjong_training.sb3.vec_env`; one table at a time: the same learner's seat in
environments of one table each, with the same network, inputs and opponents, in `DummyVecEnv`; and the fast path,
self-play of its small network, whose learner decides for all seats. They take turns in every run. The learning rate is
0, so that all of them play the same policy from beginning to end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from statistics import median
from typing import Any

from mahjong_benchmarks.command import BenchLearningConfig
from mahjong_benchmarks.records import machine
from mahjong_benchmarks.report import aligned, spread
from mahjong_env import MissingExtraError, Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.console import status
from mahjong_training.runtime.folders import check_file, write_text
from mahjong_training.runtime.limits import check_counts, check_seed

try:
    import torch

    from mahjong_benchmarks.contenders import KINDS, SELF_PLAY, Lap, Setting, new_contender
except ImportError as error:
    if isinstance(error, MissingExtraError):
        raise
    raise MissingExtraError(f"the benchmark needs {error.name}: pip install 'mahjong-env[train]'") from error


@dataclass(frozen=True)
class Result:
    """What was measured of a contender.

    Attributes:
        setting: what it is.
        laps: for each of `KINDS` one measurement for each run.
    """

    setting: Setting
    laps: dict[str, list[Lap]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def rates(self, kind: str, time: str) -> list[float]:
        """Decisions a second in each run, by "wall" or "cpu"."""
        return [lap.decisions / getattr(lap, time) for lap in self.laps[kind]]


def run(config: BenchLearningConfig) -> list[Result]:
    """Measure, print a table, and write the file if one is named.

    Raises:
        MahjongError: settings or agents that cannot be used.
    """
    played = read_rules(config.variant, config.knobs)
    settings = list(settings_of(config))
    if config.json is not None:
        check_file(config.json)
    threads = torch.get_num_threads()
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with status() as tell:
            results = measure(config, played, settings, tell)
    finally:
        torch.set_num_threads(threads)
    print(f"{played.title}: decisions of a learner per second, medians of {config.runs} runs")
    print(report_text(results))
    if config.json is not None:
        write_text(config.json, json.dumps(report_json(results, config, played), indent=2))
        print(f"written: {config.json}")
    return results


def settings_of(config: BenchLearningConfig) -> Iterator[Setting]:
    """Return all contenders that are asked for.

    Raises:
        TrainingError: numbers that cannot be.
    """
    check_counts(runs=config.runs, width=config.width, layers=config.layers)
    check_seed(config.seed)
    if config.self_play_tables:
        check_counts(self_play_tables=config.self_play_tables)
    if not (config.opponents and config.tables and config.threads):
        raise TrainingError("--opponents, --tables and --threads name at least one each")
    if not 0 < config.seconds < float("inf") or min(config.tables) < 2:
        raise TrainingError("--seconds must be above 0, --tables at least 2")
    for number in config.threads:
        check_counts(threads=number)
    for tables in config.tables:
        check_counts(tables=tables)
    for opponents in config.opponents:
        if config.one_table:
            yield Setting(opponents, 1)
        yield from (Setting(opponents, tables, number) for tables in config.tables for number in config.threads)
    if config.self_play_tables:
        yield Setting(SELF_PLAY, config.self_play_tables)


def measure(
    config: BenchLearningConfig, played: Rules, settings: Sequence[Setting], tell: Callable[[str], object]
) -> list[Result]:
    """Let the contenders take turns, so that a slow moment of the machine meets all of them."""
    results = [Result(setting) for setting in settings]
    with ExitStack() as stack:
        contenders = []
        for setting in settings:
            tell(f"dealing: {setting.name}, opponents {setting.opponents}")
            contenders.append(new_contender(config, played, setting))
            stack.callback(contenders[-1].close)
        for number in range(1, config.runs + 1):
            for contender, result in zip(contenders, results, strict=True):
                tell(f"run {number} of {config.runs}: {result.setting.name}, opponents {result.setting.opponents}")
                for kind, lap in contender.measure(config.seconds).items():
                    result.laps[kind].append(lap)
    return results


# --- What is said --------------------------------------------------------------------------------------------
def report_text(results: Sequence[Result]) -> str:
    """A line for each contender, by the time that passes and by the processor's; then the ratios between them."""
    lines: list[tuple[str, ...]] = []
    for opponents, named in _by_opponents(results).items():
        for time in ("wall", "cpu"):
            title = f"against {opponents}, per second " + ("that passes" if time == "wall" else "of the processor")
            lines += [("",) * 5, (title, *KINDS, "")]
            for result in named:
                rates = [spread(result.rates(kind, time), ",.0f") for kind in KINDS]
                lines.append((f"  {result.setting.name}", *rates, ""))
            for result, base in comparisons(named):
                shares = [spread(ratios(result, base, kind, time), ".2f") for kind in KINDS]
                lines.append((f"  {result.setting.name} / {base.setting.name}", *shares, ""))
    return aligned(lines)


def comparisons(results: Sequence[Result]) -> Iterator[tuple[Result, Result]]:
    """Return what is set against what, of contenders with the same opponents.

    All are set against one table at a time, and against the first contender with more tables than one.
    """
    alone = [result for result in results if result.setting.tables == 1]
    batched = [result for result in results if result.setting.tables > 1]
    for base in alone + batched[:1]:
        yield from ((result, base) for result in batched if result is not base)


def ratios(result: Result, base: Result, kind: str, time: str) -> list[float]:
    """How many times faster one contender was than another, run by run."""
    return [one / other for one, other in zip(result.rates(kind, time), base.rates(kind, time), strict=True)]


def report_json(results: Sequence[Result], config: BenchLearningConfig, played: Rules) -> dict[str, Any]:
    """Everything measured, with the machine and the settings, as plain values."""
    packages = ("torch", "stable-baselines3", "sb3-contrib", "gymnasium", "pettingzoo")
    return {
        "machine": machine(),
        "versions": {"mahjong_env": __version__} | {name: version(name) for name in packages},
        "settings": asdict(config) | {"json": str(config.json), "knobs": played.knobs},
        "results": [
            {
                **asdict(result.setting),
                "name": result.setting.name,
                "decisions_per_second": {
                    time: {kind: median(result.rates(kind, time)) for kind in KINDS} for time in ("wall", "cpu")
                },
                "laps": {kind: [asdict(lap) for lap in laps] for kind, laps in result.laps.items()},
            }
            for result in results
        ],
        "ratios": [
            {
                "opponents": opponents,
                "name": result.setting.name,
                "times_faster_than": base.setting.name,
                **{
                    time: {kind: median(ratios(result, base, kind, time)) for kind in KINDS} for time in ("wall", "cpu")
                },
            }
            for opponents, named in _by_opponents(results).items()
            for result, base in comparisons(named)
        ],
    }


def _by_opponents(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the results by opponents; the fast path, which has none, stands with all of them."""
    found: dict[str, list[Result]] = {}
    for result in results:
        if result.setting.opponents != SELF_PLAY:
            found.setdefault(result.setting.opponents, []).append(result)
    for result in results:
        if result.setting.opponents == SELF_PLAY:
            for named in found.values():
                named.append(result)
    return found
