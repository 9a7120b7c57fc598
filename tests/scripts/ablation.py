"""What each setting of `ppo` brings, over several seeds: `PYTHONPATH=tests python -m scripts.ablation hebei`.

Every way of learning is run with every seed and measured against copies of the better greedy, on the same deals, which
no run has seen. The table in Markdown has the mean over the seeds with an interval over deals, and its difference from
the defaults, on the same deals and seeds, with an interval over seeds (Student's t: of three it is wide). What has been
run is kept in --out: the same command goes on with it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from agents import make_agent
from agents.luck import worthwhile_weights
from agents.value import usual_policy
from mahjong_env import VARIANTS, Rules
from training.config import PpoConfig
from training.lineups import measure, one_against_copies
from training.ppo_run import run
from training.sigma import in_sigma
from training.statistics import Estimate, ratio

SEED = 5_710_001
WAYS: Mapping[str, dict[str, Any]] = {
    "as it is": {},
    "luck left in what is paid": {"control_variates": False},
    "lambda 0.95 instead of 0.8": {"gae_lambda": 0.95},
    "minibatches of 8192, rate 0.006": {"batch_size": 8192, "learning_rate": 0.006},
    "the last weights, no average": {"average": 0.0},
    "average 0.8": {"average": 0.8},
    "rate 0.03": {"learning_rate": 0.03},
    "minibatches of 16384, rate 0.015": {"batch_size": 16384, "learning_rate": 0.015},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hands", type=int, default=40_960, help="that each run learns from")
    parser.add_argument("--deals", type=int, default=1500, help="of each measurement, from every seat")
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--out", type=Path, default=Path("runs/ablation"))
    arguments = parser.parse_args()
    rules = VARIANTS[arguments.variant]
    # Seed by seed, so that an ablation that is interrupted has something to say of every way.
    found: dict[str, list[np.ndarray]] = {way: [] for way in arguments.ways}
    for seed in range(arguments.seeds):
        for way in arguments.ways:
            found[way].append(by_deal(rules, way, seed, arguments))
            print(f"{way}, seed {seed}: {cell(rules, mean(found[way][-1]))}", file=sys.stderr, flush=True)
    heads = (f"{rules.title}, {arguments.hands:,} hands", "sigma a hand", "each seed", "more than as it is")
    print(f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", sep="\n")
    for way, played in found.items():
        more = [(one - other).mean() for one, other in zip(played, found.get("as it is", []), strict=False)]
        compared = cell(rules, mean(np.array(more))) if more and way != "as it is" else ""
        each = ", ".join(f"{in_sigma(rules, mean(one)).mean:+.3f}" for one in played)
        print(f"| {way} | {cell(rules, mean(np.mean(played, axis=0)))} | {each} | {compared} |")


def by_deal(rules: Rules, way: str, seed: int, arguments: argparse.Namespace) -> np.ndarray:
    """Return [deals] points a hand of what is learned in one way with one seed; read, if it is kept."""
    folder = arguments.out / f"{rules.name}-{list(WAYS).index(way)}-{seed}"
    kept, depends_on = folder / "ablation.json", [WAYS[way], arguments.hands, arguments.deals]
    if kept.is_file():
        told = json.loads(kept.read_text(encoding="utf-8"))
        if told["depends_on"] == depends_on:
            return np.array(told["points"])
    usual = {"evaluations": 1, "evaluation_deals": 2, "gate_deals": 2} | WAYS[way]
    begun = (folder / "config.json").is_file()
    config = PpoConfig(variant=rules.name, out=folder, seed=seed, hands=arguments.hands, resume=begun, **usual)
    with redirect_stdout(sys.stderr):
        learned = run(config)
    agents = [make_agent(f"policy:{learned.last}"), usual_policy(rules)]
    lineup, luck_off = one_against_copies(0, 1, rules.people), worthwhile_weights(rules) is not None
    result = measure(rules, agents, lineup, deals=arguments.deals, seed=SEED, control_variates=luck_off)
    points = result.points_by_deal(0) * result.deals / result.hands
    kept.write_text(json.dumps({"depends_on": depends_on, "points": points.tolist()}), encoding="utf-8")
    return points


def mean(points: np.ndarray) -> Estimate:
    """Return the mean of points that are independent of each other."""
    return ratio(points, np.ones(len(points)))


def cell(rules: Rules, points: Estimate) -> str:
    found = in_sigma(rules, points)
    return f"{found.mean:+.3f} ± {found.half_width:.3f}"


if __name__ == "__main__":
    main()
