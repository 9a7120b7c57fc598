"""The search agent of notebooks/examples: it wins when it may, and plays as an opponent."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np

from mahjong_agents import make_agent
from mahjong_env import Deal, action, make_engine

EXAMPLE = Path(__file__).parents[2] / "notebooks" / "examples" / "search_agent.py"


def test_it_wins_when_it_may():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=["123m 456p 789s 1122z 2z"], dealer=0))
    agent = make_agent(f"{EXAMPLE}:SearchAgent?worlds=8")
    assert agent.act(engine.view(), np.random.default_rng(0)).tolist() == [action("win")]


def test_it_plays_as_an_opponent():
    env = gymnasium.make("mahjong_env/Hebei-v0", opponents=f"{EXAMPLE}:SearchAgent?worlds=1")
    _, info = env.reset(seed=1)
    for _ in range(3):
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        if over:
            break
