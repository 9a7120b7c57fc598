"""The examples of hidden information, run small: what they compute holds, and they fit on a page."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import make_engine
from mahjong_env.basics.actions import CONCEALED_KONG
from mahjong_env.cli import main
from mahjong_env.engine.claim_rules import MAY_WIN
from mahjong_env.state.arrays import Phase
from mahjong_training.datasets import open_dataset
from support.marks import everyday

FOLDER = Path(__file__).parents[2] / "notebooks" / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["hidden_hands", "deal_in_labels", "oracle_critic"])
def test_an_example_is_under_eighty_lines(name):
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 80


@pytest.mark.parametrize("variant", everyday(["hebei", "taiwan"], ["hebei"]))
def test_labels_say_who_is_then_asked_to_win(variant):
    labels, engine, rng = example("deal_in_labels"), make_engine(variant, 80, seed=2), np.random.default_rng(2)
    dealt_in = 0
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        in_turn = live[engine.state.phase[live] == Phase.TURN]
        told = labels.deal_ins(engine, in_turn).any(axis=1)
        actions = make_agent("greedy").act(engine.view(live), rng)
        chosen = dict(zip(live.tolist(), actions.tolist(), strict=True))
        engine.step(actions, games=live)
        wins = (engine.state.options & MAY_WIN).any(axis=1) & (engine.state.phase == Phase.CLAIM)
        for row, game in enumerate(in_turn.tolist()):
            if chosen[game] < CONCEALED_KONG:
                assert told[row, chosen[game]] == wins[game]
                dealt_in += wins[game]
    assert dealt_in > 5


@pytest.mark.thorough
def test_a_critic_with_sight_learns_beside_one_without():
    blind, sighted = example("oracle_critic").main("hebei", 300)
    assert np.isfinite([blind, sighted]).all()


@pytest.mark.thorough
def test_the_hands_of_others_are_learned_from_a_dataset(tmp_path):
    arguments = ("--variant", "hebei", "--agents", "greedy", "--hands", "256", "--out", str(tmp_path / "data"))
    assert main(["record", *arguments]) == 0
    data = open_dataset(tmp_path / "data")
    hands = example("hidden_hands")
    network, share = hands.learn(data, width=16)
    assert (share[:, 0] < 0.2).all()  # a kind of which none is unseen is held by nobody else
    assert (share[[0, 2], 4] > share[[0, 2], 1]).all()  # nobody sits across
    learned, base = hands.measure(data, network, share)
    assert 0 < learned < 0.8
    assert 0 < base < 0.6


def test_one_guesser_reads_the_order_and_the_other_does_not(capsys):
    torch = pytest.importorskip("torch")
    guess = example("next_discard")
    data = guess.positions("hebei", 20)
    late = np.flatnonzero((data[3][..., 0] > 0).sum(axis=1) == 12)[:4]
    assert late.size
    counts, events = (torch.from_numpy(column[late]) for column in data[2:])
    mixed = events.clone()
    mixed[:, :12] = events[:, torch.randperm(12, generator=torch.Generator().manual_seed(0))]
    for ordered in (False, True):
        torch.manual_seed(1)
        network = guess.Guess(ordered=ordered, width=8)
        assert torch.allclose(network(counts, events), network(counts, mixed), atol=1e-5) != ordered
    losses = guess.main("hebei", 60, seeds=1, epochs=1, width=8)
    assert np.isfinite(list(losses.values())).all()
    assert "in order less as a set" in capsys.readouterr().out
