"""The commands of this package, which `mahjong_env.cli` finds in the entry-point group `mahjong_env.commands`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from mahjong_env import MissingExtraError
from mahjong_env.ruleset.knobs import gather
from mahjong_training import config
from mahjong_training.runtime.console import status_of


@dataclass(frozen=True)
class Command:
    """A command line made from a class of settings, whose fields are the options and whose docstrings are the help."""

    settings: type
    module: str
    """The module with the function that takes the settings, imported late: each needs optional packages of its own."""
    function: str = "run"
    extras: str = "evaluate"
    """The extras that have these packages."""
    parts: Mapping[str, Command] = field(default_factory=dict)
    """Subcommands by name: the word that follows this command's name."""

    @property
    def summary(self) -> str:
        """The line about it in the list of commands."""
        return (self.settings.__doc__ or "").partition("\n")[0]

    def __call__(self, arguments: Sequence[str], prog: str) -> int:
        """Run the command with the words after its name; return its exit status, see `status_of`."""
        if arguments and arguments[0] in self.parts:
            return self.parts[arguments[0]](arguments[1:], f"{prog} {arguments[0]}")
        # This must come before numpy and torch start threads of their own. Where cores are shared, these only wait for
        # each other, by default in a loop that takes the core from the process that they wait for.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        return status_of(lambda: self._run(arguments, prog))

    def _run(self, arguments: Sequence[str], prog: str) -> Any:
        try:
            import tyro

            settings: Any = tyro.cli(self.settings, prog=prog, args=gather(arguments))
            module = import_module(self.module)
        except ModuleNotFoundError as error:
            if isinstance(error, MissingExtraError) or str(error.name).startswith("mahjong_"):
                raise
            raise MissingExtraError(f"{prog} needs {error.name}: pip install 'mahjong-env[{self.extras}]'") from error
        return getattr(module, self.function)(settings)


train: Final = Command(config.TrainConfig, "mahjong_training.learning.run", extras="train,evaluate")
train_sb3: Final = Command(config.TrainSb3Config, "mahjong_training.sb3.run", extras="train,evaluate")
best_response: Final = Command(
    config.BestResponseConfig, "mahjong_training.learning.best_response", extras="train,evaluate"
)
psro: Final = Command(config.PsroConfig, "mahjong_training.learning.psro", extras="train,evaluate")
evaluate: Final = Command(config.EvaluateConfig, "mahjong_training.evaluation.command")
submit: Final = Command(config.SubmitConfig, "mahjong_training.evaluation.entries", "submit")
check_entry: Final = Command(config.CheckEntryConfig, "mahjong_training.evaluation.entries", "check")
write_page: Final = Command(config.PageConfig, "mahjong_training.evaluation.entries", "write_page")
leaderboard: Final = Command(
    config.LeaderboardConfig,
    "mahjong_training.evaluation.leaderboard",
    parts={"submit": submit, "check": check_entry, "page": write_page},
)
ceilings: Final = Command(config.CeilingsConfig, "mahjong_training.evaluation.ceilings")
record: Final = Command(config.RecordConfig, "mahjong_training.datasets.recording")
export: Final = Command(config.ExportConfig, "mahjong_training.export")
review: Final = Command(config.ReviewConfig, "mahjong_training.analysis.review")
rule_values: Final = Command(config.RuleValuesConfig, "mahjong_training.analysis.rule_report")
fit_control_variates: Final = Command(config.ControlVariatesConfig, "mahjong_training.fit_control_variates")
