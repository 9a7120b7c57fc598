"""A game played by a person at the terminal, and what is told of games."""

import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from mahjong_env import VARIANTS, Deal, RecordError, action, make_engine, rules
from mahjong_env.cli import main, play_command
from mahjong_env.cli.play_command import play, situation_text
from mahjong_env.cli.show_command import Story
from mahjong_env.drawing.text import Reader
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.play.hints import why_not
from mahjong_env.play.match import PlayError, play_on_command, review_command, show_command
from mahjong_env.play.words import matching
from mahjong_env.records import RecordWriter, read_records
from mahjong_env.testing import eager_actions
from support.playing import last_flower, match_of, paid_late


class Script:
    """Answers like a person at the terminal; the last line is repeated."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def __call__(self, prompt):
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        if line is None:
            raise EOFError
        return line


class Passes(RandomAgent):
    """Discards its first tile and claims nothing."""

    def act(self, view, rng):
        return np.where(view.action_mask[:, 108], 108, view.action_mask.argmax(axis=1))


def played(capsys, *answers, agent=None, colour=False, **scene):
    """What is printed while somebody gives these answers, as the dealer of Hebei."""
    deal = Deal(dealer=0, **scene) if scene else None
    begin = partial(match_of, "hebei", 1, agent=agent or Passes(), deal=deal)
    play(begin, Reader(0), colour=colour, read=Script(*answers))
    return capsys.readouterr().out


def test_play_reads_moves_and_shows_the_own_side_alone(capsys):
    answers = "?", "9s", "d", " 5P ", "discard 1m", "q"
    printed = played(capsys, *answers, hands=("111222333444m 5p", "5p", ""))
    assert "write a tile" in printed
    assert printed.count("you may") >= 2
    assert "hand     13 tiles" in printed
    assert "player_1 discards" in printed
    assert printed.endswith("you have left the table\n")


def test_bytes_that_are_no_text_are_refused_as_other_words_are():
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff5m\n"), "utf-8")
    tell, answers = [], iter([stdin.readline, lambda: "q"])
    assert play_command.ask_person(match_of("hebei", 1), lambda prompt: next(answers)(), Reader(0), tell.append) is None
    assert tell[0].endswith("5m' is neither a tile nor an action; type ? to see what you can enter")


def test_play_to_the_end(capsys):
    printed = played(capsys, "w", hands=("111222333444m 55p",))
    assert "you win with 5p, drawn" in printed
    assert printed.endswith("the match is over\n")


def test_the_end_is_shown_where_its_record_cannot_be_written(capsys):
    def write(record):
        raise RecordError("the disk is full")

    deal = Deal(dealer=0, hands=("111222333444m 55p",))
    with pytest.raises(PlayError, match="the disk is full"):
        play(partial(match_of, "hebei", 1, deal=deal, write=write), Reader(0), read=Script("w"))
    assert capsys.readouterr().out.endswith("the match is over\n")


def test_a_person_may_leave_with_the_end_of_the_input(capsys):
    assert played(capsys, None).endswith("you have left the table\n")


def test_play_tells_no_passes_and_no_hidden_kongs(capsys):
    class Kongs(Passes):
        def act(self, view, rng):
            kongs = view.action_mask[:, 34:68]
            return np.where(kongs.any(axis=1), 34 + kongs.argmax(axis=1), super().act(view, rng))

    hands = ("5555z 147m 147p 147s", "7777z 66z 258m 258s", "77m 66m 66p")
    printed = played(capsys, "5z", "q", hands=hands, draws="9m", agent=Kongs())
    assert (
        "player_1 declares a concealed kong\npaid at once for the kong: you -2, player_1 +4, player_2 -2\n" in printed
    )
    assert "kong hidden" in printed
    assert "7777z" not in printed
    assert "passes" not in printed


def test_the_game_is_told_to_you(capsys):
    scene = {"hands": ("147m 258p 369s 1234z 5m", "55m 67p", "1z"), "draws": "9p 9s"}
    printed = played(capsys, "9z", "pung", "hint", "5m", "q", **scene, agent=Pungs())
    assert "turns go you -> player_1 -> player_2" in printed
    assert "the dealer's streak is" in printed
    assert "'9z' is neither a tile nor an action" in printed
    assert "it is your turn: there is nothing to claim" in printed
    assert "greedy would discard " in printed
    assert "you discard 5m\nplayer_1 claims 5m from you: pung 555m@0\nplayer_1 discards" in printed
    assert "calls" not in printed


def test_a_kong_that_stood_is_paid_before_what_follows(capsys):
    play(lambda tell: paid_late(tell=tell), Reader(0), read=Script("5s", "6z", "pass", None))
    printed = capsys.readouterr().out
    added, paid, won = (printed.index(words) for words in ("player_1 adds 5s", "paid at once", "player_1 wins"))
    assert added < paid < won
    deal = Deal(dealer=0, hands=("147m 258p 369s 1234z 5m", "55m 67p 1z", "1z"), draws="9p 9s 5m")
    play(partial(match_of, "hebei", 1, agent=Adds(), deal=deal), Reader(0), read=Script("5m", "4z", None))
    printed = capsys.readouterr().out
    assert re.search(r"player_1 adds 5m to the pung\npaid at once for the kong: .*\nplayer_1 discards", printed)


def test_it_is_said_that_you_sit_out(capsys):
    with_rotation = rules("hebei", rotation=True)
    person = with_rotation.people - 1  # of the first hand
    play(partial(match_of, with_rotation, person=person), Reader(person), read=Script(None))
    printed = capsys.readouterr().out
    assert printed.index("you sit out  50 points") < printed.index(" discards 1")


def test_numbers_agree_with_their_nouns(capsys):
    deal = Deal(dealer=0, hands=("123m 456m 789m 55s 6s 44z", "", ""), tiles_left=1, running_points=(1, 99, 50))
    play(partial(match_of, "hebei", 1, agent=Passes(), deal=deal), Reader(0), read=Script(None))
    printed = capsys.readouterr().out
    assert ", 1 tile left\n" in printed
    assert "  1 point\n" in printed
    told = {"action": "discard 1m", "distance": 0, "tiles": 1}
    hint = play_command._hint({"agent": "greedy", "advice": "discard 1m", "prospects": [told]})
    assert hint == "greedy would discard 1m: then 0 from a win, 1 unseen tile helps"


class Adds(Passes):
    """Claims every pung, and adds to it."""

    def act(self, view, rng):
        kongs = view.action_mask[:, 68:102]
        pungs = np.where(view.action_mask[:, action("pung")], action("pung"), super().act(view, rng))
        return np.where(kongs.any(axis=1), 68 + kongs.argmax(axis=1), pungs)


class Pungs(Passes):
    """Claims every pung."""

    def act(self, view, rng):
        return np.where(view.action_mask[:, action("pung")], action("pung"), super().act(view, rng))


def test_colour_is_written_where_it_is_wanted(capsys):
    for colour in (False, True):
        printed = played(capsys, "q", colour=colour)
        assert ("\x1b[" in printed) == colour
        assert "deal" in printed


def test_spectators_are_told_everything():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("5555z 147m 147p 147s", "55m 258p", "46m 55s 258s"), draws="5m 9s", dealer=0))
    story = Story(engine, Reader(), engine.step)
    told = [line for name in ("concealed kong 5z", "discard 1m") for line in story.play(action(name))[1]]
    assert told[0].startswith("player_0 draws ")
    assert told[0].endswith(", declares a concealed kong of 5z")
    assert told[1] == "paid at once for the kong: player_0 +4, player_1 -2, player_2 -2"
    assert told[2].endswith(" from the end of the wall, discards 1m")
    assert story.play(action("discard 5m"))[1] == ["player_1 draws 5m, discards 5m"]
    assert story.play(action("chow middle"))[1] == [
        "player_2 calls chow middle",
        "player_2 claims 5m from player_1: chow 456m@1",
    ]
    assert story.play(action("discard 5s"))[1] == ["player_2 discards 5s"]


def test_passes_are_told_to_spectators():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("5m 147p", "55m 2589p 147s 1234z", "34m 258s"), dealer=0))
    story = Story(engine, Reader(), engine.step)
    story.play(action("discard 5m"))
    assert story.play(action("pass"))[1] == ["player_1 passes (pung possible)"]


def test_others_draws_are_not_told(capsys):
    play(partial(match_of, "taiwan"), Reader(0), read=Script("hint", *["discard", "pass", "1", "2"] * 40, "q"))
    printed = capsys.readouterr().out
    assert "lays open" in printed
    assert not re.search(r"player_\d draws", printed)


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_is_said_what_a_hand_is_about(variant):
    text = situation_text(make_engine(variant, 1, seed=3), Reader())
    assert f"{'five' if rules(variant).hand_size == 16 else 'four'} sets and a pair" in text
    assert ("seven pairs" in text.lower()) == (variant in ("hangzhou", "hebei", "mcr", "wuhan"))
    assert "draw a tile and discard one" in text
    assert ("flowers, seasons and 1234567z are laid open" in text) == (variant == "fuzhou")


def test_the_words_of_the_headline():
    engine = make_engine("wuhan", 1, seed=3)
    engine.reset(deals=Deal(dealer=1, dealer_streak=2, round_wind="2z", wild="5m"))
    text = situation_text(engine, Reader(1, unicode=False))
    assert "turns go player_0 -> you -> player_2 -> player_3 and round again" in text
    assert "you deal and have kept it twice: the dealer's streak is 2" in text
    assert "South is the round wind" in text
    assert "5m is wild" in text
    assert "player_1 deals and has kept it twice" in situation_text(engine, Reader())


# --- Why not -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("played", "refused", "reason"),
    [
        ([], "discard 9m", "you hold no 9m"),
        ([], "concealed kong 2p", "a concealed kong takes four tiles, and you hold 1 of 2p"),
        ([], "added kong 1m", "you have no pung of 1m on the table"),
        ([], "added kong 9m", "you hold no 9m"),
        ([], "win", "the tiles are not a complete hand"),
        ([], "pass", "it is your turn: there is nothing to pass, a tile has to be discarded"),
        ([], "pung", "it is your turn: there is nothing to claim, a tile has to be discarded"),
        (["discard 7z"], "discard 6z", "it is not your turn: you are asked about 7z"),
        (["discard 7z"], "win", "the tiles are not a complete hand"),
        (["discard 7z"], "chow low", "a chow is claimed from the player before you, and 7z is player_0's"),
        (["discard 2z", "discard 5m"], "pung", "a pung with 5m takes 2 more, and you hold 0"),
        (["discard 2z", "discard 5m"], "kong", "a kong with 5m takes 3 more, and you hold 0"),
        (["discard 2z", "discard 5m"], "chow middle", "chow middle with 5m takes 4m and 6m, and you hold no 6m"),
        (["discard 2z", "discard 5m"], "chow low", "chow low with 5m takes 6m and 7m, and you hold no 6m nor 7m"),
        (["discard 2z", "discard 5m", "chow high"], "win", "a win by self-draw takes a tile that you have drawn"),
        (["discard 2z", "discard 5m", "chow high"], "concealed kong 2p", "a concealed kong takes four tiles"),
    ],
)
def test_why_an_action_is_refused(played, refused, reason):
    engine = make_engine("hebei", 1, seed=1)
    hands = ("1111m 258p 369s 123z 7z", "555m 147p 147s 5566z", "34m 2225p 258s 6z 77z 9s")
    engine.reset(deals=Deal(hands=hands, draws="9s 8m", dealer=0))
    for name in played:
        while not engine.action_mask[0, action(name)]:
            engine.step([action("pass")])
        engine.step([action(name)])
    assert not engine.action_mask[0, action(refused)]
    assert why_not(engine, action(refused)).startswith(reason)


def test_a_flower_that_cannot_be_replaced_is_not_the_opening():
    engine = last_flower().engine
    assert why_not(engine, action("discard 1z")) == (
        "it is not your turn: you are asked because the last flower cannot be replaced"
    )


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_there_is_always_a_reason(variant):
    engine = make_engine(variant, 1, seed=11, auto_reset=True)
    rng = np.random.default_rng(11)
    reasons = set()
    for _ in range(120):
        for number in np.flatnonzero(~engine.action_mask[0]):
            reasons.add(why_not(engine, int(number)))
        engine.step(eager_actions(engine, rng))
    assert all(len(reason) > 10 for reason in reasons)
    assert "the tiles are not a complete hand" in reasons
    assert len(reasons) > 40


def test_what_a_match_leaves_behind(tmp_path, monkeypatch, capsys):
    path = tmp_path / "games.jsonl"
    words = ["play", "--variant", "hebei", "--seed", "6", "--record", str(path)]
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(f"nothing was played, and nothing was added to {path}\n")
    assert not path.exists()
    for match in (1, 2):
        monkeypatch.setattr("sys.stdin", io.StringIO("6z\nq\n"))
        assert main(words) == 0
        told = capsys.readouterr().out.splitlines()
        assert told[-3].startswith(f"match {match} of {path}; ")
        assert told[-2:] == [show_command(str(path), match), review_command(str(path), match, 0)]
    assert [record.is_complete for record in read_records(path)] == [False, False]


@pytest.mark.parametrize("words", [[], ["--browser", "--knob", "cap=8"]])
def test_what_is_played_has_to_be_named_or_chosen(words, capsys):
    assert main(["play", *words]) == 2
    assert "--variant names what is played: fuzhou, hangzhou" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--variant", "hebei", "--at", "3", "--match", "2"],
            "only a recorded match (--from) is taken over: leave out --match, --at",
        ),
        (["--browser", "--seat", "1", "--agents", "greedy"], "on the page: leave out --agents, --seat"),
        (
            ["--variant", "hebei", "--port", "8000", "--no-open"],
            "only --browser has a page: leave out --port, --no-open",
        ),
    ],
)
def test_options_without_effect_are_refused(words, said, capsys):
    assert main(["play", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_recorded_match_is_played_on(tmp_path, monkeypatch, capsys):
    path, begun = tmp_path / "games.jsonl", []
    words = ["show", "--variant", "hebei", "--seed", "3", "--num-hands", "2", "--tables", "none"]
    assert main([*words, "--record", str(path)]) == 0

    class Server:
        url = "here"

        def __init__(self, new_match, port, reviewer):
            begun.append(new_match())
            assert reviewer is not None

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def serve_forever(self):
            pass

    monkeypatch.setattr(play_command, "PlayServer", Server)
    assert main([*play_on_command(str(path), 1).split()[1:], "--seat", "2", "--at", "9", "--no-open"]) == 0
    (match,) = begun
    (record,) = read_records(path)
    assert (match.person, match.rules.name, match.engine.num_hands) == (2, "hebei", 2)
    match.leave()
    # The same opponents sit there, unless others are named; what cannot be seated by its name is not looked for.
    with RecordWriter(path) as writer:
        writer.write(replace(record, agents=("greedy", "you", "closed-greedy")))
        writer.write(replace(record, agents=("you", "greedy", "evil.py:Agent")))
    again = ["play", "--browser", "--from", str(path), "--match", "2", "--seat", "1", "--no-open"]
    for others, names in (
        ([], ["greedy", "you", "closed-greedy"]),
        (["--agents", "random"], ["random", "you", "random"]),
    ):
        assert main([*again, *others]) == 0
        assert begun[-1].names == names
        begun[-1].leave()
    capsys.readouterr()
    for wrong, said in (
        (["--at", "100000"], f"fewer than its {len(record.actions)} actions, not after 100000"),
        (["--match", "4"], "has no match 4"),
        (
            ["--match", "3"],
            "'evil.py:Agent', which cannot be seated by name: name the agents of the other seats with --agents",
        ),
        (["--variant", "hebei", "--num-hands", "2"], "its own rules and hands: leave out --variant, --num-hands"),
        (["--seat", "3"], "--seat is a person from 0 to 2"),
    ):
        assert main(["play", "--browser", "--from", str(path), *wrong]) == 2
        assert said in capsys.readouterr().err
    assert main(["play", "--from", str(path)]) == 2
    assert "--from needs --browser" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "file", "written"),
    [
        ("posix", "games.jsonl", "games.jsonl"),
        ("posix", "my games.jsonl", "'my games.jsonl'"),
        ("posix", "a$(id).jsonl", "'a$(id).jsonl'"),
        ("nt", r"C:\my games.jsonl", r'"C:\my games.jsonl"'),
    ],
)
def test_commands_quote_files_that_need_it(system, file, written, monkeypatch):
    monkeypatch.setattr("os.name", system)
    assert show_command(file) == f"python -m mahjong_env show {written} --html page.html"


def test_the_first_tutorial_says_what_may_be_written():
    text = (Path(__file__).parents[2] / "docs" / "tutorials" / "first_game.md").read_text(encoding="utf-8")
    sentence = re.search(r"`play` puts you at the table: (.*?)`\?` explains", text, re.DOTALL)[1]
    written = re.findall("`([^`]+)`", sentence)
    assert written
    assert all(len(matching(words, [f"discard {words}", "pung", "win", "pass"])) == 1 for words in written)


def test_hints_are_asked_for_one_at_a_time():
    """Pages are answered in threads, and programs and isolated agents have one pipe."""

    class Busy:
        name, asked, most = "busy", 0, 0

        def act(self, view, rng):
            self.asked += 1
            self.most = max(self.most, self.asked)
            sleep(0.01)
            self.asked -= 1
            return [0]

        explain = act

    busy = Busy()
    shared = play_command._OneAtATime(busy)
    assert shared.name == "busy"
    assert not hasattr(play_command._OneAtATime(object()), "explain")
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(ask, None, None) for ask in (shared.act, shared.explain) * 8]:
            assert done.result() == [0]
    assert busy.most == 1
