"""Pages: a whole match, or a described hand explained, is in one, and nothing is loaded."""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import mahjong_env
from mahjong_env import Deal, MahjongError, RecordError, rules, score
from mahjong_env.cli import main
from mahjong_env.drawing.table import seen_table
from mahjong_env.drawing.text import standings
from mahjong_env.records import GameRecord, RecordWriter, Replay
from mahjong_env.viewer import Explained, notebook_html, show, viewer_html
from mahjong_env.viewer.story import (
    NOTHING,
    REASONS,
    examples_told,
    frames_of,
    reason_in_words,
    reasons_of_a_kong,
    reasons_of_a_win,
)
from support.marks import variants
from support.recorded import Collector, recorded


def noted(variant, seed=3, **settings):
    """A match whose first choice has a note."""
    record = recorded(variant, seed, **settings)
    return replace(record, notes={0: {"probabilities": {mahjong_env.ACTIONS[record.actions[0]]: 1.0}, "value": 2.5}})


def data_of(page):
    text = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1)
    return json.loads(text)


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_every_action_has_its_frame(variant):
    record = noted(variant, num_hands=2)
    frames = list(frames_of(record))
    ends = [frame for frame in frames if frame["event"]["type"] == "end"]
    starts = [frame for frame in frames if frame["event"]["type"] == "start"]
    assert len(ends) == len(starts)
    assert len(frames) == len(record.actions) + len(starts)
    assert tuple(frames[-1]["points"]) == record.points
    # What was paid step by step leads to the points.
    paid = np.sum([frame["paid"] for frame in frames if "paid" in frame], axis=0)
    assert (np.array(frames[0]["points"]) + paid == record.points).all()
    assert "note" in frames[0]
    assert sum("note" in frame for frame in frames) == 1
    assert frames[0]["chosen"] == mahjong_env.ACTIONS[record.actions[0]]
    # At the end of a hand the winner's place is the one that is marked.
    for frame in ends:
        turn, winner = frame["table"]["turn"], frame["event"]["winner"]
        assert (turn is None) == (winner < 0)
        assert turn is None or frame["table"]["places"][turn]["person"] == winner


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_others_see_whose_turn_it_is_and_not_who_is_asked(variant):
    record = recorded(variant)
    replay, asked = Replay(record), 0
    for frame in list(frames_of(record))[: len(record.actions)]:
        engine, to_act = replay.engine, frame["to_act"]
        other = next(place["person"] for place in frame["table"]["places"] if place and place["person"] != to_act)
        seen = seen_table(engine.view(seats=other))
        assert seen.places[seen.turn].person == frame.get("in_turn", to_act)
        asked += "in_turn" in frame
        replay.step()
    assert asked


def test_a_win_is_told_with_its_rows_and_payments():
    for seed in range(30, 80):  # random play seldom wins; the first of these does
        last = list(frames_of(recorded("hebei", seed=seed)))[-1]["event"]
        if last["winner"] >= 0:
            break
    chinese = {row.name: row.chinese for row in mahjong_env.rules("hebei").rows}
    assert last["rows"]
    assert all(chinese[name].startswith(word) and word and times for name, word, _, times in last["rows"])
    assert sum(last["payments"]) == 0
    assert sum(winning >= 0 for _, winning, _ in last["groups"]) == 1
    assert last["standings"][0][0] == 1


def test_equal_points_share_a_place():
    assert standings([46, 64, 46, 44]) == [(1, 1, 64), (2, 0, 46), (2, 2, 46), (4, 3, 44)]


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_rows_have_examples_that_score_them(variant):
    rules = mahjong_env.rules(variant)
    told = examples_told(rules)
    assert len(told) == len(rules.rows)
    assert sum(bool(example["meaning"][1]) for example in told.values()) > 0.8 * len(told)
    for name, example in told.items():
        assert name in [row[0] for row in example["rows"]]
        assert example["meaning"][0]
        assert len(example["situation"][0]) == len(example["situation"][1])
        assert (example["formula"][0] or str(example["value"])).split()[-1] == str(example["value"])


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_a_page_stands_alone(variant):
    page = viewer_html(recorded(variant))
    assert "@@" not in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "default-src 'none'" in page
    data = data_of(page)
    assert data["title"] == mahjong_env.rules(variant).title
    assert len(data["frames"]) > 10
    assert set(data["marks"]) == set(mahjong_env.rules(variant).marks)  # what it counts has a Chinese name
    assert data["person"] is None  # nobody of this match is "you"


@pytest.mark.parametrize(
    "evil", ['</script><script>alert("x")</script>', "<!--<script>", "<!--<SCRIPT >", "a & b ]]> \u2028 \ud800"]
)
def test_names_and_notes_cannot_break_out_of_the_page(evil):
    """A comment that holds the beginning of a script would make browsers take the page's own script for data."""
    record = recorded("hebei", agents=(evil, "b", "c"))
    record = replace(record, notes={0: {"why": evil, evil: 1}})
    page = viewer_html(record)
    page.encode()
    assert re.search(r'<script id="data" type="application/json">[^<]*</script>\n<script>', page)
    data = data_of(page)
    assert data["agents"][0] == evil
    assert data["frames"][0]["note"] == {"why": evil, evil: 1}


