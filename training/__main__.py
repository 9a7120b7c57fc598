"""The command line: ``python -m training COMMAND``; ``--help`` lists the commands and all settings."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from mahjong_env import MahjongError, MissingExtraError
from mahjong_env.cli.terminal import prepare_output
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
from training.errors import InterruptedRunError
from training.interrupts import CTRL_C
from training.laboratories import BranchConfig, RulesConfig

Config = (
    TrainConfig
    | PpoConfig
    | EvaluateConfig
    | RecordConfig
    | PlanConfig
    | BenchConfig
    | BenchmarkConfig
    | LuckConfig
    | BranchConfig
    | RulesConfig
)


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
    try:
        _run(_parse(arguments))
    except InterruptedRunError as interrupt:
        print(interrupt, file=sys.stderr)
        return interrupt.status
    except MahjongError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return CTRL_C
    return 0


def _parse(arguments: list[str] | None) -> Config:
    try:
        import tyro
    except ImportError as error:
        raise MissingExtraError("the command line needs tyro: pip install 'mahjong-env[train,evaluate]'") from error
    train = Annotated[TrainConfig, tyro.conf.subcommand("train", prefix_name=False)]
    ppo = Annotated[PpoConfig, tyro.conf.subcommand("ppo", prefix_name=False)]
    evaluate = Annotated[EvaluateConfig, tyro.conf.subcommand("evaluate", prefix_name=False)]
    record = Annotated[RecordConfig, tyro.conf.subcommand("record", prefix_name=False)]
    plan = Annotated[PlanConfig, tyro.conf.subcommand("plan", prefix_name=False)]
    bench = Annotated[BenchConfig, tyro.conf.subcommand("bench", prefix_name=False)]
    benchmark = Annotated[BenchmarkConfig, tyro.conf.subcommand("benchmark", prefix_name=False)]
    luck = Annotated[LuckConfig, tyro.conf.subcommand("luck", prefix_name=False)]
    branch = Annotated[BranchConfig, tyro.conf.subcommand("branch", prefix_name=False)]
    rules = Annotated[RulesConfig, tyro.conf.subcommand("rules", prefix_name=False)]
    config: Config = tyro.cli(
        branch | rules | train | ppo | evaluate | record | plan | bench | benchmark | luck,
        prog="python -m training",
        description="Train agents for mahjong_env, measure agents against each other, and how fast training is.",
        args=gather(sys.argv[1:] if arguments is None else arguments),
    )
    return config


def _run(config: Config) -> None:
    # Imported late: each command asks for its own optional packages.
    if isinstance(config, TrainConfig):
        from training import train

        train.run(config)
    elif isinstance(config, PpoConfig):
        from training import ppo_run

        ppo_run.run(config)
    elif isinstance(config, BenchConfig):
        from training import bench

        bench.run(config)
    elif isinstance(config, BenchmarkConfig):
        from training import benchmark

        benchmark.run(config)
    elif isinstance(config, LuckConfig):
        from training import luck_fit

        luck_fit.run(config)
    elif isinstance(config, RecordConfig):
        from training import record

        record.run(config)
    elif isinstance(config, BranchConfig):
        from training.branch import command as branch_command

        branch_command.run(config)
    elif isinstance(config, RulesConfig):
        from training.rule_values import command as rules_command

        rules_command.run(config)
    elif isinstance(config, PlanConfig):
        from training import plan

        plan.run(config)
    else:
        from training import evaluate

        evaluate.run(config)


if __name__ == "__main__":
    sys.exit(main())
