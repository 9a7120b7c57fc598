"""The proof at a small size, and that it finds what it is there to find (tests/proof, `make proof`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import mahjong_env
from mahjong_env.variants.hebei import Hebei
from proof import __main__ as proof_command
from proof.__main__ import Ledger, main
from proof.batches import Played, ProofError, make_batch, play_batch, play_recipes
from proof.watch import missing, report, required
from soak import Soak

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(proof_command, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_of_all_styles(variant):
    hands = [play_batch(variant, number, games=16, most_hands=40).hands for number in range(14)]
    assert sum(hands) > 300


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recipes_bring_about_every_row_and_most_rules(variant):
    tally = play_recipes(variant, times=2, seed=1).tally
    assert [name for name in missing(variant, tally) if name.startswith("row: ")] == []
    names = [name for name in required(variant) if name.startswith(("refused: ", "play: "))]
    unmet = [name for name in names if not tally[name]]
    assert len(unmet) < 0.15 * len(names), unmet


def test_a_batch_can_be_played_again():
    assert play_batch("hangzhou", 4, games=6) == play_batch("hangzhou", 4, games=6)
    assert make_batch("hangzhou", 4) == make_batch("hangzhou", 4) != make_batch("hangzhou", 6)


def test_a_wrong_value_is_found(monkeypatch):
    rows = [replace(row, value=row.value + 1) if row.name == "Closed Hand" else row for row in Hebei.rows]
    monkeypatch.setattr(Hebei, "rows", tuple(rows))
    with pytest.raises(ProofError, match="Closed Hand"):
        play_recipes("hebei", times=1)


def test_the_summary_names_what_stands_at_zero():
    tally = Counter(dict.fromkeys(required("taiwan"), 1))
    assert missing("taiwan", tally) == []
    del tally["row: Heaven"]
    told = report("taiwan", 10, tally)
    assert "        0  row: Heaven\n" in told
    assert "        1  row: Earth\n" in told
    assert "at zero: row: Heaven" in told


def test_runs_add_up_and_survive_a_torn_line(folder):
    played = Played(5, Counter({"row: Ping Hu": 2}))
    Ledger("hebei").add(0, played)
    Ledger("hebei").add(2, played)
    with (folder / "hebei.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"batch": 3, "ha')
    Ledger("hebei").add(1, played)
    known = Ledger("hebei")
    assert (known.hands, known.current, known.tally["row: Ping Hu"], known.batches) == (15, 15, 6, {0, 1, 2})


def test_a_run_continues_and_says_what_it_has_not_met(folder, monkeypatch, capsys):
    assert main(["--variant", "fuzhou", "--hands", "20"]) == 0
    told, hands = capsys.readouterr().out, Ledger("fuzhou").hands
    assert hands >= 20
    assert f"fuzhou: no difference between engine and referee in {hands} hands" in told
    assert "were not met (too few hands; 20000 are enough): " in told
    monkeypatch.setattr(proof_command, "ENOUGH", 20)
    assert main(["--variant", "fuzhou", "--hands", str(hands + 1), "--jobs", "2"]) == 3
    assert "were not met (although there were enough hands): " in capsys.readouterr().out
    assert Ledger("fuzhou").batches == {0, 1, 2}


def test_a_difference_ends_the_run_and_is_written_down(folder, monkeypatch, capsys):
    monkeypatch.setattr(Hebei, "reserve", property(lambda self: 11))
    assert main(["--variant", "hebei", "--hands", "20"]) == 1
    assert "make proof REPLAY=hebei:0" in capsys.readouterr().err
    told = (folder / "difference-hebei-0.txt").read_text(encoding="utf-8")
    for part in ("hebei:0 (steered", "engine:", "referee:", "knobs:", "wall as dealt", "actions of this hand"):
        assert part in told
    assert main(["--replay", "hebei:0"]) == 1
    monkeypatch.undo()
    assert main(["--replay", "hebei:0"]) == 0


def test_the_soak_plays_every_variant_and_notices_growth():
    soak = Soak(steps=60)
    for _ in range(2 * len(VARIANTS)):
        soak.play_one(seed=soak.engines, games=8)
    assert soak.hands > 0
    assert soak.decisions == 2 * len(VARIANTS) * 60 * 8
    soak.samples = [(float(second), 100.0) for second in range(100)]
    assert soak.growth() == 0
    soak.samples = [(float(second), 100.0 + second) for second in range(100)]
    assert soak.growth() > 30
