"""Intervals of whole evaluations: an agent against itself is found equal to itself 95 times of 100."""

from __future__ import annotations

import numpy as np
import pytest

from agents import GreedyAgent
from mahjong_env import rules
from training import designs
from training.lineups import Block, play_block, summarise


class OwnLots(GreedyAgent):
    """Greedy with lots of its own in every game: with those that games share it would never differ from itself."""

    def __init__(self, salt: int) -> None:
        super().__init__()
        self._salt = salt

    def act(self, view, rng):
        return super().act(view, np.random.default_rng([self._salt, *rng.integers(2**32, size=4)]))


def coverage(variant: str, matches: int, deals: int) -> dict[str, tuple[int, float]]:
    """How many of so many matches have an interval with 0 in it, and the mean half-width, with luck and without."""
    table = rules(variant)
    lineup = designs.one_against_copies(0, 1, table.people)
    agents = [OwnLots(1), OwnLots(2)]
    # Matches are cut from one evaluation: other deals each, and far fewer steps of the engine.
    played = play_block(table, agents, Block(lineup, 0, 0, matches * deals, "all", True), 4711)
    size = deals * len(designs.orders_of(lineup))
    found: dict[str, list[tuple[bool, float]]] = {"with luck": [], "luck taken off": []}
    for match in range(matches):
        own = summarise(table, lineup, [played.part(match * size, (match + 1) * size)]).of(0)
        for name, points in (("with luck", own.with_luck), ("luck taken off", own.points)):
            found[name].append((points.low <= 0 <= points.high, points.half_width))
    return {
        name: (sum(covered for covered, _ in of), float(np.mean([half for _, half in of])))
        for name, of in found.items()
    }


@pytest.mark.thorough
def test_an_agent_against_itself_in_small_matches():
    found = coverage("taiwan", 120, 25)
    for covered, _ in found.values():
        assert 107 <= covered <= 120  # 114 give or take 3 standard deviations
    assert found["luck taken off"][1] < 0.9 * found["with luck"][1]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["fuzhou", "hangzhou", "hebei", "taiwan", "wuhan"])
def test_an_agent_against_itself_in_several_hundred_matches(variant):
    """95 of 100, give or take 2: a standard deviation of 500 matches is 1."""
    found = coverage(variant, 500, 60)
    for covered, _ in found.values():
        assert 465 <= covered <= 485
    assert found["luck taken off"][1] < found["with luck"][1]
