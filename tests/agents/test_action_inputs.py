"""Inputs for each action, and added ones: what they say, and that a network without any learning plays like greedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import AgentError, GreedyAgent, look_ahead
from mahjong_agents.greedy import best_actions
from mahjong_agents.policy.custom_features import added_inputs, find_features
from mahjong_agents.policy.inputs import ACTION_FACTS, TABLE_FACTS, action_inputs
from mahjong_agents.policy.network import (
    ActionNetwork,
    draw,
    greatest_of_rows,
    log_probabilities,
    prior,
    shapes,
    table_scales,
)
from mahjong_agents.value.completions import unit
from mahjong_agents.value.plan_value import decline_wins
from mahjong_env import VARIANTS, View, action, make_engine
from support.marks import variants

FACTS, TABLE = list(ACTION_FACTS), list(TABLE_FACTS)


def views(variant, games=64, steps=70, every=9):
    """Positions of greedy play."""
    engine, agent, rng = make_engine(variant, games, seed=3), GreedyAgent(), np.random.default_rng(0)
    for step in range(steps):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        if not live.size:
            return
        view = engine.view(live)
        if step % every == 0:
            yield view
        engine.step(agent.act(view, rng), games=live)


def without_learning(*, claims=True):
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(4).items()}
    return ActionNetwork(weights | {"prior": prior(claims=claims)})


def scaled_roots(inputs, rows, name, size):
    """[n] the largest number of a row whose root, times a size, is a fact."""
    numbers = np.zeros(rows)
    np.maximum.at(numbers, inputs.row, (inputs.per_action["facts"][:, FACTS.index(name)] / size) ** 2)
    return numbers


@pytest.mark.parametrize("variant", variants("fuzhou", "hebei", "wuhan"))
class TestInputs:
    def test_every_legal_action_has_its_facts(self, variant):
        for view in views(variant):
            inputs = action_inputs(view)
            row, legal = np.nonzero(view.action_mask)
            np.testing.assert_array_equal(inputs.row, row)
            np.testing.assert_array_equal(inputs.action, legal)
            ahead = look_ahead(view)
            behind = (ahead.distance - ahead.distance.min(axis=1, keepdims=True))[row, legal]
            np.testing.assert_array_equal(inputs.per_action["facts"][:, FACTS.index("behind")], np.minimum(behind, 4))
            np.testing.assert_array_equal(inputs.per_action["facts"][:, FACTS.index("pass")], legal == action("pass"))
            discard = legal < 34
            held = view.hand[row, legal % 34]
            np.testing.assert_array_equal(inputs.per_action["facts"][discard, FACTS.index("held")], held[discard])
            np.testing.assert_array_equal(
                inputs.per_decision["table"][:, TABLE.index("left")], np.minimum(view.left, 127)
            )

    def test_a_row_does_not_depend_on_its_neighbours(self, variant):
        for view in views(variant, games=12):
            inputs = action_inputs(view)
            row = len(view) // 2
            alone = action_inputs(view.take(np.array([row])))
            np.testing.assert_array_equal(alone.per_action["facts"], inputs.per_action["facts"][inputs.row == row])
            np.testing.assert_array_equal(alone.per_decision["table"][0], inputs.per_decision["table"][row])

    def test_without_learning_it_plays_as_greedy_but_for_wins_that_are_better_declined(self, variant):
        agree = total = 0
        for view in views(variant):
            inputs = action_inputs(view)
            chosen = inputs.action[greatest_of_rows(without_learning().scores(inputs), inputs.row)]
            wins = view.action_mask[:, action("win")]
            declined, pays = (
                scaled_roots(inputs, len(view), name, size) for name, size in (("win declined", 5), ("win pays", 10))
            )
            assert (chosen[wins & (declined < pays * 100)] == action("win")).all()
            assert (chosen[wins & (declined > pays * 200)] != action("win")).all()
            good = np.zeros(view.action_mask.shape, np.bool_)
            good[best_actions(view)] = True
            others = np.flatnonzero(~wins)
            agree += good[others, chosen[others]].sum()
            total += len(others)
        assert agree > 0.97 * total  # it weighs a claim's help against its rank, where greedy has an order

    def test_without_learning_it_can_keep_its_hand_closed(self, variant):
        claims = [action(name) for name in ("chow low", "chow middle", "chow high", "pung", "kong")]
        for view in views(variant):
            inputs = action_inputs(view)
            scores = without_learning(claims=False).scores(inputs)
            assert not np.isin(inputs.action[greatest_of_rows(scores, inputs.row)], claims).any()


class TestNetwork:
    def test_the_last_bits_of_scores_choose_nothing(self):
        scores = np.array([0.5, 7.25, 3.0, 7.25, -2.0, -2.0], np.float32)
        row = np.array([0, 0, 0, 0, 1, 1])
        for up in range(len(scores)):
            other = scores.copy()
            other[up] = np.nextafter(other[up], np.float32(np.inf))
            assert greatest_of_rows(other, row).tolist() == [1, 4]

    def test_draws_have_the_probabilities_of_the_scores(self):
        scores = np.tile(np.array([0.0, 1.0, 2.0, 0.5], np.float32), 5000)
        row = np.repeat(np.arange(10_000), 2)
        drawn = draw(scores, row, np.random.default_rng(0))
        share = (drawn % 4 == 1).sum() / 5000
        assert abs(share - 1 / (1 + np.exp(-1))) < 0.03
        np.testing.assert_allclose(np.exp(log_probabilities(scores, row)).reshape(-1, 2).sum(axis=1), 1, rtol=1e-5)


# --- Added inputs of one's own --------------------------------------------------------------------------------------


EXAMPLE = Path(__file__).parents[2] / "notebooks" / "examples" / "my_features.py"


@pytest.mark.parametrize("variant", VARIANTS)
def test_they_stand_behind_those_of_the_table(variant):
    view, late = make_engine(variant, 5, seed=2).view(), find_features(f"{EXAMPLE}:Late")
    table, plain = (action_inputs(view, features).per_decision["table"] for features in (late, None))
    assert (table[:, :-3] == plain).all()
    assert (table[:, -3:] == added_inputs(late, view)).all()
    assert (table[:, -3] == np.minimum(view.left, 127)).all()
    assert table_scales(late)[-3:].tolist() == pytest.approx([1 / 70, 1 / 8, 1 / 8])


def test_they_may_be_given_by_name():
    view = make_engine("hebei", 3, seed=1).view()
    by_name = Wrong({"two": np.array([4, 5, 6]), "one": np.array([1, 2, 3], np.int8)})
    assert added_inputs(by_name, view).tolist() == [[1, 4], [2, 5], [3, 6]]


class Wrong:
    facts = {"one": 1.0, "two": 0.5}  # noqa: RUF012

    def __init__(self, returned):
        self.returned = returned

    def __call__(self, view):
        return self.returned


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        (np.zeros((3, 1), int), r"\(3, 2\) integers"),
        (np.zeros((3, 2)), "float64"),
        (np.array([[1, 2], [3, 200], [0, 0]]), "'two' is 200"),
        ({"one": np.zeros(3, int)}, r"for each of \['one', 'two'\], not \{'one': \(3,\)\}"),
        ({"one": np.zeros(3, int), "two": np.zeros((3, 1), int)}, r"'two': \(3, 1\)"),
    ],
)
def test_what_they_return_is_checked(returned, told):
    with pytest.raises(AgentError, match=told):
        added_inputs(Wrong(returned), make_engine("hebei", 3, seed=1).view())


class Scaled:
    def __init__(self, scale):
        self.facts = {"late": scale}

    def __call__(self, view):
        return {"late": view.left}


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ("late", "no class of added inputs is called 'late'"),
        (f"{EXAMPLE}:Early", "it offers Late"),
        (f"{EXAMPLE}:Late?fast=true", "no option 'fast'"),
        (3, "3 cannot be used as added inputs"),
        (lambda view: 0, "cannot be used as added inputs"),
        (Scaled(0.0), "plain numbers other than 0 by name, not {'late': 0.0}"),
        (Scaled("1/70"), "plain numbers other than 0 by name, not {'late': '1/70'}"),
        (Scaled(np.float32(0.1)), "plain numbers other than 0 by name"),
    ],
)
def test_added_inputs_that_there_are_not(features, told):
    with pytest.raises(AgentError, match=told):
        find_features(features)


# --- Wins ---------------------------------------------------------------------------------------------------------


def without_wins(view):
    arrays = {name: getattr(view, name) for name in (*View.array_names(), "exposed")}
    mask = view.action_mask.copy()
    mask[:, action("win")] = False
    return View(rules=view.rules, **arrays | {"action_mask": mask})


@pytest.mark.parametrize("variant", variants("hangzhou", "fuzhou"))
class TestWins:
    def test_what_is_left_to_those_who_decline_is_what_there_would_be_without_a_win(self, variant):
        seen = 0
        for view in views(variant, games=256, every=3):
            # Where a single action is left, nothing is looked at.
            view = view.take(np.flatnonzero(view.action_mask[:, action("win")] & (view.action_mask.sum(axis=1) > 2)))
            inputs, others = action_inputs(view), action_inputs(without_wins(view))
            is_win = inputs.action == action("win")
            declined = inputs.per_action["facts"][:, FACTS.index("win declined")]
            wait = others.per_action["facts"][:, FACTS.index("wait by draw")]
            compared = (others.action < action("chow low")) | (others.action == action("pass"))
            wait, half = (wait * compared).astype(int), declined[~is_win].astype(int)
            rounded = (np.abs(2 * half - wait) <= 1) | (wait == 127) & (half >= 63)
            assert rounded.all()
            assert (declined[is_win] == 0).all()
            seen += (half > 0).sum()
        assert seen > 20

    def test_a_win_says_what_it_pays(self, variant):
        seen = 0
        engine, agent, rng = make_engine(variant, 256, seed=3), GreedyAgent(), np.random.default_rng(0)
        live = np.arange(256)
        while live.size:
            view = engine.view(live)
            inputs, chosen = action_inputs(view), agent.act(view, rng)
            said = inputs.per_action["facts"][inputs.action == action("win"), FACTS.index("win pays")]
            wins = np.flatnonzero(view.action_mask[:, action("win")])
            priced = view.opening[wins] == 0
            persons = view.own_person[wins]
            result = engine.step(chosen, games=live)
            paid = result.rewards[wins, persons] / unit(VARIANTS[variant])
            expected = np.minimum(np.rint(10 * np.sqrt(np.maximum(paid, 0))), 127)
            np.testing.assert_array_equal(said[priced], expected[priced])
            seen += priced.sum()
            live = live[~result.hand_over & ~result.done]
        assert seen > 20


def test_wins_that_are_better_declined():
    declined = 0
    for view in views("hangzhou", games=256, every=1):
        wins = view.action_mask[:, action("win")]
        usual = np.where(wins, action("win"), view.action_mask.argmax(axis=1))
        actions = usual.copy()
        decline_wins(view, actions)
        assert view.action_mask[np.arange(len(view)), actions].all()
        changed = np.flatnonzero(actions != usual)
        assert wins[changed].all()
        inputs = action_inputs(view)
        of_draw, pays = (
            scaled_roots(inputs, len(view), name, size) for name, size in (("win declined", 5), ("win pays", 10))
        )
        better = wins & (of_draw >= 1.4 * pays * view.unseen.sum(axis=1))
        np.testing.assert_array_equal(np.flatnonzero(better), changed)
        declined += len(changed)
    assert declined > 5
