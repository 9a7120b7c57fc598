"""Games in the middle of a hand."""

import numpy as np

from mahjong_agents import make_agent
from mahjong_env import Engine, View, make_engine
from mahjong_env.testing.play import choose_actions


def in_mid_hand(variant: str, games: int, steps: int, agent: str = "random", **settings) -> Engine:
    """Return games in which an agent has played some steps; unless settings differ, those that end are dealt anew."""
    engine = make_engine(variant, games, **{"seed": 5, "auto_reset": True} | settings)
    player, rng = make_agent(agent), np.random.default_rng(0)
    for _ in range(steps):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        engine.step(player.act(engine.view(live), rng), games=live)
    return engine


def asked_in_mid_hand(*given, **settings) -> View:
    """Return what the seats to act see in the games of `in_mid_hand`."""
    engine = in_mid_hand(*given, **settings)
    return engine.view(np.flatnonzero(engine.seat_to_act >= 0))


def positions(variant, *, games=24, steps=30, seed=4, **settings) -> Engine:
    """Return games at different points of a hand, some of them waiting for answers to a discard."""
    engine = make_engine(variant, games, seed=seed, auto_reset=True, **settings)
    rng = np.random.default_rng(seed)
    for step in range(steps):
        moving = np.arange(games) % steps <= step
        engine.step(choose_actions(engine, rng)[moving], games=moving)
    assert len(set(engine.state.phase.tolist())) > 1
    return engine
