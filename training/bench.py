"""``python -m training bench``: how fast a learner's decisions are played, and learned from.

Three things are measured, each containing the one before: **play** (the tables and the opponents, with a learner that
plays at random), **rollout** (the same with a MaskablePPO that plays and writes down, as Stable-Baselines3 collects it)
and **training** (rollouts and updates). All are decisions of the learner a second; the opponents' are not counted.

The contenders are the batched tables of `training.vec_env`, in one process or shared out among several, and one table
at a time: the same learner's seat in environments of one table each, with the same network, inputs and opponents, in
`DummyVecEnv`. They take turns in every run. The learning rate is 0, so that all of them play the same policy from
beginning to end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents import Agent, make_agent
from agents.random_agent import choose_at_random
from mahjong_env import MissingExtraError, Rules, __version__
from mahjong_env.bench.records import machine
from mahjong_env.bench.report import aligned, spread
from mahjong_env.ruleset.knobs import read_rules
from training.config import BenchConfig, check_shares
from training.errors import TrainingError
from training.folders import check_file, write_text
from training.progress import status
from training.sizes import check_bench, check_counts, check_seed, check_threads

try:
    import torch
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv

    from agents.network import NetworkSpec
    from training.networks import new_learner
    from training.one_table import OneTableEnv
    from training.shards import ShardedVecEnv, new_tables
except ImportError as error:
    if isinstance(error, MissingExtraError):
        raise
    raise MissingExtraError(f"the benchmark needs {error.name}: pip install 'mahjong-env[train]'") from error

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

KINDS: Final = ("play", "rollout", "training")
ONE_TABLE: Final = "one table at a time"
_ONE_TABLE_STEPS: Final = 512
"""Decisions between two updates where there is one table; a quarter of Stable-Baselines3's default, to save time."""
_WARM_UP: Final = 3
"""Rollouts before anything is measured, about two hands: tables that are dealt at once do not end at once then."""


@dataclass(frozen=True)
class Lap:
    """A measurement.

    Attributes:
        decisions: decisions of learners.
        wall: seconds that passed.
        cpu: seconds of the processor, of all threads and of worker processes too.
    """

    decisions: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Lap) -> Lap:
        return Lap(self.decisions + other.decisions, self.wall + other.wall, self.cpu + other.cpu)


@dataclass(frozen=True)
class Setting:
    """What a contender is.

    Attributes:
        opponents: the agent at all other seats.
        tables: tables played at once; 1: one table at a time, each in an environment of its own.
        processes: processes that play them.
        threads: threads of torch.
    """

    opponents: str
    tables: int
    processes: int = 1
    threads: int = 1

    @property
    def name(self) -> str:
        """What the report calls it, among those with the same opponents."""
        if self.tables == 1:
            return ONE_TABLE
        if (self.processes, self.threads) == (1, 1):
            return f"{self.tables} tables"
        return f"{self.tables} tables, --processes {self.processes} --threads {self.threads}"


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


