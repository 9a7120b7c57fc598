"""Training on a local cluster of two actors: the same weights as in one process, also when actors and drivers die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.policy_file import PolicyFile
from support.cluster import REASON, left_behind
from training.cluster import connected
from training.config import PpoConfig

pytest.importorskip("ray", reason=REASON)
pytestmark = [pytest.mark.thorough, pytest.mark.distributed]

CONFIG = PpoConfig(
    variant="hebei",
    teacher="greedy",
    hands=64,
    tables=32,
    critic_hands=32,
    evaluations=1,
    evaluation_deals=3,
    gate_deals=3,
    width=8,
    opponent_share=0.5,
)

AGENTS = """
import os, signal
from pathlib import Path

class First:
    name = "first"

    def act(self, view, rng):
        return view.action_mask.argmax(axis=1)

class Fatal(First):
    def __init__(self, marker: str):
        self.marker = marker

    def act(self, view, rng):
        try:
            Path(self.marker).touch(exist_ok=False)
        except FileExistsError:
            return super().act(view, rng)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def cluster():
    with connected("local", workers=2, store=80 * 2**20):
        yield


def weights(config):
    from training import ppo_run

    return PolicyFile.read(ppo_run.run(config).last).weights


def same(one, other):
    return all(np.array_equal(array, other[name]) for name, array in one.items())


def test_actors_play_the_same_hands_also_when_one_is_killed(cluster, tmp_path):
    (tmp_path / "in_training.py").write_text(AGENTS, encoding="utf-8")
    first, fatal = (f"{tmp_path}/in_training.py:{name}" for name in ("First", f"Fatal?marker={tmp_path}/killed"))
    calm = weights(replace(CONFIG, opponents=(first,), out=tmp_path / "calm"))
    killed = weights(replace(CONFIG, opponents=(fatal,), out=tmp_path / "run", ray="local"))
    assert (tmp_path / "killed").exists()
    assert same(calm, killed)


def test_one_update_ahead_is_the_same_on_actors(cluster, tmp_path):
    config = replace(CONFIG, opponents=("greedy",), ahead=True)
    here = weights(replace(config, out=tmp_path / "here"))
    assert same(here, weights(replace(config, out=tmp_path / "there", ray="local")))


def test_a_killed_driver_goes_on_as_if_it_had_never_stopped(tmp_path):
    config = replace(CONFIG, opponents=("greedy",), hands=128)
    words = "ppo --variant hebei --teacher greedy --hands 128 --tables 32 --critic-hands 32 --evaluations 1 --width 8"
    words += " --evaluation-deals 3 --gate-deals 3 --opponents greedy --opponent-share 0.5 --ray local --processes 2"
    command = [sys.executable, "-m", "training", *words.split(), "--out", str(tmp_path / "run")]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    driver = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 240
    while not (tmp_path / "run" / "checkpoint.pt").exists() and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert left_behind(driver.pid) == []
    assert subprocess.run([*command, "--resume"], env=env, check=False).returncode == 0
    found = PolicyFile.read(tmp_path / "run" / "last.zip").weights
    assert same(found, weights(replace(config, out=tmp_path / "straight")))
