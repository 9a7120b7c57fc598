"""The policies that are installed with the package: small, safe to load, with a card, and able to play."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy import plane_inputs
from mahjong_agents.policy.file import SHIPPED, PolicyFile, find_policy
from mahjong_agents.policy.plane_inputs import inputs_fingerprint
from mahjong_env import OBSERVATION_VERSION, VARIANTS, make_engine, rules
from proof.batches import random_knobs

NAMES = sorted(path.stem for path in SHIPPED.glob("*.zip"))


def test_all_of_them_take_less_than_five_megabytes():
    assert NAMES
    assert set(NAMES) <= set(VARIANTS)
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 5 * 2**20


@pytest.mark.parametrize("name", NAMES)
class TestPolicy:
    def test_is_found_by_the_name_of_its_variant(self, name):
        agent = make_agent(f"policy:{name}")
        engine, rng = make_engine(name, 20, seed=1), np.random.default_rng(0)
        while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
            engine.step(agent.act(engine.view(live), rng), games=live)
        assert find_policy(name) == SHIPPED / f"{name}.zip"

    def test_it_plays_what_it_likes_best(self, name):
        view, agent = make_engine(name, 20, seed=1).view(), make_agent(f"policy:{name}")
        liked, chosen = agent.scores(view), agent.act(view, np.random.default_rng(0))
        np.testing.assert_array_equal(liked[np.arange(20), chosen], liked.max(axis=1))
        assert (liked.max(axis=1) > np.where(np.isfinite(liked), liked, np.inf).min(axis=1)).all()

    def test_its_card_says_how_it_was_made_and_how_strong_it_is(self, name):
        card, saved = (SHIPPED / f"{name}.md").read_text(encoding="utf-8"), PolicyFile.read(SHIPPED / f"{name}.zip")
        assert saved.variant == name
        assert f"mahjong-env train --variant {name}" in card
        assert f"| learned from | {saved.training['hands']:,} hands, {saved.training['steps']:,} decisions" in card
        for level in ("random", "greedy", "closed-greedy"):
            assert re.search(rf"^\| {level} \| [\d,]+ \| [+-][\d.]+ ± [\d.]+ \| [+-][\d.]+ ± [\d.]+ \|", card, re.M), (
                level
            )


def test_a_policy_without_a_name_is_the_shipped_one_or_else_the_better_greedy():
    for variant, knobs, of_name in (("wuhan", {}, "policy:wuhan"), ("hebei", {"cap": 8}, "closed-greedy")):
        view = make_engine(variant, 40, seed=1, **knobs).view()
        found, wanted = (make_agent(text).act(view, np.random.default_rng(0)) for text in ("policy", of_name))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_under_house_rules_that_nothing_was_learned_for_shipped_agents_play_as_the_better_greedy(variant):
    """Under fifty sets of them; a policy that is named plays all the same, as whoever names it wants."""
    rng, others = np.random.default_rng(7), 0
    for seed in range(50):
        played = rules(variant, **random_knobs(variant, rng))
        if played.plays_as(VARIANTS[variant]):
            continue
        view, others = make_engine(played, 6, seed=seed).view(), others + 1
        wanted = make_agent("reference").act(view, np.random.default_rng(0))
        for text in ("policy", "folding"):
            np.testing.assert_array_equal(make_agent(text).act(view, np.random.default_rng(0)), wanted)
    assert others > 40


def test_another_version_of_the_planes_leaves_the_policies_that_see_no_plane_as_they_are(monkeypatch):
    before = inputs_fingerprint()
    monkeypatch.setattr(plane_inputs, "OBSERVATION_VERSION", OBSERVATION_VERSION + 1)
    assert inputs_fingerprint() != before  # networks over planes are refused
    for name in NAMES:
        assert PolicyFile.read(SHIPPED / f"{name}.zip").variant == name
