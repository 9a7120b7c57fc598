"""Measure search against the reference agent, beside `value` and `policy`.

Run, for instance, `PYTHONPATH=tests python -m experiments.search_match wuhan "search?rollouts=32"`. The agent plays
alone against copies of the reference agent, each deal from one seat, the next deal from the next seat. `value` and
`policy` play the same deals from the same seats, so that differences are known deal by deal. Results are kept in --out;
after an interruption, run the same command again to continue.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_env import VARIANTS, Rules
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import block_cache, blocks, in_sigma, play_block
from mahjong_training.evaluation.results import LineupResult, difference, summarise

SEED = 61_000
_REFERENCE = "reference"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("agent", nargs="?", default="search")
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=SEED, help="of the deals")
    parser.add_argument("--out", type=Path, default=Path("runs/search"))
    arguments = parser.parse_args()
    rules = VARIANTS[arguments.variant]
    others = ("policy", "value", _REFERENCE)
    found = {spec: play(rules, spec, arguments) for spec in (arguments.agent, *others)}
    searched = found[arguments.agent]
    heads = (rules.title, "sigma a hand", f"less than {arguments.agent} by", "which does better in")
    print(f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", sep="\n")
    print(f"| {arguments.agent} | {cell(rules, searched.of(0).points)} | | |")
    for spec in others:
        less = cell(rules, difference(searched, 0, found[spec], 0))
        print(f"| {spec} | {cell(rules, found[spec].of(0).points)} | {less} | {paired(searched, found[spec])} |")


def paired(one: LineupResult, other: LineupResult) -> str:
    """Return in what share of the deals that end differently one does better than the other, from the same seat."""
    more = one.points_by_deal(0) - other.points_by_deal(0)
    decided = more[more != 0]
    share, error = (decided > 0).mean(), 1.96 * np.sqrt(0.25 / max(1, len(decided)))
    return f"{100 * share:.1f} ± {100 * error:.1f} % of {len(decided):,} deals"


def play(rules: Rules, spec: str, arguments: argparse.Namespace) -> LineupResult:
    """Let an agent play all deals, or read the results of those that it has played."""
    agent = make_agent(spec)
    agents, lineup = [agent, reference_agent(rules)], one_against_copies(0, 1, rules.people)
    kept = block_cache(arguments.out, rules, (spec, _REFERENCE), agents, arguments.seed)
    luck_off, begun = useful_weights(rules) is not None, time.process_time()
    parts: list[Played] = []
    for block in blocks(lineup, arguments.deals, "turns", agents=agents, control_variates=luck_off):
        if kept.get(block.name) is None:
            kept.put(block.name, play_block(rules, agents, block, arguments.seed).arrays())
            print(f"{spec}, deal {block.last:,}, {time.process_time() - begun:.0f} s of the processor", flush=True)
        parts.append(Played.of_arrays(kept[block.name]))
    return summarise(rules, lineup, parts, "turns")


def cell(rules: Rules, points: Estimate) -> str:
    return in_sigma(rules, points).text(3, sign="+")


if __name__ == "__main__":
    main()
