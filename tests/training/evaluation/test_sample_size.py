"""How many deals a difference takes: by hand, and by trying it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mahjong_agents import GreedyAgent, RandomAgent
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_training.evaluation.estimates import FEWEST
from mahjong_training.evaluation.matches import measure
from mahjong_training.evaluation.sample_size import plan, spread_of


def test_deals_are_those_of_the_textbook():
    found = plan(0.5, 4.0, power=0.8)
    assert found.for_width == 246  # (1.95996 * 8)^2 = 245.9
    assert found.for_power == 503  # ((1.95996 + 0.84162) * 8)^2 = 502.3
    assert plan(1.0, 4.0, power=0.8).for_power == pytest.approx(503 / 4, abs=1)
    assert plan(100.0, 1.0, power=0.5).for_power == FEWEST


def test_so_many_deals_see_the_difference_as_often_as_promised():
    found = plan(0.3, 2.0, power=0.8)
    deals = np.random.default_rng(0).normal(0.3, 2.0, size=(2000, found.for_power))
    half = 1.96 * deals.std(axis=1, ddof=1) / np.sqrt(found.for_power)
    assert 0.77 < (deals.mean(axis=1) > half).mean() < 0.83


def test_the_spread_is_that_of_deals():
    result = measure(rules("hebei"), [GreedyAgent(), RandomAgent()], (0, 1, 1), deals=50, seed=1)
    spread = spread_of(result, 0)
    points = result.of(0).points  # by Student's t 2.0096 errors to either side; skewness moves that more than widens it
    assert (points.high - points.low) / 2 == pytest.approx(2.0096 * spread / np.sqrt(50), rel=0.05)


def test_the_command(capsys):
    words = ["plan", "--variant", "hebei", "--agents", "greedy", "random", "--pilot", "20"]
    assert main([*words, "--differences", "0.02", "0.2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Hebei: greedy against 2 x random, from 20 deals of a pilot"
    assert lines[2].split() == ["sigma", "points", "interval", "as", "wide", "80", "%", "chance", "takes", "about"]
    small, large = (line.replace(",", "").split() for line in lines[3:5])
    assert float(small[0]) == 0.02
    assert int(small[4]) == pytest.approx(100 * int(large[4]), rel=0.2)
    assert max(map(len, lines[:5])) <= 80
    told = re.fullmatch(r"with --control-variates (\d\.\d\d) times as many deals have the same chance: (.*)", lines[5])
    assert told
    assert float(told[1]) > 0.1
    fewer = [int(text.replace(",", "")) for text in re.findall(r"[\d,]*\d", told[2])]
    assert fewer[1] == pytest.approx(float(told[1]) * int(large[4]), rel=0.05)
    assert main([*words, "--no-control-variates"]) == 0
    assert "control-variates" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--agents", "greedy"], "--agents names two agents"),
        (["--pilot", "1"], "--pilot is at least 2"),
        (["--pilot", "0"], "--pilot must be at least 1"),
        (["--power", "1"], "--power must be from 0.5 to below 1"),
        (["--power", "nan"], "--power must be from 0.5 to below 1"),
        (["--differences", "0"], "--differences above 0"),
        (["--seed", "-1"], "--seed must be from 0"),
        (["--agents", "greedy", "nobody"], "nobody"),
    ],
)
def test_wrong_input(words, said, capsys):
    assert main(["plan", "--variant", "hebei", *words]) == 2
    assert said in capsys.readouterr().err
