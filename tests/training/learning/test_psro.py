"""Learning against a pool: the matrix says who is drawn, what was learned joins the pool, and nothing is redone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_training.config import PsroConfig, TrainConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import matches
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.learning import psro
from mahjong_training.learning import run as ppo_run

CONFIG = PsroConfig(variant="hebei", pool=("random", "greedy", "closed-greedy"), rounds=2, hands=24, deals=30)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Rounds that take a second, in which every gate is passed."""
    trained = []

    def settings(**given):
        trained.append(TrainConfig(**given | {"tables": 12, "critic_hands": 12, "width": 8, "parts": 1}))
        return replace(trained[-1], evaluations=1, evaluation_deals=2, gate_deals=2, ema_decay=0)

    monkeypatch.setattr(psro, "TrainConfig", settings)
    monkeypatch.setattr(psro, "sigma", lambda rules: 4.0)
    monkeypatch.setattr(ppo_run, "sigma", lambda rules: 4.0)
    monkeypatch.setattr(ppo_run, "gate", lambda *given, **rest: (Estimate(1.0, 0.5, 1.5), 2))
    return trained


@pytest.mark.thorough
def test_rounds_learn_from_the_mixture_and_go_on_where_they_stopped(tmp_path, monkeypatch, small):
    config = replace(CONFIG, out=tmp_path / "pool")
    one, two, end = psro.run(config)
    assert one.pool == CONFIG.pool
    assert two.pool == (*one.pool, one.added)
    assert end.pool == (*two.pool, two.added)
    assert end.added is None
    for now, trained in zip((one, two), small, strict=True):
        drawn = dict(zip(trained.opponents, trained.opponent_odds, strict=True))
        wanted = {spec: share for spec, share in zip(now.pool, now.mixture, strict=True) if share >= 0.01}
        assert drawn == pytest.approx(wanted, abs=0.02)
        assert "random" not in drawn  # it loses to everybody
        assert (np.array(now.matrix) != 0).sum() == len(now.pool) * (len(now.pool) - 1)
    assert [trained.teacher for trained in small] == ["greedy", one.added]
    assert make_agent(two.added).name.endswith("best")
    played, learned = [], []
    play, update = matches.play_block, ppo_run.PpoRun.update
    monkeypatch.setattr(matches, "play_block", lambda *given: played.append(given) or play(*given))
    monkeypatch.setattr(ppo_run.PpoRun, "update", lambda run: learned.append(run) or update(run))
    before = json.loads((tmp_path / "pool" / psro.FILE).read_text(encoding="utf-8"))
    assert psro.run(config)[-1] == end
    assert (played, learned) == ([], [])
    assert json.loads((tmp_path / "pool" / psro.FILE).read_text(encoding="utf-8")) == before
    with pytest.raises(TrainingError, match="another --deals: 30"):
        psro.run(replace(config, deals=31))


def test_it_ends_where_nothing_beats_the_mixture(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(psro, "_response", lambda *given: None)
    (only,) = psro.run(replace(CONFIG, pool=("random", "greedy"), out=tmp_path / "pool"))
    assert only.added is None
    assert only.mixture == pytest.approx([0, 1], abs=1e-3)
    assert only.ratings[0][0] < only.ratings[0][2] < 0
    assert "| 1: greedy | " in capsys.readouterr().out
