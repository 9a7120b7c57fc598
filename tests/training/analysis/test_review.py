"""``mahjong-env review``: a position, a whole game, files, notes, resuming, and every kind of wrong input."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest

from mahjong_env import ACTIONS, action, rules
from mahjong_env.cli import main
from mahjong_env.records import read_records
from mahjong_env.viewer import viewer_html
from mahjong_training.analysis.action_values import ActionValues
from mahjong_training.analysis.review_report import cost_text, points_text, reasons_text, sentences
from mahjong_training.evaluation.estimates import Estimate
from support.spread_commands import record_games


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Two recorded hands of Hebei."""
    return record_games(tmp_path_factory.mktemp("games") / "games.jsonl")


def run(*words):
    return main(["review", *map(str, words)])


def test_a_decision_of_a_recorded_game(games, tmp_path, capsys):
    assert run("--record", games, "--match", 2, "--decisions", 4, "--worlds", 12, "--out", tmp_path) == 0
    told = capsys.readouterr().out
    assert "12 worlds, hidden tiles drawn anew" in told
    record = list(read_records(games))[1]
    found = json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))
    decision = found["decisions"][0]
    assert (decision["decision"], decision["taken"]) == (4, ACTIONS[record.actions[4]])
    for line in decision["actions"]:
        assert " ".join(line["sentence"].split()) in " ".join(told.split())
    lines = list(csv.DictReader((tmp_path / "review.csv").open(encoding="utf-8", newline="")))
    assert [line["action"] for line in lines] == [line["action"] for line in decision["actions"]]
    page = (tmp_path / "review.html").read_text(encoding="utf-8")
    assert len(page) < 700_000
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    shown = json.loads(re.search(r'type="application/json">(.*?)</script>', page)[1])["review"]
    (choice,) = shown["choices"]
    assert (choice["at"], choice["taken"], choice["isPlayed"]) == (4, decision["taken"], True)
    assert [line[0] for line in choice["lines"]] == [line["action"] for line in decision["actions"]]
    assert reasons_text(choice["why"]) == decision["actions"][0]["reasons"]
    assert not re.search("[a-z{]", reasons_text(choice["why"], 1))
    assert shown["lost"] == {str(decision["seat"]): [round(found["lost"][end], 2) for end in ("low", "mean", "high")]}
    assert shown["command"].startswith("mahjong-env play --browser --from ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["review.csv", "review.html", "review.json"]


@pytest.mark.thorough
def test_a_review_ranks_the_decisions(games, tmp_path, capsys):
    assert run("--record", games, "--review", "--seat", 1, "--worlds", 6, "--out", tmp_path) == 0
    decisions = json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))["decisions"]
    assert len(decisions) > 5
    assert {decision["seat"] for decision in decisions} == {1}
    told = capsys.readouterr().out
    assert "±" not in told[told.index("taken costs") :]  # what an action costs has one interval on a screen
    assert all(len(decision["actions"]) > 1 for decision in decisions)


def test_notes_are_in_the_format_and_shown_by_the_viewer(games, tmp_path):
    notes = tmp_path / "notes.jsonl"
    assert run("--record", games, "--decisions", 2, "--worlds", 4, "--notes", notes) == 0
    (record,) = read_records(notes)
    plain = next(read_records(games))
    assert record.actions == plain.actions
    number, note = next(iter(record.notes.items()))
    assert note["intervals"][ACTIONS[plain.actions[number]]] == [0, 0, 0]
    assert all(low <= mean <= high for low, mean, high in note["intervals"].values())
    schema = json.loads(
        resources.files("mahjong_env.records").joinpath("record.schema.json").read_text(encoding="utf-8")
    )
    jsonschema.validate(json.loads(notes.read_text(encoding="utf-8")), schema)
    broken = json.loads(notes.read_text(encoding="utf-8"))
    broken["notes"][str(number)]["intervals"] = {"pass": [0, 1]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)
    assert '"intervals":{' in viewer_html(record)


