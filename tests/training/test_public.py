"""What `mahjong_training` offers at its door."""

from __future__ import annotations

import subprocess
import sys

from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_training import measure, one_against_copies


def test_agents_are_measured_with_two_imports():
    hebei, agents = rules("hebei"), [make_agent("greedy"), make_agent("random")]
    found = measure(hebei, agents, one_against_copies(1, 0, hebei.people), deals=40, seed=7)
    points = found.of(1).points
    assert found.lineup == (1, 0, 0)
    assert points.mean < -points.half_width < 0


def test_importing_it_loads_nothing_heavy():
    code = (
        "import sys, mahjong_training\n"
        "print([name for name in ('torch', 'scipy', 'rich', 'matplotlib', 'ray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
