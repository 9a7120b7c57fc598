"""``python -m mahjong_training.rllib``: RLlib's PPO learns a variant and is measured against random."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mahjong_env.cli.terminal import as_long_as_read, prepare_output
from mahjong_env.ruleset.knobs import gather, read_rules
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation.matches import sigma
from mahjong_training.rllib.checkpoints import Checkpoint, Checkpoints
from mahjong_training.runtime.folders import make_folder
from mahjong_training.runtime.interrupts import exit_status, status_of, stopping_in_order
from mahjong_training.runtime.ray_cluster import check_address, connected
from mahjong_training.seeds import training_seed


@dataclass(frozen=True, kw_only=True)
class RllibConfig:
    """Let RLlib's PPO learn a variant by self-play, and measure it against random agents."""

    variant: str
    """The variant to learn."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE; `python -m mahjong_env rules --variant VARIANT` lists them."""
    minutes: float = 10.0
    """How long it learns."""
    runners: int = 1
    """Processes that play, beside the learner's; 0: the learner's own."""
    tables: int = 64
    """Tables of each of them."""
    seed: int = 0
    """Of the deals, the weights and all choices."""
    deals: int = 1000
    """Deals of the measurement afterwards, each played from every seat."""
    out: Path = Path("runs/rllib.zip")
    """The policy file that is written. Checkpoints lie beside it while it learns: the same command goes on with the
    latest."""
    ray: str = "local"
    """The Ray cluster: local (one on this machine, for the purpose), auto (the one that this node belongs to) or
    HOST:PORT."""


def run(config: RllibConfig) -> Any:
    """Learn, write the policy, measure it; print what came of it.

    Returns:
        The policy's points against random agents, an `mahjong_training.evaluation.estimates.Estimate`.

    Raises:
        MahjongError: settings that cannot be used, or packages that are missing.
    """
    rules = read_rules(config.variant, config.knobs)
    if config.minutes <= 0 or config.runners < 0 or config.tables < 1 or config.deals < 2:
        raise TrainingError("--minutes is above 0, --runners from 0, --tables from 1, --deals from 2")
    check_address(config.ray)
    make_folder(config.out.parent)
    told = {name: str(getattr(config, name)) for name in ("variant", "knobs", "runners", "tables", "seed")}
    checkpoints = Checkpoints(config.out.with_suffix(".checkpoints"), told)
    begun = checkpoints.latest()
    try:
        with stopping_in_order(), connected(config.ray, workers=config.runners + 1):
            decisions = _learn(config, checkpoints, begun, 1 / sigma(rules))
    except KeyboardInterrupt as interrupt:
        raise InterruptedRunError(
            f"interrupted; the same command goes on with the latest checkpoint in {checkpoints.folder}",
            exit_status(interrupt),
        ) from None
    found = _measured(config, decisions)
    checkpoints.remove()
    return found


def _learn(config: RllibConfig, checkpoints: Checkpoints, begun: Checkpoint | None, scale: float) -> int:
    """Learn until the time is up, and write the policy; return the decisions it has learned from."""
    from mahjong_training.rllib.learning import decisions_of, ppo, write_policy  # which imports RLlib, for many seconds

    seconds, decisions = (begun.seconds, begun.decisions) if begun else (0.0, 0)
    algorithm = ppo(
        config.variant,
        scale=scale,
        knobs=config.knobs,
        runners=config.runners,
        tables=config.tables,
        seed=training_seed(config.seed, decisions) % 2**31,  # a run that is gone on with is dealt other hands
    ).build_algo()
    try:
        if begun:
            algorithm.restore_from_path(str(begun.path.absolute()))
            print(f"going on after {seconds / 60:.1f} minutes and {decisions:,} decisions", flush=True)
        else:
            write_policy(algorithm, config.variant, config.out, knobs=config.knobs)
            _measured(config, 0)
        while seconds < config.minutes * 60:
            start = time.monotonic()
            found = algorithm.train()
            seconds += time.monotonic() - start
            if not (made := decisions_of(found)):
                time.sleep(1)  # every runner has died, and is being started again
                continue
            decisions += made
            checkpoints.write(algorithm, seconds, decisions)
            print(f"{seconds / 60:5.1f} min  {decisions:9,} decisions", flush=True)
        write_policy(algorithm, config.variant, config.out, knobs=config.knobs, decisions=decisions)
    finally:
        algorithm.stop()
    return decisions


def _measured(config: RllibConfig, decisions: int) -> Any:
    from mahjong_training.config import EvaluateConfig
    from mahjong_training.evaluation.command import evaluate

    found = evaluate(
        EvaluateConfig(
            variant=config.variant,
            knobs=config.knobs,
            agents=(f"policy:{config.out}", "random"),
            deals=config.deals,
            teachers=False,
        )
    )
    points = found.against(0, 1).of(0).points
    print(
        f"{config.out}: after {decisions:,} decisions {points.text(3, sign='+')} points a hand "
        f"against random agents ({points.mean / found.sigma:+.3f} sigma), {config.deals} deals from every seat"
    )
    return points


def main(arguments: list[str] | None = None) -> int:
    """Run the command; see `mahjong_training.__main__.main` for what is returned."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import tyro
    except ImportError:
        print("error: the command line needs tyro: pip install 'mahjong-env[evaluate]'", file=sys.stderr)
        return 2
    words = gather(sys.argv[1:] if arguments is None else arguments)
    prepare_output()
    cli = partial(tyro.cli, RllibConfig, prog="python -m mahjong_training.rllib", args=words)
    return as_long_as_read(lambda: status_of(lambda: run(cli())))


if __name__ == "__main__":
    sys.exit(main())
