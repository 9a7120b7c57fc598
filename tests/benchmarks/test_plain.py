"""Plain loops: every decision of every player is counted, and hands are played to their end."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mahjong_benchmarks.plain import PlainGymnasium, PlainPettingZoo, plain_contenders, plain_peer
from mahjong_benchmarks.timing import Meter
from mahjong_env import hebei_v0, rules


def decisions_of_hands(seed, hands):
    """Counted by the environment's own agents, with the same choices."""
    env, rng, count = hebei_v0.env(), np.random.default_rng(seed), 0
    env.reset(seed=seed)
    for _ in range(hands):
        env.reset()
        while env.agents:
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            legal = observation["action_mask"].nonzero()[0]
            env.step(None if over else int(legal[int(rng.random() * len(legal))]))
            count += not over
    return count


def test_pettingzoo_counts_every_decision():
    meter = Meter(time.process_time)
    PlainPettingZoo(rules("hebei"), 3).play(150, meter)
    assert meter.decisions == decisions_of_hands(3, meter.hands) >= 150
    assert meter.agent.seconds == 0 < meter.environment.seconds


def test_gymnasium_counts_the_decisions_of_all_players():
    meter, own = Meter(time.process_time), 0
    player = PlainGymnasium(rules("hebei", players=4), 3)
    step = player._env.step

    def counted(action):
        nonlocal own
        own += 1
        return step(action)

    player._env.step = counted
    player.play(400, meter)
    assert meter.hands >= 2
    assert own * 3 < meter.decisions < own * 5  # four play, and claims are asked of some more often than of others


def test_who_is_compared_with_whom():
    pettingzoo, gymnasium = plain_contenders(rules("fuzhou"))
    assert pettingzoo.compared_with == (plain_peer().name,)
    assert gymnasium.compared_with == (pettingzoo.name,)


def test_the_peer():
    pytest.importorskip("rlcard")
    meter = Meter(time.process_time)
    plain_peer().start(1).play(50, meter)
    assert meter.decisions >= 50
    assert meter.hands >= 1
