"""Clusters whose nodes differ: refused before anything is done, with the names of the nodes and what they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from mahjong_training.cluster import connected
from mahjong_training.cluster.versions import versions
from mahjong_training.errors import TrainingError
from support.cluster import REASON

pytest.importorskip("ray", reason=REASON)
pytestmark = pytest.mark.distributed

# Python runs these at its start, in whatever process has their folder on its path.
LACKING = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("mahjong_env", "mahjong_agents", "mahjong_training"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
"""
OTHER = """
import mahjong_env

mahjong_env.__version__ = "0.0.7"
"""


@pytest.fixture
def address(tmp_path):
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    for name, code in (("lacking", LACKING), ("other", OTHER)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
        path = f"{folder}:{Path(__file__).parents[3]}"
        cluster.add_node(**size, env_vars={"PYTHONPATH": path, "RAY_worker_niceness": "0"})
    yield cluster.address
    cluster.shutdown()


@pytest.mark.thorough
def test_nodes_that_differ_are_refused_by_name(address):
    with pytest.raises(TrainingError) as refused, connected(address):
        pytest.fail("connected")
    said = str(refused.value)
    assert said.startswith("2 of 3 nodes cannot be used: ")
    assert "lacks mahjong_env (No module named" in said
    assert f"mahjong_env is 0.0.7 and not {versions()['mahjong_env']}" in said
    assert said.count(", node ") == 2