def test_a_notebook_shows_the_page_in_a_frame():
    record = recorded("hebei")
    frame = notebook_html(record, height=500)
    inside = html.unescape(re.search(r'srcdoc="(.*?)" style', frame, re.S).group(1))
    assert inside == viewer_html(record)
    assert "height:500px" in frame


def test_show_displays_itself_in_a_notebook(tmp_path):
    first, second = recorded("hebei", seed=1), recorded("wuhan", seed=2)
    path = tmp_path / "games.jsonl"
    with RecordWriter(path) as writer:
        writer.write(first, second)
    assert show(second)._repr_html_() == notebook_html(second)
    assert show(path, match=2, height=500)._repr_html_() == notebook_html(second, 500)
    assert repr(show(path)) == f"<a match of hebei, {len(first.actions)} actions: shown in a notebook>"
    for match, error in ((3, "has no match 3"), (0, "counted from 1")):
        with pytest.raises(RecordError, match=error):
            show(path, match=match)


def test_records_that_cannot_be_played_make_no_page():
    record = recorded("hebei")
    told = {**json.loads(record.to_json()), "points": [0, 0, 0]}
    with pytest.raises(RecordError, match="are recorded"):
        viewer_html(GameRecord.from_json(json.dumps(told)))


# --- A described hand explained: text, picture and page say the same --------------------------------------------------


COMMAND = "score --variant hebei --hand 123456789m1p --winning-tile 1p --source discard --from-seat 2"


def explained(variant="hebei", **described):
    rules = mahjong_env.rules(variant)
    return Explained(rules, score(rules, **described), described)


def test_picture_and_page_show_the_tiles_and_the_same_words():
    situation = {"winning_tile": "1p", "source": "draw", "from_seat": None, "dealer": 1, "wild": "3p", "flowers": ""}
    hand = explained("hangzhou", hand="123456789m1p", melds=["kong 5555s"], **situation)
    assert ET.fromstring(hand.svg()).get("viewBox")
    assert hand.svg() != hand.svg("dark")
    page = hand.page()
    for words in (
        "Base Score",
        "底分",
        "everybody pays for a self-draw; the dealer&#x27;s share differs",
        "自摸 各家都付",
        "<td>+4</td>",
        'class="tile winning"',
    ):
        assert words in page
    assert "prefers-color-scheme: dark" in page
    assert "<rect width" not in page  # no ground of its own, in whatever scheme
    assert "default-src 'none'" in page
    assert "9 of Characters" in page
    with pytest.raises(MahjongError, match="no theme 'sepia'"):
        hand.svg("sepia")


def test_why_a_hand_may_not_win_is_said_everywhere():
    hand = explained(hand="1234567m125p123s", winning_tile="1z", source="draw")
    assert hand.text().endswith("may not win: the tiles are not a complete hand")
    assert "May not win: the tiles are not a complete hand." in hand.page()
    assert hand.svg().startswith("<svg")


