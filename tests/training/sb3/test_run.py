"""Runs of `train-sb3`: what they leave and refuse, and that they go on from any moment and from a full disk."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mahjong_training
from mahjong_agents import make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_env import VARIANTS
from mahjong_env.cli import main
from mahjong_env.records import read_records
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.base_run import read_checkpoint
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime import folders
from mahjong_training.runtime.console import AGAIN
from mahjong_training.sb3.run import Sb3Run

TINY = (
    *("--tables", "4", "--width", "4", "--layers", "1", "--warm-start-steps", "64", "--warm-start-epochs", "1"),
    *("--evaluations", "2", "--evaluation-deals", "1", "--evaluation-agents", "random", "--opponents", "random"),
    *("--teacher", "greedy", "--reward", "points?scale=0.5"),
)


class KilledError(BaseException):
    """Ends a run as SIGKILL does: nothing of it gets to say anything, except that its lock is let go of."""


def train(out, *arguments, steps=150, variant="hebei"):
    return main(["train-sb3", "--variant", variant, "--out", str(out), "--total-steps", str(steps), *TINY, *arguments])


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "tensorboard" not in str(path)}


def steps_of_curve(run):
    return [line.split(",")[:2] for line in (run / "learning_curve.csv").read_text(encoding="utf-8").splitlines()[1:]]


def assert_same_run(run, whole):
    assert steps_of_curve(run) == steps_of_curve(whole)
    assert sorted(path.name for path in (run / "policies").iterdir()) == [f"{steps:010d}.zip" for steps in (0, 64, 128)]
    np.testing.assert_equal(*(PolicyFile.read(folder / "last.zip").weights for folder in (run, whole)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing happened to."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert train(out) == 0
    return out


def test_records_are_of_the_learner_alone(tmp_path):
    """Not of the teacher, who sits in its seat before."""
    assert train(tmp_path / "run", "--warm-start-steps", "400", "--record", str(tmp_path / "r.jsonl"), steps=64) == 0
    records = [*read_records(tmp_path / "r.jsonl")]
    # 64 decisions of the learner at four tables end hands, and those of 400 of the teacher's would be more.
    assert 0 < len(records) <= 16
    assert all("learner" in record.agents for record in records)


@pytest.fixture
def heeds_ctrl_c():
    """A shell's background job, which tests may be, ignores Ctrl-C; here it is heeded."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class TestTrain:
    def test_leaves_a_run_folder(self, whole):
        left = {path.name for path in whole.iterdir()}
        assert left >= {"config.json", "best.zip", "last.zip", "learning_curve.csv", "learning_curve.png"}
        assert left >= {"checkpoint.pt", "policies", "tensorboard"}
        assert not [path for path in whole.rglob("*") if path.name.startswith(".") or "partial" in path.name]
        config = json.loads((whole / "config.json").read_text(encoding="utf-8"))
        assert (config["variant"], config["tables"], config["total_steps"]) == ("hebei", 4, 150)
        assert (config["teacher"], config["reward"]) == ("greedy", "points?scale=0.5")
        assert "torch" in config["versions"]
        assert list((whole / "tensorboard").iterdir())
        assert (whole / "learning_curve.png").read_bytes().startswith(b"\x89PNG")

    @pytest.mark.thorough
    def test_the_teacher_is_the_reference_agent_unless_it_is_named(self, tmp_path):
        few = ["--tables", "8", "--warm-start-steps", "300", "--evaluations", "1", "--evaluation-deals", "2"]
        assert main(["train-sb3", "--variant", "hebei", "--out", str(tmp_path), "--total-steps", "8", *few]) == 0
        config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        assert (config["teacher"], config["reward"]) == ("closed-greedy", "points")

    def test_the_learning_curve_has_a_line_for_each_measurement(self, whole):
        header = (whole / "learning_curve.csv").read_text(encoding="utf-8").splitlines()[0]
        assert header.startswith("phase,steps,seconds,against,points,points_low,points_high,wins")
        # In whole updates of 4 tables times 16 steps, and no more than was asked for.
        assert steps_of_curve(whole) == [["start", "0"], ["PPO", "64"], ["PPO", "128"]]

    @pytest.mark.thorough
    @pytest.mark.parametrize("variant", sorted(set(VARIANTS) - {"hebei"}))
    def test_trains_every_other_variant_too(self, variant, tmp_path):
        arguments = ["--opponents", "greedy", "self"]
        assert train(tmp_path / variant, *arguments, variant=variant) == 0
        assert make_agent(f"policy:{tmp_path / variant}").variant == variant

    @pytest.mark.thorough
    def test_trains_without_a_warm_start_and_with_shaping(self, tmp_path):
        out = tmp_path / "run"
        own = ("--warm-start-steps", "0", "--reward", "distance?weight=0.3", "--knobs", "players=4")
        assert train(out, *own) == 0
        assert json.loads((out / "config.json").read_text(encoding="utf-8"))["knobs"] == ["players=4"]

    def test_a_policy_that_imitated_nobody_does_not_say_that_it_did(self, tmp_path, capsys):
        out = tmp_path / "run"
        for words in ([], ["--resume"]):
            assert train(out, "--warm-start-steps", "4", *words, steps=128 if words else 64) == 0
            assert PolicyFile.read(out / "last.zip").training["teacher"] is None
        told = "no hand ended within --warm-start-steps 4 at 4 tables: nothing was imitated\n"
        assert capsys.readouterr().out.count(told) == 1


