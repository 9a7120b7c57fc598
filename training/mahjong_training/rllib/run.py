"""``mahjong-env train-rllib``: RLlib's PPO learns a variant and is measured against random."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import EvaluateConfig, TrainRllibConfig
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.matches import sigma
from mahjong_training.runtime.console import exit_status, stopping_in_order
from mahjong_training.runtime.folders import make_folder, write_text
from mahjong_training.runtime.ray_cluster import check_address, connected
from mahjong_training.seeds import training_seed

_STATE: Final = "run.json"
"""The file of a checkpoint that is written last: a folder without it is no whole checkpoint."""


def run(config: TrainRllibConfig) -> Any:
    """Learn, write the policy, measure it, and print what came of it.

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
    folder = config.out.with_suffix(".checkpoints")
    settings = {name: str(getattr(config, name)) for name in ("variant", "knobs", "runners", "tables", "seed")}
    latest = latest_checkpoint(folder, settings)
    try:
        with stopping_in_order(), connected(config.ray, workers=config.runners + 1):
            decisions = _learn(config, folder, settings, latest, 1 / sigma(rules))
    except KeyboardInterrupt as interrupt:
        raise InterruptedRunError(
            f"interrupted; the same command goes on with the latest checkpoint in {folder}", exit_status(interrupt)
        ) from None
    points = _measure(config, decisions)
    shutil.rmtree(folder, ignore_errors=True)
    return points


def _learn(
    config: TrainRllibConfig, folder: Path, settings: Mapping[str, str], latest: Checkpoint | None, scale: float
) -> int:
    """Learn until the time is up, and write the policy; return the decisions it has learned from."""
    from mahjong_training.rllib.learning import decisions_of, ppo, write_policy  # which imports RLlib, for many seconds

    seconds, decisions = (latest.seconds, latest.decisions) if latest else (0.0, 0)
    algorithm = ppo(
        config.variant,
        scale=scale,
        knobs=config.knobs,
        runners=config.runners,
        tables=config.tables,
        seed=training_seed(config.seed, decisions) % 2**31,  # a resumed run is dealt other hands
    ).build_algo()
    try:
        if latest:
            algorithm.restore_from_path(str(latest.path.absolute()))
            print(f"going on after {seconds / 60:.1f} minutes and {decisions:,} decisions", flush=True)
        else:
            write_policy(algorithm, config.variant, config.out, knobs=config.knobs)
            _measure(config, 0)
        while seconds < config.minutes * 60:
            start = time.monotonic()
            found = algorithm.train()
            seconds += time.monotonic() - start
            if not (made := decisions_of(found)):
                time.sleep(1)  # every runner has died, and is being started again
                continue
            decisions += made
            write_checkpoint(algorithm, folder, settings, seconds, decisions)
            print(f"{seconds / 60:5.1f} min  {decisions:9,} decisions", flush=True)
        write_policy(algorithm, config.variant, config.out, knobs=config.knobs, decisions=decisions)
    finally:
        algorithm.stop()
    return decisions


def _measure(config: TrainRllibConfig, decisions: int) -> Any:
    names = (f"policy:{config.out}", "random")
    found = evaluate(
        EvaluateConfig(variant=config.variant, knobs=config.knobs, agents=names, deals=config.deals, teachers=False)
    )
    points = found.against(0, 1).of(0).points
    print(
        f"{config.out}: after {decisions:,} decisions {points.text(3, sign='+')} points a hand "
        f"against random agents ({points.mean / found.sigma:+.3f} sigma), {config.deals} deals from every seat"
    )
    return points


# --- Checkpoints -------------------------------------------------------------------------------------------------


class Checkpoint(NamedTuple):
    """A checkpoint: the folder that RLlib has written, the seconds of learning, and the decisions learned from."""

    path: Path
    seconds: float
    decisions: int


def latest_checkpoint(folder: Path, settings: Mapping[str, str]) -> Checkpoint | None:
    """Return the latest whole checkpoint of a run; None if there is none.

    Args:
        folder: of all checkpoints of the run.
        settings: those that a resumed run must have in common with the one that began.

    Raises:
        TrainingError: it is of other settings, which are named.
    """
    whole = sorted(folder.glob(f"*/{_STATE}"))
    if not whole:
        return None
    state = json.loads(whole[-1].read_text(encoding="utf-8"))
    for name, value in settings.items():
        if state["settings"].get(name) != value:
            raise TrainingError(
                f"{folder} has checkpoints of a run with --{name} {state['settings'].get(name)}, not {value}: "
                "choose another --out, or delete that folder"
            )
    return Checkpoint(whole[-1].parent, state["seconds"], state["decisions"])


def write_checkpoint(algorithm: Any, folder: Path, settings: Mapping[str, str], seconds: float, decisions: int) -> None:
    """Write a checkpoint, and then delete those before it; the arguments are those of `latest_checkpoint`, and more.

    Args:
        algorithm: RLlib's.
        folder: of all checkpoints of the run.
        settings: see `latest_checkpoint`.
        seconds: how long it has learned.
        decisions: how many decisions it has learned from.
    """
    before = list(folder.glob("*"))
    new = folder / f"{decisions:012d}"
    make_folder(folder)
    algorithm.save_to_path(str(new.absolute()))
    state = {"settings": dict(settings), "seconds": seconds, "decisions": decisions}
    write_text(new / _STATE, json.dumps(state) + "\n")
    for old in before:
        shutil.rmtree(old, ignore_errors=True)
