"""The gate: the better agent passes, the worse one does not, on deals that the run does not see elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_env import rules
from mahjong_training.evaluation.statistics import Estimate
from mahjong_training.learning import gate as gate_module
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.gate import gate

HEBEI = rules("hebei")
GREEDY, RANDOM = GreedyAgent(), RandomAgent()


def try_gate(candidate, best, number=1, deals=32):
    return gate(HEBEI, candidate, best, RANDOM, deals=deals, seed=3, number=number)


def test_it_is_what_the_candidate_wins_more():
    gain, loss, none = try_gate(GREEDY, RANDOM), try_gate(RANDOM, GREEDY), try_gate(GREEDY, GREEDY, deals=2)
    assert gain.low > 0
    assert (loss.mean, loss.low, loss.high) == pytest.approx((-gain.mean, -gain.high, -gain.low))
    assert none.mean == 0


def test_both_play_deals_of_their_own_gate(monkeypatch):
    seeds, measure = [], gate_module.measure

    def noting(*args, seed, **more):
        seeds.append(seed)
        return measure(*args, seed=seed, **more)

    monkeypatch.setattr(gate_module, "measure", noting)
    for number in (1, 2):
        try_gate(RANDOM, RANDOM, number=number, deals=2)
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]
    assert min(seeds) > 10**9  # of no run, by default


@pytest.mark.parametrize(
    ("gain", "passes"),
    [(Estimate(2, 1, 3), True), (Estimate(1, -1, 3), False), (Estimate(-2, -3, -1), False), (Estimate(0, 0, 0), False)],
)
def test_what_is_clear_of_zero_becomes_best(gain, passes, monkeypatch):
    monkeypatch.setattr(ppo_run, "gate", lambda *args, **more: gain)
    monkeypatch.setattr(ppo_run, "agent_of", lambda weights, **more: None)
    config = SimpleNamespace(gate_deals=5, seed=0)
    run = SimpleNamespace(rules=HEBEI, config=config, best="old", measured=1, _features=None, _luck=None)
    told = ppo_run.PpoRun._pass_gate(run, None, "new")
    assert run.best == ("new" if passes else "old")
    assert ("it is best.zip now" in told) == passes
