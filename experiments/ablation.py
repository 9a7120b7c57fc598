"""Measure what each setting of `train` or `train-sb3` contributes: `python -m experiments.ablation hebei`.

Every way of learning is run with every seed and measured against copies of the reference agent. All use the same deals,
which no run has seen. The command prints a table in Markdown: the mean over the seeds with an interval over deals, and
its difference from the defaults on the same deals and seeds with an interval over seeds (Student's t, which is wide for
three seeds). Results are kept in --out; after an interruption, run the same command again to continue.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_env import VARIANTS, Rules
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.evaluation.estimates import Estimate, mean
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import in_sigma, measure
from mahjong_training.learning import run as train
from mahjong_training.runtime.cache import key_of
from mahjong_training.runtime.folders import write_text
from mahjong_training.sb3 import run as train_sb3

SEED = 5_710_001
AS_IT_IS = "as it is"
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "ppo": {
        AS_IT_IS: {},
        "luck left in what is paid": {"control_variates": False},
        "lambda 0.95 instead of 0.8": {"gae_lambda": 0.95},
        "minibatches of 8192, rate 0.006": {"batch_size": 8192, "learning_rate": 0.006},
        "the last weights, no average": {"ema_decay": 0.0},
        "average 0.8": {"ema_decay": 0.8},
        "rate 0.03": {"learning_rate": 0.03},
        "minibatches of 16384, rate 0.015": {"batch_size": 16384, "learning_rate": 0.015},
    },
    "sb3": {
        AS_IT_IS: {},
        "the warm start alone": {"total_steps": 8192, "learning_rate": 0.0},
        "no entropy bonus": {"ent_coef": 0.0},
    },
}
"""The ways that are compared: settings of `TrainConfig` for ppo, of `TrainSb3Config` (MaskablePPO) for sb3."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("--method", choices=list(WAYS), default="ppo")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hands", type=int, default=40_960, help="that each run of ppo learns from")
    parser.add_argument("--steps", type=int, default=307_200, help="decisions that each run of sb3 learns from")
    parser.add_argument("--deals", type=int, default=1500, help="of each measurement, from every seat")
    parser.add_argument("--ways", nargs="*", choices=[way for ways in WAYS.values() for way in ways])
    parser.add_argument("--out", type=Path, default=Path("runs/ablation"))
    chosen = parser.parse_args()
    rules = VARIANTS[chosen.variant]
    # Run seed by seed, so that an interrupted ablation has results for every way.
    found: dict[str, list[np.ndarray]] = {way: [] for way in chosen.ways or WAYS[chosen.method]}
    for seed in range(chosen.seeds):
        for way, played in found.items():
            played.append(by_deal(rules, way, seed, chosen))
            print(f"{way}, seed {seed}: {cell(rules, mean(played[-1]))}", file=sys.stderr, flush=True)
    size = f"{chosen.hands:,} hands" if chosen.method == "ppo" else f"{chosen.steps:,} decisions"
    heads = (f"{rules.title}, {size}", "sigma a hand", "each seed", f"more than {AS_IT_IS}")
    print(f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", sep="\n")
    for way, played in found.items():
        more = [(one - other).mean() for one, other in zip(played, found.get(AS_IT_IS, []), strict=False)]
        compared = cell(rules, of_seeds(np.array(more))) if more and way != AS_IT_IS else ""
        each = ", ".join(f"{in_sigma(rules, mean(one)).mean:+.3f}" for one in played)
        print(f"| {way} | {cell(rules, mean(np.mean(played, axis=0)))} | {each} | {compared} |")


def by_deal(rules: Rules, way: str, seed: int, chosen: argparse.Namespace) -> np.ndarray:
    """Return [deals] points per hand of one way with one seed, trained and measured or read if they are kept."""
    usual: dict[str, Any] = {"variant": rules.name, "seed": seed, "evaluation_deals": 2} | WAYS[chosen.method][way]
    config: TrainConfig | TrainSb3Config
    if chosen.method == "ppo":
        config = TrainConfig(hands=chosen.hands, evaluations=1, gate_deals=2, **usual)
    else:
        config = TrainSb3Config(**{"total_steps": chosen.steps, "evaluations": 3} | usual)
    # The key has all settings and the code, so that results of other defaults or other code are not mistaken for these.
    number, key = list(WAYS[chosen.method]).index(way), key_of([repr(config), chosen.deals])
    folder = chosen.out / f"{rules.name}-{chosen.method}-{number}-{seed}-{key}"
    kept = folder / "ablation.json"
    if kept.is_file():
        return np.array(json.loads(kept.read_text(encoding="utf-8")))
    config = replace(config, out=folder, resume=(folder / "config.json").is_file())
    with redirect_stdout(sys.stderr):
        learned = train.run(config) if isinstance(config, TrainConfig) else train_sb3.run(config)
    agents = [make_agent(f"policy:{learned.last}"), reference_agent(rules)]
    lineup, luck_off = one_against_copies(0, 1, rules.people), useful_weights(rules) is not None
    result = measure(rules, agents, lineup, deals=chosen.deals, seed=SEED, control_variates=luck_off)
    points = result.points_by_deal(0) * result.deals / result.hands
    write_text(kept, json.dumps(points.tolist()))
    return points


def of_seeds(points: np.ndarray) -> Estimate:
    """Return the mean over a few seeds with an interval by Student's t; each is a mean of many deals, nearly normal."""
    middle, seeds = float(points.mean()), len(points)
    half = float(stats.t.ppf(0.975, seeds - 1) * points.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else np.inf
    return Estimate(middle, middle - half, middle + half)


def cell(rules: Rules, points: Estimate) -> str:
    return in_sigma(rules, points).text(3, sign="+")


if __name__ == "__main__":
    main()
