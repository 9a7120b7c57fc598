"""The benchmark of training: what it measures is played by the rules, and what it says adds up. No speed is judged."""

from __future__ import annotations

import json
import multiprocessing

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv

from mahjong_agents import GreedyAgent, RandomAgent, look_ahead
from mahjong_agents.policy.plane_inputs import policy_inputs
from mahjong_benchmarks.command import BenchLearningConfig
from mahjong_benchmarks.contenders import KINDS, ONE_TABLE, SELF_PLAY, FastPath, Lap, Setting, Tables
from mahjong_benchmarks.learning import Result, ratios, report_text
from mahjong_benchmarks.one_table import OneTableEnv
from mahjong_env import rules
from mahjong_env.cli import main
from support.marks import variants

SMALL = (
    "--tables",
    "8",
    "--self-play-tables",
    "4",
    "--runs",
    "1",
    "--seconds",
    "1e-6",
    "--width",
    "8",
    "--layers",
    "1",
)


def bench(*arguments, variant="hebei"):
    return main(["bench-learning", "--variant", variant, *SMALL, *map(str, arguments)])


class TestOneTable:
    @pytest.mark.parametrize("variant", variants("hebei"))
    def test_rewards_are_what_the_learner_was_paid(self, variant):
        env = OneTableEnv(rules(variant), [GreedyAgent(), RandomAgent()], seed=3)
        rng = np.random.default_rng(0)
        learners = set()
        for _ in range(8):
            observation, _ = env.reset()
            learner = int(env.engine.seat_to_act[0])
            learners.add(learner)
            paid, over = 0.0, False
            while not over:
                assert env.engine.seat_to_act[0] == learner
                view = env.engine.view()
                np.testing.assert_array_equal(observation, policy_inputs(view, look_ahead(view))[0])
                np.testing.assert_array_equal(env.action_masks(), view.action_mask[0])
                observation, reward, over, truncated, _ = env.step(GreedyAgent().act(view, rng)[0])
                assert not truncated
                paid += reward
            assert env.engine.seat_to_act[0] == -1
            assert paid == env.engine.points[0, learner] - env.engine.rules.starting_points
        assert len(learners) > 1

    def test_the_same_seed_gives_the_same_hands(self):
        plays = []
        for _ in range(2):
            env = OneTableEnv(rules("hebei"), [RandomAgent()], seed=9)
            seen = [env.reset()[0]]
            for _ in range(60):
                observation, _, over, _, _ = env.step(env.action_masks().argmax())
                seen.append(env.reset()[0] if over else observation)
            plays.append(np.stack(seen))
        np.testing.assert_array_equal(*plays)
        seeded = OneTableEnv(rules("hebei"), [RandomAgent()], seed=1)
        np.testing.assert_array_equal(seeded.reset(seed=9)[0], plays[0][0])

    def test_fits_dummy_vec_env(self):
        env = DummyVecEnv([lambda: OneTableEnv(rules("hebei"), [RandomAgent()])])
        env.reset()
        ended = 0
        for _ in range(80):
            masks = get_action_masks(env)
            assert masks.any()
            _, _, dones, infos = env.step(masks.argmax(axis=1))
            ended += dones[0]
            assert ("terminal_observation" in infos[0]) == dones[0]
        assert ended


