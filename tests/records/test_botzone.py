"""Games of Botzone as records: a judge of our own plays them, and its logs are played again to the last point."""

import json
import re
from dataclasses import replace
from itertools import count

import pytest

from mahjong_agents.botzone_player import BotzonePlayer
from mahjong_env import RecordError
from mahjong_env.basics.actions import CHOW_LOW, KONG, PASS, PUNG, WIN, action
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.cli import main
from mahjong_env.records import GameRecord, read_records, replay_points
from mahjong_env.records.botzone import action_of, read_games, record_of, tile

judging = pytest.importorskip("support.botzone_judge", reason="PyMahjongGB is installed on Linux only")


def seat(player):
    """A player of the judge who hears what a program would."""
    requests, responses = [], []

    def answer(request):
        requests.append(request)
        responses.append(player(requests, responses))
        return responses[-1]

    return answer


def play(seed, agent="greedy"):
    """A game that was judged."""
    judge = judging.Judge([seat(BotzonePlayer(agent).answer) for _ in range(4)], judging.walls_of(seed), seed % 4)
    judge.play()
    return judge


def end_of(judge):
    return judge.logs[-1]["output"]["display"]["action"]


@pytest.fixture(scope="module")
def judged():
    """A game that is won, and one that is not."""
    won = next(judge for seed in count() if end_of(judge := play(seed)) == "HU")
    games = (play(seed, "random") for seed in count())
    drawn = next(judge for judge in games if end_of(judge) == "HUANG" and " Draw " in judge.text[-4])
    return won, drawn


def as_json(judge, name="g"):
    return json.dumps(
        {"_id": name, "players": [{"bot": {"name": f"bot{seat}"}} for seat in range(4)], "logs": judge.logs}
    )


def test_logs_are_played_to_the_last_point(judged, tmp_path):
    """What the judge pays, by fan that PyMahjongGB counts, is what is paid here; both kinds of logs say the same."""
    for judge in judged:
        (tmp_path / "log").write_text(as_json(judge), encoding="utf-8")
        (tmp_path / "txt").write_text("\n".join(judge.text), encoding="utf-8")
        told, lines = (record_of(*read_games(tmp_path / name)) for name in ("log", "txt"))
        assert told.points == tuple(judge.scores) == replay_points(told)
        assert (told.actions, told.deal) == (lines.actions, lines.deal)
        assert GameRecord.from_json(told.to_json()) == told
        assert told.agents == ("bot0", "bot1", "bot2", "bot3")


