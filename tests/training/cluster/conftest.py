"""A local cluster of two workers, and agents that end them."""

from __future__ import annotations

import pytest

from support.cluster import AGENTS, small_cluster


@pytest.fixture(scope="module")
def cluster():
    with small_cluster(2) as ray:
        yield ray


@pytest.fixture
def agents(tmp_path):
    """A file of agents, see `support.cluster.AGENTS`."""
    (tmp_path / "on_the_cluster.py").write_text(AGENTS, encoding="utf-8")
    return f"{tmp_path}/on_the_cluster.py"
