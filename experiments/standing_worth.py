"""Compare the true worth of a standing in a match with the assumed one: `python -m experiments.standing_worth`.

Copies of the reference agent play matches. After each hand, the final places are regressed on those that
`mahjong_training.learning.rewards.mean_places` expects. A slope of 1 is right; with a greater slope, standings are
worth more than assumed. The last column is the share of the variance of places that is explained by then.
"""

from __future__ import annotations

import argparse

import numpy as np

from mahjong_agents import reference_agent
from mahjong_env import make_engine, rules
from mahjong_env.environments.agents import choose_actions, play_to_end
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning.rewards import mean_places

SEED = 987_654_321


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", default="hebei")
    parser.add_argument("--matches", type=int, default=400)
    parser.add_argument("--hands", type=int, default=4)
    arguments = parser.parse_args()
    played, hands, matches = rules(arguments.variant), arguments.hands, arguments.matches
    engine = make_engine(played, matches, seed=SEED, num_hands=hands)
    agents, rng = [reference_agent(played)], np.random.default_rng(0)
    totals = np.zeros((matches, hands + 1, played.people), np.int64)  # before the first hand, and after each
    hand = np.zeros(matches, np.int64)

    def choose(games, seats):
        return choose_actions(engine, games, agents, np.zeros(len(games), np.intp), rng)

    for turn in play_to_end(engine, choose, None):
        ended = turn.result.outcome
        hand[ended.game] += 1
        totals[ended.game, hand[ended.game]] = ended.points
    unit, middle = sigma(played), (played.people + 1) / 2
    final = mean_places(totals[:, hands], np.zeros(matches, np.int64), unit) - middle
    print("| after hand | slope | share of the variance |\n|---|---|---|")
    for after in range(1, hands):
        expected = mean_places(totals[:, after], np.full(matches, hands - after), unit) - middle
        slope = (expected * final).sum() / (expected**2).sum()
        print(f"| {after} | {slope:.2f} | {1 - ((final - expected) ** 2).sum() / (final**2).sum():.2f} |")


if __name__ == "__main__":
    main()
