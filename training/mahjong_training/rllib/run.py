"""``mahjong-env train-rllib``: RLlib's PPO learns a variant and is measured against random."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any, Final

from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import EvaluateConfig, TrainRllibConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.matches import sigma
from mahjong_training.runtime.cache import key_of
from mahjong_training.runtime.console import saying_what_is_kept
from mahjong_training.runtime.folders import make_folder, write_text
from mahjong_training.runtime.ray_cluster import check_address, connected
from mahjong_training.seeds import training_seed

_STATE: Final = "run.json"
"""The file of a checkpoint that is written last: a folder without it is no whole checkpoint."""


def run(config: TrainRllibConfig) -> Estimate:
    """Learn, write the policy, measure it; return its points against random agents.

    Raises:
        MahjongError: settings that cannot be used, or packages that are missing.
        InterruptedRunError: Ctrl-C or SIGTERM; the same command goes on with the latest checkpoint.
    """
    rules = read_rules(config.variant, config.knobs)
    if config.minutes <= 0 or config.runners < 0 or config.tables < 1 or config.deals < 2:
        raise TrainingError("--minutes is above 0, --runners from 0, --tables from 1, --deals from 2")
    check_address(config.ray)
    make_folder(config.out.parent)
    settings = [config.variant, config.knobs, config.runners, config.tables, config.seed]
    folder = config.out.with_name(f".{config.out.stem}-{key_of(settings)}")  # other settings begin anew
    kept = "the same command goes on with the latest checkpoint"
    with saying_what_is_kept(lambda: kept), connected(config.ray, workers=config.runners + 1):
        decisions = _learn(config, folder, 1 / sigma(rules))
    points = _measure(config, decisions)
    shutil.rmtree(folder, ignore_errors=True)
    return points


def _learn(config: TrainRllibConfig, folder: Path, scale: float) -> int:
    """Learn until the time is up, and write the policy; return the decisions it has learned from."""
    from mahjong_training.rllib.learning import decisions_of, ppo, write_policy  # which imports RLlib, for many seconds

    checkpoint, seconds, decisions = latest_checkpoint(folder)
    seed = training_seed(config.seed, decisions) % 2**31  # a resumed run is dealt other hands
    how = ppo(config.variant, scale=scale, knobs=config.knobs, runners=config.runners, tables=config.tables, seed=seed)
    algorithm = how.build_algo()
    try:
        if decisions:
            algorithm.restore_from_path(str(checkpoint.absolute()))
            print(f"going on after {seconds / 60:.1f} minutes and {decisions:,} decisions", flush=True)
        else:
            write_policy(algorithm, config.variant, config.out, knobs=config.knobs)
            _measure(config, 0)
        while seconds < config.minutes * 60:
            start = time.monotonic()
            made = decisions_of(algorithm.train())
            seconds += time.monotonic() - start
            if not made:
                time.sleep(1)  # every runner has died, and is being started again
                continue
            decisions += made
            write_checkpoint(algorithm, folder, seconds, decisions)
            print(f"{seconds / 60:5.1f} min  {decisions:9,} decisions", flush=True)
        write_policy(algorithm, config.variant, config.out, knobs=config.knobs, decisions=decisions)
    finally:
        algorithm.stop()
    return decisions


def _measure(config: TrainRllibConfig, decisions: int) -> Estimate:
    played = EvaluateConfig(variant=config.variant, knobs=config.knobs, deals=config.deals, teachers=False)
    found = evaluate(played, agents=[f"policy:{config.out}", "random"])
    points = found.against(0, 1).of(0).points
    print(
        f"{config.out}: after {decisions:,} decisions {points.text(3, sign='+')} points a hand "
        f"against random agents ({points.mean / found.sigma:+.3f} sigma), {config.deals} deals from every seat"
    )
    return points


def latest_checkpoint(folder: Path) -> tuple[Path, float, int]:
    """Return the latest whole checkpoint in a folder, its seconds of learning and its decisions (0: there is none)."""
    whole = sorted(folder.glob(f"*/{_STATE}"))
    if not whole:
        return folder, 0.0, 0
    state = json.loads(whole[-1].read_text(encoding="utf-8"))
    return whole[-1].parent, state["seconds"], state["decisions"]


def write_checkpoint(algorithm: Any, folder: Path, seconds: float, decisions: int) -> None:
    """Write a checkpoint of RLlib's algorithm, and then delete those before it."""
    before = list(folder.glob("*"))
    new = folder / f"{decisions:012d}"
    make_folder(folder)
    algorithm.save_to_path(str(new.absolute()))
    write_text(new / _STATE, json.dumps({"seconds": seconds, "decisions": decisions}) + "\n")
    for old in before:
        shutil.rmtree(old, ignore_errors=True)
