"""``mahjong-env bench-learning``: measure how fast a learner's decisions are played and learned from.

Three things are measured, each of which includes the one before:

- **play**: the tables and the opponents, with a learner that plays at random.
- **rollout**: the same, with a learner that plays by its network and stores what it will learn from.
- **training**: rollouts and updates.

All of them are the learner's decisions per second of elapsed time; the opponents' decisions are not counted.

There are three contenders: MaskablePPO on batched tables, MaskablePPO on one table at a time (in `DummyVecEnv`), and
`mahjong-env train`, that is self-play of its small network, whose learner decides for all seats. They take turns in
every run. The learning rate is 0, so that each plays the same policy from beginning to end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from time import perf_counter
from typing import Any, Final

import gymnasium
import numpy as np

from mahjong_agents import look_ahead, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.policy.plane_inputs import policy_inputs
from mahjong_benchmarks.command import BenchLearningConfig
from mahjong_benchmarks.speed import machine
from mahjong_benchmarks.timing import aligned, spread
from mahjong_env import MissingExtraError, Rules, __version__, make_engine
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.matches import sigma
from mahjong_training.runtime.console import status
from mahjong_training.runtime.folders import check_file, write_text
from mahjong_training.runtime.limits import check_counts, check_settings

try:
    import torch
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv

    from mahjong_agents.policy.network import ActionNetwork
    from mahjong_agents.policy.plane_network import NetworkSpec
    from mahjong_training.learning.ppo import Learner
    from mahjong_training.learning.self_play import play_hands
    from mahjong_training.sb3.networks import new_learner
    from mahjong_training.sb3.vec_env import TableVecEnv, learner_spaces
except ImportError as error:
    if isinstance(error, MissingExtraError):
        raise
    raise MissingExtraError(f"the benchmark needs {error.name}: pip install 'mahjong-env[train]'") from error

KINDS: Final = ("play", "rollout", "training")
ONE_TABLE: Final = "one table at a time"
SELF_PLAY: Final = "itself"
"""The opponents of the fast path."""
_ONE_TABLE_STEPS: Final = 512
"""Decisions between two updates with one table: a quarter of Stable-Baselines3's default, to save time."""
_WARM_UP: Final = 3
"""Rollouts before anything is measured: about two hands, after which tables dealt together no longer end together."""


@dataclass(frozen=True)
class Setting:
    """The settings of one contender.

    Attributes:
        opponents: the agent at all other seats, or `SELF_PLAY` for the fast path, whose learner has all seats.
        tables: the number of tables played at once; 1 for a single table in a Gymnasium environment.
        threads: the number of torch threads.
    """

    opponents: str
    tables: int
    threads: int = 1

    @property
    def name(self) -> str:
        """The contender's name in the report, among those with the same opponents."""
        if self.tables == 1:
            return ONE_TABLE
        if self.opponents == SELF_PLAY:
            return f"ppo, {self.tables} tables"
        return f"{self.tables} tables" + (f", --threads {self.threads}" if self.threads > 1 else "")


@dataclass(frozen=True)
class Result:
    """The decisions per second of a contender, for each of `KINDS` and each run."""

    setting: Setting
    rates: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})


class Lap:
    """A number of decisions, and the seconds that passed while they were played."""

    def __init__(self) -> None:
        self.decisions, self.seconds = 0, 0.0

    def add(self, decisions: int, began: float) -> None:
        """Add decisions that have been played since ``began``, a time of `perf_counter`."""
        self.decisions += decisions
        self.seconds += perf_counter() - began


# --- Contenders ------------------------------------------------------------------------------------------------------
class OneTableEnv(gymnasium.ObservationWrapper[Any, Any, Any]):
    """One table with a learner, in a Gymnasium environment that gives the inputs of the learner's network."""

    env: SingleSeatEnv

    def __init__(self, env: SingleSeatEnv) -> None:
        super().__init__(env)
        self.observation_space, self.action_space = learner_spaces()

    def observation(self, observation: Any) -> Any:
        """Return the inputs of the learner's network."""
        view = self.env.view()
        return policy_inputs(view, look_ahead(view))[0]

    def action_masks(self) -> Any:
        """Return [109] the legal actions, for MaskablePPO."""
        return self.env.action_masks()