def test_the_command_writes_both(tmp_path, capsys):
    command = [*COMMAND.split(), "--meld", "pung 555s@2"]
    page, picture = tmp_path / "hand.html", tmp_path / "hand.svg"
    assert main([*command, "--html", str(page), "--svg", str(picture)]) == 0
    assert "One Dragon 一条龙" in capsys.readouterr().out
    assert "One Dragon" in page.read_text("utf-8")
    ET.parse(picture)
    assert main([*command, "--html", str(tmp_path / "none" / "hand.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err


HELD = {0: 50, 1: 50, 2: 50, 3: 50}


@pytest.mark.parametrize(
    ("payments", "source", "giver", "held", "words"),
    [
        ([6, -2, -2, -2], "draw", -1, HELD, ["winner", "draw", "draw", "draw"]),
        ([6, -2, -2, -2], "flowers", -1, HELD, ["winner", "flowers", "flowers", "flowers"]),
        ([6, 0, -6, 0], "discard", 2, HELD, ["winner", "", "gave", ""]),
        ([6, 0, -6, 0], "kong", 2, HELD, ["winner", "", "robbed", ""]),
        ([6, -1, -4, -1], "discard", 2, HELD, ["winner", "everyone", "gave", "everyone"]),
        ([6, -6, 0, 0], "discard", 2, HELD, ["winner", "responsible", "", ""]),
        ([6, -6, 0, 0], "draw", -1, HELD, ["winner", "responsible", "", ""]),
        ([6, -6, 0, 0], "draw", -1, dict.fromkeys(range(4), 0), ["winner", "responsible", "", ""]),
        ([6, -3, -3, 0], "draw", -1, HELD, ["winner", "responsible", "responsible", ""]),
        ([6, -3, -3, 0], "draw", -1, {0: 50, 1: 50, 2: 50, 3: 0}, ["winner", "draw", "draw", ""]),
        ([6, -6, 0, 0], "draw", -1, {0: 50, 1: 50, 2: 0, 3: 0}, ["winner", "draw", "", ""]),  # the others had nothing
    ],
)
def test_reasons(payments, source, giver, held, words):
    assert [word for word, _ in reasons_of_a_win(payments, 0, source, giver, 3, held)] == words
    assert {word for word in words if word} <= set(REASONS)


WUHAN = {"hand": "99m 45m", "melds": ["chow 123m@3", "pung 777m@1", "pung 555m@1"], "winning_tile": "6m", "dealer": 1}
HANGZHOU = {
    "hand": "99p 45s",
    "melds": ["chow 345p@3", "pung 888p@1", "chow 123m@3"],
    "winning_tile": "6s",
    "wild": "5z",
}
PENALTY = HANGZHOU | {"melds": ["chow 345p@3", "pung 888p@3", "chow 123m@3"]}


@pytest.mark.parametrize(
    ("variant", "hand", "points", "words"),
    [
        ("wuhan", WUHAN, [10, -10, 0, 0], ["winner", "responsible", "", ""]),  # 0 points, and could pay all the same
        ("hangzhou", PENALTY, [10, 0, 0, 100], ["winner", "", "", "responsible"]),
        ("hangzhou", PENALTY, [10, 0, 0, 1], ["winner", "", "", "responsible"]),
        ("hangzhou", HANGZHOU, [10, 0, 0, 100], ["winner", "", "", "draw"]),
        ("hangzhou", HANGZHOU, [10, -5, 9, 100], ["winner", "", "draw", "draw"]),
    ],
)
def test_who_is_responsible_does_not_depend_on_who_has_points(variant, hand, points, words):
    described = hand | {"source": "draw", "running_points": np.array(points)}
    scored = score(variant, **described)
    lines = Explained(rules(variant), scored, described).text().splitlines()[-len([word for word in words if word]) :]
    told = [(seat, word) for seat, word in enumerate(words) if word]
    for line, (seat, word) in zip(lines, told, strict=True):
        assert re.match(f"seat {seat} .*: {re.escape(reason_in_words((word, False)))}", line), line


def test_who_is_responsible_in_a_game():
    """Seat 1 took three melds from seat 0 and wins; the two others have no points (hangzhou.md#three-meld-penalty)."""
    hands = ("99m99p99s123z345s67p", "11z22z33z9m9p9s45m77m", "258m258p258s1467z", "369m369p369s2346z")
    deal = Deal(hands=hands, draws="1m 1p 1s 6m", indicator="5z", running_points=(100, 10, 0, 0))
    recorder = Collector(mahjong_env.make_engine("hangzhou", 1, seed=1, num_hands=2))
    recorder.reset(deals=deal)
    said = "discard 1z, pung, discard 9m, pung, discard 2z, pung, discard 9p, pung, discard 3z, pung, discard 9s, pass"
    for name in [*said.split(", "), "discard 1m", "discard 1p", "discard 1s", "win"]:
        recorder.step([mahjong_env.action(name)])
    (record,) = recorder.so_far()
    (end,) = (frame["event"] for frame in frames_of(record) if frame["event"]["type"] == "end")
    assert end["payments"] == [-8, 8, 0, 0]
    assert [word for word, _ in end["reasons"]] == ["responsible", "winner", "", ""]


def test_the_dealers_share_is_told_where_it_differs():
    told = reasons_of_a_win([8, -2, -2, -4], 0, "draw", -1, 3, HELD)
    assert [reason_in_words(reason) for reason in told[2:]] == [
        "everybody pays for a self-draw",
        "everybody pays for a self-draw; the dealer's share differs",
    ]
    assert reason_in_words(told[3], 1) == "自摸 各家都付 (庄家的份不同)"
    assert reasons_of_a_win([0] * 4, -1, "", -1, 0, HELD) == [NOTHING] * 4


@pytest.mark.parametrize("dealer", [1, 2])
def test_a_share_that_differs_because_somebody_gave_the_tile_is_not_the_dealers(dealer):
    scored = score("mcr", "123m456m789m123p5s", winning_tile="5s", source="discard", from_seat=2, dealer=dealer)
    assert scored.payments == (46, -8, -30, -8)
    told = reasons_of_a_win(scored.payments, 0, "discard", 2, dealer, HELD)
    assert told == [("winner", False), ("everyone", False), ("gave", False), ("everyone", False)]


def test_reasons_of_kongs():
    reasons = [word for word, _ in reasons_of_a_kong([-1, 3, -1, -1], {"type": "concealed kong"})]
    assert reasons == ["for kong", "kong", "for kong", "for kong"]
    assert reasons_of_a_kong([-3, 3, 0, 0], {"type": "claimed kong"})[0] == ("gave kong", False)
