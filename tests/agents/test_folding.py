"""Folding: the model foresees who waits for what, and the agent gives hands up by it."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import AgentError, make_agent, reference_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.value.folding import FoldingAgent, shipped_model
from mahjong_env import VARIANTS, make_engine, rules
from mahjong_env.basics.actions import CONCEALED_KONG
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure
from mahjong_training.seeds import curve_seed
from support.marks import everyday

FOLDS = [name for name in sorted(VARIANTS) if (model := shipped_model(VARIANTS[name])) and model.loss]


def discards_late_in_hands(variant, hands=200):
    """Views and hidden hands of all discards from the fourth of each seat on, played by the reference agent."""
    engine, rng = make_engine(variant, hands, seed=curve_seed(77)), np.random.default_rng(0)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(games=live)
        actions = reference_agent(engine.rules).act(view, rng)
        late = np.flatnonzero((actions < CONCEALED_KONG) & (view.num_discards >= 3 * engine.rules.seats))
        if late.size:
            yield view.take(late), engine.hidden(live[late], engine.seat_to_act[live[late]]), actions[late]
        engine.step(actions, games=live)


@pytest.mark.parametrize("variant", everyday(FOLDS, ["taiwan"]))
def test_what_is_waited_for_is_foreseen(variant):
    """Of a discard that somebody waits for and one that nobody waits for, the first has the greater danger."""
    model, danger, waited = shipped_model(rules(variant)), [], []
    for view, hidden, _ in discards_late_in_hands(variant):
        row, kind = np.nonzero(view.action_mask[:, :CONCEALED_KONG])
        danger.append(model.danger(view, row, kind))
        waited.append(hidden.waits[row, 1:, kind].any(axis=1))
    danger, waited = np.concatenate(danger), np.concatenate(waited)
    order = danger.argsort().argsort()
    area = (order[waited].mean() - (waited.sum() - 1) / 2) / (~waited).sum()
    assert waited.sum() > 100
    assert area > 0.68


def test_it_deals_in_less_and_wins_as_much():
    """In Taiwan a third of the deal-ins goes; without caution, or knowledge, it is the reference agent or no worse."""
    played = rules("taiwan")
    lineup, luck_off = one_against_copies(0, 1, played.people), useful_weights(played) is not None
    folding, greedy = make_agent("folding"), reference_agent(played)
    found = measure(played, [folding, greedy], lineup, deals=150, seed=3, control_variates=luck_off)
    assert found.of(0).deal_ins.mean < 0.75 * found.of(1).deal_ins.mean
    assert found.of(0).points.high > 0


def test_with_more_caution_discards_are_safer():
    model, agents = shipped_model(rules("taiwan")), [FoldingAgent(caution=caution) for caution in (0, 2, 100)]
    danger = np.zeros(len(agents))
    for view, _, _ in discards_late_in_hands("taiwan", hands=60):
        for number, agent in enumerate(agents):
            chosen = agent.act(view, np.random.default_rng(0))
            danger[number] += model.danger(view, np.arange(len(view)), chosen).sum()
    assert danger[1] < 0.7 * danger[0]
    assert danger[2] < 0.8 * danger[1]


@pytest.mark.parametrize(("variant", "knobs"), [("wuhan", {}), ("hebei", {"cap": 8})])
def test_where_nothing_is_known_or_lost_it_plays_as_the_reference(variant, knobs):
    """In Wuhan whoever deals in pays no more than whoever does not."""
    view = make_engine(variant, 60, seed=4, **knobs).view()
    found, wanted = (make_agent(text).act(view, np.random.default_rng(0)) for text in ("folding", "reference"))
    np.testing.assert_array_equal(found, wanted)


def test_caution_is_a_number():
    with pytest.raises(AgentError, match="from 0 to 1000, not -1"):
        make_agent("folding?caution=-1")
