"""What every way to learn does alike: a run in its folder, measured and saved on the way, and resumed where it stopped.

A subclass of `BaseRun` says how it learns, what a checkpoint holds, and which measurement is the best so far.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from mahjong_agents import Agent, make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_env import AgentError, MissingExtraError, Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.errors import InterruptedRunError, TrainingError, WorkerError, WriteError
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.learning.curve import Player, curve_rows, describe, measure_learner, plot_curve
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.console import exit_status, resume_hint, stopping_in_order
from mahjong_training.runtime.folders import check_folder, make_folder, naming, write_bytes
from mahjong_training.seeds import curve_seed

try:
    import torch

    from mahjong_agents.policy import torch_network
except ImportError as error:
    raise MissingExtraError("training needs torch: pip install 'mahjong-env[train,evaluate]'") from error

Config = TypeVar("Config", TrainSb3Config, TrainConfig)


class BaseRun(ABC, Generic[Config]):
    """A run of learning.

    Attributes:
        config: the settings.
        folder: where everything is left.
        rules: what is played.
        judges: the agents that the learner is measured against.
        steps: decisions that were learned from.
        seconds: time that learning took, without measurements.
        is_due: what there is now has to be measured.
    """

    packages: ClassVar[Sequence[str]] = ("numpy", "torch")
    """Packages whose versions are written beside the settings."""

    def __init__(self, config: Config, folder: RunFolder) -> None:
        """Find the rules and the agents of the measurements; nothing is written.

        Raises:
            MahjongError: unknown variant, knob or agent.
        """
        torch.set_num_threads(config.threads)
        self.config: Config = config
        self.folder = folder
        self.rules: Rules = read_rules(config.variant, config.knobs)
        self.judges = [make_agent(spec) for spec in config.evaluation_agents]
        self.steps = 0
        self.seconds = 0.0
        self.is_due = False

    # --- Of each way to learn -----------------------------------------------------------------------------------
    @staticmethod
    @abstractmethod
    def check(config: Config) -> None:
        """Check settings before anything is made.

        Raises:
            TrainingError: they cannot be used.
        """

    @abstractmethod
    def learn(self) -> None:
        """Learn up to the total of the settings, measuring and saving on the way."""

    @abstractmethod
    def stopped(self) -> str:
        """Save what is worth saving of a run that is interrupted; return where it stopped, such as "after 5 hands"."""

    @abstractmethod
    def player(self) -> Agent:
        """Return the agent that is measured: the learner as it is now."""

    @abstractmethod
    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Decide whether a measurement is the best so far.

        Args:
            learner: who was measured.
            results: against each of the judges.

        Returns:
            Whether it is, and lines to print about it.
        """

    @abstractmethod
    def policy_file(self) -> PolicyFile:
        """Return the learner's policy as it is saved."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what a checkpoint holds."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned; any error means that the checkpoint does not fit."""

    def resumed(self) -> None:
        """Do what remains once a checkpoint has been taken back."""

    def measured(self) -> None:
        """Do what follows a measurement."""

    def close(self) -> None:
        """Let go of processes and files."""

    def log(self, name: str, number: float) -> None:
        """Show a number in TensorBoard."""

    @property
    def counts(self) -> dict[str, int]:
        """Further columns of the learning curve."""
        return {}

    @property
    def control_variates(self) -> bool:
        """Whether the luck of the draws is taken off the points of measurements."""
        return False

    @property
    def plays(self) -> Player | None:
        """What plays the hands of measurements; None: this process."""
        return None

    # --- Of all of them -----------------------------------------------------------------------------------------
    def run(self) -> None:
        """Learn up to the total.

        Raises:
            InterruptedRunError: Ctrl-C or SIGTERM; what was learned has been saved.
            WriteError: the disk is full; what was saved before is whole.
            WorkerError: a worker process ended; what was learned has been saved.
        """
        hint = resume_hint()
        try:
            with naming(self.folder.path):
                self.learn()
        except KeyboardInterrupt as interrupt:
            message = f"{self.folder.path}: interrupted {self.stopped()}; go on with {hint}"
            raise InterruptedRunError(message, exit_status(interrupt)) from None
        except WorkerError as error:
            raise WorkerError(f"{error}; stopped {self.stopped()}; go on with {hint}") from error
        except WriteError as error:
            raise WriteError(f"{error}; what was saved before is whole: make room, and go on with {hint}") from error

    def measure(self, phase: str, say: Callable[[str], None] = print) -> None:
        """Measure the learner, add to the learning curve, and keep the policy: as the best if it is.

        Args:
            phase: what the curve calls this part of the run.
            say: prints a line.
        """
        learner = self.player()
        # The same deals every time: differences between measurements are less noisy than the measurements.
        results = measure_learner(
            self.rules,
            learner,
            self.judges,
            deals=self.config.evaluation_deals,
            seed=curve_seed(self.config.seed),
            play=self.plays,
            control_variates=self.control_variates,
        )
        columns = {"phase": phase, "steps": self.steps, **self.counts, "seconds": round(self.seconds, 1)}
        rows = curve_rows(results, self.judges, **columns)
        self.folder.append_to_curve(rows)
        plot_curve(self.folder.read_curve(), f"{self.rules.title}: {self.folder.path.name}", self.folder.curve_plot)
        for row in rows:
            for name in ("points", "wins", "deal_ins"):
                self.log(f"against_{row['against']}/{name}", row[name])
        is_best, remarks = self.judge(learner, results)
        data = self.policy_file().to_bytes()
        write_bytes(self.folder.last, data)
        write_bytes(self.folder.policies / f"{self.steps:010d}.zip", data)
        if is_best:
            write_bytes(self.folder.best, data)
        self.measured()
        done = ", ".join(f"{number:,} {name}" for name, number in (self.counts or {"decisions": self.steps}).items())
        lines: list[str] = [describe(row) for row in rows] + remarks
        say("\n  ".join([f"{phase}, {done}, {self.seconds:.0f} s", *lines]))

    def save(self) -> None:
        """Write what ``--resume`` needs.

        Raises:
            WriteError: it cannot be written; the checkpoint before stays.
        """
        write_checkpoint(self.folder.checkpoint, self.state())

    def load(self) -> None:
        """Go on from what `save` wrote; a run that was stopped before it begins again.

        Raises:
            TrainingError: the checkpoint is damaged.
        """
        path = self.folder.checkpoint
        state = read_checkpoint(path)
        if state is None or not state.get("warm_started", True):
            print(f"{self.folder.path}: was stopped before anything was learned; it begins again")
            self.folder.truncate_after(-1)
            return
        try:
            self.restore(state)
            if self.steps < 0:
                raise ValueError(f"{self.steps} steps")
        except Exception as error:  # torch and dictionaries of anything have a dozen kinds
            raise TrainingError(f"{path}: damaged or of another version; it does not fit this run") from error
        # Of a measurement that is still due a part may be there.
        self.folder.truncate_after(self.steps - self.is_due)
        self.resumed()