class Tables(BaseCallback):
    """MaskablePPO on some tables; as a callback of the model, it times rollouts without the updates between them."""

    def __init__(self, config: BenchLearningConfig, played: Rules, setting: Setting) -> None:
        """Deal the tables and make the network.

        Raises:
            MahjongError: the agent does not exist.
        """
        super().__init__()
        agent, self.setting = make_agent(setting.opponents), setting
        ppo = TrainSb3Config(
            variant=config.variant,
            learning_rate=0.0,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            seed=config.seed,
        )
        self.env: Any
        if setting.tables == 1:
            table = SingleSeatEnv(played, opponents=agent, seat="rotate", on_illegal="raise")
            self.env = DummyVecEnv([lambda: OneTableEnv(table)])
            self.env.seed(config.seed)
            ppo = replace(ppo, n_steps=_ONE_TABLE_STEPS)
        else:
            self.env = TableVecEnv(played, setting.tables, [agent], seed=config.seed)
        self.learner = new_learner(self.env, NetworkSpec(config.width, config.layers), ppo)
        self._decisions = self.learner.n_steps * self.env.num_envs
        self._rng = np.random.default_rng(config.seed)
        self._rollout, self._began = Lap(), 0.0

    def measure(self, seconds: float) -> dict[str, Lap]:
        """Measure each of `KINDS` for at least this many seconds."""
        if not self.learner.num_timesteps and self.setting.tables > 1:
            self.learner.learn(_WARM_UP * self._decisions, reset_num_timesteps=False)
        play, self._rollout, training = Lap(), Lap(), Lap()
        while training.seconds < seconds:
            began = perf_counter()
            self.learner.learn(self._decisions, callback=self, reset_num_timesteps=False)
            training.add(self._decisions, began)
        while play.seconds < seconds:
            began = perf_counter()
            for _ in range(self.learner.n_steps):
                seen, _, dones, _ = self.env.step(choose_at_random(get_action_masks(self.env), self._rng))
            play.add(self._decisions, began)
        # The model goes on from here; if it began anew, all tables would begin and end at the same time.
        self.learner._last_obs, self.learner._last_episode_starts = seen, dones
        return {"play": play, "rollout": self._rollout, "training": training}

    def _on_rollout_start(self) -> None:
        self._began = perf_counter()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self._rollout.add(self._decisions, self._began)


class FastPath:
    """Self-play of the small network over strong inputs in one process, as ``mahjong-env train`` learns.

    ``play`` is the same tables with random actions. ``rollout`` produces what an update learns from (inputs, network,
    luck subtracted), and ``training`` adds the update.
    """

    def __init__(self, config: BenchLearningConfig, played: Rules, setting: Setting) -> None:
        """Make the networks."""
        self.setting, self._rules, self._seed, self._updates = setting, played, config.seed, 0
        settings = TrainConfig(variant=played.name, seed=config.seed, learning_rate=0.0)
        self.learner = Learner(settings, seats=played.seats, unit=sigma(played), claims=True)
        self._luck = useful_weights(played)
        self._rng = np.random.default_rng(config.seed)

    def measure(self, seconds: float) -> dict[str, Lap]:
        """Measure each of `KINDS` for at least this many seconds."""
        play, rollout, training = Lap(), Lap(), Lap()
        while training.seconds < seconds:
            began = perf_counter()
            hands = play_hands(
                self._rules,
                ActionNetwork(self.learner.weights()),
                [],
                tables=self.setting.tables,
                share=0,
                seed=[self._seed, self._updates],
                luck_weights=self._luck,
            )
            rollout.add(len(hands), began)
            self.learner.update(hands, number=self._updates, progress=0)
            training.add(len(hands), began)
            self._updates += 1
        while play.seconds < seconds:
            engine = make_engine(self._rules, self.setting.tables, seed=int(self._rng.integers(2**31)))
            began, decisions = perf_counter(), 0
            while (games := np.flatnonzero(engine.seat_to_act >= 0)).size:
                engine.step(choose_at_random(engine.action_mask[games], self._rng), games=games)
                decisions += len(games)
            play.add(decisions, began)
        return {"play": play, "rollout": rollout, "training": training}


