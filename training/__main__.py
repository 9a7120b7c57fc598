"""The command line: ``python -m training COMMAND``; ``--help`` lists the commands and all settings."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any, Final, Union

from mahjong_env import MissingExtraError, __version__
from mahjong_env.cli.terminal import as_long_as_read, prepare_output
from mahjong_env.ruleset.knobs import gather
from training.config import (
    BenchConfig,
    BenchmarkConfig,
    EvaluateConfig,
    LuckConfig,
    PlanConfig,
    PpoConfig,
    RecordConfig,
    TrainConfig,
)
from training.interrupts import status_of
from training.laboratories import BranchConfig, RulesConfig

# Every command: its settings, and the module that runs it, imported late as each asks for its own optional packages.
COMMANDS: Final[dict[str, tuple[type, str]]] = {
    "branch": (BranchConfig, "training.branch.command"),
    "rules": (RulesConfig, "training.rule_values.command"),
    "train": (TrainConfig, "training.train"),
    "ppo": (PpoConfig, "training.ppo_run"),
    "evaluate": (EvaluateConfig, "training.evaluate"),
    "record": (RecordConfig, "training.record"),
    "plan": (PlanConfig, "training.plan"),
    "bench": (BenchConfig, "training.bench"),
    "benchmark": (BenchmarkConfig, "training.benchmark"),
    "luck": (LuckConfig, "training.luck_fit"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: what stands behind ``python -m training``; None: the process's own.

    Returns:
        0; 2 after an error, which has been printed in one line; 130 after Ctrl-C, 143 after SIGTERM.
    """
    # Before numpy and torch start threads of their own: where cores are shared these only wait for each other, and by
    # default they wait in a loop that takes the core from whoever they wait for.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    prepare_output()
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(f"mahjong_env {__version__}")
        return 0
    return as_long_as_read(lambda: status_of(lambda: _run(_parse(arguments))))


def _parse(arguments: list[str] | None) -> Any:
    try:
        import tyro
    except ImportError as error:
        raise MissingExtraError("the command line needs tyro: pip install 'mahjong-env[train,evaluate]'") from error
    commands = (
        Annotated[settings, tyro.conf.subcommand(name, prefix_name=False)] for name, (settings, _) in COMMANDS.items()
    )
    one_of_them: Any = Union[tuple(commands)]  # noqa: UP007 of a number that only the table knows
    return tyro.cli(
        one_of_them,
        prog="python -m training",
        description="Train agents for mahjong_env, measure agents against each other, and how fast training is.",
        args=gather(sys.argv[1:] if arguments is None else arguments),
    )


def _run(config: Any) -> None:
    module = next(module for settings, module in COMMANDS.values() if isinstance(config, settings))
    import_module(module).run(config)


if __name__ == "__main__":
    sys.exit(main())
