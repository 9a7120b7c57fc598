"""``mahjong-env train-sb3``: a warm start from a teacher, then MaskablePPO on batched tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import asdict, fields, replace
from typing import Any, Final

import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from tqdm import tqdm

from mahjong_agents import Agent, make_agent
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.custom_features import find_features
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork, weights_of
from mahjong_agents.policy.torch_network import TorchNetwork
from mahjong_env import __version__
from mahjong_training.config import PpoSettings, TrainSb3Config, check_shares
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.learning.base_run import BaseRun, find_device, run_or_resume
from mahjong_training.learning.curve import Player
from mahjong_training.learning.rewards import find_reward
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.folders import write_bytes
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.sb3.networks import ReferencePolicy, TablePolicy, new_learner
from mahjong_training.sb3.shards import ShardedVecEnv, new_tables
from mahjong_training.sb3.vec_env import RewardSpec
from mahjong_training.sb3.warm_start import progress_bar, recorded_games, teachers_in, try_out, warm_start
from mahjong_training.seeds import training_seed

SELF: Final = "self"


def run(config: TrainSb3Config) -> RunFolder:
    """Train, and leave everything in the run folder.

    Raises:
        MahjongError: settings, agents or folders that cannot be used; nothing has been learned then.
    """
    return run_or_resume(Training, config)


class Training(BaseRun[TrainSb3Config]):
    """A run of MaskablePPO: the tables, the learner, and the measurements."""

    packages = ("numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")

    @staticmethod
    def check(config: TrainSb3Config) -> None:
        """Check settings; see `BaseRun.check`."""
        counts = (
            *("total_steps", "tables", "width", "layers", "processes", "threads", "evaluations", "evaluation_deals"),
            *("warm_start_epochs", "n_steps", "batch_size", "n_epochs"),
        )
        check_counts(**{name: getattr(config, name) for name in counts})
        amounts = (*(field.name for field in fields(PpoSettings)), "vf_coef", "warm_start_learning_rate", "shaping")
        for name in (*amounts, "reward_scale"):
            number = getattr(config, name)
            if number is not None and not 0 <= number < float("inf"):
                raise TrainingError(f"--{name.replace('_', '-')} must be a finite number from 0, not {number}")
        check_seed(config.seed)
        find_device(config.device)
        check_shares(config.tables, config.processes)
        if not (config.opponents and config.evaluation_agents and config.teachers):
            raise TrainingError("--opponents, --teachers and --evaluation-agents must name at least one agent each")
        if config.reward_scale == 0 or config.warm_start_steps < 0:
            raise TrainingError("--reward-scale must be above 0, --warm-start-steps at least 0")
        if not config.resume and config.total_steps < config.tables:
            raise TrainingError(
                f"--total-steps {config.total_steps} is less than --tables {config.tables}: an update is at least one "
                "decision of each table"
            )

    def __init__(self, config: TrainSb3Config, folder: RunFolder) -> None:
        """Deal the tables and make the network; nothing is written.

        Raises:
            MahjongError: unknown variant, knob or agent, or a policy file that cannot be used.
        """
        super().__init__(config, folder)
        torch.distributions.Distribution.set_default_validate_args(False)
        self.recorded = recorded_games(config, self.rules)
        candidates = config.teachers if self.recorded is None else teachers_in(self.recorded, config.teachers)
        teachers = {spec: make_agent(spec) for spec in ([config.teacher] if config.teacher else candidates)}
        named = {spec: make_agent(spec) for spec in set(config.opponents) - {SELF}}
        # The opponents are put in their places below: "self" needs the network, and that needs the tables.
        features = None if config.features is None else find_features(config.features)
        reward = None if config.reward == "points" else find_reward(config.reward)
        self.env = new_tables(
            self.rules,
            config.tables,
            self.judges,
            processes=config.processes,
            seed=config.seed,
            features=features,
            record=config.record,
        )
        with ExitStack() as on_error:
            on_error.callback(self.close)
            self.spec = NetworkSpec(config.width, config.layers, 0 if features is None else len(features.facts))
            # A run that is shorter than an update makes a smaller one; a longer run ends with its last whole one.
            shortest = max(1, min(config.n_steps, config.total_steps // config.tables))
            ppo = replace(config, n_steps=shortest)
            self.update = shortest * config.tables
            self.model = new_learner(self.env, self.spec, ppo, config.seed, features, device=find_device(config.device))
            # The copy that sits at the tables is on the CPU, and may be sent to other processes.
            self.player_network = self.network if self.model.device.type == "cpu" else deepcopy(self.network).cpu()
            learner = PolicyAgent.playing(TorchNetwork(self.player_network), name=SELF, sample=True)
            self.env.opponents = [named.get(spec, learner) for spec in config.opponents]
            self.teacher = self._choose_teacher(teachers)
            on_error.pop_all()
        config = self.config
        self.env.reward = RewardSpec(config.reward_scale or 1.0, config.shaping, config.gamma, reward)
        self.points = self.best_points = -float("inf")  # mean over the judges, of the last measurement and the best
        self.warm_started = config.warm_start_steps == 0

    def _choose_teacher(self, teachers: dict[str, Agent]) -> Agent:
        """Return the best teacher, and put it and the scale of the rewards into the settings of the run."""
        config = self.config
        if len(teachers) == 1 and config.reward_scale is not None:
            spec, teacher = next(iter(teachers.items()))
            self.config = replace(config, teacher=spec)
            return teacher
        trials = {
            spec: try_out(self.rules, teacher, self.env.opponents, seed=config.seed)
            for spec, teacher in teachers.items()
        }
        spec, best = max(trials.items(), key=lambda trial: trial[1].points)
        for trial in trials.values():
            print(f"teacher {trial.player.name}: {trial.points:+.2f} points a hand against the opponents")
        usual = round(1 / max(best.spread, 1e-6), 6) if config.reward == "points" else 1.0
        scale = config.reward_scale or usual
        self.config = replace(config, teacher=spec, reward_scale=scale)
        return best.player

    def close(self) -> None:
        """End the processes that play the tables, if there are any."""
        self.env.close()

    @property
    def network(self) -> PolicyNetwork:
        """The learner's network."""
        policy = self.model.policy
        assert isinstance(policy, TablePolicy)
        return policy.network

    # --- The run ------------------------------------------------------------------------------------------------
    def learn(self) -> None:
        """Learn up to the total, measuring and saving on the way."""
        self.model.set_logger(configure(str(self.folder.tensorboard), ["tensorboard"]))
        if not self.warm_started:
            self._warm_start()
        self._learn()

    def stopped(self) -> str:
        """Save what was learned, if anything was, and say so."""
        if not self.warm_started:
            return "during the warm start, which will begin again"
        if not self.is_due:  # or else it was saved before the measurement that was interrupted
            self.save()
        return f"after {self.steps:,} decisions, which are saved"

    def _warm_start(self) -> None:
        config = self.config
        start = time.monotonic()
        fits = warm_start(
            self.network,
            self.env,
            self.teacher,
            decisions=config.warm_start_steps,
            epochs=config.warm_start_epochs,
            learning_rate=config.warm_start_learning_rate,
            value_weight=config.vf_coef,
            batch_size=config.batch_size,
            seed=config.seed,
            recorded=None if self.recorded is None else self.recorded.where(agents=[str(config.teacher)]),
        )
        self.seconds += time.monotonic() - start
        for number, fit in enumerate(fits, start=1):
            for name, value in asdict(fit).items():
                self.model.logger.record(f"warm_start/{name}", value)
            self.model.logger.dump(number)
        self.note_update(is_due=False)
        self.measure("warm start")
        write_bytes(self.folder.clone, self.folder.last.read_bytes())
        self.warm_started = True
        self.save()

    def _learn(self) -> None:
        config = self.config
        to_do = (config.total_steps - self.steps) // self.update * self.update
        if to_do <= 0 and not self.is_due:
            print(f"{self.folder.path}: has learned from {self.steps:,} decisions already; nothing to do")
            return
        self.measure_if_due()
        if to_do > 0:
            with progress_bar("PPO", self.steps + to_do, self.steps) as bar:
                self.model.learn(to_do, callback=_Measuring(self, bar), reset_num_timesteps=False)
            self.note_update(is_due=True)
            self.measure_if_due()
        rate = self.steps / max(self.seconds, 1e-9)
        print(
            f"learned from {self.steps:,} decisions in {self.seconds:.0f} s ({rate:.0f} decisions/s); "
            f"{self.folder.best}, {self.folder.curve_plot}"
        )

    def note_update(self, *, is_due: bool) -> None:
        """Count what was learned from; if a measurement is due, save that first, so that nothing of it can be lost."""
        self.steps = int(self.model.num_timesteps)
        if self.player_network is not self.network:
            self.player_network.load_state_dict(self.network.state_dict())
        if is_due:
            self.is_due = True
            self.save()

    def measure_if_due(self, say: Callable[[str], None] = print) -> None:
        """Measure, if that is due, and save that it was done."""
        if self.is_due:
            self.measure("PPO", say)
            self.is_due = False
            self.save()

    # --- Measuring and saving -----------------------------------------------------------------------------------
    @property
    def plays(self) -> Player | None:
        """The processes that play the tables, if there are any."""
        return self.env.play_blocks if isinstance(self.env, ShardedVecEnv) else None

    def player(self) -> Agent:
        """Return the agent that plays the network as it is now."""
        return PolicyAgent.playing(TorchNetwork(self.player_network), name="learner")

    def log(self, name: str, number: float) -> None:
        """Show a number in TensorBoard, with the next update."""
        self.model.logger.record(name, number)

    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Decide by the mean points over the judges; see `BaseRun.judge`."""
        self.points = sum(result.of(0).points.mean for result in results) / len(results)
        is_best = self.points > self.best_points
        self.best_points = max(self.points, self.best_points)
        return is_best, []

    def measured(self) -> None:
        """Hold the learner near itself as it was measured."""
        if isinstance(self.model.policy, ReferencePolicy):
            self.model.policy.refresh_reference()

    def policy_file(self) -> PolicyFile:
        """Return the policy of the network as it is now."""
        config = self.config
        return PolicyFile(
            variant=self.rules.name,
            variant_version=self.rules.version,
            network=asdict(self.spec),
            weights=weights_of(self.network),
            knobs=self.rules.knobs,
            training={
                "mahjong_env": __version__,
                "steps": self.steps,
                "warm_start_steps": config.warm_start_steps,
                "teacher": config.teacher if config.warm_start_steps else None,
                "teachers": list(config.teachers) if config.warm_start_steps else [],
                "reward": config.reward,
                "features": config.features,
                "seed": config.seed,
                "points": self.points,
            },
        )

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint holds."""
        state = {
            "network": self.network.state_dict(),
            "optimiser": self.model.policy.optimizer.state_dict(),
            "steps": self.steps,
            "is_due": self.is_due,
            "seconds": self.seconds,
            "best_points": self.best_points,
            "warm_started": self.warm_started,
        }
        if isinstance(self.model.policy, ReferencePolicy):
            state["reference"] = self.model.policy.reference_state()
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        self.network.load_state_dict(state["network"])
        self.model.policy.optimizer.load_state_dict(state["optimiser"])
        if isinstance(self.model.policy, ReferencePolicy):
            self.model.policy.load_reference(state["reference"])
        self.steps = self.model.num_timesteps = int(state["steps"])
        self.is_due = bool(state.get("is_due"))
        self.seconds, self.best_points = float(state["seconds"]), float(state["best_points"])
        self.warm_started = True

    def resumed(self) -> None:
        """Deal other tables than those before the checkpoint."""
        self.env.seed(training_seed(self.config.seed, self.steps))
        self.note_update(is_due=False)


class _Measuring(BaseCallback):
    """Moves the progress bar, and measures the learner when it is time."""

    def __init__(self, training: Training, bar: tqdm[Any]) -> None:
        super().__init__()
        self._training = training
        self._bar = bar
        self._every = max(1, training.config.total_steps // training.config.evaluations)
        self._due = (training.model.num_timesteps // self._every + 1) * self._every
        self._since = time.monotonic()

    def _on_step(self) -> bool:
        self._bar.update(self.training_env.num_envs)
        return True

    def _on_rollout_start(self) -> None:
        training = self._training
        # Between an update and the next rollout: the policy that is measured is the policy that plays on.
        training.note_update(is_due=False)
        if SELF in training.config.opponents and training.config.processes > 1:
            training.env.opponents = training.env.opponents  # the other processes have copies of an older learner
        if self.num_timesteps < self._due:
            return
        self._due = (self.num_timesteps // self._every + 1) * self._every
        self._count_time()
        training.note_update(is_due=True)
        training.measure_if_due(self._bar.write)
        self._since = time.monotonic()

    def _on_training_end(self) -> None:
        self._count_time()

    def _count_time(self) -> None:
        self._training.seconds += time.monotonic() - self._since
