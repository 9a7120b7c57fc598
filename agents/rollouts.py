"""Hands played out: a first action, then a policy at all seats; who acted first may follow a plan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.candidates import NO_PLAN
from agents.luck import UNIT, Luck
from agents.plan_play import follow_plans
from agents.row_chance import RowChance
from mahjong_env import Engine


def play_out(
    engine: Engine,
    actions: NDArray[np.int64],
    plan: NDArray[np.intp],
    world: NDArray[np.intp],
    policy: Agent,
    rng: np.random.Generator,
    luck_weights: NDArray[np.float64] | None = None,
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
        luck_weights: [F] of the control variates that are taken off what it brings (`agents.luck`); None: off nothing.

    Returns:
        [games] what it brings those who act first.
    """
    luck = None if luck_weights is None else Luck(engine, luck_weights, engine.rules.drawable)
    games = np.arange(engine.num_games)
    person = engine.seat_to_act.astype(np.intp)
    points = np.zeros(engine.num_games)
    number = int(world.max(initial=-1)) + 1
    has_plans = bool((plan != NO_PLAN).any())
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
        if not has_plans:
            chosen = policy.act(engine.view(games=live), RowChance(bits, world[live], number))
            continue
        follows = (plan[live] != NO_PLAN) & (engine.seat_to_act[live] == person[live])
        chosen = np.zeros(len(live), np.int64)
        for who, own in ((policy, np.flatnonzero(~follows)), (None, np.flatnonzero(follows))):
            if own.size:
                chance = RowChance(bits, world[live[own]], number)
                view = engine.view(games=live[own])
                chosen[own] = who.act(view, chance) if who is not None else follow_plans(view, plan[live[own]], chance)
    return points if luck is None else points - luck.by_person()[games, person] / UNIT
