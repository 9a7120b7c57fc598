"""Critics: what they are shown, and that those that are shipped foresee hands."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.policy.critic import PRIVILEGED_FEATURES, CriticInputs, critic_scales, shipped_critic, table_rows
from mahjong_agents.policy.inputs import TABLE_FACTS
from mahjong_env import VARIANTS
from mahjong_env import rules as make_rules
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning.self_play import play_hands
from support.marks import variants
from support.positions import in_mid_hand

KNOWN = len(PRIVILEGED_FEATURES)
UNKNOWN = [0] * (KNOWN - 1) + [8]


def test_a_critic_is_shown_the_table_and_what_others_knew_when_they_last_decided():
    followed, facts = CriticInputs(2, 3), list(TABLE_FACTS)
    table = np.zeros((1, len(facts)), np.int8)
    table[0, [facts.index("distance 2"), facts.index("best help"), facts.index("own pungs")]] = 1, 9, 3
    game, first, second = np.array([1]), np.array([0]), np.array([2])
    followed.note(game, first, table)
    told = [9 if name == "best help" else 3 if name == "own pungs" else 0 for name in PRIVILEGED_FEATURES]
    told[-1] = 2
    shown = followed.of(game, second, table * 2)[0]
    assert shown[: len(facts)].tolist() == (table[0] * 2).tolist()
    assert shown[len(facts) :].tolist() == told + UNKNOWN  # next seat first
    assert followed.of(game, first, table)[0, len(facts) :].tolist() == UNKNOWN * 2  # nothing of itself
    assert followed.of(np.array([0]), second, table)[0, len(facts) :].tolist() == UNKNOWN * 2
    followed.forget(game)
    assert followed.of(game, second, table)[0, len(facts) :].tolist() == UNKNOWN * 2
    none = np.zeros(0, np.intp)
    assert followed.of(none, none, table[:0]).shape == (0, len(critic_scales(2)))


def test_facts_of_the_table_are_worked_out_where_a_network_was_not_shown_them():
    view = in_mid_hand("hebei", 5, 30).view()
    _, inputs = make_agent("policy:hebei").decide(view, np.random.default_rng(0))
    assert table_rows(inputs, view) is inputs.per_decision["table"]
    np.testing.assert_array_equal(table_rows(None, view), inputs.per_decision["table"])


def test_house_rules_have_no_critic():
    assert shipped_critic(make_rules("hebei", players=4)) is None


@pytest.mark.parametrize("variant", variants("taiwan"))
def test_shipped_critics_foresee_hands_that_they_have_not_learned_from(variant):
    rules, network = VARIANTS[variant], make_agent(f"policy:{variant}").network
    played = play_hands(rules, network, [], tables=512, share=0.0, seed=(9, 9, 9), luck_weights=useful_weights(rules))
    unit, found = sigma(rules), shipped_critic(rules)(played.critic_inputs)
    paid = np.zeros(played.points.size)
    np.add.at(paid, played.trajectory, played.reward)
    before = np.empty(len(played))
    so_far = np.zeros(played.points.size)
    for at, trajectory in enumerate(played.trajectory):
        before[at] = so_far[trajectory]
        so_far[trajectory] += played.reward[at]
    rest = paid[played.trajectory] - before
    explained = 1 - np.mean((rest - found) ** 2) / rest.var()
    assert explained > 0.05
    assert abs(np.mean(rest - found)) < 0.1 * unit
