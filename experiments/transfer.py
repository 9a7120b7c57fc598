"""Measure what the shipped policies bring elsewhere: `PYTHONPATH=tests python -m experiments.transfer --deals 500`.

Three tables in Markdown, against copies of the reference agent of what is played: every policy in every variant; every
policy in its own variant under random house rules; and every policy in every variant after it has learned there for a
while (`--hands`), beside greedy that learned for as long. Nothing is chosen on these deals, and no blind ones are used.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from mahjong_agents import make_agent
from mahjong_env import VARIANTS, Rules, rules
from mahjong_training.config import TrainConfig
from mahjong_training.evaluation.estimates import FEWEST, Estimate, ratio
from mahjong_training.learning.run import run
from proof.batches import random_knobs
from tools.fit import strength

SEED = 2_345_678
PARTS = ("carried", "house", "learned")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="which of the three tables")
    parser.add_argument("--deals", type=int, default=500, help="deals of each measurement, from every seat")
    parser.add_argument("--tables", type=int, default=FEWEST, help="house rules of each variant")
    parser.add_argument("--hands", type=int, default=20_480, help="hands that are learned from")
    parser.add_argument("--into", nargs="*", default=sorted(VARIANTS), help="variants in which is learned")
    arguments = parser.parse_args()
    names = sorted(VARIANTS)
    if "carried" in arguments.parts:
        head(["policy of", *(f"in {VARIANTS[name].title}" for name in names)])
        for policy in names:
            line(policy, [cell(gain(VARIANTS[name], of(policy), arguments.deals)) for name in names])
    if "house" in arguments.parts:
        head(["policy of", "under random house rules of its variant", "house rules under which it is clearly worse"])
        for policy in names:
            line(policy, house_rules(policy, arguments.tables, arguments.deals))
    if "learned" in arguments.parts:
        head(["learned on from", *(f"in {VARIANTS[name].title}" for name in arguments.into)])
        for policy in ["greedy", *names]:
            line(policy, [learned(policy, name, arguments) for name in arguments.into])


def gain(played: Rules, spec: str, deals: int) -> Estimate:
    """Return sigma a hand of an agent against copies of the reference agent."""
    return strength(played, make_agent(spec), deals=deals, seed=SEED)


def house_rules(policy: str, tables: int, deals: int) -> list[str]:
    """Return the mean over random house rules, each as likely as every other, and how many of them it loses under."""
    rng = np.random.default_rng(SEED)
    found = [
        gain(rules(policy, **random_knobs(policy, rng)), of(policy), max(FEWEST, deals // 5)) for _ in range(tables)
    ]
    mean = ratio(np.array([one.mean for one in found]), np.ones(tables), 0.95)
    return [cell(mean), f"{sum(one.high < 0 for one in found)} of {tables}"]


def learned(policy: str, variant: str, arguments: argparse.Namespace) -> str:
    """Return what a policy brings in a variant after it has learned there."""
    teacher = None if policy == "greedy" else f"policy:{policy}"
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        sizes = {"hands": 12_288 + arguments.hands, "critic_hands": 12_288, "tables": 2048, "learning_rate": 1e-2}
        few = dict.fromkeys(("evaluation_deals", "gate_deals"), 2) | {"evaluations": 1}
        config = TrainConfig(variant=variant, out=Path(folder) / "run", teacher=teacher, **sizes, **few)
        return cell(gain(VARIANTS[variant], f"policy:{run(config).last}", arguments.deals))


def of(policy: str) -> str:
    return f"policy:{policy}?any_variant=true"


def cell(found: Estimate) -> str:
    text = found.text(3, sign="+")
    return f"**{text}**" if found.is_clear_of_zero else text


def head(names: list[str]) -> None:
    print("", f"| {' | '.join(names)} |", "|---" * len(names) + "|", sep="\n", flush=True)


def line(name: str, cells: list[str]) -> None:
    title = VARIANTS[name].title if name in VARIANTS else name
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
