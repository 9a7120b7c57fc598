"""The command line."""

import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import mahjong_env
from mahjong_env import VARIANTS, Deal, make_engine, score
from mahjong_env.cli import main
from mahjong_env.cli.play_command import claims_text, matching, play
from mahjong_env.environments.opponents import RandomAgent


def run(capsys, command):
    """The exit status of a command line, and what it printed on stdout and on stderr."""
    status = main(shlex.split(command))
    return status, *capsys.readouterr()


def test_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "mahjong_env", "show", "--variant", "hebei", "--seed", "1"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("seed 1\nHebei: hand 1 of 1")


def test_closed_pipes_are_no_error():
    done = subprocess.run(
        f"{sys.executable} -m mahjong_env show --variant hebei --tables moves | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""


# --- score ---------------------------------------------------------------------------------------------------


def test_score_prints_rows_and_payments(capsys):
    command = (
        "score --variant hebei --hand 123456789m11p55s --winning-tile 1p --source discard --from-seat 2 --dealer 1"
    )
    status, printed, _ = run(capsys, command)
    assert status == 0
    assert printed.splitlines() == [
        "rows",
        "    Closed Hand  2",
        "    One Dragon   2",
        "points    4",
        "payments  seat 0 +4, seat 1 +0, seat 2 -4",
    ]


def test_score_gives_every_argument_on(capsys):
    command = "score --variant hebei --hand 1122z --winning-tile 2z --source draw --json"
    command += " --meld 'chow 123s@2' --meld 'pung 999s@1' --meld 'kong 7777p' --other-meld '1:pung 444p@0'"
    command += " --knob all_pungs=2 --knob cap=None --kong-draws 1 --dealer 2 --last-tile"
    _, printed, _ = run(capsys, command)
    expected = score(
        "hebei",
        "1122z",
        winning_tile="2z",
        source="draw",
        melds=["chow 123s@2", "pung 999s@1", "kong 7777p"],
        other_melds={1: ["pung 444p@0"]},
        all_pungs=2,
        kong_draws=1,
        dealer=2,
        last_tile=True,
    )
    assert json.loads(printed) == json.loads(json.dumps(expected.__dict__))


def test_score_says_why_a_hand_may_not_win(capsys):
    command = "score --variant hebei --hand 123m456p789s11z55z --winning-tile 1z --source draw"
    status, printed, _ = run(capsys, command)
    assert (status, printed.splitlines()[0]) == (0, "rows")
    status, printed, _ = run(capsys, "score --variant hebei --hand 1234567m125p123s --winning-tile 1z --source draw")
    assert (status, printed) == (0, "may not win: the tiles are not a complete hand\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("score --variant hebei --hand 1m --winning-tile 1m --source draw", "13 before"),
        ("score --variant hebei --hand 1m --source draw --knob cap", "NAME=VALUE"),
        ("score --variant hebei --hand 1m --source draw --knob lid=3", "all_pungs"),
        ("score --variant hebei --hand 1m --source draw --other-meld chow", "SEAT:MELD"),
        ("show --variant hebei --agents random random", "or 3 .one for each"),
        ("show --variant hebei --agents nobody", "valid are .*random"),
        ("show --variant hebei --seed -1", "--seed"),
        ("show --variant hebei --num-hands 0", "num_hands"),
        ("play --variant hebei --seat 3", "0 to 2"),
        ("bench --batch 0 --no-peers", "from 1"),
    ],
)
def test_wrong_input_is_an_error_with_a_name(command, message, capsys):
    status, printed, said = run(capsys, command)
    assert (status, printed) == (2, "")
    assert said.startswith("error: ")
    assert re.search(message, said), said


def test_unknown_variants_are_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["show", "--variant", "bridge"])
    said = capsys.readouterr().err
    assert all(variant in said for variant in VARIANTS)


# --- show ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_show_prints_a_game_that_can_be_repeated(variant, capsys):
    command = f"show --variant {variant} --seed 5 --num-hands 2"
    status, printed, _ = run(capsys, command)
    assert status == 0
    assert printed.count("    payments  ") == 2
    assert printed.endswith("the match is over\n")
    assert run(capsys, command)[1] == printed


