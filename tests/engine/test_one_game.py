"""Small batches are played in plain Python (engine/one_game.py) as the phases would have played them."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from guangdong_mahjong.guangdong import RULES as GUANGDONG

from mahjong_env import VARIANTS, ActionError, IllegalActionError, make_engine
from mahjong_env.engine import one_game
from mahjong_env.hands.codes import encode
from mahjong_env.hands.summaries import FIRST_HONOUR_FACTS, facts_for_one, sum_of_one
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import Phase
from mahjong_env.testing.play import changed_array, choose_actions, frozen_arrays, require_same_states
from mahjong_env.variants.hebei import Hebei
from proof.batches import Batch, make_batch, most_games
from proof.both_ways import WaysDifferError, play_both_ways
from support.house_rules import HOUSES

# What the phases ask of rules about games, and the way through a step on which they ask it.
ON_RARE_WAYS = {
    *("begin_match", "begin_hand", "opening_options", "opening_tiles", "take_opening", "kong_payments", "after_kong"),
    *("succeed", "pass_deal", "rotate", "match_over", "on_flower", "concealed_kong_kinds"),
}
NO_QUESTIONS = {"wild_kinds", "deal_words", "complete", "score", "legal", "tiles_short_of_one", "knob_help"}


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("number", range(4))
def test_both_ways_are_the_same(variant, number):
    """A batch of random, one of greedy and two of steered play; the proof plays thousands of hands like this."""
    batch = make_batch(variant, number, 4)
    _, actions, left = play_both_ways(batch, 4, most_hands=6)
    assert batch.style != "random" or left < actions / 4


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_house_rules(variant):
    hands, _, _ = play_both_ways(Batch(variant, 3, "random", HOUSES[variant], 2, "first"), 4, most_hands=8)
    assert hands


def test_variants_of_others():
    _, actions, left = play_both_ways(Batch(GUANGDONG, 1, "random", {}, 2, "first"), 4, most_hands=8)
    assert left < actions / 5


@pytest.mark.parametrize("question", [*one_game.NOT_ASKED, "tiles_short"])
def test_who_answers_a_question_of_this_way_is_played_by_the_phases(question):
    assert one_game.can_play(Hebei())
    answered = type("Answered", (Hebei,), {question: lambda self, *given: getattr(Hebei, question)(self, *given)})
    assert not one_game.can_play(answered())
    assert make_engine(answered(), 2, seed=1)._few_games is None


def test_every_question_has_its_place():
    """A new question of `Rules` about games is asked here too, or is in the list of those that send games away."""
    about_games = {
        name
        for name, function in inspect.getmembers(Rules, inspect.isfunction)
        if {"state", "seats", "games", "codes"} & set(inspect.signature(function).parameters)
    }
    assert about_games - ON_RARE_WAYS - NO_QUESTIONS == {*one_game.NOT_ASKED, "tiles_short"}


def test_a_difference_is_found(monkeypatch):
    monkeypatch.setattr(one_game, "CLAIMED", 33)
    with pytest.raises(WaysDifferError, match="river differs"):
        play_both_ways(make_batch("hebei", 1, 4), 4)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_hands_are_as_short_as_arrays_say(variant):
    rules, words = VARIANTS[variant], facts_for_one()
    rng, short_of_one = np.random.default_rng(0), VARIANTS[variant].tiles_short_of_one()
    for melds in (0, 1, 3):
        # Few kinds, so that pairs, sets and orphans come about.
        kinds = [rng.choice(34, rng.integers(5, 15), replace=False) for _ in range(200)]
        counts = np.stack([np.bincount(rng.choice(few, 12), minlength=34) for few in kinds]).clip(0, 4)
        for wilds in range(4):
            codes = encode(counts)
            many = rules.tiles_short(codes, np.full(200, wilds, np.int8), np.full(200, melds, np.int8))
            for row, (one, two, three, four) in enumerate(codes.tolist()):
                sums = sum_of_one(words[one], words[two], words[three], words[four + FIRST_HONOUR_FACTS])
                assert short_of_one((one, two, three, four), *sums, wilds, melds) == many[row]


@pytest.mark.parametrize("actions", [[0, 999], [0, -1], [0], [0, 0.5], ["a", "b"], None, [0, 107], [108, 108]])
def test_what_is_refused_changes_nothing(actions):
    engine, phases = make_engine("wuhan", 2, seed=3), make_engine("wuhan", 2, seed=3)
    with most_games(0):
        assert phases._few_games is None
    if actions is not None and actions[0] == 0 and actions[-1] != 0.5:
        actions = [int(engine.action_mask[0].argmax()), *actions[1:]]
    before = frozen_arrays(engine)
    told = []
    for asked in (engine, phases):
        with pytest.raises((ActionError, IllegalActionError)) as error:
            asked.step(actions)
        told.append((type(error.value), str(error.value)))
    assert told[0] == told[1]
    assert changed_array(engine, before) is None
    assert not engine.moves(np.arange(2)).max() > 1


def test_lists_arrays_games_and_games_that_are_over():
    engine, phases = make_engine("hebei", 3, seed=5), make_engine("hebei", 3, seed=5)
    with most_games(0):
        assert phases._few_games is None
    rng = np.random.default_rng(1)
    for step in range(400):
        actions = choose_actions(phases, rng)
        games = [None, np.array([2, 0]), [1], np.array([False, True, True])][step % 4]
        chosen = actions if games is None else actions[games]
        form = (list, np.asarray, np.ndarray.tolist, lambda some: some.astype(np.uint8))[step % 5 % 4]
        one, other = engine.step(form(chosen), games), phases.step(chosen, games)
        assert np.array_equal(one.rewards, other.rewards)
        assert np.array_equal(one.done, other.done)
        require_same_states(phases, engine, np.arange(engine.num_games), "few games")
    assert (engine.state.phase == Phase.OVER).any()


def test_a_game_that_is_alone():
    engine, phases = (
        make_engine("taiwan", 1, seed=5, auto_reset=True),
        make_engine("taiwan", 1, seed=5, auto_reset=True),
    )
    with most_games(0):
        assert phases._few_games is None
    rng = np.random.default_rng(1)
    for step in range(300):
        action = choose_actions(phases, rng)
        one, other = engine.step(action.tolist()), phases.step(action)
        for name in ("rewards", "hand_over", "done", "truncated"):
            found, expected = getattr(one, name), getattr(other, name)
            assert np.array_equal(found, expected), name
            assert found.dtype == expected.dtype, name
        require_same_states(phases, engine, np.arange(engine.num_games), "few games")
        assert engine.moves(np.arange(1)) == phases.moves(np.arange(1)) == step + 2


def test_copies_go_on():
    engine = make_engine("fuzhou", 2, seed=2, auto_reset=True)
    rng = np.random.default_rng(0)
    for _ in range(50):
        engine.step(choose_actions(engine, rng))
    copies = [copy.deepcopy(engine), pickle.loads(pickle.dumps(engine)), engine.select([0, 1])]
    then = engine.snapshot()
    for _ in range(40):
        actions = choose_actions(engine, rng)
        for each in (engine, *copies):
            each.step(actions)
    for each in copies:
        require_same_states(each, engine, np.arange(2), "a copy")
    engine.restore(then)
    engine.step(choose_actions(engine, rng))
    assert not np.array_equal(engine.state.turns, copies[0].state.turns)
