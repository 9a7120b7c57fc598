"""Ratings by openskill: a deal is a match, and nobody is rated for the tiles."""

from __future__ import annotations

import csv
import json

import pytest

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.matches import measure
from mahjong_training.evaluation.ratings import rate


def test_the_better_agent_is_rated_higher():
    result = measure(rules("hebei"), [GreedyAgent(), RandomAgent()], (0, 1, 1), deals=40, seed=3)
    greedy, random = rate([result], 2)
    assert greedy.mu - greedy.sigma > 25 > random.mu + random.sigma
    assert greedy.matches == random.matches == 40


def test_copies_that_do_the_same_stay_equal():
    class Last:
        name = "last"

        def act(self, view, rng):
            return 108 - view.action_mask[:, ::-1].argmax(axis=1)

    one, other = rate([measure(rules("hebei"), [Last(), Last()], (0, 1, 1), deals=20, seed=3)], 2)
    assert one.mu == pytest.approx(25, abs=0.01)
    assert one.mu == pytest.approx(other.mu, abs=0.01)
    assert one.sigma < 25 / 3


@pytest.mark.parametrize(
    ("kind", "knobs", "tables", "agents"),
    [
        ("league", (), 3, ("greedy", "random", "closed-greedy")),
        ("pairs", ("players=4",), 1, ("greedy", "random")),
        ("duels", (), 2, ("greedy", "random")),
    ],
)
def test_every_kind_in_every_file(kind, knobs, tables, agents, tmp_path, capsys):
    variant = "hebei" if knobs else "wuhan"
    words = ["evaluate", "--variant", variant, *(("--knob", *knobs) if knobs else ()), "--lineups", kind]
    words += ["--seatings", "balanced", "--deals", "20", "--agents", *agents, "--out", str(tmp_path)]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "rating" in told
    assert "balanced orders of seats" in " ".join(told.split())
    assert max(map(len, told.splitlines()[:-1])) <= 80
    data = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert (data["kind"], data["seatings"], len(data["lineups"])) == (kind, "balanced", tables)
    with (tmp_path / "evaluation.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        assert float(line["rating"]) == data["ratings"][line["agent"]]["mu"]
    page = (tmp_path / "evaluation.html").read_text(encoding="utf-8")
    assert "All line-ups together" in page
    assert f"{data['ratings']['greedy']['mu']:.2f} ± " in page


def test_points_over_all_tables_are_clustered_by_deal():
    config = EvaluateConfig(variant="wuhan", agents=("greedy", "random"), lineups="league", deals=30)
    found = evaluate(config)
    (result,) = found.results
    assert found.overall(0) == result.of(0).points
    three = EvaluateConfig(variant="wuhan", agents=("greedy", "random", "closed-greedy"), lineups="league", deals=30)
    found = evaluate(three)
    shares = [(r.of(0).points.mean, r.orders * r.of(0).seats) for r in found.results]
    weighted = sum(mean * weight for mean, weight in shares) / sum(weight for _, weight in shares)
    assert found.overall(0).mean == pytest.approx(weighted)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--lineups", "league", "--agents", "greedy"), "a league takes at least two agents, not 1"),
        (("--lineups", "pairs", "--agents", "greedy", "random"), "--knob players=4"),
    ],
)
def test_line_ups_that_cannot_be(words, message, capsys):
    assert main(["evaluate", "--variant", "hebei", *words]) == 2
    assert message in capsys.readouterr().err
