"""Drivers of clusters that are stopped in the middle, and clusters whose head dies: the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mahjong_env.cli import main
from support.cluster import REASON, left_behind

pytest.importorskip("ray", reason=REASON)
pytestmark = pytest.mark.distributed


def words_of(tmp_path, agents):
    slow = (f"{agents}:Slow", f"{agents}:First", "random")
    return ["evaluate", "--variant", "hebei", "--deals", "2", "--agents", *slow, "--out", str(tmp_path / "out")]


def _heed_ctrl_c():
    """Programs that a shell runs in the background, such as these tests, ignore Ctrl-C, and so would theirs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begin(tmp_path, words, *more, **env):
    """Start a driver, and wait until it has kept two parts."""
    started = subprocess.Popen(
        [sys.executable, "-m", "mahjong_env", *words, *more],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        encoding="utf-8",
        preexec_fn=_heed_ctrl_c,
    )
    end = time.monotonic() + 300
    while len(parts(tmp_path)) < 2 and started.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert started.poll() is None, started.communicate()
    return started


def parts(tmp_path):
    return list((tmp_path / "out").glob(".parts-*/*.npz"))


def check_that_it_goes_on(tmp_path, words, *more):
    """The rest is played, and all of it is what one process would have found."""
    assert main([*words, *more]) == 0
    alone = [*words[:-1], str(tmp_path / "alone")]
    assert main(alone) == 0
    found = [(tmp_path / name / "evaluation.json").read_bytes() for name in ("out", "alone")]
    assert found[0] == found[1]
    assert json.loads(found[0])["deals"] == 2


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_driver_that_is_stopped_goes_on(number, cluster, tmp_path, agents):
    words = words_of(tmp_path, agents)
    driver = begin(tmp_path, words, "--ray", "local", "--processes", "2")
    driver.send_signal(number)
    _, said = driver.communicate(timeout=60)
    kept = len(parts(tmp_path))
    assert kept >= 2, said
    if number != signal.SIGKILL:
        assert f"interrupted; {kept} of" in said
        assert len(said.strip().splitlines()) == 1, said
    assert left_behind(driver.pid) == []
    check_that_it_goes_on(tmp_path, words, "--ray", "local")


@pytest.mark.thorough
def test_a_head_that_dies_ends_the_driver_which_goes_on_elsewhere(tmp_path, agents):
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    head = Cluster(initialize_head=True, head_node_args=size)
    try:
        words = words_of(tmp_path, agents)
        # Ray's own patience with a head that does not answer is a minute.
        driver = begin(tmp_path, words, "--ray", head.address, RAY_gcs_rpc_server_reconnect_timeout_s="3")
        head.head_node.kill_gcs_server()
        _, said = driver.communicate(timeout=120)
        assert driver.returncode != 0
        assert "Failed to connect to GCS" in said
        assert len(parts(tmp_path)) >= 2
    finally:
        head.shutdown()
    check_that_it_goes_on(tmp_path, words)
