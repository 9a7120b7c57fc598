"""What every way to learn does alike: a run in its folder, measured and saved on the way, and resumed where it stopped.

A subclass of `BaseRun` says how it learns, what a checkpoint holds, and which measurement is the best so far.
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
    """A run of learning.

    Attributes:
        config: the settings.
        folder: where everything is left.
        rules: what is played.
        judges: the agents that the learner is measured against.
        met: by their texts, all agents that it is measured against, learns from or has to beat.
        executor: where it is measured.
        match_hands: hands of a match; 1: single hands are measured.
        control_variates: whether the luck of the draws is taken off the points of measurements.
        critic_hands: of what is learned from, as much as only a critic learns from at the beginning.
        steps: decisions that were learned from.
        seconds: time that learning took, without measurements.
        is_due: what there is now has to be measured.
    """

    packages: ClassVar[Sequence[str]] = ("numpy", "torch")
    """Packages whose versions are written beside the settings."""
    unit: ClassVar[str]
    """What is counted up to the total, and the name of the attribute that counts it: "hands" or "steps"."""

    def __init__(self, config: Config, folder: RunFolder) -> None:
        """Find the rules and the agents of the measurements; nothing is written.

        Raises:
            MahjongError: unknown variant, knob or agent, or rules by which games do not end after hands.
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

    # --- Of each way to learn -----------------------------------------------------------------------------------
    @staticmethod
    @abstractmethod
    def check(config: Config) -> None:
        """Check settings before anything is made.

        Raises:
            TrainingError: they cannot be used.
        """

    @property
    @abstractmethod
    def total(self) -> int:
        """What is to be learned from in all, in `unit`."""

    @abstractmethod
    def update(self) -> None:
        """Play, and learn from it once."""

    @abstractmethod
    def player(self) -> Agent:
        """Return the agent that is measured: the learner as it is now."""

    @abstractmethod
    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Return whether a measurement, a result against each of the judges, is the best so far; and lines to print."""

    @abstractmethod
    def policy_file(self) -> PolicyFile:
        """Return the learner's policy as it is saved."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what a checkpoint holds beside the time that was taken and whether a measurement is due."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned; any error means that the checkpoint does not fit."""

    def close(self) -> None:
        """Let go of processes and files."""
        self.executor.close()

    # --- Of all of them -----------------------------------------------------------------------------------------
    @property
    def learned(self) -> int:
        """What was learned from, in `unit`."""
        return int(getattr(self, self.unit))

    def progress(self, learned: int) -> Fraction:
        """Return the share of what the policy learns from that is done after an amount of what is learned from."""
        return Fraction(max(0, learned - self.critic_hands), max(1, self.total - self.critic_hands))

    def digests(self) -> dict[str, list[str]]:
        """Return what the choices of the agents that are met come from, by their texts, and code of one's own."""
        texts = {name: getattr(self.config, name, None) for name in ("reward", "features", "network")}
        own = {
            f"--{name} {text}": named_digests(text, self.rules) for name, text in texts.items() if isinstance(text, str)
        }
        return {spec: agent_digests(spec, agent, self.rules) for spec, agent in self.met.items()} | own

    def sent(self, text: str | Made, made: Made) -> str | Made:
        """Return what is sent to where hands are played of something that a text names: the text or what it made."""
        return text if self.executor.shares_files else made

    def games(self, hands: int) -> int:
        """Return how many deals are played in place of a number of single hands."""
        return hands if self.match_hands == 1 else max(FEWEST, hands // self.match_hands)

    def run(self) -> None:
        """Learn up to the total.

        Raises:
            InterruptedRunError: Ctrl-C or SIGTERM; what was learned has been saved.
            WriteError: the disk is full; what was saved before is whole.
            WorkerError: a worker process ended; what was learned has been saved.
        """
        hint = resume_hint()
        try:
            with naming(self.folder.path), SummaryWriter(str(self.folder.tensorboard)) as self._board:
                self.learn()
        except KeyboardInterrupt as interrupt:
            message = f"{self.folder.path}: interrupted after {self.saved:,} {self.unit}; go on with {hint}"
            raise InterruptedRunError(message, exit_status(interrupt)) from None
        except WorkerError as error:
            raise WorkerError(f"{error}; stopped after {self.saved:,} {self.unit}; go on with {hint}") from error
        except WriteError as error:
            raise WriteError(f"{error}; what was saved before is whole: make room, and go on with {hint}") from error

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
                # Before it is measured, which takes as long again: what was learned is not lost if that is interrupted.
                self.save()
                self.measure_if_due(bar.write)
        rate = self.steps / max(self.seconds, 1e-9)
        print(
            f"learned from {self.learned:,} {self.unit} in {self.seconds:.0f} s ({rate:.0f} decisions/s); "
            f"{self.folder.best}, {self.folder.curve_plot}"
        )

    def _measurements_due(self, learned: int) -> int:
        """Return how many measurements on the way are due by then."""
        return int(self.progress(learned) * self.config.evaluations)

    def measure_if_due(self, say: Callable[[str], None] = print) -> None:
        """Measure, if that is due, and save that it was done; the first policy is kept as the initial one."""
        if not self.is_due:
            return
        self.measure("PPO" if self.learned else "start", say)
        if not self.learned:
            write_bytes(self.folder.initial, self.folder.last.read_bytes())
        self.is_due = False
        self.save()

    def measure(self, phase: str, say: Callable[[str], None] = print) -> None:
        """Measure the learner, add to the learning curve, and keep the policy: as the best if it is.

        Args:
            phase: what the curve calls this part of the run.
            say: prints a line.
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
                # The same deals every time: differences between measurements are less noisy than the measurements.
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
        judged = enumerate(zip(results, self.judges, strict=True), start=1)
        rows = [columns | curve_row(result, number, judge.name) for number, (result, judge) in judged]
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
        """Show a number in TensorBoard, over what was learned from."""
        self._board.add_scalar(name, number, self.learned)

    def save(self) -> None:
        """Write what ``--resume`` needs.

        Raises:
            WriteError: it cannot be written; the checkpoint before stays.
        """
        state = self.state() | {"seconds": self.seconds, "is_due": self.is_due}
        write_checkpoint(self.folder.checkpoint, state)
        self.saved = self.learned

    def load(self) -> None:
        """Go on from what `save` wrote; a run that was stopped before it begins again.

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
        except Exception as error:  # torch and dictionaries of anything have a dozen kinds
            raise TrainingError(f"{path}: damaged or of another version; it does not fit this run") from error
        # Of a measurement that is still due a part may be there.
        self.folder.truncate_after(self.steps - self.is_due)
        self.saved = self.learned


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
                    print(f"it goes on with settings that it began with: {', '.join(own)}")
                kind.check(config)
                with closing(kind(config, folder)) as run:
                    digests = run.digests()
                    folder.check_met({name: one for name, one in digests.items() if not name.startswith("--reward")})
                    run.load()
                    if run.learned:
                        folder.check_met(digests)
                    folder.go_on(run.config, digests)
                    run.run()
            return folder
        check_folder(folder.path)
        with closing(kind(config, folder)) as run, alone_in(folder.path):
            versions = {"mahjong_env": __version__} | {name: version(name) for name in kind.packages}
            folder.begin(run.config, versions, run.digests())
            run.run()
    return folder


def write_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write a checkpoint.

    Raises:
        WriteError: it cannot be written; the one before stays.
    """
    data = io.BytesIO()
    torch.save(dict(state), data)
    write_bytes(path, data.getvalue())


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return what a checkpoint holds, on the CPU; None if there is none.

    Raises:
        TrainingError: it is damaged, or no checkpoint.
    """
    try:
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
