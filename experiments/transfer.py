"""Measure how the shipped policies play elsewhere: `PYTHONPATH=tests python -m experiments.transfer --deals 500`.

The command prints three tables in Markdown, of results against copies of the reference agent of the rules played: every
policy in every variant; agents under random house rules (`--agents`; "named" stands for the policy of the variant); and
every policy in every variant after training there for a while (`--hands`), beside greedy after the same training. No
choice was made on these deals, and no blind ones are used.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path

import numpy as np

from mahjong_agents import make_agent, reference_agent
from mahjong_env import VARIANTS, Rules, rules
from mahjong_training.config import TrainConfig
from mahjong_training.evaluation.estimates import FEWEST, Estimate, mean
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import blocks, in_sigma, play_block
from mahjong_training.evaluation.results import summarise
from mahjong_training.learning.run import run
from proof.batches import random_knobs
from tools.fit import strength

SEED = 2_345_678
_REFERENCE = "the reference agent"
PARTS = ("carried", "house", "learned")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="which of the three tables")
    parser.add_argument("--deals", type=int, default=500, help="deals of each measurement, from every seat")
    parser.add_argument("--tables", type=int, default=FEWEST, help="house rules of each variant")
    parser.add_argument("--agents", nargs="*", default=["named", "policy", "value"], help="who plays under house rules")
    parser.add_argument("--hands", type=int, default=20_480, help="hands that are learned from")
    parser.add_argument("--into", nargs="*", default=sorted(VARIANTS), help="variants in which is learned")
    arguments = parser.parse_args()
    names = sorted(VARIANTS)
    if "carried" in arguments.parts:
        head(["policy of", *(f"in {VARIANTS[name].title}" for name in names)])
        for policy in names:
            line(policy, [cell(gain(VARIANTS[name], of(policy), arguments.deals)) for name in names])
    if "house" in arguments.parts:
        said = "clearly worse under (95 % for all sets together)"
        head(["in", "who", "sigma a hand under random house rules", "the least of them", said])
        for name, agent in product([one for one in names if one in arguments.into], arguments.agents):
            spec = of(name) if agent == "named" else agent
            line(name, [f"`{spec}`", *house_rules(name, spec, arguments.tables, arguments.deals)])
    if "learned" in arguments.parts:
        head(["learned on from", *(f"in {VARIANTS[name].title}" for name in arguments.into)])
        for policy in [_REFERENCE, *names]:
            line(policy, [learned(policy, name, arguments) for name in arguments.into])


def gain(played: Rules, spec: str, deals: int) -> Estimate:
    """Return the sigma per hand that an agent wins against copies of the reference agent."""
    return strength(played, make_agent(spec), deals=deals, seed=SEED)


def house_rules(variant: str, spec: str, tables: int, deals: int) -> list[str]:
    """Return the mean over equally likely random house rules, the least result, and under how many sets it loses.

    The intervals of the sets of house rules hold together: with intervals of 95 % each, two or three of a hundred equal
    agents would be clearly worse.
    """
    rng = np.random.default_rng(SEED)
    found = []
    for number in range(tables):
        played = rules(variant, **random_knobs(variant, rng))
        if not played.ends_by_hands:  # hands are played one at a time, so that how a match ends does not matter
            played = rules(played, match_end="hands")
        agents = [make_agent(spec), reference_agent(played)]
        every = blocks(one_against_copies(0, 1, played.people), max(FEWEST, deals // 5), agents=agents)
        # Each set has other deals: on the same deals, an agent with bad luck would be worse under all sets.
        parts = [play_block(played, agents, one, SEED + number) for one in every]
        result = summarise(played, every[0].lineup, parts, confidence=1 - 0.05 / tables)
        found.append(in_sigma(played, result.of(0).points))
        print(f"{variant}, {spec}: set {number + 1} of {tables}", file=sys.stderr)
    of_all = mean(np.array([one.mean for one in found]))
    least = min(found, key=lambda one: one.high)
    return [cell(of_all), least.text(3, sign="+"), f"{sum(one.high < 0 for one in found)} of {tables}"]


def learned(policy: str, variant: str, arguments: argparse.Namespace) -> str:
    """Return how well a policy plays in a variant after training there."""
    teacher = reference_agent(VARIANTS[variant]).name if policy == _REFERENCE else f"policy:{policy}"
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
