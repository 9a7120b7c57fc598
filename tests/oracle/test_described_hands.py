"""Described hands (tests/proof/described.py): package, referee, and PyMahjongGB for MCR, at a small size."""

from __future__ import annotations

from collections import Counter

import pytest

from oracle import referee
from oracle.referee import mcr
from proof import described
from proof.batches import ProofError
from proof.described import play_wins


@pytest.mark.parametrize("variant", sorted(referee.VARIANTS))
def test_all_agree(variant):
    tally = play_wins(variant, 1, 200).tally
    assert len(tally) > 10


@pytest.mark.slow
@pytest.mark.parametrize("variant", sorted(referee.VARIANTS))
def test_all_agree_at_length(variant):
    tally = sum((play_wins(variant, number).tally for number in range(2, 82)), Counter())
    if variant == "mcr":
        assert [name for name in mcr.POINTS if not tally[name]] == []


@pytest.mark.parametrize("fault", ["referee", "package", "library"])
def test_a_fault_is_found(fault, monkeypatch):
    if fault == "referee":
        monkeypatch.setitem(mcr.NOT_WITH, "Half Flush", ("Concealed Hand",))
    elif fault == "package":
        score = described.mahjong_env.score
        monkeypatch.setattr(
            described.mahjong_env, "score", lambda *given, **told: score(*given, **{**told, "dealer": 0})
        )
    else:
        pytest.importorskip("MahjongGB", reason="PyMahjongGB is compiled from source, on Linux alone (extra dev)")
        monkeypatch.setitem(described.NAMES, "Half Flush", "Whole Flush")
    with pytest.raises(ProofError, match="PyMahjongGB"):
        play_wins("mcr", 1)
