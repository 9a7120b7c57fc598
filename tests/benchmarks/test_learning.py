"""The benchmark of training: what it measures is played by the rules; what it prints adds up. No speed is judged."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
import torch

from mahjong_agents import GreedyAgent, look_ahead
from mahjong_agents.policy.plane_inputs import policy_inputs
from mahjong_benchmarks.command import BenchLearningConfig
from mahjong_benchmarks.learning import (
    KINDS,
    ONE_TABLE,
    SELF_PLAY,
    FastPath,
    OneTableEnv,
    Result,
    Setting,
    Tables,
    ratios,
    report_text,
)
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_env.environments.single_seat import SingleSeatEnv

SMALL = shlex.split("--tables 8 --self-play-tables 4 --runs 1 --seconds 1e-6 --width 8 --layers 1")


def bench(*arguments, variant="hebei"):
    return main(["bench-learning", "--variant", variant, *SMALL, *map(str, arguments)])


def test_one_table_shows_the_inputs_of_networks():
    env = OneTableEnv(SingleSeatEnv("hebei", opponents="random"))
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=3)
    over = False
    while not over:
        view = env.env.view()
        np.testing.assert_array_equal(observation, policy_inputs(view, look_ahead(view))[0])
        np.testing.assert_array_equal(env.action_masks(), view.action_mask[0])
        observation, _, over, _, _ = env.step(GreedyAgent().act(view, rng)[0])
        assert env.observation_space.contains(observation)


@pytest.mark.thorough
@pytest.mark.parametrize("setting", [Setting("random", 1), Setting("greedy", 8)], ids=str)
def test_tables_count_every_decision_and_leave_the_policy_alone(setting):
    contender = Tables(BenchLearningConfig(variant="hebei", width=8, layers=1), rules("hebei"), setting)
    steps, plain = [], contender.env.step_wait
    contender.env.step_wait = lambda: steps.append(1) or plain()
    before = [weight.clone() for weight in contender.learner.policy.parameters()]
    contender.measure(1e-6)  # the first time warms up
    steps.clear()
    laps = contender.measure(1e-6)
    assert set(laps) == set(KINDS)
    assert laps["rollout"].decisions == laps["training"].decisions
    assert laps["play"].decisions + laps["rollout"].decisions == len(steps) * contender.env.num_envs
    assert laps["rollout"].seconds < laps["training"].seconds
    for weight, old in zip(contender.learner.policy.parameters(), before, strict=True):
        assert torch.equal(weight, old)


@pytest.mark.thorough
def test_the_fast_path_counts_every_decision_and_leaves_the_policy_alone():
    contender = FastPath(BenchLearningConfig(variant="hebei"), rules("hebei"), Setting(SELF_PLAY, 8))
    before = contender.learner.weights()
    laps = contender.measure(1e-6)
    assert set(laps) == set(KINDS)
    assert laps["rollout"].decisions == laps["training"].decisions > 8 * 10
    assert laps["rollout"].seconds < laps["training"].seconds
    for name, weights in contender.learner.weights().items():
        np.testing.assert_array_equal(weights, before[name])


def test_ratios_are_taken_run_by_run():
    slow = Result(Setting("random", 1), {kind: [5.0, 2.5] for kind in KINDS})
    fast = Result(Setting("random", 8), {kind: [25.0, 25.0] for kind in KINDS})
    assert ratios(fast, slow, "play") == [5, 10]
    *_, last = report_text([slow, fast]).splitlines()
    cells = [cell.strip() for cell in last.split("  ") if cell.strip()]
    assert cells == ["8 tables / one table at a time", *["7.50 [5.00, 10.00]"] * 3]


@pytest.mark.thorough
def test_the_command(tmp_path, capsys):
    out = tmp_path / "new" / "speed.json"
    before = torch.get_num_threads()
    assert bench("--threads", 1, 2, "--opponents", "random", "--json", out) == 0
    assert torch.get_num_threads() == before
    assert "Hebei: decisions of a learner per second" in capsys.readouterr().out
    found = json.loads(out.read_text(encoding="utf-8"))["results"]
    names = [ONE_TABLE, "8 tables", "8 tables, --threads 2", "ppo, 4 tables"]
    assert [result["name"] for result in found] == names
    assert all(result["decisions_per_second"][kind] > 0 for result in found for kind in KINDS)
    assert bench("--no-one-table", "--opponents", "random", variant="taiwan") == 0
    assert ONE_TABLE not in capsys.readouterr().out
