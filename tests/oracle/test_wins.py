"""MCR beside PyMahjongGB, a scorer from outside: random wins of every kind, at a small size (tests/proof/wins.py)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement

import pytest

from oracle.referee import mcr
from oracle.referee.tiles import RUNS
from proof.batches import ProofError

pytest.importorskip("MahjongGB", reason="PyMahjongGB is compiled from source, on Linux alone (extra dev)")
from proof import wins
from proof.wins import play_wins, wins_of


def test_random_wins():
    tally = play_wins(0, 500).tally + play_wins(1, 1500).tally
    assert len([name for name in mcr.POINTS if tally[name]]) > 75
    assert min(tally["may not win"], tally["no complete hand"]) > 10


@pytest.mark.slow
def test_very_many_random_wins():
    tally = sum((play_wins(number).tally for number in range(2, 52)), Counter())
    assert min(tally[name] for name in mcr.POINTS) > 20


@pytest.mark.parametrize("batch", [0, 1])
def test_a_fault_of_the_referee_is_found(monkeypatch, batch):
    monkeypatch.setitem(mcr.NOT_WITH, "Half Flush", ("Concealed Hand",))
    with pytest.raises(ProofError, match="Half Flush"):
        play_wins(batch)


def test_a_fault_of_the_package_is_found(monkeypatch):
    monkeypatch.setattr(wins, "wins_of", lambda situations: wins_of(situations[::-1]))
    with pytest.raises(ProofError, match="PyMahjongGB"):
        play_wins(1, 20)


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
