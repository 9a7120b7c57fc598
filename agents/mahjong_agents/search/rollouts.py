"""Hands played out: a first action, then a policy at all seats; who acted first may follow a plan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import Agent
from mahjong_agents.control_variates import UNIT, Luck
from mahjong_agents.search.candidates import NO_PLAN
from mahjong_agents.search.plan_play import follow_plans
from mahjong_agents.shared_chance import RowChance
from mahjong_env import Engine


def play_out(
    engine: Engine,
    actions: NDArray[np.int64],
    plan: NDArray[np.intp],
    world: NDArray[np.intp],
    policy: Agent,
    rng: np.random.Generator,
    luck_weights: NDArray[np.float64] | None = None,
    others: Agent | None = None,
) -> NDArray[np.float64]:
    """Play to the end of the hand.

    Games of the same world draw the same lots at every move: they differ by what was played first, and by little else.

    Args:
        engine: the games.
        actions: [games] what is played first.
        plan: [games] what those who act first play for afterwards, or `NO_PLAN`.
        world: [games] the number of the world that a game is a copy of.
        policy: who plays otherwise.
        rng: where the lots come from.
        luck_weights: [F] of the control variates that are taken off what it brings (`mahjong_agents.control_variates`);
            None: off nothing.
        others: who plays at the seats of those who did not act first; None: the policy as well.

    Returns:
        [games] what it brings those who act first.
    """
    luck = None if luck_weights is None else Luck(engine, luck_weights, engine.rules.drawable)
    games = np.arange(engine.num_games)
    person = engine.seat_to_act.astype(np.intp)
    points = np.zeros(engine.num_games)
    number = int(world.max(initial=-1)) + 1
    live, chosen = games, actions
    while live.size:
        result = engine.step(chosen, games=live)
        points[live] += result.rewards[np.arange(len(live)), person[live]]
        if luck is not None:
            luck.add(live)
        live = live[~result.hand_over & ~result.done]
        if not live.size:
            break
        bits = np.random.SFC64(int(rng.integers(2**63)))
        own = engine.seat_to_act[live] == person[live]
        planned = own & (plan[live] != NO_PLAN)
        by_policy = ~planned if others is None else own & ~planned
        chosen = np.zeros(len(live), np.int64)
        for who, which in ((policy, by_policy), (None, planned), (others, ~by_policy & ~planned)):
            rows = np.flatnonzero(which)
            if rows.size:
                view, chance = engine.view(games=live[rows]), RowChance(bits, world[live[rows]], number)
                chosen[rows] = follow_plans(view, plan[live[rows]], chance) if who is None else who.act(view, chance)
    return points if luck is None else points - luck.by_person()[games, person] / UNIT
