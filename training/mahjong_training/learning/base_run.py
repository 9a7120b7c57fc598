"""What all training commands have in common: runs in a folder, measured and saved on the way, that can be resumed.

A subclass of `BaseRun` defines how to learn, what a checkpoint holds, and which measurement is the best so far.
"""

from __future__ import annotations

import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from mahjong_agents import Agent, make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_env import MissingExtraError, Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.errors import InterruptedRunError, TrainingError, WorkerError, WriteError
from mahjong_training.evaluation.estimates import FEWEST
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import begin_to_measure, check_single_hands
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.learning.run_folder import MEAN_PLACE, Config, RunFolder, curve_row, describe, plot_curve
from mahjong_training.learning.self_play import try_agent
from mahjong_training.runtime.console import exit_status, resume_hint, stopping_in_order
from mahjong_training.runtime.digests import agent_digests, named_digests
from mahjong_training.runtime.executors import Executor, LocalExecutor
from mahjong_training.runtime.folders import alone_in, check_folder, naming, write_bytes
from mahjong_training.seeds import curve_seed

try:
    import torch
    from torch.utils.tensorboard import SummaryWriter
    from tqdm import tqdm
except ImportError as error:
    raise MissingExtraError(f"training needs {error.name}: pip install 'mahjong-env[train,evaluate]'") from error


Made = TypeVar("Made")


