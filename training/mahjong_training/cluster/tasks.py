"""A worker's side of the shards: what Ray calls on a node."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mahjong_env import MahjongError
from mahjong_training.cluster.nodes import node_here, verdict
from mahjong_training.cluster.versions import Versions, versions
from mahjong_training.runtime.pool import set_threads

_kept: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {}
"""The work that this process does, and what all its shards need, unpacked once; by the name of the work."""


@dataclass(frozen=True)
class Answer:
    """What came of a shard.

    Attributes:
        value: the result.
        error: this project's own error, or the traceback of another one; None if all went well.
    """

    value: Any = None
    error: MahjongError | str | None = None


def do_here(expected: Versions, name: str, sent: bytes, shard: Any) -> Answer | str:
    """Do a shard.

    Args:
        expected: the versions of the process that asks.
        name: of the work, the same for all its shards.
        sent: the work, and what all shards need.
        shard: the shard.

    Returns:
        What came of it; a sentence if this process is not fit for it.
    """
    if said := verdict(versions(), expected):
        return f"on {node_here()} {said}"
    try:
        if name not in _kept:
            _kept.clear()
            set_threads(1)  # a task has one core
            _kept[name] = pickle.loads(sent)
        work, common = _kept[name]
        return Answer(work(common, shard))
    except MahjongError as error:
        return Answer(error=error)
    except Exception:  # travels back as text: its class need not exist where it arrives
        return Answer(error=traceback.format_exc())
