"""Strong inputs for each action: what they say, and that a network without any learning plays like greedy."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, look_ahead
from mahjong_agents.greedy import best_actions
from mahjong_agents.policy.inputs import ACTION_FACTS, TABLE_FACTS, action_inputs
from mahjong_agents.policy.network import (
    ActionNetwork,
    draw,
    greatest_of_rows,
    log_probabilities,
    prior,
    shapes,
)
from mahjong_env import action, make_engine
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

    def test_without_learning_it_plays_as_greedy(self, variant):
        agree = total = 0
        for view in views(variant):
            inputs = action_inputs(view)
            chosen = inputs.action[greatest_of_rows(without_learning().scores(inputs), inputs.row)]
            wins = view.action_mask[:, action("win")]
            assert (chosen[wins] == action("win")).all()
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
    def test_draws_have_the_probabilities_of_the_scores(self):
        scores = np.tile(np.array([0.0, 1.0, 2.0, 0.5], np.float32), 5000)
        row = np.repeat(np.arange(10_000), 2)
        drawn = draw(scores, row, np.random.default_rng(0))
        share = (drawn % 4 == 1).sum() / 5000
        assert abs(share - 1 / (1 + np.exp(-1))) < 0.03
        np.testing.assert_allclose(np.exp(log_probabilities(scores, row)).reshape(-1, 2).sum(axis=1), 1, rtol=1e-5)
