"""Agents that search or imagine: what they choose is legal, and the same again with the same chance."""

import numpy as np

from mahjong_env import make_engine


def check_legal_and_repeatable(variant, agent, games=12):
    """Plays hands to the end, every decision asked for twice."""
    engine, rng = make_engine(variant, games, seed=6), np.random.default_rng(0)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(games=live)
        seed = int(rng.integers(1000))
        chosen = agent.act(view, np.random.default_rng(seed))
        np.testing.assert_array_equal(chosen, agent.act(view, np.random.default_rng(seed)))
        assert view.action_mask[np.arange(len(live)), chosen].all()
        engine.step(chosen, games=live)
