"""A variant of another distribution, built and installed as its users would: it works wherever a shipped one does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from guangdong_mahjong.guangdong import RULES

from mahjong_env import make_engine
from mahjong_env.testing import check_cases, check_legal_actions, check_variant

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "outside"

# One worker builds and installs, once, for all tests of this file.
pytestmark = pytest.mark.xdist_group("outside")


def run(*command, cwd, **environment):
    """What a command prints; its errors are in the failure message."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        input="",
        env={**os.environ, **environment},
        encoding="utf-8",
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Runs Python with the distribution installed, from a wheel built of a copy; nothing is downloaded."""
    home = tmp_path_factory.mktemp("outside")
    shutil.copytree(PROJECT, home / "source", ignore=shutil.ignore_patterns("__pycache__"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "./source", cwd=home)
    (wheel,) = (home / "dist").glob("guangdong_mahjong-1.0-*.whl")
    run(*pip, "install", "--no-deps", "--no-index", "--target", "site", wheel, cwd=home)
    paths = os.pathsep.join([str(home / "site"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return lambda *arguments: run(sys.executable, *arguments, cwd=home, PYTHONPATH=paths)


def test_its_written_cases_hold():
    assert check_cases(RULES, PROJECT / "guangdong_mahjong" / "cases.toml") == 16


def test_the_kit_misses_no_chow_of_a_variant_without_them():
    check_legal_actions(partial(make_engine, RULES))


@pytest.mark.thorough
def test_it_passes_the_kit():
    check_variant(RULES)


@pytest.mark.thorough
def test_environments_are_registered(python):
    code = """
import gymnasium, pettingzoo, mahjong_env, guangdong_mahjong
env = gymnasium.make("mahjong_env/Guangdong-v0", opponents="greedy", base_score=3)
observation, info = env.reset(seed=1)
env.step(env.action_space.sample(info["action_mask"]))
envs = gymnasium.make_vec("mahjong_env/Guangdong-v0", num_envs=4)
assert envs.reset(seed=1)[0].shape[0] == 4
if hasattr(pettingzoo, "make"):
    made = pettingzoo.make("aec", "mahjong_env/guangdong-v0", base_score=2)
    made.reset(seed=1)
    assert made.unwrapped.engine.rules.base_score == 2
table = guangdong_mahjong.env(discards_win=False)
table.reset(seed=1)
assert str(table) == "guangdong_v0"
"""
    python("-c", code)


@pytest.mark.thorough
def test_the_command_line(python):
    assert "kong's replacement" in " ".join(python("-m", "mahjong_env", "rules", "--variant", "guangdong").split())
    hand = ("--hand", "1122334455667m", "--winning-tile", "7m", "--source", "draw", "--knob", "base_score=2")
    explained = python("-m", "mahjong_env", "score", "--variant", "guangdong", *hand)
    assert "the hand is worth 32" in " ".join(explained.split())
    shown = python("-m", "mahjong_env", "show", "--variant", "guangdong", "--seed", "1", "--agents", "greedy")
    assert "payments" in shown
    assert "chow" not in shown
    assert "you have left the table" in python("-m", "mahjong_env", "play", "--variant", "guangdong")
    bench = ("--seconds", "0.01", "--runs", "1", "--batches", "4", "--no-peers", "--play", "random")
    assert "guangdong: a new process" in python("-m", "mahjong_env", "bench", "--variant", "guangdong", *bench)


@pytest.mark.thorough
def test_training_evaluation_and_policy_files(python):
    pytest.importorskip("sb3_contrib")
    small = ("--tables", "8", "--warm-start-steps", "300", "--warm-start-epochs", "1", "--width", "16")
    small += ("--reward", "points?scale=0.3", "--teacher", "greedy", "--evaluations", "1", "--evaluation-deals", "2")
    begin = ("-m", "mahjong_env", "train-sb3", "--variant", "guangdong", "--out", "run", "--total-steps", "300")
    python(*begin, *small, "--evaluation-agents", "random", "--knob", "base_score=2")
    agents = ("--agents", "policy:run/best.zip", "random", "--deals", "2")
    told = python("-m", "mahjong_env", "evaluate", "--variant", "guangdong", *agents, "--knob", "base_score=2")
    assert "Guangdong" in told
    code = "from mahjong_agents.policy.file import PolicyFile; from pathlib import Path; "
    assert python("-c", code + "print(PolicyFile.read(Path('run/best.zip')).variant)").strip() == "guangdong"