def test_a_file_may_hold_several_games(judged, tmp_path):
    one, two = (as_json(judged[seed], f"g{seed}") for seed in (0, 1))
    for name, text in (("list", f"[{one}, {two}]"), ("lines", f"{one}\n\n{two}\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert [game.name for game in read_games(tmp_path / name)] == ["g0", "g1"]
    (tmp_path / "bare").write_text(json.dumps(judged[0].logs), encoding="utf-8")
    assert record_of(*read_games(tmp_path / "bare")).points == tuple(judged[0].scores)
    (tmp_path / "txt").write_text("\n".join([*judged[0].text, "", *judged[1].text]), encoding="utf-8")
    assert [game.scores for game in read_games(tmp_path / "txt")] == [tuple(judged[seed].scores) for seed in (0, 1)]


def test_a_penalty_breaks_the_game_off(tmp_path):
    """A false win ends the game there; here the record ends before it, and says why."""

    def boasts(requests, responses):
        return (
            "HU"
            if len(requests) > 12 and requests[-1].startswith("2")
            else BotzonePlayer("greedy").answer(requests, responses)
        )

    players = [seat(boasts), *(seat(BotzonePlayer("greedy").answer) for _ in range(3))]
    judge = judging.Judge(players, judging.walls_of(9), 0)
    assert judge.play() == [-30, 10, 10, 10]
    (tmp_path / "log").write_text(as_json(judge), encoding="utf-8")
    record = record_of(*read_games(tmp_path / "log"))
    assert (record.is_complete, record.points) == (False, (0, 0, 0, 0))
    assert record.notes[len(record.actions)] == {"penalty": "WH", "player": 0, "scores": [-30, 10, 10, 10]}
    assert replay_points(record) == record.points


@pytest.mark.thorough
def test_a_claim_before_the_end_of_a_wall(tmp_path):
    """The next player has drawn his 34, and the others have not: the hand is drawn, although tiles are left."""
    games = (play(seed, "random") for seed in count())
    judge = next(judge for judge in games if end_of(judge) == "HUANG" and " Draw " not in judge.text[-4])
    (tmp_path / "txt").write_text("\n".join(judge.text), encoding="utf-8")
    record = record_of(*read_games(tmp_path / "txt"))
    assert (record.is_complete, record.points, replay_points(record)) == (True, (0,) * 4, (0,) * 4)
    assert record.knobs["private_walls"]


def test_what_cannot_be_played_is_named(judged, tmp_path):
    (tmp_path / "txt").write_text("\n".join(judged[0].text), encoding="utf-8")
    (game,) = read_games(tmp_path / "txt")
    at = next(number for number, move in enumerate(game.moves) if number > 20 and move.what == "PLAY")
    move = game.moves[at]
    absent = next(
        kind
        for kind in range(34)
        if not any(kind in (m.kind, m.kind + 1, m.kind - 1) for m in game.moves[:at])
        and kind not in game.hands[move.player]
    )
    wrong = replace(game, moves=[*game.moves[:at], move._replace(kind=absent), *game.moves[at + 1 :]])
    with pytest.raises(RecordError, match=rf"txt, line \d+: player {move.player} PLAY .* is not possible here: player"):
        record_of(wrong)
    with pytest.raises(RecordError, match="the log ends with the scores"):
        record_of(replace(game, scores=(1, 2, 3, -6)))
    with pytest.raises(RecordError, match="the log ends before the hand does: player"):
        record_of(replace(game, moves=game.moves[:9]))
    with pytest.raises(RecordError, match="only 4 in the set"):
        record_of(replace(game, hands=[[0] * 13, [0] * 13, *game.hands[2:]]))
    for wrong in ({"wind": 9}, {"hands": game.hands[:3]}, {"penalty": ("WA", 9)}):
        with pytest.raises(RecordError, match=r"txt, line 1: made-here: .* a wind or a player that does not exist"):
            record_of(replace(game, **wrong))


@pytest.fixture(scope="module")
def with_pung():
    """A game in which a pung is claimed, as lines, and the number of the line that claims it."""
    texts = (play(seed).text for seed in count())
    return next((text, at) for text in texts for at, line in enumerate(text) if " Peng " in line)


FAULTS = {
    "another tile": ("Peng .*", "Peng H1", r"line {at}: player \d PENG H1 is not possible here: \w\d is offered"),
    "no such claim": ("$", " Ignore Player 2 Sleep", r"line {at}: 'Sleep' is not a claim of "),
    "no such player": ("$", " Ignore Player 9 Gang W1", r"line {at}: there is no player 9; players are 0 to 3"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_claims_that_cannot_be_are_named(fault, with_pung, tmp_path):
    (text, at), (old, new, said) = with_pung, FAULTS[fault]
    text = [*text[:at], re.sub(old, new, text[at], count=1), *text[at + 1 :]]
    (tmp_path / "txt").write_text("\n".join(text), encoding="utf-8")
    with pytest.raises(RecordError, match="txt, " + said.format(at=at + 1)):
        record_of(*read_games(tmp_path / "txt"))


@pytest.mark.parametrize("kind", ["txt", "json"])
def test_what_a_log_does_not_say_is_named(kind, judged, tmp_path):
    """A hand of 12 or 14 tiles, no round wind, no end; the file is always named."""
    file = tmp_path / f"log.{kind}"
    judge = judged[0]

    def refused(lines, turns, said):
        file.write_text("\n".join(lines) if kind == "txt" else json.dumps({"_id": "made-here", "logs": turns}), "utf-8")
        place = "log.txt, line 1" if kind == "txt" else "log.json"
        with pytest.raises(RecordError, match=f"{place}: made-here: {said}"):
            record_of(*read_games(file))

    for wrong in (lambda hand: hand[1:], lambda hand: [*hand, "W9"]):
        lines, turns = list(judge.text), json.loads(json.dumps(judge.logs))
        lines[3] = " ".join([*lines[3].split()[:3], *wrong(lines[3].split()[3:])])
        hands = turns[2]["output"]["display"]["hand"]
        hands[1] = wrong(hands[1])
        refused(lines, turns, r"each player is dealt 13 tiles that are no flowers; the log names \[13, 1[24], 13, 13\]")
    refused([judge.text[0], *judge.text[2:]], judge.logs[2:], "not 4 hands, no round wind, or")
    refused(judge.text[:20], judge.logs[:19], "the log ends before the hand does: player ")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Wind 0", "line 1: a log begins with 'Match', not with 'Wind 0'"),
        ("Match a\nPlayer 0 Deal W0", "line 2: 'W0' is not a tile of Botzone"),
        ("Match a\nPlayer 0 Sleep W1", "line 2: 'Sleep' is not a move"),
        ("Match a\nPlayer x Draw W1", "line 2: 'Player x Draw W1' is not a line of a log"),
        ("Match a\nPlayer -1 Deal W1", "line 2: there is no player -1"),
        ("[" * 100_000, "line 1: not JSON"),
        ("Match a\nHello", "line 2: 'Hello' does not begin a line of a log"),
        ("[1, 2]", "a log of the judge has its turns in 'logs'"),
        ('{"_id": "g", "logs": [{"output": 1}]}', "log, turn 0: not what the judge writes"),
        ('{"logs"', "line 1: not JSON"),
        ("Match a\nScore 1 2", r"line 2: scores are 4 numbers, one for each player, not \['1', '2'\]"),
        ('{"logs": [{"output": {"display": {"action": "INIT", "quan": 1e400}}}]}', "turn 0: not what the judge writes"),
        ('{"logs": [{"output": {"display": {"action": "WA", "player": 0, "score": [1, 2]}}}]}', "turn 0: scores are 4"),
    ],
)
def test_what_is_no_log_is_named(text, what, tmp_path):
    (tmp_path / "log").write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=what):
        list(read_games(tmp_path / "log"))


def test_tiles_and_answers_by_their_names():
    """As the platform's wiki has them: 万 W, 饼 B, 条 T, winds F, 中发白 J1 J2 J3, flowers after seasons."""
    named = {
        "W1": "1m",
        "B9": "9p",
        "T5": "5s",
        "F1": "1z",
        "F4": "4z",
        "J1": "7z",
        "J2": "6z",
        "J3": "5z",
        "H1": "S1",
        "H5": "F1",
    }
    assert {name: KIND_NAMES[tile(name)] for name in named} == named
    own = {
        "PLAY W1": action("discard 1m"),
        "GANG J3": action("concealed kong 5z"),
        "BUGANG T9": action("added kong 9s"),
        "HU": WIN,
    }
    assert {words: action_of(words.split()) for words in own} == own
    claims = {
        "CHI W6 T1": CHOW_LOW,
        "CHI W5 T1": CHOW_LOW + 1,
        "CHI W4 T1": CHOW_LOW + 2,
        "PENG T1": PUNG,
        "GANG": KONG,
        "PASS": PASS,
    }
    assert {words: action_of(words.split(), tile("W5")) for words in claims} == claims
    for words in ("", "PLAY", "PLAY H1", "PLAY X1", "CHI W1 W2", "HU W1", "PENG T1", "SLEEP"):
        assert action_of(words.split()) == -1, words
    assert action_of(["CHI", "W8", "T1"], tile("W5")) == action_of(["CHI", "X"], tile("W5")) == -1


def test_the_command_writes_records(judged, tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.txt"
    good.write_text(as_json(judged[0]), encoding="utf-8")
    bad.write_text("\n".join(judged[1].text[:-1]) + "\nScore 1 1 1 -3\n", encoding="utf-8")
    out = tmp_path / "games.jsonl"
    assert main(["from-botzone", str(good), "--out", str(out)]) == 0
    assert "1 games in" in capsys.readouterr().out
    assert main(["from-botzone", str(bad), str(good), "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert f"left out: {bad}, line 1: made-here: the log ends with the scores (1, 1, 1, -3)" in said.err
    assert [record.points for record in read_records(out)] == [tuple(judged[0].scores)] * 2


def test_the_command_goes_on_behind_what_it_leaves_out(judged, tmp_path, capsys):
    """Each game that cannot be read is one line of what is said, and all the others are written, of every file."""
    good, text = as_json(judged[0]), "\n".join(judged[0].text)
    logs = {
        "lines": f'{good}\n{{"logs": 1}}\n{good[:99]}\n{good}\n',
        "list": f"[{good}, 7, {good}]",
        "broken": json.dumps(json.loads(good), indent=1)[:-9],
        "txt": f"Wind 0\nWind 1\n{text}\nMatch b\nHello\nHello\n{text}\n",
        "marked": f"\ufeff{text}\n",
        "binary": "",
        "named": good.replace('"g"', r'"\ud800"'),
    }
    for name, told in logs.items():
        (tmp_path / name).write_text(told, encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    out = tmp_path / "games.jsonl"
    files = [str(tmp_path / name) for name in ("none", *logs)]
    assert main(["from-botzone", *files, "--out", str(out)]) == 1
    said = capsys.readouterr()
    expected = [
        "none: No such file",
        "lines, line 2: a log of the judge",
        "lines, line 3: not JSON",
        "list, game 2: a log of the judge",
        "broken, line 1: not JSON",
        "txt, line 1: a log begins with 'Match'",
        f"txt, line {len(judged[0].text) + 4}: 'Hello' does not begin a line",
        "binary: it is not text",
    ]
    lines = said.err.splitlines()
    assert all(what in line for what, line in zip(expected, lines, strict=True)), lines
    assert "8 games in" in said.out
    assert "; 8 left out" in said.out
    assert [record.points for record in read_records(out)] == [tuple(judged[0].scores)] * 8
