"""The gate that a policy has to pass to be called best: deals that nothing was chosen on, new ones every time."""

from __future__ import annotations

from mahjong_agents import Agent
from mahjong_env import Rules
from mahjong_training.evaluation.lineups import difference, measure, one_against_copies
from mahjong_training.evaluation.statistics import Estimate
from mahjong_training.seeds import gate_seed


def gate(
    rules: Rules,
    candidate: Agent,
    best: Agent,
    reference: Agent,
    *,
    deals: int,
    seed: int,
    number: int,
    control_variates: bool = False,
) -> Estimate:
    """Say how many points a hand a candidate wins more than what is best so far, both among copies of a reference.

    It passes if the interval is above zero.

    Args:
        rules: what is played.
        candidate: who wants to be best.
        best: who is.
        reference: who has all other seats.
        deals: how many deals both play, the same ones, from every seat.
        seed: of the run.
        number: of the gate in the run; another number is other deals.
        control_variates: take luck off the points, see `mahjong_training.evaluation.lineups.measure`.
    """
    blind = gate_seed(seed, number)
    lineup = one_against_copies(0, 1, rules.people)
    one, other = (
        measure(rules, [agent, reference], lineup, deals=deals, seed=blind, control_variates=control_variates)
        for agent in (candidate, best)
    )
    return difference(one, 0, other, 0)
