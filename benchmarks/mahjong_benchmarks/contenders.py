"""Who is measured by `mahjong_benchmarks.learning`: MaskablePPO on tables of either kind, and the fast path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import torch
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.policy.network import ActionNetwork
from mahjong_agents.policy.plane_network import NetworkSpec
from mahjong_benchmarks.command import BenchLearningConfig
from mahjong_benchmarks.one_table import OneTableEnv
from mahjong_env import Rules, make_engine
from mahjong_env.environments.agents import choose_at_random
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning.ppo import Learner
from mahjong_training.learning.self_play import play_hands
from mahjong_training.sb3.networks import new_learner
from mahjong_training.sb3.vec_env import TableVecEnv

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

KINDS: Final = ("play", "rollout", "training")
ONE_TABLE: Final = "one table at a time"
_ONE_TABLE_STEPS: Final = 512
"""Decisions between two updates where there is one table; a quarter of Stable-Baselines3's default, to save time."""
_WARM_UP: Final = 3
"""Rollouts before anything is measured, about two hands: tables that are dealt at once do not end at once then."""
SELF_PLAY: Final = "itself"
"""Whom the fast path plays against."""


@dataclass(frozen=True)
class Lap:
    """A measurement.

    Attributes:
        decisions: decisions of learners.
        wall: seconds that passed.
        cpu: seconds of the processor, of all threads.
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
        opponents: the agent at all other seats; `SELF_PLAY`: the learner of the fast path, which has all seats.
        tables: tables played at once; 1: one table at a time, each in an environment of its own.
        threads: threads of torch.
    """

    opponents: str
    tables: int
    threads: int = 1

    @property
    def name(self) -> str:
        """What the report calls it, among those with the same opponents."""
        if self.tables == 1:
            return ONE_TABLE
        if self.opponents == SELF_PLAY:
            return f"ppo, {self.tables} tables"
        return f"{self.tables} tables" + (f", --threads {self.threads}" if self.threads > 1 else "")


class Contender(Protocol):
    """What can be measured."""

    setting: Setting

    def measure(self, seconds: float) -> dict[str, Lap]:
        """Measure each of `KINDS`, for at least that long."""

    def close(self) -> None:
        """Let go of its tables."""


def new_contender(config: BenchLearningConfig, played: Rules, setting: Setting) -> Contender:
    """Make a contender ready to be measured.

    Raises:
        MahjongError: an agent that does not exist.
    """
    kind = FastPath if setting.opponents == SELF_PLAY else Tables
    return kind(config, played, setting)


class Tables:
    """Tables and a learner, ready to be measured."""

    def __init__(self, config: BenchLearningConfig, played: Rules, setting: Setting) -> None:
        """Deal the tables and make the network.

        Raises:
            MahjongError: an agent that does not exist.
        """
        agent: Agent = make_agent(setting.opponents)
        self.setting = setting
        self.env: VecEnv
        ppo = TrainSb3Config(
            variant=config.variant,
            learning_rate=0.0,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            seed=config.seed,
        )
        if setting.tables == 1:
            self.env = DummyVecEnv([lambda: OneTableEnv(played, [agent], seed=config.seed)])
            ppo = replace(ppo, n_steps=_ONE_TABLE_STEPS)
        else:
            self.env = TableVecEnv(played, setting.tables, [agent], seed=config.seed)
        self._model = new_learner(self.env, NetworkSpec(config.width, config.layers), ppo)
        self._rollout = self._model.n_steps * self.env.num_envs
        self._rng = np.random.default_rng(config.seed)

    def close(self) -> None:
        """Close the tables."""
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
            begin = _now()
            for _ in range(self._model.n_steps):
                seen, _, dones, _ = self.env.step(choose_at_random(get_action_masks(self.env), self._rng))
            lap += _since(begin, self._rollout)
        # The model goes on from here; to begin anew would let all tables begin, and end, at the same time.
        self._model._last_obs, self._model._last_episode_starts = seen, dones  # type: ignore[assignment]
        return lap

    def _learn(self, rollouts: int) -> tuple[Lap, Lap]:
        """Let the model learn from some rollouts; returns the rollouts alone, and all of it."""
        stopwatch = _Stopwatch(self._rollout)
        begin = _now()
        self._model.learn(rollouts * self._rollout, callback=stopwatch, reset_num_timesteps=False)
        return stopwatch.lap, _since(begin, rollouts * self._rollout)


class _Stopwatch(BaseCallback):
    """Times rollouts without the updates between them."""

    def __init__(self, rollout: int) -> None:
        super().__init__()
        self.lap = Lap()
        self._rollout = rollout
        self._begin = Lap()

    def _on_rollout_start(self) -> None:
        self._begin = _now()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.lap += _since(self._begin, self._rollout)


class FastPath:
    """Self-play of a small network over strong inputs, as ``mahjong-env train`` learns, in one process.

    All decisions are the learner's. ``play`` is the same tables with random actions, ``rollout`` what an update learns
    from (inputs, network, luck taken off), ``training`` that and the update.
    """

    def __init__(self, config: BenchLearningConfig, played: Rules, setting: Setting) -> None:
        """Make the networks."""
        self.setting, self._rules, self._seed, self._updates = setting, played, config.seed, 0
        settings = TrainConfig(variant=played.name, seed=config.seed, learning_rate=0.0)
        self._learner = Learner(settings, people=played.people, unit=sigma(played), claims=True)
        self._luck = useful_weights(played)
        self._rng = np.random.default_rng(config.seed)

    def close(self) -> None:
        """There is nothing to let go of."""

    def measure(self, seconds: float) -> dict[str, Lap]:
        """Measure each of `KINDS`, for at least that long."""
        torch.set_num_threads(self.setting.threads)
        play, rollout, training = Lap(), Lap(), Lap()
        while training.wall < seconds:
            begin = _now()
            hands = play_hands(
                self._rules,
                ActionNetwork(self._learner.weights()),
                [],
                tables=self.setting.tables,
                share=0,
                seed=[self._seed, self._updates],
                luck_weights=self._luck,
            )
            rollout += _since(begin, len(hands))
            self._learner.update(hands, number=self._updates, progress=0)
            training += _since(begin, len(hands))
            self._updates += 1
        while play.wall < seconds:
            play += self._play()
        return {"play": play, "rollout": rollout, "training": training}

    def _play(self) -> Lap:
        """Play a hand at each table at random."""
        engine = make_engine(self._rules, self.setting.tables, seed=int(self._rng.integers(2**31)))
        begin, decisions = _now(), 0
        while (games := np.flatnonzero(engine.seat_to_act >= 0)).size:
            engine.step(choose_at_random(engine.action_mask[games], self._rng), games=games)
            decisions += len(games)
        return _since(begin, decisions)


def _now() -> Lap:
    return Lap(0, perf_counter(), process_time())


def _since(begin: Lap, decisions: int) -> Lap:
    end = _now()
    return Lap(decisions, end.wall - begin.wall, end.cpu - begin.cpu)