def run_or_resume(kind: type[BaseRun[Config]], config: Config) -> RunFolder:
    """Learn, from the beginning or from where the run was interrupted, and leave everything in the run folder.

    Args:
        kind: how it learns.
        config: the settings.

    Raises:
        MahjongError: settings, agents or folders that cannot be used; nothing has been learned then.
    """
    folder = RunFolder(config.out or Path("runs") / f"{config.variant}{config.folder_suffix}")
    kind.check(config)
    folder.check_kind(type(config))
    with stopping_in_order():
        if config.resume:
            folder.check_is_run()
            with folder.locked():
                config = folder.resumed_config(config)
                kind.check(config)
                with closing(kind(config, folder)) as run:
                    run.load()
                    run.run()
            return folder
        folder.check_is_free()
        check_folder(folder.path)
        with closing(kind(config, folder)) as run:
            make_folder(folder.path)
            with folder.locked():
                versions = {"mahjong_env": __version__} | {name: version(name) for name in kind.packages}
                folder.begin(run.config, versions)
                run.run()
    return folder


def find_device(name: str) -> torch.device:
    """Return the device that a setting means: ``auto`` is a GPU if there is one.

    Raises:
        TrainingError: there is no such device, or none here.
    """
    try:
        return torch_network.find_device(name)
    except AgentError as error:
        raise TrainingError(f"--{error}") from error


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write a checkpoint.

    Raises:
        WriteError: it cannot be written; the one before stays.
    """
    data = io.BytesIO()
    torch.save(dict(state), data)
    write_bytes(path, data.getvalue())


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return what a checkpoint holds; None if there is none.

    Raises:
        TrainingError: it is damaged, or no checkpoint.
    """
    try:
        # Whatever device it was written on: the learner that takes it over moves it to its own.
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
        return dict(state)
    except FileNotFoundError:
        return None
    except Exception as error:
        # Not quoted: torch asks its users to report what is wrong with our file.
        size = path.stat().st_size if path.is_file() else 0
        raise TrainingError(
            f"{path}: damaged or of another version; no checkpoint can be read from its {size:,} bytes"
        ) from error
