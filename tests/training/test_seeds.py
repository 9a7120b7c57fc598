"""What is learned from, what is measured and what a user deals come from ranges of seeds that do not meet."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest

from mahjong_agents import GreedyAgent
from mahjong_agents.policy.network import ActionNetwork, prior, shapes
from mahjong_agents.shared_chance import deal_keys, decision_keys
from mahjong_env import rules
from mahjong_env.basics import chance
from mahjong_env.engine import arguments, batch
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_training.evaluation import matches as evaluation
from mahjong_training.evaluation.matches import measure
from mahjong_training.learning.run import gate
from mahjong_training.learning.self_play import play_hands
from mahjong_training.sb3.vec_env import TableVecEnv
from mahjong_training.seeds import (
    LUCK_SEED,
    SIGMA_SEED,
    USER_SEEDS,
    blind_seed,
    curve_seed,
    entry_seed,
    evaluation_seed,
    gate_seed,
    response_seed,
    training_seed,
)

LAST = USER_SEEDS - 1
RANGES = {
    "reset": (0, LAST),
    "control variates": (LUCK_SEED, LUCK_SEED),
    "sigma": (SIGMA_SEED, SIGMA_SEED),
    "evaluation": (evaluation_seed(0), evaluation_seed(LAST)),
    "curve": (curve_seed(0), curve_seed(LAST)),
    "blind": (blind_seed(0), blind_seed(10**6 - 1)),
    "response": (response_seed(0), response_seed(LAST)),
    "entry": (entry_seed("0"), entry_seed("f" * 64)),
    "gate": (gate_seed(0, 0), gate_seed(LAST, 2**16 - 1)),
    "training": (2**56, 2**57 - 1),
}
HEBEI = rules("hebei")


@pytest.fixture
def dealt(monkeypatch):
    """The seeds that engines are dealt from, as they are asked for."""
    seeds, fold = [], chance.fold_seed

    def noted(seed):
        seeds.append(seed)
        return fold(seed)

    for module in (arguments, evaluation):
        monkeypatch.setattr(module, "fold_seed", noted)
    return seeds


def from_range(name, seeds):
    low, high = RANGES[name]
    return [low <= seed <= high for seed in seeds]


class TestRanges:
    def test_do_not_meet(self):
        for (_, high), (low, _) in pairwise(sorted(RANGES.values())):
            assert high < low

    def test_of_other_purposes_stay_where_they_are(self):
        assert evaluation_seed(blind_seed(7)) == blind_seed(7)
        assert evaluation_seed(gate_seed(3, 4)) == gate_seed(3, 4)

    def test_of_gates_and_training_hold_a_seed_once(self):
        assert len({gate_seed(seed, number) for seed in range(100) for number in range(100)}) == 10_000
        training = {training_seed(*numbers) for numbers in np.ndindex(50, 50, 4)}
        assert len(training) == 10_000
        assert all(from_range("training", training))

    def test_the_hands_of_all_ranges_are_distinct(self):
        seeds = [seed for low, high in RANGES.values() for seed in {*range(low, min(low + 100, high + 1)), high}]
        folded = np.array([chance.fold_seed(seed) for seed in seeds], np.uint64)
        found = chance.hand_keys(folded[:, None, None], np.arange(200)[:, None], np.arange(5))
        assert len(np.unique(found)) == found.size

    def test_keys_of_the_agents_chance_are_distinct_and_not_symmetric(self):
        found = np.stack([deal_keys(seed, np.arange(2000)) for seed in range(2000)])
        assert len(np.unique(found)) == found.size
        assert (found != found.T).sum() == 2000 * 1999
        decisions = decision_keys(found[:200, :100].reshape(-1)[:, None], np.arange(4)[:, None, None], np.arange(5))
        assert len(np.unique(decisions)) == decisions.size


def play_by_self():
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(8).items()}
    network = ActionNetwork(weights | {"prior": prior(claims=True)})
    play_hands(HEBEI, network, [], tables=2, share=0, seed=(7, 1, 0))


def play_at_tables():
    tables = TableVecEnv(HEBEI, 2, [GreedyAgent()], seed=7)
    for seed in (7, 8):
        tables.seed(seed)
        tables.reset()


def reset_by_a_user():
    with closing(MahjongVectorEnv(2, "hebei", opponents="random")) as environments:
        environments.reset(seed=7)


AGENTS = [GreedyAgent(), GreedyAgent(claims=False)]
USES = [
    ("evaluation", lambda: measure(HEBEI, AGENTS, (0, 1, 1), deals=2, seed=7)),
    ("gate", lambda: gate(HEBEI, *AGENTS, [(1.0, AGENTS[0])], deals=2, seed=7, number=3)),
    ("training", play_by_self),
    ("training", play_at_tables),
    ("reset", reset_by_a_user),
]


@pytest.mark.parametrize(("name", "play"), USES)
def test_every_way_to_play_deals_from_its_own_range(name, play, dealt):
    """Each of these was dealt from the range of users once."""
    play()
    assert from_range(name, dealt[-1:]) == [True]
    assert name == "reset" or not any(from_range("reset", set(dealt) - {0}))  # with 0 engines are made


def test_a_deal_of_an_evaluation_is_none_of_reset():
    engine = evaluation.deal(HEBEI, np.arange(50), 7)
    assert not (engine.state.wall == batch.Engine(HEBEI, 50, seed=7).state.wall).all(axis=1).any()
