"""Games in the middle of a hand."""

import numpy as np

from mahjong_agents import make_agent
from mahjong_env import Engine, View, make_engine


def in_mid_hand(variant: str, games: int, steps: int, agent: str = "random", **settings) -> Engine:
    """Games of which an agent has played some steps; those that are over are dealt anew, unless the settings say no."""
    engine = make_engine(variant, games, **{"seed": 5, "auto_reset": True} | settings)
    player, rng = make_agent(agent), np.random.default_rng(0)
    for _ in range(steps):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        engine.step(player.act(engine.view(live), rng), games=live)
    return engine


def asked_in_mid_hand(*given, **settings) -> View:
    """What the seats to act see in such games."""
    engine = in_mid_hand(*given, **settings)
    return engine.view(np.flatnonzero(engine.seat_to_act >= 0))