class Contender:
    """Tables and a learner, ready to be measured."""

    def __init__(self, config: BenchConfig, played: Rules, setting: Setting) -> None:
        """Deal the tables and make the network.

        Raises:
            MahjongError: an agent that does not exist, or a worker that does not start.
        """
        agent: Agent = make_agent(setting.opponents)
        self.setting = setting
        self.env: VecEnv
        ppo = replace(config.optimisation, learning_rate=0.0)
        if setting.tables == 1:
            self.env = DummyVecEnv([lambda: OneTableEnv(played, [agent], seed=config.seed)])
            ppo = replace(ppo, steps_per_table=_ONE_TABLE_STEPS)
        else:
            self.env = new_tables(played, setting.tables, [agent], processes=setting.processes, seed=config.seed)
        self._model = new_learner(self.env, NetworkSpec(config.width, config.layers), ppo, config.seed)
        self._rollout = self._model.n_steps * self.env.num_envs
        self._rng = np.random.default_rng(config.seed)

    def close(self) -> None:
        """End its processes."""
        self.env.close()

    def measure(self, seconds: float) -> dict[str, Lap]:
        """Measure each of `KINDS`, for at least that long."""
        torch.set_num_threads(self.setting.threads)
        if not self._model.num_timesteps and self.setting.tables > 1:
            self._learn(_WARM_UP)
        rollout, training = Lap(), Lap()
        while training.wall < seconds:
            one_rollout, both = self._learn(1)
            rollout += one_rollout
            training += both
        return {"play": self._play(seconds), "rollout": rollout, "training": training}

    def _play(self, seconds: float) -> Lap:
        """Go on from where the model is, with random actions."""
        lap = Lap()
        while lap.wall < seconds:
            begin = self._now()
            for _ in range(self._model.n_steps):
                seen, _, dones, _ = self.env.step(choose_at_random(get_action_masks(self.env), self._rng))
            lap += self._since(begin, self._rollout)
        # The model goes on from here; to begin anew would let all tables begin, and end, at the same time.
        self._model._last_obs, self._model._last_episode_starts = seen, dones  # type: ignore[assignment]
        return lap

    def _learn(self, rollouts: int) -> tuple[Lap, Lap]:
        """Let the model learn from some rollouts; returns the rollouts alone, and all of it."""
        stopwatch = _Stopwatch(self)
        begin = self._now()
        self._model.learn(rollouts * self._rollout, callback=stopwatch, reset_num_timesteps=False)
        return stopwatch.lap, self._since(begin, rollouts * self._rollout)

    def _now(self) -> Lap:
        workers = self.env.cpu_seconds() if isinstance(self.env, ShardedVecEnv) else 0.0
        return Lap(0, perf_counter(), process_time() + workers)

    def _since(self, begin: Lap, decisions: int) -> Lap:
        end = self._now()
        return Lap(decisions, end.wall - begin.wall, end.cpu - begin.cpu)


class _Stopwatch(BaseCallback):
    """Times rollouts without the updates between them."""

    def __init__(self, contender: Contender) -> None:
        super().__init__()
        self.lap = Lap()
        self._contender = contender
        self._begin = Lap()

    def _on_rollout_start(self) -> None:
        self._begin = self._contender._now()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.lap += self._contender._since(self._begin, self._contender._rollout)


def run(config: BenchConfig) -> list[Result]:
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


def settings_of(config: BenchConfig) -> Iterator[Setting]:
    """Return all contenders that are asked for.

    Raises:
        TrainingError: numbers that cannot be.
    """
    check_counts(runs=config.runs, width=config.width, layers=config.layers)
    check_seed(config.seed)
    threads = config.threads or config.processes
    if not (config.opponents and config.tables and config.processes) or len(threads) != len(config.processes):
        raise TrainingError(
            "--opponents, --tables and --processes name at least one each, and --threads as many as --processes"
        )
    if not 0 < config.seconds < float("inf") or min(config.tables) < 2:
        raise TrainingError("--seconds must be above 0, --tables at least 2")
    shards = list(zip(config.processes, threads, strict=True))
    for processes, number in shards:
        check_counts(processes=processes)
        check_threads(number)
        for tables in config.tables:
            check_counts(tables=tables)
            check_shares(tables, processes)
    check_bench(config)
    for opponents in config.opponents:
        if config.one_table:
            yield Setting(opponents, 1)
        yield from (Setting(opponents, tables, *shard) for tables in config.tables for shard in shards)


def measure(
    config: BenchConfig, played: Rules, settings: Sequence[Setting], tell: Callable[[str], object]
) -> list[Result]:
    """Let the contenders take turns, so that a slow moment of the machine meets all of them."""
    results = [Result(setting) for setting in settings]
    with ExitStack() as stack:
        contenders = []
        for setting in settings:
            tell(f"dealing: {setting.name}, opponents {setting.opponents}")
            contenders.append(Contender(config, played, setting))
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


def report_json(results: Sequence[Result], config: BenchConfig, played: Rules) -> dict[str, Any]:
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
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.setting.opponents, []).append(result)
    return found
