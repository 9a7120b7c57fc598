"""Everything that attributes lead to, from an object of this project: what an agent finds that only looks around.

Closures, frames and the garbage collector are left out: Python opens them to whoever wants to, and no object of one
process can be kept from them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from mahjong_env.engine.batch import Engine
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.state.arrays import State
from mahjong_env.state.flat import Flat

PACKAGES = ("mahjong_env", "agents", "training")
TABLES = (Engine, State, Flat, StepContext)


def reached(start: Any) -> Iterator[tuple[str, Any]]:
    """Every object that attributes, items and the bases of arrays lead to, with the way there."""
    todo, known = [("", start)], {}
    while todo:
        way, found = todo.pop()
        if id(found) in known:
            continue
        known[id(found)] = found  # kept, so that no other object gets its number
        yield way, found
        todo += [(f"{way}{step}", part) for step, part in _parts(found)]


def _parts(found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, np.ndarray):
        yield ".base", found.base
    elif isinstance(found, types.FunctionType):
        yield from ((f".{name}", getattr(found, name)) for name in ("__dict__", "__defaults__", "__kwdefaults__"))
    elif isinstance(found, types.MethodType):
        yield ".__self__", found.__self__
        yield ".__func__", found.__func__
    elif isinstance(found, dict | types.MappingProxyType):
        yield from ((f"[{key!r}]", value) for key, value in found.items())
    elif isinstance(found, list | tuple | set | frozenset):
        yield from ((f"[{place}]", value) for place, value in enumerate(found))
    elif type(found).__module__.partition(".")[0] in PACKAGES:
        yield from ((f".{name}", value) for name in dir(found) if (value := _attribute(found, name)) is not None)


def _attribute(found: Any, name: str) -> Any:
    try:
        return getattr(found, name)
    except Exception:  # a property that has no value here
        return None


def ways_to_the_table(start: Any, engine: Engine) -> list[str]:
    """The ways to anything that holds games, or that shares its memory with these games."""
    memory = engine.state.arrays().values()
    return [
        way
        for way, found in reached(start)
        if isinstance(found, TABLES)
        or (isinstance(found, np.ndarray) and any(np.shares_memory(found, array) for array in memory))
    ]
