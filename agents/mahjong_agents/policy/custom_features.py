"""Added inputs: a researcher's own numbers, which a network sees beside the observation.

A class of a few lines in any file is enough; see docs/rewards_and_features.md::

    class Late:
        facts = {"tiles left": 1 / 70, "melds of all": 1 / 8}

        def __call__(self, view):
            return {"tiles left": view.left, "melds of all": view.num_melds.sum(axis=1)}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import make_own
from mahjong_env import AgentError, View
from mahjong_env.environments.agents import Kind

_LOW: Final = -128
_HIGH: Final = 127


class Features(Protocol):
    """The interface of objects that make added inputs of views.

    Attributes:
        facts: the names of the K numbers, with the factor by which a network multiplies each so that it is about 1.
    """

    facts: Mapping[str, float]

    def __call__(self, view: View) -> NDArray[Any] | Mapping[str, NDArray[Any]]:
        """Return [n, K] integers from -128 to 127 for the views of n seats, or [n] integers for each name."""
        ...


_KIND: Final = Kind(
    "class of added inputs",
    "added inputs",
    AgentError,
    "facts",
    lambda one: callable(one) and hasattr(one, "facts") and not isinstance(one, type),
    lambda: "module:Class, file.py:Class, and in Python objects with facts that are called with a view",
)


def find_features(features: Any) -> Features:
    """Return the added inputs that a text names, or the object itself; see `mahjong_agents.base.make_own`.

    Raises:
        AgentError: there is nothing of this name, it cannot be made, or it does not make added inputs.
    """
    found: Features = make_own(_KIND, features)
    facts = found.facts
    if not isinstance(facts, Mapping) or not facts or not all(map(_is_scale, facts.values())):
        raise AgentError(f"facts of added inputs are plain numbers other than 0 by name, not {facts!r}")
    return found


def _is_scale(scale: Any) -> bool:
    return isinstance(scale, int | float) and 0 < abs(scale) < np.inf  # as policy files can keep it


def added_inputs(features: Features, view: View) -> NDArray[np.int8]:
    """Return [n, K] int8 the added inputs of a view.

    Raises:
        AgentError: they are not [n, K] integers from -128 to 127, nor [n] for each name.
    """
    wanted, made = (len(view), len(features.facts)), features(view)
    if isinstance(made, Mapping):
        shapes = {name: np.shape(column) for name, column in made.items()}
        if shapes != dict.fromkeys(features.facts, wanted[:1]):
            raise AgentError(f"added inputs are {wanted[:1]} integers for each of {list(features.facts)}, not {shapes}")
        made = np.stack([made[name] for name in features.facts], axis=1)
    added = np.asarray(made)
    if added.shape != wanted or added.dtype.kind not in "iub":
        raise AgentError(f"added inputs are {wanted} integers, not {added.dtype} of shape {added.shape}: {features!r}")
    if added.size and not (added.min() >= _LOW and added.max() <= _HIGH):
        at = np.unravel_index(np.abs(added.astype(np.int64)).argmax(), added.shape)
        raise AgentError(
            f"added inputs are from {_LOW} to {_HIGH}; {list(features.facts)[at[1]]!r} is {added[at]}: divide it first"
        )
    return added.astype(np.int8)
