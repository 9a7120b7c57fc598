"""A sixth variant, made up in one file beside its cases: a variant is its difference, and nothing else knows it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import GreedyAgent
from mahjong_env import VARIANTS, Deal, make_engine, testing
from mahjong_env.basics.errors import RulesError
from mahjong_env.environments.aec import MahjongAEC, environments
from mahjong_env.observation.planes import FACT_PLACES, plane
from mahjong_env.testing.cases import check_cases
from support.harbour import RULES, Harbour

CASES = Path(__file__).parents[1] / "support" / "harbour.toml"


def engines(num_games, *, seed, **options):
    return make_engine(RULES, num_games, seed=seed, **options)


def test_its_cases():
    assert check_cases(RULES, CASES) == 13


def test_the_package_does_not_know_it():
    assert RULES.name not in VARIANTS
    with pytest.raises(RulesError, match="there is no variant 'harbour'"):
        make_engine("harbour")


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda check: check.__name__)
def test_the_conformance_kit_passes(check):
    check(engines, games=6, seed=3)


def test_greedy_players_play_it_to_the_end():
    engine, rng, agent = make_engine(RULES, 32, seed=5, num_hands=2), np.random.default_rng(5), GreedyAgent()
    rows, wins = set(), 0
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        result = engine.step(agent.act(engine.view(live), rng), live)
        wins += int((result.outcome.winner >= 0).sum())
        rows |= {name for hand in result.outcome.rows for name, _ in hand}
        assert not result.rewards.sum(axis=1).any()
    assert wins > 48
    assert rows >= {"Landing", "Pennant", "Fair Wind", "Still Water"}
    assert engine.points.sum(axis=1).tolist() == [400] * 32


def test_its_mark_is_observed():
    engine = make_engine(RULES, seed=0)
    engine.reset(deals=Deal(hands=["147m 258p 369s 2234z 5z"]))
    engine.step([mahjong_env.action("discard 2z")])
    view = engine.view(seats=1)
    assert view.marks[0, :, 0].tolist() == [0, 0, 0, 1]  # the dealer is the previous player
    facts = view.observation[0, plane("facts")].ravel()
    assert facts[FACT_PLACES["mark_0"]].tolist() == [0, 0, 0, 1]


def test_pettingzoo():
    _, env = environments(RULES)
    env = env(render_mode="ansi", toll=2)
    env.reset(seed=4, options={"deal": Deal(hands=["1111s 147m 258p 56z 77z"])})
    assert env.unwrapped.metadata["name"] == "harbour_v0"
    assert "Harbour 海港麻将: hand 1 of 1" in env.render()
    env.step(mahjong_env.action("concealed kong 1s"))
    assert env.unwrapped.rewards == {"player_0": 6, "player_1": -2, "player_2": -2, "player_3": -2}
    again = pickle.loads(pickle.dumps(MahjongAEC(RULES, toll=2)))
    assert again.engine.rules == Harbour(toll=2)
