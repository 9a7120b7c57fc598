"""MCR's referee beside PyMahjongGB, an outside scorer, on random wins of every kind (proof.wins)."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import pytest

from oracle.referee import mcr
from oracle.referee.tiles import RUNS
from support.duel import DisagreementError

pytest.importorskip("MahjongGB", reason="PyMahjongGB is compiled from source, on Linux alone (extra dev)")
from proof.wins import compare_wins


def test_random_wins():
    tally = compare_wins(0, 1500)
    assert len([name for name in mcr.POINTS if tally[name]]) > 75
    assert tally["no win"] > 10


@pytest.mark.slow
def test_very_many_random_wins():
    tally = compare_wins(1_000_000, 100_000)
    assert min(tally[name] for name in mcr.POINTS) > 20


def test_a_difference_is_found(monkeypatch):
    monkeypatch.setitem(mcr.NOT_WITH, "All Green", ())
    with pytest.raises(DisagreementError, match="Half Flush"):
        compare_wins(0, 1500)


def test_account_once_is_the_greatest_number_of_combinations_without_a_circle():
    """Chows combined two by two: each that is added is combined once, so that the combinations make no circle."""
    checked = 0
    for tiles in combinations_with_replacement([run[0] for run in RUNS], 4):
        pairs = [pair for pair in combinations(range(4), 2) if mcr.two_chows(*(tiles[place] for place in pair))]
        most = next(size for size in (3, 2, 1, 0) if any(is_forest(some) for some in combinations(pairs, size)))
        assert len(mcr.pairs_of_chows(list(tiles))) == most
        checked += len(pairs) > 3
    assert checked > 100


def is_forest(pairs):
    group = {place: place for place in range(4)}
    for first, second in pairs:
        if group[first] == group[second]:
            return False
        group = {place: group[first] if number == group[second] else number for place, number in group.items()}
    return True
