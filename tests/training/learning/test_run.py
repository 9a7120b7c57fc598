"""Runs of self-play: they can be interrupted, repeated and shared out, and their gate lets the better policy pass."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mahjong_agents import GreedyAgent, PolicyFileError, RandomAgent, make_agent
from mahjong_agents.policy.custom_features import find_features
from mahjong_agents.policy.file import SHIPPED, PolicyFile
from mahjong_env import AgentError, MahjongError, make_engine, rules
from mahjong_training.config import TrainConfig
from mahjong_training.errors import InterruptedRunError, RewardError, TrainingError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.learning import base_run
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.base_run import read_checkpoint
from mahjong_training.learning.run import gate
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.executors import LocalExecutor

EXAMPLES = Path(__file__).parents[3] / "notebooks" / "examples"

CONFIG = TrainConfig(
    variant="hebei",
    teacher="greedy",
    hands=128,
    tables=32,
    critic_hands=32,
    evaluations=2,
    evaluation_deals=3,
    gate_deals=3,
    width=8,
)


def weights(path):
    return PolicyFile.read(path).weights


def without_seconds(folder):
    return [{**row, "seconds": ""} for row in folder.read_curve()]


def assert_same_run(folder, wanted):
    """Two runs have left the same: weights, curve, and all that there is to go on from."""
    assert sorted(path.name for path in folder.policies.iterdir()) == sorted(
        path.name for path in wanted.policies.iterdir()
    )
    for path in (folder.initial, folder.last, folder.best, *folder.policies.iterdir()):
        np.testing.assert_equal(weights(path), weights(wanted.path / path.relative_to(folder.path)))
    assert without_seconds(folder) == without_seconds(wanted)
    found, state = (read_checkpoint(run.checkpoint) | {"seconds": 0} for run in (folder, wanted))
    torch.testing.assert_close(found, state, rtol=0, atol=0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return ppo_run.run(replace(CONFIG, out=tmp_path_factory.mktemp("runs") / "whole"))


# One update of the critic alone and two of the policy, both of which are measured.
SMALL = replace(
    CONFIG,
    hands=12,
    tables=4,
    critic_hands=4,
    evaluation_deals=2,
    evaluation_agents=("random",),
    gate_deals=2,
    opponents=("snapshot",),
)


# The same in a few steps: without luck, and (by `measured`) without measurements.
QUICK = replace(SMALL, hands=6, tables=2, critic_hands=2, opponents=(), control_variates=False)


class Measured(list):
    """What would have been measured; the one of this number is interrupted."""

    stops_at = 0


@pytest.fixture
def measured(monkeypatch):
    said = Measured()

    def measure(run, phase, say=print):
        said.append((phase, run.hands))
        if len(said) == said.stops_at:
            raise KeyboardInterrupt
        run.measurements += 1
        run.folder.last.write_bytes(b"")

    monkeypatch.setattr(ppo_run, "sigma", lambda rules: 3.7)
    monkeypatch.setattr(ppo_run.PpoRun, "measure", measure)
    return said


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return ppo_run.run(replace(SMALL, out=tmp_path_factory.mktemp("runs") / "small"))


class TestRuns:
    def test_what_is_saved_is_gone_on_with(self, tmp_path, monkeypatch):
        monkeypatch.setattr(ppo_run, "sigma", lambda rules: 3.7)
        config = replace(CONFIG, tables=2, parts=1, critic_hands=2, opponents=(), out=tmp_path)
        straight, saved, other = (ppo_run.PpoRun(config, RunFolder(tmp_path)) for _ in range(3))
        for run in (straight, saved, other):
            run._board = SimpleNamespace(add_scalar=lambda *said: None)
        for run in (straight, straight, saved):
            run.update()
        saved.save()
        other.load()
        other.update()
        assert (other.updates, other.hands, other.steps) == (2, 4, straight.steps)
        torch.testing.assert_close(other.learner.state(), straight.learner.state(), rtol=0, atol=0)

    def test_it_goes_on_up_to_the_total_that_it_began_with(self, measured, tmp_path):
        config = replace(QUICK, hands=5, tables=5, critic_hands=0, out=tmp_path / "run")
        folder = ppo_run.run(config)
        again = replace(config, hands=None, resume=True)
        assert folder.resumed_config(again).goal == 5
        ppo_run.run(again)
        assert json.loads(folder.config.read_text(encoding="utf-8"))["hands"] == 5
        ppo_run.run(replace(again, hands=7))
        settings = json.loads(folder.config.read_text(encoding="utf-8"))
        assert (settings["hands"], settings["totals before"]) == (7, [5])
        ppo_run.run(replace(again, hands=6))  # which has been passed
        assert folder.resumed_config(again).goal == 7
        assert TrainConfig(variant="hebei").goal == 320_000

    def test_it_goes_on_on_another_cluster_or_without_one(self, tmp_path):
        folder = RunFolder(tmp_path)
        folder.begin(replace(CONFIG, ray="head:6379"), {})
        for ray in ("other:6379", None):
            assert folder.resumed_config(replace(CONFIG, ray=ray, resume=True)).ray == ray

    def test_it_goes_on_without_the_policy_that_it_began_as(self, measured, tmp_path):
        teacher = tmp_path / "teacher.zip"
        teacher.write_bytes((SHIPPED / "hebei.zip").read_bytes())
        config = replace(QUICK, teacher=f"policy:{teacher}", width=None, out=tmp_path / "run")
        ppo_run.run(config)
        teacher.unlink()
        assert read_checkpoint(ppo_run.run(replace(config, hands=8, resume=True)).checkpoint)["hands"] == 8

    def test_it_goes_on_with_the_same_code_of_ones_own(self, measured, tmp_path):
        own = tmp_path / "own.py"
        own.write_text("def reward(paid):\n    return paid.points / 4\n", encoding="utf-8")
        config = replace(QUICK, hands=5, tables=5, critic_hands=0, out=tmp_path / "run", reward=f"{own}:reward")
        ppo_run.run(config)
        own.write_text("def reward(paid):\n    return -paid.points / 4\n", encoding="utf-8")
        with pytest.raises(TrainingError, match=r"--reward .*own.py:reward has changed since this run met it"):
            ppo_run.run(replace(config, hands=7, resume=True))

    def test_a_reward_that_fails_is_found_before_the_folder_is_looked_at(self, tmp_path):
        folder = RunFolder(tmp_path / "run")
        folder.begin(CONFIG, {})
        own = tmp_path / "own.py"
        own.write_text("def reward(paid):\n    return paid.points[:-1]\n", encoding="utf-8")
        for reward, told in ((f"{own}:reward", "3 finite numbers"), ("gold", "no reward is called 'gold'")):
            with pytest.raises(RewardError, match=told):
                ppo_run.run(replace(QUICK, out=folder.path, reward=reward))

    def test_an_agent_that_fails_is_found_before_the_run_begins(self, measured, tmp_path):
        """Another run with the mended agent was refused, and so was one that is resumed with it."""
        code = "class Bot:\n    def act(self, view, rng):\n        return [108]\n"
        (tmp_path / "bot.py").write_text(code, encoding="utf-8")
        for name in ("opponents", "evaluation_agents", "gate_against"):
            named = f"{tmp_path}/bot.py:Bot"
            config = replace(QUICK, out=tmp_path / name, **{name: named if name == "gate_against" else (named,)})
            with pytest.raises(AgentError, match=r"answered 'pass' .* which is not legal there"):
                ppo_run.run(config)
            assert not (tmp_path / name).exists()

    def test_where_agents_are_tried_nothing_is_needed_that_playing_does_not_need(self):
        """The nodes of a cluster may lack what measures, draws and shows."""
        lacking = "('matplotlib', 'rich', 'tensorboard', 'tqdm', 'tyro')"
        code = f"import sys; sys.modules |= dict.fromkeys({lacking}); import {base_run.try_agent.__module__}"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

    def test_a_reward_that_failed_at_once_may_be_mended(self, measured, tmp_path):
        own = tmp_path / "own.py"
        trial = "len(paid) == 3"  # after which it fails
        body = f"    return paid.points / 4 if {trial} or os.path.exists({str(own)!r} + 'c') else []\n"
        failing = f"import os\n\ndef reward(paid):\n{body}"
        own.write_text(failing, encoding="utf-8")
        config = replace(QUICK, hands=5, tables=5, critic_hands=0, out=tmp_path / "run", reward=f"{own}:reward")
        with pytest.raises(MahjongError):
            ppo_run.run(config)
        (tmp_path / "own.pyc").touch()
        own.write_text(f"{failing}# mended\n", encoding="utf-8")  # a module that was loaded stays as it was
        ppo_run.run(replace(config, resume=True))
        own.write_text("def reward(paid):\n    return -paid.points / 4\n", encoding="utf-8")
        with pytest.raises(TrainingError, match=r"--reward .*own.py:reward has changed since this run met it"):
            ppo_run.run(replace(config, hands=7, resume=True))

    def test_an_agent_that_failed_before_anything_was_kept_may_be_mended(self, measured, tmp_path):
        own = tmp_path / "own.py"
        own.write_text("from mahjong_agents import RandomAgent as Mine\n", encoding="utf-8")
        config = replace(QUICK, out=tmp_path / "run", evaluation_agents=(f"{own}:Mine",))
        measured.stops_at = 1  # where it failed
        with pytest.raises(InterruptedRunError):
            ppo_run.run(config)
        own.write_text("from mahjong_agents import GreedyAgent as Mine\n", encoding="utf-8")
        folder = ppo_run.run(replace(config, resume=True))
        assert folder.checkpoint.exists()
        own.write_text("from mahjong_agents import RandomAgent as Mine\n", encoding="utf-8")
        with pytest.raises(TrainingError, match=r"own.py:Mine has changed since this run met it"):
            ppo_run.run(replace(config, resume=True))

    def test_who_is_named_twice_is_met_twice_as_often(self, measured, tmp_path):
        config = replace(QUICK, out=tmp_path / "run", opponents=("random", "random", "greedy"))
        with closing(ppo_run.PpoRun(config, RunFolder(tmp_path / "run"))) as run:
            assert [*run._common.named] == ["random", "random", "greedy"]
            assert run.met.keys() >= {"random", "greedy"}

    def test_leaves_a_policy_that_plays_and_a_curve(self, tmp_path):
        few = {"hands": 4, "tables": 2, "critic_hands": 2, "evaluations": 1, "evaluation_deals": 1, "gate_deals": 2}
        run = ppo_run.run(replace(CONFIG, **few, parts=1, evaluation_agents=("random",), out=tmp_path / "run"))
        agent = make_agent(f"policy:{run.best}")
        view = make_engine("hebei", 10, seed=1).view()
        assert view.action_mask[np.arange(10), agent.act(view, np.random.default_rng(0))].all()
        rows = run.read_curve()
        assert [row["phase"] for row in rows] == ["start", "PPO"]
        assert int(rows[-1]["hands"]) == 4
        assert run.curve_plot.stat().st_size > 1000
        assert any(run.tensorboard.iterdir())
        assert PolicyFile.read(run.initial).training["steps"] == 0

    def test_agents_of_one_name_are_told_apart(self, tmp_path, monkeypatch):
        monkeypatch.setattr(ppo_run, "sigma", lambda rules: 3.7)
        judges = [f"policy:{tmp_path / place / 'best.zip'}" for place in ("x/run", "y/run")]
        for spec in judges:
            path = Path(spec.removeprefix("policy:"))
            path.parent.mkdir(parents=True)
            path.write_bytes((SHIPPED / "hebei.zip").read_bytes())
        config, folder = replace(QUICK, evaluation_agents=(*judges, "random"), evaluation_deals=1), RunFolder(tmp_path)
        with closing(ppo_run.PpoRun(config, folder)) as run:
            run._board = SimpleNamespace(add_scalar=lambda *said: None)
            run.folder.policies.mkdir()
            run.measure("start")
        assert [row["against"] for row in folder.read_curve()] == [*judges, "random"]

    def test_it_saves_before_it_measures(self, measured, tmp_path):
        """The update that the message counts is the one that it goes on from, and the measurement is made again."""
        config = replace(QUICK, out=tmp_path / "run")
        measured.stops_at = 2
        with pytest.raises(InterruptedRunError, match="interrupted after 4 hands"):
            ppo_run.run(config)
        ppo_run.run(replace(config, resume=True))
        assert measured == [("start", 0), ("PPO", 4), ("PPO", 4), ("PPO", 6)]

    # As it begins, when lines of the curve have been written, at the gate behind them, and at the last file.
    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("number", "moment"), [(1, "begin_to_measure"), (2, "plot_curve"), (2, "gate"), (3, "PolicyFile")]
    )
    def test_interrupted_while_it_measures_it_has_lost_nothing(self, small, number, moment, tmp_path, monkeypatch):
        """The update that the message counts is the one that it goes on from."""
        module = base_run if hasattr(base_run, moment) and moment != "PolicyFile" else ppo_run
        config, plain, calls = replace(SMALL, out=tmp_path / "run"), getattr(module, moment), []

        def interrupted(*arguments, **options):
            calls.append(moment)
            if len(calls) == number - (moment == "gate"):
                raise KeyboardInterrupt
            return plain(*arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(module, moment, interrupted)
            with pytest.raises(InterruptedRunError) as stopped:
                ppo_run.run(config)
        learned = (0, 8, 12)[number - 1]
        assert f"interrupted after {learned} hands" in str(stopped.value)
        began, update = [], ppo_run.PpoRun.update
        monkeypatch.setattr(ppo_run.PpoRun, "update", lambda run: began.append(run.hands) or update(run))
        folder = ppo_run.run(replace(config, resume=True))
        assert began == [hands for hands in (0, 4, 8) if hands >= learned]
        assert_same_run(folder, small)

    def test_hands_are_all_that_is_learned_from(self, measured, tmp_path, capsys):
        config = replace(QUICK, out=tmp_path / "run", hands=7, critic_hands=None, evaluations=1)
        folder = ppo_run.run(config)
        assert "learned from 7 hands" in capsys.readouterr().out
        # A quarter of them only the critic learns from; the others are shared out evenly, in three updates.
        assert json.loads(folder.config.read_text(encoding="utf-8"))["critic_hands"] == 1
        assert read_checkpoint(folder.checkpoint)["updates"] == 1 + 3
        ppo_run.run(replace(config, resume=True))
        assert "has learned from 7 hands already; nothing to do" in capsys.readouterr().out
        ppo_run.run(replace(config, hands=8, resume=True))
        assert measured == [("start", 0), ("PPO", 7), ("PPO", 8)]

    @pytest.mark.usefixtures("measured")
    def test_updates_grow_with_what_has_been_learned(self, tmp_path):
        run = ppo_run.PpoRun(replace(QUICK, hands=400, tables=4, critic_hands=16), RunFolder(tmp_path))
        hands = [0]
        while hands[-1] < 400:
            hands.append(hands[-1] + run._next_tables(hands[-1]))
        assert hands[:4] == [0, 8, 16, 20]
        assert hands[-1] == 400
        sizes = np.diff(hands)[2:]
        assert (sizes <= np.maximum(4, np.array(hands[2:-1]) // 8)).all()
        assert sizes.max() == 8
        assert run._critic_updates == 2

    @pytest.mark.usefixtures("measured")
    def test_updates_of_a_short_run_do_not_grow(self, tmp_path):
        run = ppo_run.PpoRun(replace(QUICK, hands=128, tables=4, critic_hands=16), RunFolder(tmp_path))
        assert [run._next_tables(hands) for hands in (16, 32, 64, 100)] == [4, 4, 4, 4]

    @pytest.mark.thorough
    def test_one_update_ahead_goes_on_as_if_it_had_never_stopped(self, whole, tmp_path, monkeypatch):
        config = replace(CONFIG, ahead=True)
        straight = ppo_run.run(replace(config, out=tmp_path / "straight"))
        update, calls = ppo_run.PpoRun.update, []

        def interrupted(self, **arguments):
            calls.append(arguments)
            if len(calls) == 4:
                raise KeyboardInterrupt
            update(self, **arguments)

        with monkeypatch.context() as patch:
            patch.setattr(ppo_run.PpoRun, "update", interrupted)
            with pytest.raises(InterruptedRunError):
                ppo_run.run(replace(config, out=tmp_path / "run"))
        folder = ppo_run.run(replace(config, out=tmp_path / "run", resume=True))
        wanted, fresh = weights(straight.last), weights(whole.last)
        np.testing.assert_equal(weights(folder.last), wanted)
        assert any((array != fresh[key]).any() for key, array in wanted.items())

    @pytest.mark.thorough
    def test_the_result_is_the_same_with_any_number_of_processes(self, whole, tmp_path):
        assert_same_run(ppo_run.run(replace(CONFIG, out=tmp_path / "run", processes=2, threads=2)), whole)

    def test_the_parts_of_a_run_are_those_that_it_began_with(self, measured, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(ppo_run, "new_executor", lambda *how: LocalExecutor())
        config = replace(QUICK, hands=5, tables=5, critic_hands=0, processes=3, out=tmp_path / "run")
        folder = ppo_run.run(config)
        assert json.loads(folder.config.read_text(encoding="utf-8"))["parts"] == 3
        assert "nothing to play" not in capsys.readouterr().out
        ppo_run.run(replace(config, processes=8, hands=6, resume=True))
        told = capsys.readouterr().out
        assert "5 of 8 processes have nothing to play" in told
        assert "in 3 parts (--parts, which a run keeps)" in told
        assert read_checkpoint(folder.checkpoint)["hands"] == 6

    @pytest.mark.thorough
    def test_learns_from_a_reward_and_inputs_of_ones_own(self, whole, tmp_path):
        reward, features = f"{EXAMPLES / 'my_reward.py'}:Patient?weight=2", f"{EXAMPLES / 'my_features.py'}:Late"
        folder = ppo_run.run(replace(CONFIG, out=tmp_path / "run", reward=reward, features=features, processes=2))
        learned, first = (PolicyFile.read(path) for path in (folder.last, folder.initial))
        assert learned.training["reward"] == reward
        assert (learned.weights["table"][-3:] != first.weights["table"][-3:]).all(axis=1).any()
        with pytest.raises(PolicyFileError, match=r"if you trust that code.*my_features.py:Late"):
            make_agent(f"policy:{folder.last}")
        view = make_engine("hebei", 10, seed=1).view()
        actions = make_agent(f"policy:{folder.last}?features={features}").act(view, np.random.default_rng(0))
        assert view.action_mask[np.arange(10), actions].all()
        with pytest.raises(PolicyFileError, match=r"trained with 0 added inputs; .* adds 3"):
            make_agent(f"policy:{whole.last}?features={features}")

    @pytest.mark.thorough
    def test_a_teacher_without_added_inputs_may_have_a_pupil_with_them(self, whole, tmp_path):
        features = f"{EXAMPLES / 'my_features.py'}:Late"
        config = replace(CONFIG, out=tmp_path / "run", features=features, teacher=f"policy:{whole.last}", hands=64)
        begun = PolicyFile.read(ppo_run.run(config).initial)
        assert begun.network == {"width": 8, "added": 3, "facts": dict(find_features(features).facts)}
        others = tmp_path / "others.py"
        text = "class Three:\n    facts = dict.fromkeys('abc', 1.0)\n    def __call__(self, view):\n        return 0\n"
        others.write_text(text, encoding="utf-8")
        with pytest.raises(
            PolicyFileError, match=r"trained with the added inputs \{'.*\}, names and scales; these are"
        ):
            make_agent(f"policy:{tmp_path / 'run' / 'last.zip'}?features={others}:Three")
        spec = f"policy:{tmp_path / 'run' / 'last.zip'}?features={features}"
        with pytest.raises(TrainingError, match=r"its added inputs are .*, those of the learner would be"):
            ppo_run.run(replace(config, out=tmp_path / "another", teacher=spec, features=f"{others}:Three"))
        assert (begun.weights["table"][-3:] == 0).all()
        np.testing.assert_array_equal(begun.weights["table"][:-3], PolicyFile.read(whole.last).weights["table"])


HEBEI = rules("hebei")
GREEDY, RANDOM = GreedyAgent(), RandomAgent()


def try_gate(candidate, best, number=1, deals=32):
    return gate(HEBEI, candidate, best, [(1.0, RANDOM)], deals=deals, seed=3, number=number)[0]


def test_it_is_what_the_candidate_wins_more():
    gain, loss, none = try_gate(GREEDY, RANDOM), try_gate(RANDOM, GREEDY), try_gate(GREEDY, GREEDY, deals=2)
    assert gain.low > 0
    assert (loss.mean, loss.low, loss.high) == pytest.approx((-gain.mean, -gain.high, -gain.low))
    assert none.mean == 0


def test_it_ends_once_it_is_clear_or_nothing_is_won():
    for players in ((GREEDY, RANDOM), (RANDOM, GREEDY)):
        assert gate(HEBEI, *players, [(1.0, RANDOM)], deals=400, seed=3, number=1)[1] == 100
    both = [(0.25, RANDOM), (0.75, GREEDY)]
    gain, deals = gate(HEBEI, GREEDY, GREEDY, both, deals=120, seed=3, number=1)
    assert (gain.mean, deals) == (0, 120)


def test_who_has_few_of_the_deals_may_have_them_all_at_the_first_look():
    rarely = [(0.985, GREEDY), (0.015, RANDOM)]
    gain, deals = gate(HEBEI, GREEDY, GREEDY, rarely, deals=120, seed=3, number=1)
    assert (gain.mean, deals) == (0, 118 + 30)


def test_a_pupil_has_as_many_units_as_its_teacher(tmp_path):
    begun = replace(QUICK, out=tmp_path, teacher="policy:hebei", width=None)
    run = ppo_run.PpoRun(begun, RunFolder(tmp_path))
    assert run.config.width == len(make_agent("policy:hebei").network.weights["bias"]) == 128
    assert ppo_run.PpoRun(replace(begun, teacher="greedy"), RunFolder(tmp_path)).config.width == 64
    with pytest.raises(TrainingError, match=r"not a policy of .* with --width 64"):
        ppo_run.PpoRun(replace(begun, width=64), RunFolder(tmp_path))


def test_a_run_may_end_while_the_critic_learns(tmp_path):
    run = ppo_run.PpoRun(replace(QUICK, out=tmp_path, critic_hands=6, hands=4, resume=True), RunFolder(tmp_path))
    assert run._critic_updates == 1


def test_a_hand_is_not_a_match_by_points(tmp_path):
    by_points = replace(QUICK, out=tmp_path, variant="hangzhou", knobs=("match_end=points",))
    with pytest.raises(TrainingError, match="a match that ends by points, not after a hand"):
        ppo_run.PpoRun(by_points, RunFolder(tmp_path))


def test_both_play_deals_of_their_own_gate(monkeypatch):
    seeds, begin = [], ppo_run.begin_to_measure

    def noting(*args, seed, **more):
        seeds.append(seed)
        return begin(*args, seed=seed, **more)

    monkeypatch.setattr(ppo_run, "begin_to_measure", noting)
    for number in (1, 2):
        try_gate(RANDOM, RANDOM, number=number, deals=2)
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]
    assert min(seeds) > 10**9  # of no run, by default


@pytest.mark.parametrize(
    ("gain", "passes"),
    [(Estimate(2, 1, 3), True), (Estimate(1, -1, 3), False), (Estimate(-2, -3, -1), False), (Estimate(0, 0, 0), False)],
)
def test_what_is_clear_of_zero_becomes_best(gain, passes, monkeypatch, tmp_path):
    monkeypatch.setattr(ppo_run, "gate", lambda *args, **more: (gain, 2))
    monkeypatch.setattr(ppo_run, "sigma", lambda rules: 3.7)
    run = ppo_run.PpoRun(replace(QUICK, out=tmp_path), RunFolder(tmp_path))
    run.measurements, began = 1, run.best
    run.learner.average.load_state_dict({name: 0 * array for name, array in run.learner.average.state_dict().items()})
    is_best, (told,) = run.judge(run.player(), [])
    assert is_best == passes == (run.best is not began)
    assert passes == all((array == 0).all() for array in run.learner.reference.state_dict().values())
    assert ("it is best.zip now" in told) == passes
