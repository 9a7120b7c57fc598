"""``show``: games are recorded, told again from their record, and written as a page."""

import pytest

from mahjong_env.cli import main
from mahjong_env.records import read_records, replay_points


def test_a_game_is_recorded_told_again_and_written_as_a_page(tmp_path, capsys):
    file, page = tmp_path / "games.jsonl", tmp_path / "viewer.html"
    play = ["show", "--variant", "hebei", "--seed", "3", "--num-hands", "2", "--record", str(file)]
    assert main(play) == 0
    played = capsys.readouterr().out.partition("\n")[2]
    (record,) = read_records(file)
    assert replay_points(record) == record.points
    assert record.agents == ("random",) * 3
    assert main(["show", str(file)]) == 0
    assert capsys.readouterr().out == played
    assert main(["show", str(file), "--html", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}: open it in a browser\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    # A game that is played can be written at once, and is appended to the records.
    again = tmp_path / "again.html"
    assert main([*play, "--html", str(again)]) == 0
    assert again.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    assert len(list(read_records(file))) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a variant to be played (--variant), or a file of recorded games"),
        (["nothing.jsonl"], "records cannot be read from nothing.jsonl: No such file or directory"),
        (["pyproject.toml"], "pyproject.toml, line 1: not a line of JSON"),
        (["games.jsonl", "--variant", "hebei"], "a recorded game has its own rules"),
        (["games.jsonl", "--match", "0"], "--match is an integer from 1, not 0"),
        (["--variant", "hebei", "--html", "nowhere/x.html"], "there is no folder nowhere"),
        (["--variant", "hebei", "--record", "nowhere/x.jsonl"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_shown_is_named(arguments, message, capsys):
    assert main(["show", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_match_that_is_not_there(tmp_path, capsys):
    file = tmp_path / "games.jsonl"
    assert main(["show", "--variant", "wuhan", "--seed", "1", "--tables", "none", "--record", str(file)]) == 0
    assert main(["show", str(file), "--match", "2"]) == 2
    assert capsys.readouterr().err.endswith("has no match 2\n")
