"""A variant of another distribution, built and installed as its users would: it works wherever a shipped one does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from guangdong_mahjong.guangdong import RULES

from mahjong_env.testing import check_cases, check_variant

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tests" / "outside"

# One worker builds and installs, once, for all tests of this file.
pytestmark = pytest.mark.xdist_group("outside")


def run(*command, cwd, status=0, **environment):
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
    assert done.returncode == status, f"{command} gave {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder into which the distribution has been installed, from a wheel built of a copy; nothing is downloaded."""
    home = tmp_path_factory.mktemp("outside")
    shutil.copytree(PROJECT, home / "source", ignore=shutil.ignore_patterns("__pycache__"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "./source", cwd=home)
    (wheel,) = (home / "dist").glob("guangdong_mahjong-1.0-*.whl")
    run(*pip, "install", "--no-deps", "--no-index", "--target", "site", wheel, cwd=home)
    return home / "site"


@pytest.fixture
def python(site, tmp_path):
    """Runs Python with the distribution installed."""
    paths = os.pathsep.join([str(site), str(ROOT), os.environ.get("PYTHONPATH", "")])

    def call(*arguments, status=0):
        return run(sys.executable, *arguments, cwd=tmp_path, status=status, PYTHONPATH=paths)

    return call


@pytest.mark.thorough
def test_it_is_known_before_it_is_loaded(python):
    code = """
import sys, mahjong_env
assert "guangdong" in mahjong_env.VARIANTS and "guangdong" in list(mahjong_env.VARIANTS)
assert "guangdong_mahjong" not in sys.modules
assert mahjong_env.rules("guangdong", base_score=2).knobs["base_score"] == 2
assert mahjong_env.VARIANTS["guangdong"].title == "Guangdong"
assert len(mahjong_env.VARIANTS) == 7
"""
    python("-c", code)
    assert (
        "there is no variant"
        in subprocess.run(
            [sys.executable, "-c", "import mahjong_env; mahjong_env.rules('guangdong')"],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            encoding="utf-8",
        ).stderr
    )


def test_its_written_cases_hold():
    assert check_cases(RULES, PROJECT / "guangdong_mahjong" / "cases.toml") == 16


@pytest.mark.thorough
def test_it_passes_the_kit():
    check_variant(RULES, games=4, seed=2)


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


@pytest.mark.thorough
def test_a_second_distribution_of_that_name_is_an_error_of_this_variant_alone(site, python, tmp_path):
    other = tmp_path / "other_guangdong-2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other-guangdong\nVersion: 2.0\n", encoding="utf-8")
    (other / "entry_points.txt").write_text("[mahjong_env.variants]\nguangdong = elsewhere:RULES\n", encoding="utf-8")
    # The working directory is on the path of `python -c` and `python -m`.
    told = python("-m", "mahjong_env", "rules", "--variant", "guangdong", status=2)
    assert told.startswith("error: the variant 'guangdong' is registered more than once, by ")
    assert "guangdong-mahjong 1.0 (guangdong_mahjong.guangdong:RULES)" in told
    assert "other-guangdong 2.0 (elsewhere:RULES)" in told
    assert len(told.splitlines()) == 1
    assert "Hebei" in python("-m", "mahjong_env", "rules", "--variant", "hebei")