class TestLock:
    def test_a_run_says_whose_lock_it_took_over(self, whole, capsys):
        gone = {"pid": 2**22 + 1, "host": platform.node()}
        (whole / "run.holder").write_text(json.dumps(gone), encoding="utf-8")
        assert train(whole, "--resume") == 0
        assert f"taken over from process {gone['pid']} on {gone['host']}" in capsys.readouterr().out
        assert not list(whole.glob("run.*"))


class TestStopped:
    @pytest.mark.thorough
    @pytest.mark.parametrize("moment", ["_warm_start", "save"])
    def test_killed_before_the_first_checkpoint_it_begins_again(self, moment, whole, tmp_path, monkeypatch, capsys):
        def killed(self):
            raise KilledError

        out = tmp_path / "run"
        with monkeypatch.context() as patch:
            patch.setattr(Sb3Run, moment, killed)
            with pytest.raises(KilledError):
                train(out)
        assert (out / "config.json").exists()
        assert not (out / "checkpoint.pt").exists()
        assert train(out) == 2
        assert "there is a run in this folder already; resume it (--resume)" in capsys.readouterr().err
        assert train(out, "--resume") == 0
        assert "was stopped before anything was learned; it begins again" in capsys.readouterr().out
        assert_same_run(out, whole)

    def test_killed_between_a_measurement_and_its_checkpoint_nothing_is_counted_twice(
        self, whole, tmp_path, monkeypatch
    ):
        out, saves, save = tmp_path / "run", [], Sb3Run.save

        def sixth_is_killed(self):  # before and behind each of three measurements
            saves.append(self)
            if len(saves) == 6:
                raise KilledError
            save(self)

        with monkeypatch.context() as patch:
            patch.setattr(Sb3Run, "save", sixth_is_killed)
            with pytest.raises(KilledError):
                train(out)
        assert steps_of_curve(out) == steps_of_curve(whole)
        assert train(out, "--resume") == 0
        assert_same_run(out, whole)

    @pytest.mark.skipif(not hasattr(signal, "pause"), reason="Windows ends a process that is sent a signal")
    @pytest.mark.usefixtures("heeds_ctrl_c")
    @pytest.mark.parametrize(
        ("number", "status", "moment"),
        [(signal.SIGINT, 130, "update"), pytest.param(signal.SIGTERM, 143, "_warm_start", marks=pytest.mark.thorough)],
    )
    def test_ctrl_c_and_sigterm_end_it_in_order(self, number, status, moment, whole, tmp_path, monkeypatch, capsys):
        out, before = tmp_path / "run", signal.getsignal(signal.SIGTERM)

        def interrupted(self):
            os.kill(os.getpid(), number)
            signal.pause()

        with monkeypatch.context() as patch:
            patch.setattr(Sb3Run, moment, interrupted)
            patch.setenv(AGAIN, "make train")
            assert train(out) == status
        assert signal.getsignal(signal.SIGTERM) is before
        assert capsys.readouterr().err == f"{out}: interrupted after 0 steps; resume with make train\n"
        assert train(out, "--resume") == 0
        assert steps_of_curve(out) == steps_of_curve(whole)

    @pytest.mark.skipif(not hasattr(signal, "pause"), reason="Windows ends a process that is sent a signal")
    def test_sigterm_before_a_run_begins_has_a_status_of_its_own(self, tmp_path, monkeypatch, capsys):
        def interrupted(*_):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

        monkeypatch.setattr(Sb3Run, "__init__", interrupted)
        assert train(tmp_path / "run") == 143
        assert capsys.readouterr().err == "interrupted\n"

    def test_without_a_run_there_is_nothing_to_resume(self, tmp_path, capsys):
        (tmp_path / "empty").mkdir()
        for folder in ("empty", "none"):
            assert train(tmp_path / folder, "--resume") == 2
        assert capsys.readouterr().err.count("there is no run to resume (no config.json)") == 2
        assert list((tmp_path / "empty").iterdir()) == []
        assert not (tmp_path / "none").exists()


