"""The nodes of a cluster: all of them must have this package, and everything that results depend on, as we have it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Final

from mahjong_training.cluster.versions import Versions, differences, versions
from mahjong_training.errors import TrainingError

_PATIENCE: Final = 300.0
"""Seconds that a node has to start a worker and say what it has."""


def check_nodes(ray: Any) -> None:
    """Check every node that can do work.

    Raises:
        TrainingError: nodes lack the package, have other versions than this process, or do not answer; the message
            names each of them, and what it has.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise TrainingError("the Ray cluster has no node with a free core: start workers with ray start --address=...")
    look = ray.remote(_looking())
    asked = {
        look.options(
            num_cpus=0, max_retries=1, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote(): node
        for node in nodes
    }
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=_PATIENCE)
    wrong = [f"{_name(asked[ref])} does not answer" for ref in silent]
    for ref in answered:
        wrong.extend(_judge(ray, ref, _name(asked[ref])))
    if wrong:
        raise TrainingError(
            f"{len(wrong)} of {len(nodes)} nodes cannot be used: {'; '.join(sorted(wrong))}. Install the same "
            "mahjong-env[distributed] on every node"
        )


def verdict(found: Versions | str, expected: Versions) -> str:
    """Return why a process cannot do the work: "" if it can.

    Args:
        found: its versions, or why there are none.
        expected: the versions of the process that asks.
    """
    if isinstance(found, str):
        return f"lacks mahjong_env ({found})"
    return ", ".join(differences(expected, found))


def node_here() -> str:
    """Return what the node of this process is called in messages."""
    return socket.gethostname()


def _judge(ray: Any, ref: Any, name: str) -> list[str]:
    try:
        said = verdict(ray.get(ref), versions())
    except ray.exceptions.RayError as error:
        said = f"cannot run a worker ({str(error).strip().splitlines()[0]})"
    return [f"{name} {said}" if said.startswith(("lacks", "cannot")) else f"on {name} {said}"] if said else []


def _name(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']}, node {node['NodeID'][:8]})"


def _looking() -> Callable[[], Versions | str]:
    """Return a function that Ray sends as code: a node without this package could not find it by name."""

    def look() -> Versions | str:
        try:
            from mahjong_training.cluster.versions import versions
        except ImportError as error:
            return str(error)
        return dict(versions())

    return look
