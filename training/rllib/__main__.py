"""``python -m training.rllib``: RLlib's PPO learns a variant and is measured against random."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahjong_env.ruleset.knobs import gather, read_rules
from training.errors import TrainingError
from training.interrupts import status_of


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
    """The policy file that is written."""


def run(config: RllibConfig) -> Any:
    """Learn, write the policy, measure it; print what came of it.

    Returns:
        The policy's points against random agents, an `training.statistics.Estimate`.

    Raises:
        MahjongError: settings that cannot be used, or packages that are missing.
    """
    from training.cluster import LOCAL, connected
    from training.rllib.learning import ppo, write_policy
    from training.sigma import sigma

    rules = read_rules(config.variant, config.knobs)
    if config.minutes <= 0 or config.runners < 0 or config.tables < 1 or config.deals < 2:
        raise TrainingError("--minutes is above 0, --runners from 0, --tables from 1, --deals from 2")
    config.out.parent.mkdir(parents=True, exist_ok=True)
    spread = sigma(rules)
    with connected(LOCAL, workers=config.runners + 1):
        settings = ppo(
            config.variant,
            scale=1 / spread,
            knobs=config.knobs,
            runners=config.runners,
            tables=config.tables,
            seed=config.seed,
        )
        algorithm = settings.build_algo()
        write_policy(algorithm, config.variant, config.out, knobs=config.knobs)
        _measured(config, 0)
        begin, decisions = time.monotonic(), 0
        try:
            while (passed := time.monotonic() - begin) < config.minutes * 60:
                found = algorithm.train()
                decisions = int(found["env_runners"]["num_env_steps_sampled_lifetime"])
                print(f"{passed / 60:5.1f} min  {decisions:9,} decisions", flush=True)
            write_policy(algorithm, config.variant, config.out, knobs=config.knobs, decisions=decisions)
        finally:
            algorithm.stop()
    return _measured(config, decisions)


def _measured(config: RllibConfig, decisions: int) -> Any:
    from training.config import EvaluateConfig
    from training.evaluate import evaluate

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
        f"{config.out}: after {decisions:,} decisions {points.mean:+.3f} ± {points.half_width:.3f} points a hand "
        f"against random agents ({points.mean / found.sigma:+.3f} sigma), {config.deals} deals from every seat"
    )
    return points


def main(arguments: list[str] | None = None) -> int:
    """Run the command; see `training.__main__.main` for what is returned."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import tyro
    except ImportError:
        print("error: the command line needs tyro: pip install 'mahjong-env[evaluate]'", file=sys.stderr)
        return 2
    words = gather(sys.argv[1:] if arguments is None else arguments)
    return status_of(lambda: run(tyro.cli(RllibConfig, prog="python -m training.rllib", args=words)))


if __name__ == "__main__":
    sys.exit(main())
