"""Test whether a policy is clearly better than another one on both standings, the rule by which shipped ones change.

    python -m experiments.successor wuhan policy:runs/wuhan/last.zip --than policy:wuhan --deals 3000 --mixed-deals 3000

Both play the same deals in the same seats, so that differences are known deal by deal: alone against copies of the
reference agent, at mixed tables as in the leaderboard, and alone against copies of the policy that might be replaced.
Decide on other deals than those on which the policy was chosen: take a new --seed. Results are kept in --out; after an
interruption, run the same command again to continue.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from mahjong_agents import make_agent
from mahjong_env import VARIANTS
from mahjong_training.config import LeaderboardConfig, WorkersConfig
from mahjong_training.evaluation.estimates import mean
from mahjong_training.evaluation.leaderboard import mixed
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Contest, in_sigma, play_contests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("policy", help="the newcomer: policy:FILE, or any agent")
    parser.add_argument("--than", help="the agent that it might replace; the shipped policy if not given")
    parser.add_argument("--deals", type=int, default=3000, help="from every seat, for each of the two duels")
    parser.add_argument("--mixed-deals", type=int, default=3000, help="from every seat, at mixed tables")
    parser.add_argument("--seed", type=int, default=71_000, help="of the deals")
    parser.add_argument("--out", type=Path, default=Path("runs/successor"))
    arguments = parser.parse_args()
    rules = VARIANTS[arguments.variant]
    compared = (arguments.policy, arguments.than or f"policy:{arguments.variant}")
    pool = LeaderboardConfig().pool
    agents = {spec: make_agent(spec) for spec in dict.fromkeys([*compared, "reference", *pool])}
    deals = range(arguments.deals)

    def duels(opponent: str) -> list[list[Contest]]:
        lineups = [one_against_copies(spec, opponent, rules.people) for spec in compared]
        return [[Contest.of(rules, agents, lineup, deals)] for lineup in lineups]

    standings = {
        "alone against copies of the reference agent": duels("reference"),
        "at mixed tables": [mixed(rules, agents, spec, pool, range(arguments.mixed_deals)) for spec in compared],
        f"alone against copies of {compared[1]}": duels(compared[1]),
    }
    plan = [contest for pair in standings.values() for contests in pair for contest in contests]
    played = list(play_contests(plan, agents, WorkersConfig(), arguments.seed, out=arguments.out, progress=print))
    points = iter([contest.result(parts).points_per_hand(0) for contest, parts in played])
    print(f"| {rules.title}, sigma a hand | {' | '.join(compared)} | more | deals |", "|---" * 5 + "|", sep="\n")
    for title, pair in standings.items():
        new, old = (np.concatenate([next(points) for _ in contests]) for contests in pair)
        cells = [in_sigma(rules, mean(values)).text(3, sign="+") for values in (new, old, new - old)]
        print(f"| {title} | {' | '.join(cells)} | {len(new):,} |")


if __name__ == "__main__":
    main()