def test_a_deal_and_actions(tmp_path, capsys):
    hand = "123456789m 11p 55s 5s"
    words = ("--variant", "hebei", "--deal.hands", hand, "--worlds", 10, "--out", tmp_path)
    assert run(*words) == 0
    best = json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))["decisions"][0]["actions"][0]
    assert best["action"] == "win"
    assert best["against_best"]["low"] > 0
    assert run(*words, "--actions", "discard 5s", "--notes", tmp_path / "notes.jsonl") == 0
    (record,) = read_records(tmp_path / "notes.jsonl")
    assert len(record.actions) == 1
    assert list(record.notes) == [1]
    assert "> marks what the agent would do" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a recorded game"),
        (["--variant", "hebei", "--decisions", "1"], "are about a recorded game"),
        (["--variant", "hebei", "--actions", "discard 9z"], "no action is called"),
        (["--variant", "hebei", "--actions", "win"], "action 1 of --actions, 'win'"),
        (["--variant", "hebei", "--deal.hands", "11111m"], "five"),
        (["--variant", "hebei", "--worlds", "0"], "--worlds must be at least 1, not 0"),
        (["--variant", "hebei", "--agents", "nobody"], "nobody"),
        (["--record", "GAMES"], "name decisions of the match (--decisions, 0 to"),
        (["--record", "GAMES", "--decisions", "999"], "not 999"),
        (["--record", "GAMES", "--match", "3", "--review"], "has no match 3"),
        (["--record", "GAMES", "--review", "--seat", "3"], "--seat is a person from 0 to 2"),
        (["--record", "GAMES", "--decisions", "1", "--seat", "1"], "whose decisions --review looks at"),
        (["--record", "GAMES", "--variant", "hebei", "--review"], "has its own rules"),
        (["--record", "nothing.jsonl", "--review"], "nothing.jsonl"),
        (["--variant", "hebei", "--out", "GAMES"], "cannot be written"),
    ],
)
def test_bad_input_is_one_line(words, said, games, capsys):
    assert run(*(str(games) if word == "GAMES" else word for word in words)) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert said in told or said == "five"
    assert len(told.splitlines()) == 1


def test_the_record_is_not_overwritten(games, tmp_path, capsys):
    page = tmp_path / "review.html"
    for words, said in (
        (["--record", games, "--notes", games], "--record and --notes name the same file"),
        (
            ["--record", games, "--out", tmp_path, "--notes", page],
            "review.html of --out and --notes name the same file",
        ),
    ):
        before = games.read_bytes()
        assert run(*words, "--decisions", 1, "--worlds", 2) == 2
        assert said in capsys.readouterr().err
        assert games.read_bytes() == before
    assert not list(tmp_path.iterdir())


def test_a_record_that_does_not_end_as_it_says_is_refused_at_once(games, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("mahjong_training.analysis.review.evaluate_actions", lambda *_, **__: pytest.fail("has played"))
    record, path = next(read_records(games)), tmp_path / "wrong.jsonl"
    for values, words, said in (
        ({"points": (1, 2, 3)}, ["--decisions", 1], "but (1, 2, 3) are recorded"),
        ({"actions": (), "is_complete": False}, ["--review"], "line 1: nothing was decided in this match"),
        ({"actions": (), "is_complete": False}, ["--decisions", 0], "line 1: nothing was decided in this match"),
    ):
        path.write_text(replace(record, **values).to_json(), encoding="utf-8")
        assert run("--record", path, *words) == 2
        assert said in capsys.readouterr().err


def test_an_interval_that_is_not_known_is_not_in_the_notes(games, tmp_path):
    notes = tmp_path / "notes.jsonl"
    assert run("--record", games, "--decisions", 2, "--worlds", 1, "--notes", notes) == 0
    (record,) = read_records(notes)
    assert record.notes[2]["intervals"] == {ACTIONS[record.actions[2]]: [0, 0, 0]}
    assert "value" in record.notes[2]


def test_sentences_say_what_differs():
    end = np.array([[1] * 30 + [3] * 20 + [4] * 50, [1] * 10 + [3] * 20 + [4] * 70], np.int8)
    points = np.where(end == 1, 10, np.where(end == 3, -4, 0)).astype(np.int32)
    actions = np.array([action("discard 9m"), action("discard 2p")])
    found = ActionValues(
        rules("hebei"), np.zeros(1, np.int8), actions[:1], np.array([100]), np.zeros(2, np.intp), actions, points, end
    )
    (_, taken), (coded, other) = sentences(found)
    assert taken == (
        "discard 9m, which the others are compared with: +2.20 points on average; wins 30 %, deals in 20 %, "
        "the hand is drawn 0 %."
    )
    assert other == (
        "discard 2p: -2.0 ± 1.2 points against discard 9m; wins less often (10 % against 30 %), deals in about as "
        "often (20 % against 20 %), others win more often (90 % against 70 %)."
    )
    assert other.endswith(f"; {reasons_text(coded)}.")


def test_numbers_have_the_decimals_that_they_deserve():
    for mean, half, text in (
        (-0.421, 0.213, "-0.42 ± 0.21"),
        (-0.001, 0.213, "+0.00 ± 0.21"),
        (12.34, 3.21, "+12.3 ± 3.2"),
        (12.34, 32.1, "+12 ± 32"),
    ):
        assert points_text(Estimate(mean, mean - half, mean + half)) == text
    assert cost_text(Estimate(2.5, -1.0, 6.0)) == "+2.50 [-1.00, +6.00]"
    assert cost_text(Estimate(-28.6, -40.0, -17.0)) == "nothing: the best"
    assert cost_text(Estimate(-2.0, -5.0, 1.0)) == "at most +1.00"
