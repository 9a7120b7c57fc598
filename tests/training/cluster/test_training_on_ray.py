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

from mahjong_agents.policy.file import PolicyFile
from mahjong_training.config import TrainConfig
from support.cluster import REASON, left_behind

pytest.importorskip("ray", reason=REASON)
pytestmark = pytest.mark.distributed

CONFIG = TrainConfig(
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


def weights(config):
    from mahjong_training.learning import run as ppo_run

    return PolicyFile.read(ppo_run.run(config).last).weights


def same(one, other):
    return all(np.array_equal(array, other[name]) for name, array in one.items())


@pytest.mark.thorough
def test_actors_play_the_same_hands_also_when_one_is_killed(cluster, agents, tmp_path):
    first, fatal = (f"{agents}:{name}" for name in ("First", f"Fatal?marker={tmp_path}/killed"))
    calm = weights(replace(CONFIG, opponents=(first,), out=tmp_path / "calm"))
    killed = weights(replace(CONFIG, opponents=(fatal,), out=tmp_path / "run", ray="local"))
    assert (tmp_path / "killed0").exists()
    assert same(calm, killed)


@pytest.mark.thorough
def test_one_update_ahead_is_the_same_on_actors(cluster, tmp_path):
    config = replace(CONFIG, opponents=("greedy",), ahead=True)
    here = weights(replace(config, out=tmp_path / "here"))
    assert same(here, weights(replace(config, out=tmp_path / "there", ray="local")))


@pytest.mark.thorough
def test_a_killed_driver_goes_on_as_if_it_had_never_stopped(tmp_path):
    config = replace(CONFIG, opponents=("greedy",), hands=128)
    words = "train --variant hebei --teacher greedy --hands 128 --tables 32 --critic-hands 32 --evaluations 1 --width 8"
    words += " --evaluation-deals 3 --gate-deals 3 --opponents greedy --opponent-share 0.5 --ray local --processes 2"
    command = [sys.executable, "-m", "mahjong_env", *words.split(), "--out", str(tmp_path / "run")]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    driver = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 240
    while not (tmp_path / "run" / "checkpoint.pt").exists() and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert left_behind(driver.pid) == []
    assert subprocess.run([*command, "--resume"], env=env, check=False, timeout=480).returncode == 0
    found = PolicyFile.read(tmp_path / "run" / "last.zip").weights
    assert same(found, weights(replace(config, out=tmp_path / "straight")))
