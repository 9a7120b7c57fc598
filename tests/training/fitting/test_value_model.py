"""Learning outcomes: what is kept of hands adds up, and the network learns what can be foreseen."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents.greedy import reference_agent
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_training.evaluation.matches import sigma
from mahjong_training.fitting.opponent_hands import count
from mahjong_training.fitting.value_model import Experience, collect, learn, write


@pytest.fixture(scope="module")
def experience():
    played = rules("fuzhou")
    return Experience.joined(list(collect(played, reference_agent(played), hands=1, seed=3, explored=0.2)))


def test_points_and_wins_are_those_of_the_hands(experience):
    """Whoever wins is paid what it won, unless kongs or liabilities come between; a deal-in costs points."""
    unit = sigma(rules("fuzhou"))
    won = experience.win
    assert 0.1 < won.mean() < 0.5
    assert (experience.points_of_win[won] > 0).all()
    assert (experience.points_of_win[~won] == 0).all()
    np.testing.assert_allclose(np.median(experience.points[won] - experience.points_of_win[won]), 0, atol=1e-5)
    assert 0.005 < experience.deal_in.mean() < 0.2
    assert (experience.points[experience.deal_in] < 0).mean() > 0.95
    assert not (experience.deal_in & experience.win).any()
    points = experience.points * unit
    np.testing.assert_allclose(points, points.round(), atol=1e-2)


def test_a_network_foresees_wins(experience, tmp_path):
    network = learn(experience, sigma(rules("fuzhou")), epochs=40, seed=0)
    held_out = experience.hand % 10 == 0
    found = network(experience.numbers[held_out].astype(np.float32))
    won = experience.win[held_out]
    assert found.win[won].mean() > found.win[~won].mean() + 0.1
    assert abs(found.win.mean() - won.mean()) < 0.06
    write(network, rules("fuzhou"), tmp_path / "numbers.npz")
    write(network, rules("hebei"), tmp_path / "numbers.npz")
    with np.load(tmp_path / "numbers.npz") as arrays:
        assert {name.split("_")[0] for name in arrays.files} == {"fuzhou", "hebei"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["foreign.npz", "folder"])
def test_where_nothing_can_be_written_nothing_is_learned(name, tmp_path, monkeypatch, capsys):
    (tmp_path / "foreign.npz").write_bytes(b"no numbers")
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("mahjong_training.fitting.value_model.collect", None)
    monkeypatch.setattr("mahjong_training.fitting.opponent_hands.count", None)
    assert main(["fit-value-model", "--variant", "hebei", "--out", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / name}: ")
    assert (tmp_path / "foreign.npz").read_bytes() == b"no numbers"
    if name == "folder":
        assert main(["fit-opponent-hands", "--out", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.startswith(f"error: {tmp_path / name}: ")


def test_hands_come_nearer_with_every_turn():
    counts = count(rules("hebei"), hands=1, seed=0)
    distances = np.arange(counts.shape[2])
    by_turn = counts.sum(axis=1)
    means = (by_turn * distances).sum(axis=1)[1:10] / by_turn.sum(axis=1)[1:10]
    assert (np.diff(means) < 0).all()
    assert counts[:, :, 0].sum() == 0