class BaseRun(ABC, Generic[Config]):
    """A training run.

    Attributes:
        config: the settings.
        folder: the run folder, which receives all files.
        rules: the rules to play by.
        judges: the agents that the learner is measured against.
        met: by their texts, all agents that the learner is measured against, learns from or has to beat.
        executor: where measurements are played.
        match_hands: hands in a match; 1 if single hands are measured.
        control_variates: whether the luck of the draws is subtracted from the points of measurements.
        critic_hands: how much at the beginning only a critic learns from, in `unit`.
        steps: the number of decisions learned from.
        saved: the amount learned from when the last checkpoint was written, in `unit`.
        seconds: the time spent learning, without measurements.
        is_due: whether the present policy still has to be measured.
    """

    packages: ClassVar[Sequence[str]] = ("numpy", "torch")
    """The packages whose versions are written with the settings."""
    unit: ClassVar[str]
    """The unit of the total, which is also the name of the attribute that counts it: "hands" or "steps"."""

    def __init__(self, config: Config, folder: RunFolder) -> None:
        """Find the rules and the agents for measurements; nothing is written.

        Raises:
            MahjongError: a variant, knob or agent is unknown, or games do not end after a number of hands.
        """
        torch.set_num_threads(config.threads)
        self.config: Config = config
        self.folder = folder
        self.rules: Rules = read_rules(config.variant, config.knobs)
        check_single_hands(self.rules)
        self.judges = [make_agent(spec) for spec in config.evaluation_agents]
        self.met: dict[str, Agent] = dict(zip(config.evaluation_agents, self.judges, strict=True))
        self.executor: Executor = LocalExecutor()
        self.match_hands, self.control_variates, self.critic_hands = 1, False, 0
        self.steps = self.saved = 0
        self.seconds = 0.0
        self.is_due = True

    # --- Defined by each training command -----------------------------------------------------------------------
    @staticmethod
    @abstractmethod
    def check(config: Config) -> None:
        """Check the settings before anything is made.

        Raises:
            TrainingError: the settings cannot be used.
        """

    @property
    @abstractmethod
    def total(self) -> int:
        """How much to learn from in all, in `unit`."""

    @abstractmethod
    def update(self) -> None:
        """Play the hands of one update, and learn from them."""

    @abstractmethod
    def player(self) -> Agent:
        """Return the learner as it is now, as the agent to measure."""

    @abstractmethod
    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Judge a measurement, given as the results against each of the judges.

        Returns:
            Whether it is the best so far, and lines to print.
        """

    @abstractmethod
    def policy_file(self) -> PolicyFile:
        """Return the learner's policy in the form in which it is saved."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the contents of a checkpoint, except for `seconds` and `is_due`."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned; any error means that the checkpoint does not fit."""

    def close(self) -> None:
        """End processes and close files."""
        self.executor.close()

    def agents(self) -> Mapping[str, Agent]:
        """Return, by their texts, all agents that play in this run."""
        return self.met

    # --- Common to all training commands ------------------------------------------------------------------------
    @property
    def learned(self) -> int:
        """How much has been learned from so far, in `unit`."""
        return int(getattr(self, self.unit))

    def progress(self, learned: int) -> Fraction:
        """Return the share, 0 to 1, of the policy's learning that is done after learning from an amount, in `unit`."""
        return Fraction(max(0, learned - self.critic_hands), max(1, self.total - self.critic_hands))

    def digests(self) -> dict[str, list[str]]:
        """Return the digests of all agents in `met`, by their texts, and of code of the user's own, by its option."""
        texts = {name: getattr(self.config, name, None) for name in ("reward", "features", "network")}
        own = {
            f"--{name} {text}": named_digests(text, self.rules) for name, text in texts.items() if isinstance(text, str)
        }
        return {spec: agent_digests(spec, agent, self.rules) for spec, agent in self.met.items()} | own

    def sent(self, text: str | Made, made: Made) -> str | Made:
        """Return what to send to workers for an object made from a text: the text, or the object if they lack files."""
        return text if self.executor.shares_files else made

    def try_agents(self) -> None:
        """Ask every agent for one decision where it is to play, so that one that cannot fails before the run begins."""
        agents = [self.sent(*one) for one in self.agents().items()]
        for _ in self.executor.map(try_agent, (self.rules, agents), range(len(agents))):
            pass

    def games(self, hands: int) -> int:
        """Return how many deals to play for a number of single hands: as many, or fewer if a deal is a match."""
        return hands if self.match_hands == 1 else max(FEWEST, hands // self.match_hands)

    def run(self) -> None:
        """Learn up to the total.

        Raises:
            InterruptedRunError: Ctrl-C or SIGTERM; what was learned has been saved.
            WriteError: the disk is full; what was saved before is complete.
            WorkerError: a worker process ended; what was learned has been saved.
        """
        hint = resume_hint()
        try:
            with naming(self.folder.path), SummaryWriter(str(self.folder.tensorboard)) as self._board:
                self.learn()
        except KeyboardInterrupt as interrupt:
            message = f"{self.folder.path}: interrupted after {self.saved:,} {self.unit}; resume with {hint}"
            raise InterruptedRunError(message, exit_status(interrupt)) from None
        except WorkerError as error:
            raise WorkerError(f"{error}; stopped after {self.saved:,} {self.unit}; resume with {hint}") from error
        except WriteError as error:
            raise WriteError(f"{error}; what was saved before is complete; make room and resume with {hint}") from error

    def learn(self) -> None:
        """Learn up to the total, saving after every update and measuring on the way."""
        if self.learned >= self.total and not self.is_due:
            print(f"{self.folder.path}: has learned from {self.learned:,} {self.unit} already; nothing to do")
            return
        self.measure_if_due()
        with tqdm(
            total=self.total, initial=self.learned, unit=f" {self.unit}", disable=None, smoothing=0.1, leave=False
        ) as bar:
            while self.learned < self.total:
                bar.set_description("critic alone" if self.learned < self.critic_hands else "PPO")
                before, start = self.learned, time.monotonic()
                self.update()
                self.seconds += time.monotonic() - start
                bar.update(self.learned - before)
                self.is_due = self._measurements_due(before) < self._measurements_due(self.learned)
                # Saved before it is measured, which takes as long again, so that an interruption then loses nothing.
                self.save()
                self.measure_if_due(bar.write)
        rate = self.steps / max(self.seconds, 1e-9)
        print(
            f"learned from {self.learned:,} {self.unit} in {self.seconds:.0f} s ({rate:.0f} decisions/s); "
            f"{self.folder.best}, {self.folder.curve_plot}"
        )

    def _measurements_due(self, learned: int) -> int:
        """Return how many measurements on the way are due after an amount learned from, in `unit`."""
        return int(self.progress(learned) * self.config.evaluations)

    def measure_if_due(self, say: Callable[[str], None] = print) -> None:
        """Measure if that is due, and save that it is done; the first policy is kept as the initial one."""
        if not self.is_due:
            return
        self.measure("PPO" if self.learned else "start", say)
        if not self.learned:
            write_bytes(self.folder.initial, self.folder.last.read_bytes())
        self.is_due = False
        self.save()

    def measure(self, phase: str, say: Callable[[str], None] = print) -> None:
        """Measure the learner, add the results to the learning curve, and save the policy, also as the best if it is.

        Args:
            phase: the name of this part of the run in the curve.
            say: a function that prints a line.
        """
        learner = self.player()
        agents = [learner, *map(self.sent, self.config.evaluation_agents, self.judges)]
        begun = [
            begin_to_measure(
                self.executor,
                self.rules,
                agents,
                one_against_copies(0, number, self.rules.people),
                deals=self.games(self.config.evaluation_deals),
                # The same deals every time, so that differences between measurements are less noisy than these are.
                seed=curve_seed(self.config.seed),
                control_variates=self.control_variates,
                hands=self.match_hands,
            )
            for number in range(1, len(agents))
        ]
        results = [wait() for wait in begun]
        columns: dict[str, Any] = {
            "phase": phase,
            "steps": self.steps,
            self.unit: self.learned,
            "seconds": round(self.seconds, 1),
        }
        names = [judge.name for judge in self.judges]  # of policies in two folders they may be the same
        against = [
            spec if names.count(name) > 1 else name
            for spec, name in zip(self.config.evaluation_agents, names, strict=True)
        ]
        judged = enumerate(zip(results, against, strict=True), start=1)
        rows = [columns | curve_row(result, number, name) for number, (result, name) in judged]
        self.folder.append_to_curve(rows)
        title, people = f"{self.rules.title}: {self.folder.path.name}", self.rules.people
        plot_curve(self.folder.read_curve(), title, self.folder.curve_plot, people=people)
        for row in rows:
            for name in ("points", "wins", "deal_ins", MEAN_PLACE):
                if name in row:
                    self.log(f"against_{row['against']}/{name}", row[name])
        is_best, remarks = self.judge(learner, results)
        data = self.policy_file().to_bytes()
        write_bytes(self.folder.last, data)
        write_bytes(self.folder.policies / f"{self.steps:010d}.zip", data)
        if is_best:
            write_bytes(self.folder.best, data)
        lines: list[str] = [describe(row) for row in rows] + remarks
        say("\n  ".join([f"{phase}, {self.learned:,} {self.unit}, {self.seconds:.0f} s", *lines]))

    def log(self, name: str, number: float) -> None:
        """Write a number to TensorBoard, plotted over the amount learned from."""
        self._board.add_scalar(name, number, self.learned)

    def save(self) -> None:
        """Write a checkpoint, from which ``--resume`` goes on.

        Raises:
            WriteError: the checkpoint cannot be written; the previous one is kept.
        """
        state = self.state() | {"seconds": self.seconds, "is_due": self.is_due}
        write_checkpoint(self.folder.checkpoint, state)
        self.saved = self.learned

    def load(self) -> None:
        """Restore the last checkpoint; a run that has none starts again from the beginning.

        Raises:
            TrainingError: the checkpoint is damaged.
        """
        path = self.folder.checkpoint
        state = read_checkpoint(path)
        if state is None:
            print(f"{self.folder.path}: was stopped before anything was learned; it begins again")
            self.folder.truncate_after(-1)
            return
        try:
            self.restore(state)
            self.seconds, self.is_due = float(state["seconds"]), bool(state["is_due"])
            if self.steps < 0:
                raise ValueError(f"{self.steps} steps")
        except Exception as error:  # damaged files make torch and dictionaries raise a dozen kinds
            raise TrainingError(f"{path}: damaged or of another version; it does not fit this run") from error
        # A measurement that is still due may have been written in part.
        self.folder.truncate_after(self.steps - self.is_due)
        self.saved = self.learned


def run_or_resume(kind: type[BaseRun[Config]], config: Config) -> RunFolder:
    """Begin a run or resume an interrupted one, and write everything to the run folder.

    Args:
        kind: the class of the run.
        config: the settings.

    Returns:
        The run folder.

    Raises:
        MahjongError: settings, agents or folders cannot be used; nothing has been learned then.
    """
    folder = RunFolder(config.out or Path("runs") / f"{config.variant}{config.folder_suffix}")
    kind.check(config)
    folder.check(config)
    with stopping_in_order():
        if config.resume:
            with alone_in(folder.path):
                asked, config = config, folder.resumed_config(config)
                if own := [
                    f"{name} {kept} (not {wanted})"
                    for (name, kept), wanted in zip(asdict(config).items(), asdict(asked).values(), strict=True)
                    if wanted not in (kept, None)
                ]:
                    print(f"the run keeps the settings that it began with: {', '.join(own)}")
                kind.check(config)
                with closing(kind(config, folder)) as run:
                    digests = run.digests()
                    but_rewards = {name: one for name, one in digests.items() if not name.startswith("--reward")}
                    if folder.checkpoint.exists():  # without one, the run begins again
                        folder.check_met(but_rewards)
                    run.load()
                    if run.learned:
                        folder.check_met(digests)
                    if run.learned < run.total:  # a lower total that has been passed is not kept
                        folder.go_on(run.config, digests)
                    run.run()
            return folder
        check_folder(folder.path)
        with closing(kind(config, folder)) as run:
            run.try_agents()
            with alone_in(folder.path):
                versions = {"mahjong_env": __version__} | {name: version(name) for name in kind.packages}
                folder.begin(run.config, versions, run.digests())
                run.run()
    return folder


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write a checkpoint to a file.

    Raises:
        WriteError: the file cannot be written; the previous checkpoint is kept.
    """
    data = io.BytesIO()
    torch.save(dict(state), data)
    write_bytes(path, data.getvalue())


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Read a checkpoint, with its tensors on the CPU; return None if there is none.

    Raises:
        TrainingError: the file is damaged, or is not a checkpoint.
    """
    try:
        state: Any = torch.load(path, map_location="cpu", weights_only=True)
        return dict(state)
    except FileNotFoundError:
        return None
    except Exception as error:
        # The error is not quoted, as torch's message asks users to report to torch what is wrong with this file.
        size = path.stat().st_size if path.is_file() else 0
        raise TrainingError(
            f"{path}: damaged or of another version; no checkpoint can be read from its {size:,} bytes"
        ) from error
