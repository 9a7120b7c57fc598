"""The proof at a small size, and that it finds what it is there to find (tests/proof, `make proof`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import mahjong_env
from mahjong_env.variants.hebei import Hebei
from proof import __main__ as proof_command
from proof import ledger
from proof.__main__ import main
from proof.batches import Played, ProofError, make_batch, play_batch, play_recipes
from proof.coverage import missing, report, required
from soak import Soak

VARIANTS = sorted(mahjong_env.VARIANTS)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_of_all_styles(variant):
    hands = [play_batch(variant, number, games=16, most_hands=40).hands for number in range(14)]
    assert sum(hands) > 300


@pytest.mark.thorough
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recipes_bring_about_every_row_and_most_rules(variant):
    tally = play_recipes(variant, times=2).tally
    assert [name for name in missing(variant, tally) if name.startswith("row: ")] == []
    names = [name for name in required(variant) if name.startswith(("refused: ", "paid: ", "play: "))]
    unmet = [name for name in names if not tally[name]]
    assert len(unmet) < 0.15 * len(names), unmet


def test_a_batch_can_be_played_again():
    assert play_batch("hangzhou", 4, games=6) == play_batch("hangzhou", 4, games=6)
    assert make_batch("hangzhou", 4) == make_batch("hangzhou", 4)
    assert make_batch("hangzhou", 4) != make_batch("hangzhou", 6)


def test_a_wrong_engine_is_found_and_the_scene_printed(monkeypatch):
    monkeypatch.setattr(Hebei, "reserve", property(lambda self: 11))
    with pytest.raises(ProofError, match=r"(?s)hebei:3.*engine.*referee.*knobs.*wall as dealt.*actions") as caught:
        play_batch("hebei", 3, games=4)
    assert caught.value.batch == make_batch("hebei", 3, games=4)


def test_a_wrong_value_is_found(monkeypatch):
    rows = [replace(row, value=row.value + 1) if row.name == "Closed Hand" else row for row in Hebei.rows]
    monkeypatch.setattr(Hebei, "rows", tuple(rows))
    with pytest.raises(ProofError, match="Closed Hand"):
        play_recipes("hebei", times=1)


def test_the_summary_names_what_stands_at_zero():
    tally = Counter(dict.fromkeys(required("taiwan"), 1))
    assert missing("taiwan", tally) == []
    del tally["row: Heaven"]
    assert missing("taiwan", tally) == ["row: Heaven"]
    assert "        0  Heaven\n" in report("taiwan", 10, tally)
    assert "        1  Earth\n" in report("taiwan", 10, tally)
    assert "at zero: row: Heaven" in report("taiwan", 10, tally)


def test_runs_add_up_and_survive_a_torn_line(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    played = Played(5, Counter({"row: Ping Hu": 2}))
    first = ledger.Ledger("hebei")
    first.add(0, played)
    first.add(2, played)
    with first.path.open("a", encoding="utf-8") as file:
        file.write('{"batch": 3, "ha')
    second = ledger.Ledger("hebei")
    assert (second.hands, second.current, second.tally["row: Ping Hu"]) == (10, 10, 4)
    assert second.next_batches()[:3] == [1, 3, 4]
    second.add(1, played)
    assert ledger.Ledger("hebei").batches == {0, 1, 2}


def test_a_run_goes_on_and_says_what_it_has_not_met(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    assert main(["--variant", "fuzhou", "--hands", "20"]) == 0
    told = capsys.readouterr().out
    hands = ledger.Ledger("fuzhou").hands
    assert hands >= 20
    assert f"fuzhou: no difference between engine and referee in {hands} hands" in told
    assert "were not met (too few hands; 20000 are enough): " in told
    with monkeypatch.context() as patch:
        patch.setattr(proof_command, "ENOUGH", 20)
        assert main(["--variant", "fuzhou", "--hands", "20"]) == 3
    assert "were not met (although there were enough hands): " in capsys.readouterr().out
    main(["--variant", "fuzhou", "--hands", str(hands + 1)])
    after = ledger.Ledger("fuzhou")
    assert after.batches == {0, 1}
    assert after.hands > hands
    main(["--variant", "fuzhou", "--hands", str(after.hands)])
    assert ledger.Ledger("fuzhou").hands == after.hands


def test_a_difference_ends_the_run_and_is_written_down(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    monkeypatch.setattr(Hebei, "reserve", property(lambda self: 11))
    assert main(["--variant", "hebei", "--hands", "20"]) == 1
    assert "make proof REPLAY=hebei:0" in capsys.readouterr().err
    assert "wall as dealt" in (tmp_path / "difference-hebei-0.txt").read_text(encoding="utf-8")
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
