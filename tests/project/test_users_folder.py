"""Everything works in a folder whose own modules have the names of this repository's folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("agents", "training", "benchmarks", "tools", "experiments")
OURS = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "training", "benchmarks"))

GYMNASIUM = """
import gymnasium, mahjong_env
env = gymnasium.make("mahjong_env/Hebei-v0", opponents="greedy")
observation, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
"""
AGENTS = """
from mahjong_agents import make_agent
from mahjong_env import make_engine
import numpy as np
view = make_engine("hebei", 2, seed=0).view()
for spec in ("greedy", "policy:hebei", "value"):
    make_agent(spec).act(view, np.random.default_rng(0))
"""
EVALUATE = ["-m", "mahjong_env", "evaluate", "--variant", "hebei", "--deals", "1", "--agents", "greedy", "random"]


@pytest.fixture
def folder(tmp_path):
    """A user's folder: agents.py, training.py and so on, and packages of these names, none of which can be imported."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        for path in (tmp_path / f"{name}.py", tmp_path / name / "__init__.py"):
            path.write_text(f"raise RuntimeError('the folder: its own {name} was imported')\n", encoding="utf-8")
    return tmp_path


def run(folder, *arguments):
    """The output of Python in that folder, which is the first place where it looks for modules."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": OURS},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_everything_works_in_a_folder_with_such_names(folder):
    with pytest.raises(AssertionError, match="own agents was imported"):
        run(folder, "-c", "import agents")
    run(folder, "-c", GYMNASIUM + AGENTS)
    assert "greedy" in run(folder, *EVALUATE)
    assert "rule-values" in run(folder, "-m", "mahjong_env", "--help")
