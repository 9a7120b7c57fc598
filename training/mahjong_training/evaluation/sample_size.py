"""``mahjong-env plan``: how many deals a comparison needs, before it is played."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from math import ceil
from statistics import NormalDist
from typing import Final

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

_CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Plan:
    """The number of deals that a difference takes.

    Attributes:
        difference: the difference that is looked for, in points per hand.
        spread: standard deviation of the mean points per hand of a deal, over deals, as the pilot found it.
        for_width: deals after which the 95 % interval is no wider than the difference to either side.
        for_power: deals after which the interval is clear of zero with the chance that was asked for, if the true
            difference is as large as this.
        seconds: how long the latter take in one process, about.
        with_control_variates: as many as the latter with luck taken off; None if that was not asked for.
    """

    difference: float
    spread: float
    for_width: int
    for_power: int
    seconds: float
    with_control_variates: int | None = None


def plan(
    difference: float, spread: float, *, power: float, seconds_of_a_deal: float = 0.0, share_left: float | None = None
) -> Plan:
    """Return how many deals a difference takes.

    The mean over n deals has a standard error of spread / sqrt(n); the interval reaches 1.96 of these to either side,
    and to be clear of zero with some chance the difference must be larger by that chance's quantile more.
    With luck taken off, which leaves ``share_left`` of the variance, that share of the deals is enough. Fewer than
    `mahjong_training.evaluation.estimates.FEWEST` deals carry no interval.
    """
    normal = NormalDist()
    reach = normal.inv_cdf(0.5 + _CONFIDENCE / 2)
    errors = spread / difference
    for_width, for_power = (
        max(FEWEST, ceil((number * errors) ** 2)) for number in (reach, reach + normal.inv_cdf(power))
    )
    without_luck = None if share_left is None else max(FEWEST, ceil(for_power * share_left))
    return Plan(difference, spread, for_width, for_power, for_power * seconds_of_a_deal, without_luck)


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
    with status() as tell:
        tell("playing the pilot")
        start = time.perf_counter()
        lineup = one_against_copies(0, 1, rules.people)
        play = partial(measure, rules, agents, lineup, deals=config.pilot, seed=config.seed)
        result = play()
        seconds = (time.perf_counter() - start) / config.pilot
        left = None
        if config.control_variates and luck.share_left(rules) is not None:
            tell("playing it with control variates")
            without_luck = play(control_variates=True)
            left = (spread_of(without_luck, 0) / spread_of(result, 0)) ** 2
        unit = sigma(rules)
    spread = spread_of(result, 0)
    plans = [
        plan(size * unit, spread, power=config.power, seconds_of_a_deal=seconds, share_left=left)
        for size in config.differences
    ]
    copies = rules.people - 1
    print(f"{rules.title}: {agents[0].name} against {copies} x {agents[1].name}, from {config.pilot} deals of a pilot")
    print(f"sigma = {unit:.2f} points; from deal to deal, points a hand spread by {spread:.2f}")
    heading = f"{100 * config.power:.0f} % chance"
    print(f"{'sigma':>8}{'points':>10}{'interval as wide':>20}{heading:>18}{'takes about':>14}")
    for size, found in zip(config.differences, plans, strict=True):
        deals = f"{found.for_width:>14,} deals{found.for_power:>12,} deals"
        print(f"{size:>8.3f}{found.difference:>10.3f}{deals}{_duration(found.seconds):>14}")
    if left is not None:
        listed = ", ".join(f"{found.with_control_variates:,}" for found in plans)
        print(
            f"with --control-variates {left:.2f} times as many deals have the same chance: {listed}"
            + ("; here they do not pay" if left >= 1 else "")
        )
    return plans


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
