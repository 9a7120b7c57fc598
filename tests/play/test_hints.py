"""Hints: distances and helping tiles against the agents' own lookahead, wins against what the engine pays."""

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import ACTIONS, Deal, action
from mahjong_env.engine.outcome import hand_info
from mahjong_env.observation.acceptance import look_ahead
from mahjong_env.play.hints import advice, prospects, win_now


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_prospects_are_those_of_the_lookahead(variant):
    engine, rng, agent = mahjong_env.make_engine(variant, 1, seed=11), np.random.default_rng(11), make_agent("greedy")
    compared = 0
    while engine.seat_to_act[0] >= 0 and compared < 40:
        view = engine.view()
        ahead = look_ahead(view)
        for one in prospects(view):
            number = action(one.action)
            assert one.distance == ahead.distance[0, number], one
            # Those of the least distance: a claim counts what helps with its best discard only, and no more.
            if one.distance == ahead.distance[0].min():
                known = int(ahead.help[0, number])
                assert one.tiles <= known if one.then else one.tiles == known, one
            compared += 1
        engine.step(agent.act(view, rng))
    assert compared >= 40


def test_the_best_prospect_comes_first():
    engine = mahjong_env.make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("123456m 123p 55s 78s 1z",), dealer=0))
    first, *others = prospects(engine.view())
    assert (first.action, first.distance) == ("discard 1z", 1)
    assert {kind for kind, _ in first.helps} == {mahjong_env.action("discard 6s"), mahjong_env.action("discard 9s")}
    assert all(other.distance >= 1 for other in others)


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_a_win_is_worth_what_it_pays(variant):
    wins = 0
    for seed in range(4):
        engine, rng = mahjong_env.make_engine(variant, 1, seed=seed), np.random.default_rng(seed)
        agent = make_agent("greedy")
        while engine.seat_to_act[0] >= 0:
            told = win_now(engine)
            choice = int(agent.act(engine.view(), rng)[0])
            assert (told is not None) == (choice == action("win"))
            result = engine.step([choice])
            if told is not None:
                wins += 1
                really = hand_info(result.outcome, 0)
                assert {name: told[name] for name in ("winner", "value", "rows", "payments")} == {
                    name: really[name] for name in ("winner", "value", "rows", "payments")
                }
    assert wins


def test_asking_changes_nothing():
    engine = mahjong_env.make_engine("wuhan", 1, seed=2)
    before = engine.snapshot().to_bytes()
    name, said = advice(make_agent("greedy"), engine)
    assert name == "greedy"
    assert engine.action_mask[0, ACTIONS.index(said)]
    prospects(engine.view())
    assert engine.snapshot().to_bytes() == before
