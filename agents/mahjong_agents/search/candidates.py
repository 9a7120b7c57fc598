"""What a search tries: actions that the base might have chosen as well, and plans that an action may begin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import Agent
from mahjong_agents.lookahead import CONCEALED_KONG, concealed, look_ahead
from mahjong_agents.outlook import other_shapes
from mahjong_agents.plans import ANY, possible_plans, weigh
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.search.plan_play import CLOSED, OPEN, follow_plans
from mahjong_env import View
from mahjong_env.hands.kind_sets import count_planes

NO_PLAN: Final = -1
"""The base plays on."""
_REACH: Final = 2
"""Plans are tried that are so many tiles farther than the nearest shape."""


@dataclass(frozen=True)
class Candidates:
    """k things to try in n rows, ascending by row.

    Attributes:
        row: [k] intp rows.
        action: [k] int64 what is played now.
        plan: [k] intp what is played for afterwards (`mahjong_agents.plans`), or `NO_PLAN`.
    """

    row: NDArray[np.intp]
    action: NDArray[np.int64]
    plan: NDArray[np.intp]


def candidates(
    view: View,
    usual: NDArray[np.int64],
    base: Agent,
    actions: int,
    plans: int,
    rng: np.random.Generator,
    likely: float = 0.0,
) -> Candidates:
    """Return what is worth a try.

    Args:
        view: what n seats see.
        usual: [n] what the base plays; it comes first in every row.
        base: who plays.
        actions: how many actions of a row are tried at most, the usual one among them.
        plans: how many plans at most.
        rng: what decides between equally good discards of a plan.
        likely: the least probability that a policy as the base gives an action that is tried.
    """
    scores = _scores(view, base)
    possible = view.action_mask if scores is None or likely == 0 else _likely(scores, likely)
    order = -_nearness(view) if scores is None else -scores
    order[np.arange(len(view)), usual] = -np.inf
    ranked = np.argsort(order, axis=1, kind="stable")[:, :actions]
    row = np.repeat(np.arange(len(view)), ranked.shape[1])
    action = ranked.reshape(-1)
    tried = possible[row, action] | (action == usual[row])
    row, action = row[tried], action[tried].astype(np.int64)
    plan = np.full(len(row), NO_PLAN, np.intp)
    if plans:
        planned_row, planned = plans_within_reach(view, plans)
        begun = follow_plans(view.take(planned_row), planned, rng)
        # A plan that begins with what the base plays anyway can wait for the next decision.
        other = np.flatnonzero((begun != usual[planned_row]) & possible[planned_row, begun])
        planned_row, planned, begun = planned_row[other], planned[other], begun[other]
        row, action = np.concatenate([row, planned_row]), np.concatenate([action, begun])
        plan = np.concatenate([plan, planned])
        sorted_ = np.argsort(row, kind="stable")
        row, action, plan = row[sorted_], action[sorted_], plan[sorted_]
    return Candidates(row, action, plan)


def _scores(view: View, base: Agent) -> NDArray[np.float64] | None:
    """Return [n, 109] how much a policy likes each action, -inf for illegal ones; None for a base that cannot tell."""
    return base.scores(view) if isinstance(base, PolicyAgent) else None


def _nearness(view: View) -> NDArray[np.float64]:
    """Return [n, 109]: the nearest hand comes first, then the one that most tiles help; -inf for illegal actions."""
    ahead = look_ahead(view)
    return np.where(view.action_mask, ahead.help / 1000 - ahead.distance, -np.inf)


def _likely(scores: NDArray[np.float64], least: float) -> NDArray[np.bool_]:
    """Return [n, 109] which actions have at least some probability, for scores [n, 109] of a network."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares >= least * shares.sum(axis=1, keepdims=True)


def plans_within_reach(view: View, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and plans: any shape with claims and without, then the nearest others; ``most`` for each row."""
    every = np.arange(len(view))
    natural = view.natural_hand
    hands = replace(concealed(view, every), counts=count_planes(natural))
    melds = view.meld_type[:, 0], view.meld_kind[:, 0]
    possible = possible_plans(hands, *melds, other_shapes(view.rules))
    row, plan = np.nonzero(possible)
    distance = weigh(hands, row, plan).distance.astype(np.intp)
    nearest = np.full(len(view), np.iinfo(np.intp).max)
    np.minimum.at(nearest, row, distance)
    near = np.flatnonzero((plan != ANY) & (distance <= nearest[row] + _REACH))
    near = near[np.lexsort((plan[near], distance[near], row[near]))]
    row, plan = row[near], plan[near]
    # With claims or without is asked where there is something to claim.
    asked = np.flatnonzero(~view.action_mask[:, :CONCEALED_KONG].any(axis=1))
    row, plan = np.concatenate([asked, asked, row]), np.concatenate([asked * 0 + OPEN, asked * 0 + CLOSED, plan])
    order = np.argsort(row, kind="stable")
    row, plan = row[order], plan[order]
    kept = np.arange(len(row)) - np.searchsorted(row, row) < most
    return row[kept], plan[kept]
