"""Value: imagined hands are complete and priced by the variant, and its choices are legal, repeatable and better."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import GreedyAgent
from mahjong_agents.plans import KINDS_OF_PLAN, NUM_PLANS, PAIRS, PUNGS, Melds
from mahjong_agents.value.completions import complete, lay_open, price
from mahjong_agents.value.plan_value import PlanValueAgent, win_probability
from mahjong_env import VARIANTS, make_engine, rules, score
from mahjong_env.hands import encode, short_of_sets_and_pair, suit_summaries
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.scoring.wins import Source
from mahjong_training.evaluation.matches import measure
from support.repeatable import check_legal_and_repeatable


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_plays_legal_actions_to_the_end_and_the_same_ones_again(variant):
    check_legal_and_repeatable(variant, PlanValueAgent(samples=1))


def test_imagined_hands_are_complete_and_keep_to_their_plan():
    rng = np.random.default_rng(1)
    natural = np.zeros((90, 34), np.int8)
    for row in natural:
        np.add.at(row, rng.permutation(np.repeat(np.arange(34), 4))[:13], 1)
    plan = np.arange(90) % NUM_PLANS
    wilds = (np.arange(90) % 3).astype(np.int8)
    sets = np.full(90, 4)
    counts, last = complete(natural, wilds, sets, plan, 4 - natural, rng)
    np.testing.assert_array_equal(counts.sum(axis=1), 14 - wilds)
    assert (counts * ~unpack(KINDS_OF_PLAN)[plan] == 0).all()
    assert (counts[np.arange(90), last] > 0).all() or (wilds > 0).any()
    by_sets = plan <= PUNGS
    assert (short_of_sets_and_pair(suit_summaries(encode(counts[by_sets]))) <= wilds[by_sets]).all()
    assert ((counts[plan == PAIRS] % 2).sum(axis=1) <= wilds[plan == PAIRS]).all()


def test_prices_are_those_of_the_scoring():
    view = make_engine("hebei", 1, seed=0).view()
    counts = np.zeros((1, 34), np.int8)
    counts[0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]] = 1
    counts[0, 13] = 2
    nobody = Melds(*(np.full((1, 5), empty, np.int8) for empty in (0, -1, -1)))
    nothing, row = np.zeros(1, np.int8), np.zeros(1, np.intp)
    paid = price(view, row, counts, nothing, np.array([8]), nobody, Source.DRAW)
    described = score(
        "hebei",
        hand="12345678m 123p 55p",
        winning_tile="9m",
        source="draw",
        dealer=[0, 1, None, 2][view.dealer[0]],
    )
    assert paid.tolist() == [described.payments[0]]
    opened, laid, some = lay_open(counts, nothing, np.array([4]), nobody, np.random.default_rng(0))
    assert some.all()
    assert opened.sum() == 11
    assert laid.type[0, 0] == 1
    assert price(view, row, opened, nothing, opened.argmax(axis=1), laid, Source.DRAW) < paid


def test_chances_fall_with_distance_and_rise_with_help_and_time():
    def chance(distance, share, turns):
        one = np.ones(1)
        return win_probability(np.array([distance]), 90 * share * one, 90 * one, 1.0, one, one * turns, 0.3 * one)[0]

    assert 0 < chance(4, 0.4, 12) < chance(2, 0.4, 12) < chance(2, 0.4, 16) < 1
    assert chance(2, 0.1, 12) < chance(2, 0.2, 12)
    assert chance(3, 0.4, 2) == 0


@pytest.mark.thorough
def test_beats_greedy_in_wuhan():
    result = measure(rules("wuhan"), [GreedyAgent(), PlanValueAgent(samples=2)], (1, 0, 0, 0), deals=60, seed=70)
    assert result.of(1).points.low > 0