def test_show_draws_tables_as_often_as_asked(capsys):
    tables = {
        often: run(capsys, f"show --variant hebei --seed 5 --tables {often}")[1].count("Hebei: hand 1")
        for often in ("none", "hands", "moves")
    }
    assert tables["none"] == 0
    assert tables["hands"] == 2
    assert tables["moves"] > 50


def test_show_with_the_agents_of_other_distributions(capsys):
    names = mahjong_env.environments.opponents.agent_names()
    if "greedy" not in names:
        pytest.skip("the entry point is not installed")
    status, printed, _ = run(capsys, "show --variant hebei --seed 2 --agents greedy random random")
    assert status == 0
    assert "player_2: discard" in printed


def test_a_seed_is_drawn_and_said(capsys):
    seeds = {run(capsys, "show --variant hebei --tables none")[1].splitlines()[0] for _ in range(3)}
    assert len(seeds) == 3


# --- play ----------------------------------------------------------------------------------------------------


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


def test_play_reads_moves_and_shows_the_own_side_alone(capsys):
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("111222333444m 5p", "5p", ""), dealer=0))
    play(
        engine,
        [None, Passes(), Passes()],
        np.random.default_rng(0),
        read=Script("?", "9s", "d", " 5P ", "discard 1m", "q"),
    )
    printed = capsys.readouterr().out
    assert "write a tile" in printed
    assert printed.count("you may") >= 2
    assert "hand      13 tiles" in printed
    assert "player_1: discard" in printed
    assert printed.endswith("you have left the table\n")


def test_play_to_the_end(capsys):
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("111222333444m 55p",), dealer=0))
    play(engine, [None, Passes(), Passes()], np.random.default_rng(0), read=Script("w"))
    printed = capsys.readouterr().out
    assert "player_0 wins with 5p, drawn" in printed
    assert printed.endswith("the match is over\n")


def test_a_person_may_leave_with_the_end_of_the_input(capsys):
    engine = make_engine("hebei", 1, seed=1)
    play(engine, [None, Passes(), Passes()], np.random.default_rng(0), read=Script(None))
    assert capsys.readouterr().out.endswith("you have left the table\n")


def test_play_tells_no_passes_and_no_hidden_kongs(capsys):
    class Kongs(Passes):
        def act(self, view, rng):
            kongs = view.action_mask[:, 34:68]
            return np.where(kongs.any(axis=1), 34 + kongs.argmax(axis=1), super().act(view, rng))

    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("5555z 147m 147p 147s", "7777z 66z 258m 258s", "77m 66m 66p"), draws="9m", dealer=0))
    play(engine, [None, Kongs(), Kongs()], np.random.default_rng(0), read=Script("5z", "q"))
    printed = capsys.readouterr().out
    assert "player_1: concealed kong\n" in printed
    assert "kong hidden" in printed
    assert "7777z" not in printed
    assert "pass\n" not in printed.partition("may ")[0]
    assert ": pass" not in printed


def test_claims_are_told_when_granted():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("5m 147p", "55m 258p", "34m 258s"), dealer=2))
    engine.step([mahjong_env.action("discard 3m")])
    before = engine.state.num_melds[0].copy()
    assert claims_text(engine, before) == []
    engine.reset(deals=Deal(hands=("5m 147p", "55m 258p", "1m"), dealer=0))
    engine.step([mahjong_env.action("discard 5m")])
    engine.step([mahjong_env.action("pung")])
    assert claims_text(engine, before) == ["player_1: pung 555m@0\n"]


def test_answers_may_be_short():
    legal = ["discard 1m", "discard 1p", "concealed kong 1m", "win"]
    assert matching("1p", legal) == ["discard 1p"]
    assert matching("w", legal) == ["win"]
    assert matching("discard 1", legal) == ["discard 1m", "discard 1p"]
    assert matching("", legal) == matching("9s", legal) == []
