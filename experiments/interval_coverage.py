"""Measure how often intervals contain the true mean: `python -m experiments.interval_coverage`.

For each pair of agents that differ in strength, thousands of deals are played and taken as the population. Matches of
various numbers of deals are drawn from it, and the interval of every match is compared with the mean of the population.
The command prints a table in Markdown; with the default settings it is that of docs/research/evaluation.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_env import VARIANTS, rules
from mahjong_training.evaluation.estimates import confidence, interval, looks
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure

DEALS = (30, 60, 100, 200, 300, 1000)
STUDIES = (500, 2000)
SEED = 987_654
_AT_ONCE = 1_000_000


POPULATIONS = {
    **{f"{name}, greedy": (name, "greedy", "closed-greedy") for name in sorted(VARIANTS)},
    "fuzhou, value": ("fuzhou", "value", "greedy"),  # value plays as greedy in three deals of four
    "wuhan, value": ("wuhan", "value", "greedy"),
    "wuhan, policy": ("wuhan", "policy", "greedy"),
}
"""The variant, the agent that plays alone, and the agent whose copies it meets."""


def play(population: tuple[str, str, str], deals: int) -> dict[str, NDArray[np.float64]]:
    """Return [deals] points per hand of the agent that plays alone, from every seat.

    They are given as they are and, where that explains enough of the variance, with luck subtracted.
    """
    variant, *names = population
    table, agents = rules(variant), [make_agent(name) for name in names]
    lineup = one_against_copies(0, 1, table.people)
    found = {}
    for name, luck_off in {"points": False, "luck taken off": True}.items():
        if not luck_off or useful_weights(table) is not None:
            result = measure(table, agents, lineup, deals=deals, seed=SEED, control_variates=luck_off)
            found[name] = result.points_by_deal(0) / result.orders
    return found


def matches(points: NDArray[np.float64], deals: int, number: int, seed: int = 1) -> tuple[float, float]:
    """Return the shares of matches of some deals whose interval ends below the true mean, and begins above it."""
    below = above = 0
    for drawn in _drawn(points, deals, number, seed):
        low, high = interval(drawn)
        below, above = below + int((high < points.mean()).sum()), above + int((low > points.mean()).sum())
    return below / number, above / number


def studies(points: NDArray[np.float64], deals: int, number: int, seed: int = 2) -> tuple[float, float]:
    """Return the shares of studies with several looks in which some look's interval is below the truth, and above."""
    below = above = 0
    planned = looks(deals)
    for drawn in _drawn(points, deals, number, seed):
        ends = [interval(drawn[:, :look], confidence(planned)) for look in planned]
        below += int(np.any([high < points.mean() for _, high in ends], axis=0).sum())
        above += int(np.any([low > points.mean() for low, _ in ends], axis=0).sum())
    return below / number, above / number


def _drawn(points: NDArray[np.float64], deals: int, number: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield [some, deals] points of matches, ``number`` matches in all, drawn with replacement."""
    rng, at_once = np.random.default_rng([seed, deals]), max(1, _AT_ONCE // deals)
    for first in range(0, number, at_once):
        yield points[rng.integers(0, len(points), (min(at_once, number - first), deals))]


def _text(missed: tuple[float, float]) -> str:
    below, above = (100 * share for share in missed)
    return f"{100 - below - above:.1f} ({below:.1f}, {above:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=4000, help="deals of each population")
    parser.add_argument("--matches", type=int, default=10_000, help="matches of each size, and studies")
    parser.add_argument("--only", nargs="*", choices=POPULATIONS, default=list(POPULATIONS))
    arguments = parser.parse_args()
    heads = ["", "mean", "skewness", *(f"{deals} deals" for deals in DEALS), *(f"looks, up to {n}" for n in STUDIES)]
    print("|", " | ".join(heads), "|")
    print("|---" * len(heads) + "|")
    for name in arguments.only:
        for what, points in play(POPULATIONS[name], arguments.deals).items():
            away = points - points.mean()
            shape = [f"{points.mean():+.2f}", f"{(away**3).mean() / points.std() ** 3:+.1f}"]
            single = [_text(matches(points, deals, arguments.matches)) for deals in DEALS]
            stopped = [_text(studies(points, deals, arguments.matches)) for deals in STUDIES]
            title = name if what == "points" else f"{name}, {what}"
            print("|", " | ".join([title, *shape, *single, *stopped]), "|", flush=True)


if __name__ == "__main__":
    main()
