"""The Makefile: what it says and does, tried with an environment that stands already."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL_SB3 = (
    "--tables 4 --width 4 --layers 1 --warm-start-steps 64 --warm-start-epochs 1 --evaluations 1 "
    "--evaluation-deals 1 --evaluation-agents random --opponents random --teacher greedy --reward points?scale=0.5"
)
SMALL_PPO = (
    "--tables 32 --width 4 --critic-hands 32 --evaluations 1 --evaluation-deals 2 --evaluation-agents random "
    "--gate-deals 2 --opponents random --teacher greedy"
)

pytestmark = pytest.mark.skipif(os.name == "nt" or shutil.which("make") is None, reason="needs make and a shell")


@pytest.fixture
def environment(tmp_path):
    """A folder that looks to make like an environment in which everything is installed."""
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    for name, called in (("python", sys.executable), ("mahjong-env", f"{sys.executable} -m mahjong_env")):
        script = tmp_path / "venv" / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {called} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    for extras in ("train-evaluate", "train-evaluate-render-notebooks-docs-dev"):
        (tmp_path / "venv" / f".installed-{extras}").touch()
    return f"VENV={tmp_path / 'venv'}"


def make(*words):
    # As a user calls it: other packages open files in the system's encoding, and would be warned of it.
    env = {name: text for name, text in os.environ.items() if name != "PYTHONWARNDEFAULTENCODING"}
    done = subprocess.run(
        ["make", "-C", str(ROOT), *words], capture_output=True, text=True, encoding="utf-8", check=False, env=env
    )
    return done.returncode, done.stdout, done.stderr


def test_an_installation_says_what_it_does_and_shows_that_it_works(tmp_path):
    status, told, _ = make("-n", "train", f"VENV={tmp_path / 'none'}")
    assert status == 0
    assert "installing mahjong_env with its extras train, evaluate (the first time takes some minutes)" in told
    installs = [line for line in told.splitlines() if "pip install" in line and "--editable" in line]
    assert installs
    assert not any("--quiet" in line for line in installs)


def test_each_way_to_learn_has_a_folder_of_its_own(environment):
    """What the README says to run one after the other."""
    commands = [make("-n", "train", environment, *words)[1] for words in ([], ["METHOD=sb3", "STEPS=4000"])]
    for command, words, folder in zip(
        commands, ("train --hands 320000", "train-sb3 --total-steps 4000"), ("hebei", "hebei-sb3"), strict=True
    ):
        assert f"mahjong-env {words}" in command
        assert f"--out runs/{folder} \\\n" in command
    assert "policy:runs/hebei-sb3/best.zip" in make("-n", "evaluate", environment, "METHOD=sb3")[1]
    assert "--out runs/mine \\\n" in make("-n", "train", environment, "METHOD=sb3", "RUN=runs/mine")[1]


def test_another_way_to_learn_is_refused(environment):
    status, _, error = make("train", environment, "METHOD=dqn")
    assert status != 0
    assert "METHOD is ppo or sb3, not dqn" in error


def test_the_fast_tests_and_the_rest_are_all_tests(environment):
    status, told, _ = make("-n", "test-all", environment)
    assert status == 0
    chosen = re.findall(r"-m '([^']*)'", told)
    assert chosen == ["not slow and not thorough", "thorough and not slow", "slow"]
    assert told.index("mypy") < told.index(chosen[0])
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "\nmake test " in script
    assert "make test-rest" in script


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sizes", "learned"),
    [
        (["GAMES=64", f"FLAGS={SMALL_PPO}"], "64 hands"),
        (["METHOD=sb3", "STEPS=64", f"FLAGS={SMALL_SB3}"], "64 steps"),
    ],
)
def test_training_twice_evaluates_once(environment, tmp_path, sizes, learned):
    words = ["train", environment, f"RUN={tmp_path / 'run'}", "DEALS=2", "JOBS=1"]
    status, told, error = make(*words, *sizes)
    assert (status, error) == (0, "")
    assert f"playing {tmp_path}/run/best.zip against its teachers" in told
    before = (tmp_path / "run" / "evaluation.json").stat().st_mtime_ns
    status, told, error = make(*words, *sizes)
    assert (status, error) == (0, "")
    assert f"has learned from {learned} already; nothing to do" in told
    assert "make evaluate plays it again" in told
    assert (tmp_path / "run" / "evaluation.json").stat().st_mtime_ns == before
    if "METHOD=sb3" not in sizes:
        status, _, error = make(*words, "METHOD=sb3", "STEPS=64", f"FLAGS={SMALL_SB3}")
        assert status != 0
        assert "the run in this folder is one of `train` (METHOD=ppo), not of `train-sb3` (METHOD=sb3)" in error


def test_an_interrupted_run_is_told_the_same_command(environment, tmp_path):
    """A python that only says what make would have an interrupted run say."""
    python = Path(environment.removeprefix("VENV=")) / "bin" / "mahjong-env"
    python.write_text('#!/bin/sh\necho "resume with $MAHJONG_ENV_AGAIN"\nexit 130\n', encoding="utf-8")
    status, told, _ = make("train", environment, "VARIANT=wuhan", "FLAGS=--tables 64 --seed 1")
    assert status != 0
    (line,) = [line for line in told.splitlines() if line.startswith("resume with make train")]
    again = line.removeprefix("resume with ") + " -n"
    done = subprocess.run(["sh", "-c", again], capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=True)
    assert "--variant wuhan" in done.stdout
    assert "--tables 64 --seed 1" in done.stdout
