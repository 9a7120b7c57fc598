"""The two commands, at sizes that take seconds: files, repeatability, resuming, and every kind of wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mahjong_training
from mahjong_agents import make_agent
from mahjong_env import VARIANTS
from mahjong_env.cli import main
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.sb3 import run as train_run

SMALL = (
    *("--tables", "32", "--warm-start-steps", "1500", "--warm-start-epochs", "1", "--width", "32"),
    *("--reward", "points?scale=0.3", "--teacher", "greedy"),
    *("--evaluations", "2", "--evaluation-deals", "4", "--evaluation-agents", "random"),
)


def train(out, *arguments, steps=2000, variant="hebei"):
    return main(["train-sb3", "--variant", variant, "--out", str(out), "--total-steps", str(steps), *SMALL, *arguments])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small finished run, for tests that only look at it."""
    out = tmp_path_factory.mktemp("run") / "small"
    assert train(out) == 0
    return out


class TestTrain:
    def test_leaves_a_run_folder(self, run):
        left = {path.name for path in run.iterdir()}
        assert left >= {"config.json", "best.zip", "last.zip", "learning_curve.csv", "learning_curve.png"}
        assert left >= {"checkpoint.pt", "policies", "tensorboard"}
        assert not [path for path in run.rglob("*") if path.name.startswith(".") or "partial" in path.name]
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        assert (config["variant"], config["tables"], config["total_steps"]) == ("hebei", 32, 2000)
        assert (config["teacher"], config["reward"]) == ("greedy", "points?scale=0.3")
        assert "torch" in config["versions"]
        assert list((run / "tensorboard").iterdir())
        assert (run / "learning_curve.png").read_bytes().startswith(b"\x89PNG")

    @pytest.mark.thorough
    def test_the_teacher_is_the_reference_agent_unless_it_is_named(self, tmp_path):
        few = ["--tables", "8", "--warm-start-steps", "300", "--evaluations", "1", "--evaluation-deals", "2"]
        assert main(["train-sb3", "--variant", "hebei", "--out", str(tmp_path), "--total-steps", "8", *few]) == 0
        config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        assert (config["teacher"], config["reward"]) == ("closed-greedy", "points")

    def test_the_learning_curve_has_a_line_for_each_measurement(self, run):
        header, *lines = (run / "learning_curve.csv").read_text(encoding="utf-8").splitlines()
        assert header.startswith("phase,steps,seconds,against,points,points_low,points_high,wins")
        phases = [line.split(",")[:2] for line in lines]
        # In whole updates of 32 tables times 16 steps, and no more than was asked for.
        assert phases == [["start", "0"], ["PPO", "1024"], ["PPO", "1536"]]
        assert len(list((run / "policies").iterdir())) == 3

    @pytest.mark.thorough
    @pytest.mark.parametrize("variant", sorted(set(VARIANTS) - {"hebei"}))
    def test_trains_every_other_variant_too(self, variant, tmp_path):
        arguments = ["--opponents", "greedy", "self"]
        assert train(tmp_path / variant, *arguments, steps=600, variant=variant) == 0
        assert make_agent(f"policy:{tmp_path / variant}").variant == variant

    @pytest.mark.thorough
    def test_trains_without_a_warm_start_and_with_shaping(self, tmp_path):
        out = tmp_path / "run"
        own = ("--warm-start-steps", "0", "--reward", "distance?weight=0.3", "--knobs", "players=4")
        assert train(out, *own, steps=600) == 0
        assert json.loads((out / "config.json").read_text(encoding="utf-8"))["knobs"] == ["players=4"]


class TestWrongInput:
    def test_a_run_is_not_overwritten(self, run, capsys):
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
        assert train(run) == 2
        assert "there is a run in this folder already; go on with it (--resume)" in capsys.readouterr().err
        assert train(run, "--resume", "--seed", "5") == 2
        assert "a resumed run keeps its settings: seed is 0, not 5" in capsys.readouterr().err
        assert train(run, "--resume", variant="taiwan") == 2
        assert "variant is 'hebei', not 'taiwan'" in capsys.readouterr().err
        assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before

    @pytest.mark.parametrize("command", ["train-sb3", "train", "evaluate"])
    def test_a_folder_that_cannot_be_written(self, command, tmp_path, monkeypatch, capsys):
        (tmp_path / "file").write_text("in the way", encoding="utf-8")
        out = tmp_path / "file" / "run"
        # Before anything is played: both ways to learn would first try out their teachers.
        monkeypatch.setattr(ppo_run.PpoRun, "__init__", None)
        monkeypatch.setattr(train_run.Sb3Run, "__init__", None)
        ways = {
            "evaluate": lambda: main(["evaluate", "--variant", "hebei", "--deals", "2", "--out", str(out)]),
            "train-sb3": lambda: train(out),
            "train": lambda: main(["train", "--variant", "hebei", "--out", str(out)]),
        }
        assert ways[command]() == 2
        assert "cannot be written" in capsys.readouterr().err

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

    @pytest.mark.thorough
    @pytest.mark.parametrize("content", [b"", b"damaged"])
    def test_a_damaged_checkpoint(self, content, tmp_path, capsys):
        assert train(tmp_path / "run", steps=600) == 0
        (tmp_path / "run" / "checkpoint.pt").write_bytes(content)
        assert train(tmp_path / "run", "--resume", steps=2000) == 2
        error = capsys.readouterr().err
        assert "checkpoint.pt: damaged or of another version" in error
        assert "issue" not in error
        (tmp_path / "run" / "config.json").write_text("{", encoding="utf-8")
        assert train(tmp_path / "run", "--resume", steps=2000) == 2
        assert "the settings of this run cannot be read" in capsys.readouterr().err

    def test_a_policy_of_another_variant(self, run, capsys):
        assert main(["evaluate", "--variant", "wuhan", "--agents", f"policy:{run}", "random", "--deals", "2"]) == 2
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