# --- Measuring -------------------------------------------------------------------------------------------------------
def run(config: BenchLearningConfig) -> list[Result]:
    """Measure, print a table, and write the file if one is named.

    Raises:
        MahjongError: settings or agents cannot be used.
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
    """Yield the settings of all contenders that are asked for.

    Raises:
        TrainingError: a number is out of range, or a list is empty.
    """
    if not (config.opponents and config.tables and config.threads):
        raise TrainingError("--opponents, --tables and --threads name at least one each")
    if not 0 < config.seconds < float("inf") or min(config.tables) < 2:
        raise TrainingError("--seconds must be above 0, --tables at least 2")
    check_settings(config, zero=("self_play_tables",))
    check_counts(least=2, batch_size=config.batch_size)  # advantages are normalised over a minibatch
    check_counts(tables=max(config.tables))
    for threads in config.threads:
        check_counts(threads=threads)
    for opponents in config.opponents:
        if config.one_table:
            yield Setting(opponents, 1)
        yield from (Setting(opponents, tables, threads) for tables in config.tables for threads in config.threads)
    if config.self_play_tables:
        yield Setting(SELF_PLAY, config.self_play_tables)


def measure(
    config: BenchLearningConfig, played: Rules, settings: Sequence[Setting], tell: Callable[[str], object]
) -> list[Result]:
    """Measure the contenders in turns, so that a slow moment of the machine affects all of them."""
    results = [Result(setting) for setting in settings]
    tell("dealing")
    contenders = [(FastPath if one.opponents == SELF_PLAY else Tables)(config, played, one) for one in settings]
    for number in range(1, config.runs + 1):
        for contender, result in zip(contenders, results, strict=True):
            tell(f"run {number} of {config.runs}: {result.setting.name}, opponents {result.setting.opponents}")
            torch.set_num_threads(result.setting.threads)
            for kind, lap in contender.measure(config.seconds).items():
                result.rates[kind].append(lap.decisions / lap.seconds)
    return results


# --- What is printed ------------------------------------------------------------------------------------------------
def report_text(results: Sequence[Result]) -> str:
    """Return a table with a line for each contender, followed by the ratios between contenders."""
    lines: list[tuple[str, ...]] = []
    for opponents in dict.fromkeys(result.setting.opponents for result in results):
        if opponents == SELF_PLAY:
            continue
        named = [result for result in results if result.setting.opponents in (opponents, SELF_PLAY)]
        lines += [("",) * 5, (f"against {opponents}", *KINDS, "")]
        for result in named:
            lines.append((f"  {result.setting.name}", *(spread(result.rates[kind], ",.0f") for kind in KINDS), ""))
        for result, base in comparisons(named):
            shares = [spread(ratios(result, base, kind), ".2f") for kind in KINDS]
            lines.append((f"  {result.setting.name} / {base.setting.name}", *shares, ""))
    return aligned(lines)


def comparisons(results: Sequence[Result]) -> Iterator[tuple[Result, Result]]:
    """Yield the pairs to compare: each batched result with one table at a time, and with the first batched one."""
    alone = [result for result in results if result.setting.tables == 1]
    batched = [result for result in results if result.setting.tables > 1]
    for base in alone + batched[:1]:
        yield from ((result, base) for result in batched if result is not base)


def ratios(result: Result, base: Result, kind: str) -> list[float]:
    """Return, for each run, how many times as fast one contender was as another."""
    return [one / other for one, other in zip(result.rates[kind], base.rates[kind], strict=True)]


def report_json(results: Sequence[Result], config: BenchLearningConfig, played: Rules) -> dict[str, Any]:
    """Return all measurements, with the machine and the settings, as plain data."""
    return {
        "machine": machine(),
        "versions": {"mahjong_env": __version__, "torch": torch.__version__},
        "settings": asdict(config) | {"json": str(config.json), "knobs": played.knobs},
        "results": [
            asdict(result.setting)
            | {
                "name": result.setting.name,
                "decisions_per_second": {kind: median(rates) for kind, rates in result.rates.items()},
                "runs": result.rates,
            }
            for result in results
        ],
    }