class TestContender:
    @pytest.mark.thorough
    @pytest.mark.parametrize("setting", [Setting("random", 1), Setting("greedy", 8)], ids=str)
    def test_counts_every_decision_and_leaves_the_policy_alone(self, setting):
        config = BenchLearningConfig(variant="hebei", width=8, layers=1)
        contender = Tables(config, rules("hebei"), setting)
        steps = 0
        plain = contender.env.step_wait

        def counting():
            nonlocal steps
            steps += 1
            return plain()

        contender.env.step_wait = counting
        before = [weight.clone() for weight in contender._model.policy.parameters()]
        contender.measure(1e-6)  # the first time warms up
        steps = 0
        laps = contender.measure(1e-6)
        assert set(laps) == set(KINDS)
        assert laps["rollout"].decisions == laps["training"].decisions == contender._rollout
        assert laps["play"].decisions + laps["rollout"].decisions == steps * contender.env.num_envs
        for weight, old in zip(contender._model.policy.parameters(), before, strict=True):
            assert torch.equal(weight, old)

    def test_the_fast_path_leaves_its_policy_alone(self):
        contender = FastPath(BenchLearningConfig(variant="hebei"), rules("hebei"), Setting(SELF_PLAY, 8))
        before = contender._learner.weights()
        laps = contender.measure(1e-6)
        assert set(laps) == set(KINDS)
        assert laps["rollout"].decisions == laps["training"].decisions > 8 * 10
        assert laps["rollout"].wall < laps["training"].wall
        for name, weights in contender._learner.weights().items():
            np.testing.assert_array_equal(weights, before[name])


class TestReport:
    def test_ratios_are_taken_run_by_run(self):
        slow, fast = Result(Setting("random", 1)), Result(Setting("random", 8))
        for number in (1, 2):
            for kind in KINDS:
                slow.laps[kind].append(Lap(10, 2.0 * number, 1.0))
                fast.laps[kind].append(Lap(100, 4.0, 2.0 * number))
        assert fast.rates("play", "wall") == [25, 25]
        assert ratios(fast, slow, "play", "wall") == [5, 10]
        assert ratios(fast, slow, "play", "cpu") == [5, 2.5]
        told = [line.split("  ") for line in report_text([slow, fast]).splitlines()]
        shares = [[cell.strip() for cell in line if cell.strip()] for line in told if "/" in "".join(line)]
        assert shares[0] == ["8 tables / one table at a time", *["7.50 [5.00, 10.00]"] * 3]
        assert shares[1] == ["8 tables / one table at a time", *["3.75 [2.50, 5.00]"] * 3]


@pytest.mark.thorough
def test_the_command(tmp_path, capsys):
    out = tmp_path / "new" / "speed.json"
    before = torch.get_num_threads()
    assert bench("--threads", 1, 2, "--opponents", "random", "--json", out) == 0
    assert torch.get_num_threads() == before
    assert multiprocessing.active_children() == []
    printed = capsys.readouterr().out
    assert "Hebei: decisions of a learner per second" in printed
    found = json.loads(out.read_text(encoding="utf-8"))
    names = [result["name"] for result in found["results"]]
    assert names == [ONE_TABLE, "8 tables", "8 tables, --threads 2", "ppo, 4 tables"]
    assert [(one["name"], one["times_faster_than"]) for one in found["ratios"]] == [
        (names[1], names[0]),
        (names[2], names[0]),
        (names[3], names[0]),
        (names[2], names[1]),
        (names[3], names[1]),
    ]
    for result in found["results"]:
        assert {kind: len(laps) for kind, laps in result["laps"].items()} == dict.fromkeys(KINDS, 1)
    one, many = (result["decisions_per_second"]["wall"]["rollout"] for result in found["results"][:2])
    assert found["ratios"][0]["wall"]["rollout"] == pytest.approx(many / one)


@pytest.mark.thorough
def test_only_the_tables(capsys):
    assert bench("--no-one-table", "--opponents", "random", variant="taiwan") == 0
    assert ONE_TABLE not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tables", "1"], "--tables at least 2"),
        (["--seconds", "0"], "--seconds must be above 0"),
        (["--runs", "0"], "--runs must be at least 1, not 0"),
        (["--self-play-tables", "-1"], "--self-play-tables"),
        (["--threads", "0"], "--threads must be at least 1, not 0"),
        (["--opponents", "nobody"], "no agent is called 'nobody'"),
        (["--knobs", "players=7"], "players=7 is not valid"),
    ],
)
def test_wrong_input(arguments, said, capsys):
    assert bench(*arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert said in error