class TestFullDisk:
    @pytest.mark.thorough
    @pytest.mark.skipif(sys.platform != "linux", reason="finds the file's name in /proc")
    @pytest.mark.parametrize("name", ["checkpoint.pt", "learning_curve.csv", "learning_curve.png", "last.zip"])
    def test_a_full_disk_leaves_the_last_good_state(self, name, whole, tmp_path, monkeypatch, capsys):
        """Every file is written beside the old one first; the disk is full when one of them gets there."""
        out = tmp_path / "run"
        assert train(out) == 0
        before = {path: data for path, data in contents(out).items() if path.suffix == ".pt"}
        plain = os.fsync

        def full(file):
            if os.readlink(f"/proc/self/fd/{file}").endswith(f"/.{name}.{os.getpid()}.partial"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            plain(file)

        with monkeypatch.context() as patch:
            patch.setattr(folders.os, "fsync", full)
            assert train(out, "--resume", steps=256) == 2
        told = capsys.readouterr().err
        assert f"error: {out / name}: cannot be written (No space left on device); what was saved before" in told
        assert "resume with --resume" in told
        assert not list(out.rglob("*.partial"))
        if name == "checkpoint.pt":
            assert {path: path.read_bytes() for path in before} == before
        else:  # what was learned is saved before it is measured
            assert read_checkpoint(out / "checkpoint.pt")["steps"] == 256
        assert train(out, "--resume", steps=256) == 0
        steps = steps_of_curve(out)
        assert steps[-1] == ["PPO", "256"]
        assert len({step for _, step in steps}) == len(steps)


class TestWrongInput:
    def test_a_run_is_not_overwritten(self, whole, capsys):
        before = contents(whole)
        assert train(whole) == 2
        assert "there is a run in this folder already; resume it (--resume)" in capsys.readouterr().err
        assert train(whole, "--resume", "--seed", "5") == 2
        assert "a resumed run keeps its settings: seed is 0, not 5" in capsys.readouterr().err
        assert train(whole, "--resume", variant="taiwan") == 2
        assert "variant is 'hebei', not 'taiwan'" in capsys.readouterr().err
        assert contents(whole) == before

    @pytest.mark.parametrize("command", ["train-sb3", "train", "evaluate"])
    def test_a_folder_that_cannot_be_written(self, command, tmp_path, monkeypatch, capsys):
        (tmp_path / "file").write_text("in the way", encoding="utf-8")
        out = tmp_path / "file" / "run"
        # Before anything is played: both ways to learn would first try out their teachers.
        monkeypatch.setattr(ppo_run.PpoRun, "__init__", None)
        monkeypatch.setattr(Sb3Run, "__init__", None)
        ways = {
            "evaluate": lambda: main(["evaluate", "--variant", "hebei", "--deals", "2", "--out", str(out)]),
            "train-sb3": lambda: train(out),
            "train": lambda: main(["train", "--variant", "hebei", "--out", str(out)]),
        }
        assert ways[command]() == 2
        assert "cannot be written" in capsys.readouterr().err

    @pytest.mark.parametrize(("tables", "steps", "size"), [(3, 9, 8), (4, 8, 1), (1, 1, 8)])
    def test_a_minibatch_of_a_single_decision_is_refused(self, tables, steps, size, tmp_path, capsys):
        """All weights were NaN after it, and the run ended with an error of torch."""
        settings = "--tables", str(tables), "--n-steps", "3", "--batch-size", str(size)
        assert train(tmp_path / "run", *settings, steps=steps) == 2
        assert f"--batch-size {size}: an update of" in capsys.readouterr().err
        assert not (tmp_path / "run" / "config.json").exists()

    def test_a_reward_that_there_is_not_is_said_before_a_run_that_there_is(self, whole, capsys):
        assert train(whole, "--reward", "gold") == 2
        assert "no reward is called 'gold'" in capsys.readouterr().err

    @pytest.mark.parametrize("option", ["--opponents", "--evaluation-agents", "--teacher"])
    def test_an_agent_that_cannot_play_is_found_before_a_run_begins(self, option, tmp_path, capsys):
        """The folder had a run that could neither be resumed nor begun again with another agent."""
        assert train(tmp_path / "run", option, "policy:wuhan") == 2
        assert "policy policy:wuhan was trained for wuhan, not for hebei" in capsys.readouterr().err
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("command", ["train-sb3", "train"])
    def test_a_run_of_another_kind_is_said_in_words(self, command, tmp_path, capsys):
        configs = {"train-sb3": TrainSb3Config(variant="hebei"), "train": TrainConfig(variant="hebei")}
        other = "train-sb3" if command == "train" else "train"
        folder = RunFolder(tmp_path / "run")
        folder.begin(configs[other], {})
        before = folder.config.read_bytes()
        for words in ([], ["--resume"]):
            assert main([command, "--variant", "hebei", "--out", str(folder.path), *words]) == 2
            told = capsys.readouterr().err
            assert f"run: the run in this folder is one of `{other}` (METHOD=" in told
            assert f"not of `{command}` (METHOD=" in told
            assert "choose another --out (RUN= of make)" in told
        assert folder.config.read_bytes() == before

    def test_each_way_to_learn_has_a_folder_of_its_own(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        for command, folder in (("train-sb3", "runs/hebei-sb3"), ("train", "runs/hebei")):
            assert main([command, "--variant", "hebei", "--resume"]) == 2
            assert f"error: {Path(folder)}: there is no run to resume" in capsys.readouterr().err

    @pytest.mark.parametrize("content", [b"", b"damaged"])
    def test_a_damaged_checkpoint(self, content, whole, tmp_path, capsys):
        run = shutil.copytree(whole, tmp_path / "run")
        (run / "checkpoint.pt").write_bytes(content)
        assert train(run, "--resume") == 2
        error = capsys.readouterr().err
        assert "checkpoint.pt: damaged or of another version" in error
        assert "issue" not in error
        (run / "config.json").write_text("{", encoding="utf-8")
        assert train(run, "--resume") == 2
        assert "the settings of this run cannot be read" in capsys.readouterr().err

    def test_a_policy_of_another_variant(self, whole, capsys):
        assert main(["evaluate", "--variant", "wuhan", "--agents", f"policy:{whole}", "random", "--deals", "2"]) == 2
        assert "was trained for hebei, not for wuhan" in capsys.readouterr().err

    @pytest.mark.parametrize("missing", ["tyro", "sb3_contrib", "tqdm"])
    def test_a_missing_extra_is_named_with_its_pip_line(self, missing, tmp_path, monkeypatch, capsys):
        for module in ("run", "networks", "warm_start"):
            monkeypatch.delitem(sys.modules, f"mahjong_training.sb3.{module}", raising=False)
        monkeypatch.delattr(mahjong_training, "train", raising=False)
        monkeypatch.setitem(sys.modules, missing, None)
        assert train(tmp_path / "run") == 2
        error = capsys.readouterr().err
        assert missing in error
        assert "pip install 'mahjong-env[train,evaluate]'" in error


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, mahjong_training\n"
        "print([name for name in ('torch', 'scipy', 'rich', 'matplotlib', 'ray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
