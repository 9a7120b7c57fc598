"""The proof at a small size, and that it finds what it is there to find (tests/proof, `make proof`)."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import mahjong_env
from mahjong_env.variants.hebei import Hebei
from proof import __main__ as proof_command
from proof.__main__ import main
from proof.batches import ProofError, make_batch, play_batch, play_recipes
from proof.watch import missing, required
from soak import growth, play_one

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_of_all_styles(variant):
    hands = [play_batch(variant, number, games=16, most_hands=40).hands for number in range(14)]
    assert sum(hands) > 300


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recipes_bring_about_every_row_and_most_rules(variant):
    tally = play_recipes(variant, times=2, seed=1).tally
    unmet = missing(required(variant), tally)
    assert [name for name in unmet if name.startswith("row: ")] == []
    unmet = [name for name in unmet if name.startswith(("refused: ", "play: "))]
    names = [name for name in required(variant) if name.startswith(("refused: ", "play: "))]
    assert len(unmet) < 0.15 * len(names), unmet


def test_a_batch_can_be_played_again():
    assert play_batch("hangzhou", 4, games=6) == play_batch("hangzhou", 4, games=6)
    assert make_batch("hangzhou", 4) == make_batch("hangzhou", 4) != make_batch("hangzhou", 6)


def test_a_wrong_value_is_found(monkeypatch):
    rows = [replace(row, value=row.value + 1) if row.name == "Closed Hand" else row for row in Hebei.rows]
    monkeypatch.setattr(Hebei, "rows", tuple(rows))
    with pytest.raises(ProofError, match="Closed Hand"):
        play_recipes("hebei", times=1)


def test_a_run_says_what_it_has_not_met(monkeypatch, capsys):
    command = ["--variant", "fuzhou", "--hands", "20", "--wins", "20"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert re.search(r"\d+  row: Base Points\n", told)
    assert re.search(r"fuzhou: no difference in \d\d+ hands\n", told)
    assert "were not met (too few hands; 20000 are enough): " in told
    assert "fuzhou: no difference in 500 wins\n" in told
    monkeypatch.setattr(proof_command, "ENOUGH", 20)
    assert main([*command, "--kinds", "hands", "--jobs", "2", "--first", "4"]) == 3
    assert "were not met (although there were enough hands): " in capsys.readouterr().out


def test_a_difference_ends_the_run_and_can_be_played_again(monkeypatch, capsys):
    monkeypatch.setattr(Hebei, "reserve", property(lambda self: 11))
    assert main(["--variant", "hebei", "--hands", "20"]) == 1
    told = capsys.readouterr().err
    for part in (
        *("hebei:0 (steered", "engine:", "referee:", "knobs:", "wall as dealt", "actions of this hand"),
        "make proof REPLAY=hands:hebei:0",
    ):
        assert part in told
    assert main(["--replay", "hands:hebei:0"]) == 1
    monkeypatch.undo()
    assert main(["--replay", "hands:hebei:0"]) == 0


def test_the_soak_plays_every_variant_and_notices_growth():
    assert sum(play_one(number, 0, games=8, steps=60) for number in range(2 * len(VARIANTS))) > 0
    assert growth([100.0] * 100) == 0
    assert growth([100.0 + second for second in range(100)]) > 30
