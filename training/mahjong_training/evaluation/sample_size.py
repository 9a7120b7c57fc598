"""``mahjong-env plan``: how many deals a comparison needs, before it is played."""

from __future__ import annotations

import time
from functools import partial
from math import ceil
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from mahjong_agents import control_variates as luck
from mahjong_agents import make_agent
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import PlanConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import FEWEST
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure, sigma
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.runtime.console import status
from mahjong_training.runtime.limits import check_counts, check_seed


class Plan(NamedTuple):
    """The number of deals that a difference takes, at least `mahjong_training.evaluation.estimates.FEWEST`.

    Attributes:
        for_width: deals after which the 95 % interval is no wider than the difference to either side.
        for_power: deals after which the interval is clear of zero with the chance that was asked for, if the true
            difference is as large as this.
    """

    for_width: int
    for_power: int


def plan(difference: float, spread: float, power: float) -> Plan:
    """Return how many deals a difference takes.

    The mean over n deals has a standard error of spread / sqrt(n); the interval reaches 1.96 of these to either side,
    and to be clear of zero with some chance the difference must be larger by that chance's quantile more.

    Args:
        difference: what is to be seen, in points per hand.
        spread: standard deviation of the mean points per hand of a deal, over deals.
        power: the chance with which it is to be seen.
    """
    reach = NormalDist().inv_cdf(0.975)
    reaches = (reach, reach + NormalDist().inv_cdf(power))
    return Plan(*(max(FEWEST, ceil((number * spread / difference) ** 2)) for number in reaches))


def spread_of(result: LineupResult, agent: int) -> float:
    """Return the standard deviation, over deals, of an agent's mean points per hand and seat."""
    hands = result.hands * result.of(agent).seats / result.deals
    return float(np.std(result.points_by_deal(agent) / hands, ddof=1))


def run(config: PlanConfig) -> list[Plan]:
    """Play the pilot, and print how many deals each difference takes.

    Raises:
        MahjongError: settings or agents that cannot be used.
    """
    check_counts(pilot=config.pilot)
    check_seed(config.seed)
    if len(config.agents) != 2 or config.pilot < 2:
        raise TrainingError("--agents names two agents, and --pilot is at least 2")
    if not 0.5 <= config.power < 1 or not all(0 < size < float("inf") for size in config.differences):
        raise TrainingError("--power must be from 0.5 to below 1, --differences above 0")
    if not config.differences:
        raise TrainingError("--differences is empty: name at least one")
    rules, agents = read_rules(config.variant, config.knobs), [make_agent(spec) for spec in config.agents]
    lineup = one_against_copies(0, 1, rules.people)
    play = partial(measure, rules, agents, lineup, deals=config.pilot, seed=config.seed)
    left = None
    with status() as tell:
        tell("playing the pilot")
        start = time.perf_counter()
        spread = spread_of(play(), 0)
        seconds = (time.perf_counter() - start) / config.pilot
        if config.control_variates and luck.share_left(rules) is not None:
            tell("playing it with control variates")
            left = (spread_of(play(control_variates=True), 0) / spread) ** 2
        unit = sigma(rules)
    copies = rules.people - 1
    print(f"{rules.title}: {agents[0].name} against {copies} x {agents[1].name}, from {config.pilot} deals of a pilot")
    print(f"sigma = {unit:.2f} points; from deal to deal, points a hand spread by {spread:.2f}")
    heading = f"{100 * config.power:.0f} % chance"
    print(f"{'sigma':>8}{'points':>10}{'interval as wide':>20}{heading:>18}{'takes about':>14}")
    plans = [plan(size * unit, spread, config.power) for size in config.differences]
    for size, (for_width, for_power) in zip(config.differences, plans, strict=True):
        deals = f"{for_width:>14,} deals{for_power:>12,} deals"
        print(f"{size:>8.3f}{size * unit:>10.3f}{deals}{_duration(for_power * seconds):>14}")
    if left is not None:
        fewer = ", ".join(f"{max(FEWEST, ceil(found.for_power * left)):,}" for found in plans)
        pays = "; here they do not pay" if left >= 1 else ""
        print(f"with --control-variates {left:.2f} times as many deals have the same chance: {fewer}{pays}")
    return plans


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
