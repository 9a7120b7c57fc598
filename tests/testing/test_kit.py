"""The conformance kit: every variant passes, and it refuses what the kits of others and notation get wrong."""

from __future__ import annotations

import importlib
import warnings
from functools import partial

import numpy as np
import pytest
from pettingzoo.test import render_test
from pettingzoo.test.state_test import test_state_space as check_state_space

from mahjong_env import VARIANTS, MahjongError, make_engine, testing
from mahjong_env.environments.aec import MahjongAEC
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.testing import ConformanceError, check_official
from support.house_rules import HOUSES
from support.marks import variants

# The checks that look at what knobs change; `pytest -m slow` runs all of them.
QUICK = (
    testing.check_tiles_conserved,
    testing.check_bookkeeping,
    testing.check_zero_sum,
    testing.check_scores,
    testing.check_legal_actions,
    testing.check_length,
    testing.check_deals,
)


def name_of(check):
    return check.__name__.removeprefix("check_")


def engines(variant, **knobs):
    return partial(make_engine, variant, **knobs)


# --- Every variant passes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", testing.CHECKS, ids=name_of)
@pytest.mark.parametrize("variant", variants("fuzhou", "hebei", "taiwan"))
def test_a_variant_passes(variant, check):
    check(engines(variant), games=8, seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize("check", QUICK, ids=name_of)
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_a_variant_passes_with_house_rules(variant, check):
    check(engines(variant, **HOUSES[variant]), games=8, seed=2)


def test_a_person_who_sits_out_does_not_see_who_is_asked():
    """He looks at the table from a seat that is not his; the kit found that he saw when that seat was asked."""
    testing.check_no_leak(engines("hebei", rotation=True), games=12, seed=549339)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_a_variant_passes_at_large(variant, seed):
    testing.check_variant(variant, games=64, seed=seed)
    testing.check_variant(variant, games=64, seed=seed, official=False, **HOUSES[variant])


@pytest.mark.parametrize("variant", variants("hebei"))
def test_the_official_kits_pass(variant, capsys):
    check_official(variant, **HOUSES[variant])
    module = importlib.import_module(f"mahjong_env.{variant}_v0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render_test(module.env)
        check_state_space(module.raw_env(num_hands=2))
    assert "player_0" in capsys.readouterr().out


def test_check_variant_runs_every_check(monkeypatch):
    run = []
    recorders = [lambda make, *, games, seed, check=check: run.append((check, games, seed)) for check in testing.CHECKS]
    expected = [*((check, 3, 4) for check in testing.CHECKS), ("hebei", {"cap": 8})]
    monkeypatch.setattr(testing, "CHECKS", tuple(recorders))
    monkeypatch.setattr(testing, "check_official", lambda variant, **knobs: run.append((variant, knobs)))
    testing.check_variant("hebei", games=3, seed=4, cap=8)
    assert run == expected


@pytest.mark.parametrize("settings", [{"games": 1}, {"games": 2.0}, {"games": True}, {"seed": None}, {"seed": -1}])
def test_check_variant_refuses_games_and_seeds_that_would_check_nothing(settings):
    (name,) = settings
    with pytest.raises(MahjongError, match=f"{name} is an integer from"):
        testing.check_variant("hebei", **settings)


def test_every_check_of_the_kit_is_listed():
    apart = {"check_variant", "check_official", "check_pettingzoo", "check_gymnasium"}
    apart |= {"check_cases", "check_complete", "check_hand", "check_scene"}  # of written cases
    apart |= {"check_copies_of_environments", "check_environment_copies"}  # of environments
    assert {name for name in testing.__all__ if name.startswith("check_")} - apart == {
        check.__name__ for check in testing.CHECKS
    }


# --- What is refused (by checks of the engine: test_twins.py) ---------------------------------------------------------


class ForgetsItsSeed(MahjongAEC):
    """Every game is another one, whatever the seed."""

    def reset(self, seed=None, options=None):
        super().reset(None, options)


class WithoutMask(MahjongAEC):
    """The mask is missing in observations."""

    def observe(self, agent):
        return {"observation": super().observe(agent)["observation"]}


class LargeNumbers(SingleSeatEnv):
    """Observations are no longer in their space."""

    def reset(self, *, seed=None, options=None):
        seen, info = super().reset(seed=seed, options=options)
        return seen.astype(np.int32) + 1000, info


@pytest.mark.parametrize("twin", [ForgetsItsSeed, WithoutMask])
def test_what_pettingzoo_refuses_is_refused(twin):
    with pytest.raises(ConformanceError, match="PettingZoo: "):
        testing.check_pettingzoo(lambda: twin("hebei"))


def test_what_gymnasium_refuses_is_refused():
    with pytest.raises(ConformanceError, match="Gymnasium: "):
        testing.check_gymnasium(lambda: LargeNumbers("hebei"))


# --- What the kit itself relies on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_eager_play_wins_and_random_play_does_not(variant):
    wins = {}
    for name in ("random", "eager"):
        engine, rng, wins[name] = make_engine(variant, 32, seed=3), np.random.default_rng(3), 0
        while (engine.seat_to_act >= 0).any():
            eager = testing.eager_actions(engine, rng)
            actions = eager if name == "eager" else testing.random_actions(engine.action_mask, rng)
            wins[name] += int((engine.step(actions).outcome.winner >= 0).sum())
    assert wins["eager"] >= 16 > 8 >= wins["random"]
