"""``mahjong-env train-sb3``: a warm start that imitates a teacher, then MaskablePPO on batched tables."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import numpy as np
import torch
from stable_baselines3.common.logger import configure

from mahjong_agents import Agent, make_agent, reference_agent
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_agents.policy.torch_network import TorchNetwork, arrays_of, find_device
from mahjong_env import __version__
from mahjong_env.records import RecordWriter
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import TrainSb3Config
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.matches import sigma
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.learning.base_run import BaseRun, run_or_resume
from mahjong_training.learning.rewards import find_reward, try_reward
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.limits import check_settings
from mahjong_training.sb3.networks import TablePolicy, new_learner
from mahjong_training.sb3.vec_env import TableVecEnv
from mahjong_training.sb3.warm_start import imitate, play_decisions, read_decisions, recorded_games
from mahjong_training.seeds import training_seed

SELF: Final = "self"
REFERENCES: Final = ("greedy", "closed-greedy")
"""The agents that an evaluation adds as opponents of a policy, in addition to its teacher."""


def run(config: TrainSb3Config) -> RunFolder:
    """Train a policy, and write everything to the run folder.

    Returns:
        The run folder.

    Raises:
        MahjongError: settings, agents or folders cannot be used; nothing has been learned then.
    """
    return run_or_resume(Sb3Run, config)


class Sb3Run(BaseRun[TrainSb3Config]):
    """A training run with MaskablePPO: the tables and the learner."""

    packages = ("numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")
    unit = "steps"

    @staticmethod
    def check(config: TrainSb3Config) -> None:
        """Check settings; see `BaseRun.check`."""
        check_settings(config, zero=("warm_start_steps",))
        find_device(config.device)
        if max(config.gae_lambda, config.gamma) > 1:
            raise TrainingError("--gamma and --gae-lambda are at most 1")
        if config.reward == "place":
            raise TrainingError("--reward place needs matches, which `train --match-hands` plays")
        if not (config.opponents and config.evaluation_agents):
            raise TrainingError("--opponents and --evaluation-agents must name at least one agent each")
        if not config.resume and config.goal < config.tables:
            raise TrainingError(
                f"--total-steps {config.goal} is less than --tables {config.tables}: an update is at least one "
                "decision of each table"
            )
        try_reward(config.reward, read_rules(config.variant, config.knobs))

    def __init__(self, config: TrainSb3Config, folder: RunFolder) -> None:
        """Deal the tables and make the network; nothing is written.

        Raises:
            MahjongError: a variant, knob or agent is unknown, a policy file cannot be used, or a minibatch would be a
                single decision.
        """
        super().__init__(config, folder)
        torch.distributions.Distribution.set_default_validate_args(False)
        teacher, self._recorded = config.teacher or reference_agent(self.rules).name, None
        if config.dataset:
            teacher, self._recorded = recorded_games(config, self.rules)
        # A run shorter than an update makes a smaller update; a longer run ends with its last whole update.
        n_steps = max(1, min(config.n_steps, config.goal // config.tables))
        self.config = replace(config, teacher=teacher)
        # With recorded games the teacher is not made: it has played already, and a file would choose what is loaded.
        self._teacher = make_agent(teacher) if self._recorded is None else None
        self._update_size = n_steps * config.tables
        # MaskablePPO divides by the spread of a minibatch's advantages, which a single decision does not have.
        if config.batch_size == 1 or self._update_size % config.batch_size == 1:
            raise TrainingError(
                f"--batch-size {config.batch_size}: an update of {self._update_size} decisions (--tables times "
                "--n-steps) would have a minibatch of a single one, from which nothing can be learned; choose another"
            )
        named = {spec: make_agent(spec) for spec in set(config.opponents) - {SELF}}
        self.met |= named
        reward = find_reward("sigma" if config.reward == "points" else config.reward)
        self.env = TableVecEnv(
            self.rules,
            config.tables,
            self.judges,
            seed=config.seed,
            reward=reward,
            gamma=config.gamma,
        )
        if config.record is not None:
            RecordWriter(config.record).close()  # a file that cannot be written is reported before anything is played
        self.spec = NetworkSpec(config.width, config.layers)
        device = find_device(config.device)
        self.model = new_learner(self.env, self.spec, replace(config, n_steps=n_steps), device)
        # The learner exists only now, so the opponents, of which it may be one, are replaced here.
        learner = PolicyAgent.playing(TorchNetwork(self.network), name=SELF, sample=True)
        self.env.opponents = [named.get(spec, learner) for spec in config.opponents]
        self.points = self.best_points = -float("inf")  # means over the judges: last measurement, best one
        self._has_begun = config.warm_start_steps == 0
        self._has_imitated = False

    def close(self) -> None:
        """Close the file of records, if there is one."""
        self.env.close()

    def agents(self) -> Mapping[str, Agent]:
        """Return all agents that play in this run, also the teacher; see `BaseRun.agents`."""
        return self.met if self._teacher is None else {**self.met, str(self.config.teacher): self._teacher}

    @property
    def network(self) -> PolicyNetwork:
        """The learner's network."""
        policy = self.model.policy
        assert isinstance(policy, TablePolicy)
        return policy.network

    @property
    def total(self) -> int:
        """The number of decisions to learn from in all, in whole updates."""
        return self.steps + max(0, self.config.goal - self.steps) // self._update_size * self._update_size

    # --- Learning -----------------------------------------------------------------------------------------------
    def learn(self) -> None:
        """Learn up to the total, after the warm start if it is still to come; see `BaseRun.learn`."""
        self.model.set_logger(configure(str(self.folder.tensorboard), ["tensorboard"]))
        if not self._has_begun:
            self._warm_start()
        if self.config.record is not None:
            self.env.record_to(self.config.record)  # only now, so that the teacher's games are not recorded
        super().learn()

    def _warm_start(self) -> None:
        config, start, rng = self.config, time.monotonic(), np.random.default_rng(self.config.seed)
        if self._teacher is not None:
            decisions = play_decisions(self.env, self._teacher, config.warm_start_steps, rng)
        elif self._recorded is not None:
            decisions = read_decisions(self._recorded, self.network, config.warm_start_steps, config.seed)
            decisions["return"] = decisions["return"] / np.float32(sigma(self.rules))
        fits = imitate(
            self.network,
            decisions,
            epochs=config.warm_start_epochs,
            learning_rate=config.warm_start_learning_rate,
            vf_coef=config.vf_coef,
            batch_size=config.batch_size,
            rng=rng,
        )
        for number, fit in enumerate(fits, start=1):
            for name, value in zip(("cross_entropy", "value_loss"), fit, strict=True):
                self._board.add_scalar(f"warm_start/{name}", value, number)
        if not fits:
            print(
                f"no hand ended within --warm-start-steps {config.warm_start_steps} at {config.tables} tables: "
                "nothing was imitated"
            )
        self.seconds += time.monotonic() - start
        self._has_begun, self._has_imitated = True, bool(fits)
        self.save()

    def update(self) -> None:
        """Play the decisions of one update, and learn from them."""
        self.model.learn(self._update_size, reset_num_timesteps=False)
        self.steps += self._update_size

    # --- Measuring and saving -----------------------------------------------------------------------------------
    def player(self) -> Agent:
        """Return an agent that plays with the network as it is now."""
        return PolicyAgent.playing(TorchNetwork(self.network), name="learner")

    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Judge a measurement by its mean points over the judges; see `BaseRun.judge`."""
        self.points = sum(result.of(0).points.mean for result in results) / len(results)
        is_best = self.points > self.best_points
        self.best_points = max(self.points, self.best_points)
        return is_best, []

    def policy_file(self) -> PolicyFile:
        """Return a policy file of the network as it is now."""
        config = self.config
        teacher = config.teacher if self._has_imitated else None
        return PolicyFile(
            variant=self.rules.name,
            variant_version=self.rules.version,
            network=asdict(self.spec),
            weights=arrays_of(self.network),
            knobs=self.rules.knobs,
            training={
                "mahjong_env": __version__,
                "steps": self.steps,
                "warm_start_steps": config.warm_start_steps if self._has_imitated else 0,
                "teacher": teacher,
                "teachers": list(dict.fromkeys([*REFERENCES, teacher])) if teacher else [],
                "reward": config.reward,
                "seed": config.seed,
                "points": self.points,
            },
        )

    def state(self) -> dict[str, Any]:
        """Return the contents of a checkpoint; see `BaseRun.state`."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.model.policy.optimizer.state_dict(),
            "steps": self.steps,
            "best_points": self.best_points,
            "has_imitated": self._has_imitated,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned; see `BaseRun.restore`."""
        self.network.load_state_dict(state["network"])
        self.model.policy.optimizer.load_state_dict(state["optimiser"])
        self.steps = self.model.num_timesteps = int(state["steps"])
        self.best_points, self._has_begun = float(state["best_points"]), True
        self._has_imitated = bool(state.get("has_imitated", self.config.warm_start_steps))  # older runs have none
        # Deal other tables than those before the checkpoint.
        self.env.seed(training_seed(self.config.seed, self.steps))
