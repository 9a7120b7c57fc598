"""Levels: numbered opponents, so that a result against one of them means the same everywhere.

A level is a text for `make_agent`. New levels are added at the end, and the texts never change. What `policy` plays
depends on the version of the package: it is the policy that this version ships. Levels are ordered by how much they
take into account, which is not the order of their strength in every variant.
"""

from __future__ import annotations

from typing import Final

LEVELS: Final[tuple[str, ...]] = (
    "random",
    "closed-greedy",
    "greedy",
    "plan-value",
    "search?rollouts=64&base=reference&actions=5&plans=0&clear=2&nearness=false",
    "value",
    "search?rollouts=64&base=reference&actions=5&plans=0&clear=2",
    "policy",
    "search?rollouts=256&base=policy&actions=3&plans=3&clear=1",
    "search?rollouts=256&base=policy&actions=3&plans=3&clear=1&luck=true",
    "search?rollouts=256&base=policy&actions=3&plans=3&clear=2&likely=0.05",
    "folding?caution=2",
    "search?rollouts=256&base=policy&actions=3&plans=3&clear=2&likely=0.05&luck=true&horizon=4",
)
"""The agent of each level, from 0 on."""
