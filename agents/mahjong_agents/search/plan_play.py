"""Playing for one plan to the end: discards and claims that bring a hand nearer to the plan's shape, as greedy's do."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import ClosedGreedyAgent, GreedyAgent
from mahjong_agents.lookahead import CHOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN
from mahjong_agents.outlook import other_shapes
from mahjong_agents.plans import NUM_PLANS, possible_plans, weigh
from mahjong_agents.value.plan_value import DISCARD, discards_for, options_of
from mahjong_env import ACTIONS, View

_RANK: Final = np.full(len(ACTIONS) + 1, 2, np.int16)
"""At the same distance kongs come before discards and passes, and these before claims; the last is a discard."""
_RANK[CONCEALED_KONG:CHOW] = _RANK[KONG] = 0
_RANK[PASS] = _RANK[DISCARD] = 1
_RANK[CHOW : PUNG + 1] = 2
_IMPOSSIBLE: Final = np.int16(1000)

OPEN: Final = NUM_PLANS
"""Any shape, with claims."""
CLOSED: Final = NUM_PLANS + 1
"""Any shape, without claims."""
_GREEDY: Final = {OPEN: GreedyAgent(), CLOSED: ClosedGreedyAgent()}


def follow_plans(view: View, plan: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose actions that follow plans: a win if there is one, else what leaves the fewest tiles short of the plan.

    Args:
        view: what n seats see.
        plan: [n] the plan of each (`mahjong_agents.plans`), or `OPEN` or `CLOSED`.
        rng: what decides between equally good discards.

    Returns:
        [n] int64 legal actions.
    """
    actions = np.full(len(view), WIN, np.int64)
    for manner, greedy in _GREEDY.items():
        rows = np.flatnonzero(plan == manner)
        if rows.size:
            actions[rows] = greedy.act(view if len(rows) == len(view) else view.take(rows), rng)
    rows = np.flatnonzero(~view.action_mask[:, WIN] & (plan < NUM_PLANS))
    if not rows.size:
        return actions
    options = options_of(view, rows)
    every, plans = np.arange(len(options.row)), plan[options.row]
    possible = possible_plans(options.hands, options.melds.type, options.melds.kind, other_shapes(view.rules))
    distance = weigh(options.hands, every, plans).distance
    is_claim = (options.action >= CHOW) & (options.action <= PUNG)
    distance = np.where(is_claim, np.maximum(distance, 1), distance)
    cost = distance.astype(np.int16) * np.int16(3) + _RANK[options.action]
    cost += np.where(possible[every, plans] | (options.action == PASS) | (options.action == DISCARD), 0, _IMPOSSIBLE)
    # The cheapest option of each row; of equal ones the first.
    order = np.lexsort((every, cost, options.row))
    first = order[np.unique(options.row[order], return_index=True)[1]]
    row, action = options.row[first], options.action[first]
    actions[row] = action
    discarding = np.flatnonzero(action == DISCARD)
    if discarding.size:
        at = row[discarding]
        actions[at] = discards_for(view.take(at), options.hands.take(first[discarding]), plan[at], rng)
    return actions
