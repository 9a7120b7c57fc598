"""``python -m mahjong_env bench``."""

import json
import re
import shlex
import sys

import numpy as np
import pytest

from mahjong_benchmarks import PARTS, own
from mahjong_benchmarks import command as bench_command
from mahjong_env.cli import main

QUICK = "bench --variant hebei --seconds 0.005 --runs 1 --no-peers --no-footprint"


@pytest.fixture(autouse=True)
def short_head_starts(monkeypatch):
    monkeypatch.setattr(own, "HEAD_START", 2)


def run(capsys, command):
    """The exit status of a command line, and what it printed on stdout and on stderr."""
    status = main(shlex.split(command))
    return status, *capsys.readouterr()


def test_json_tells_everything(capsys):
    status, printed, _ = run(capsys, f"{QUICK} --batches 1 8 --play random --json - --knob players=4")
    assert status == 0
    told = json.loads(printed)
    assert [(result["kind"], result["batch"]) for result in told["results"]] == [
        ("step+mask", 1),
        ("step+mask+observe", 1),
        ("step+mask", 8),
        ("step+mask+observe", 8),
        ("PettingZoo", 1),
        ("plain loop, PettingZoo", 1),
        ("plain loop, Gymnasium", 1),
    ]
    assert all(result["decisions_per_second"] > 0 for result in told["results"])
    assert told["settings"]["batches"] == [1, 8]
    assert told["machine"]["numpy"] == np.__version__


@pytest.mark.parametrize(("option", "kind"), [("--observe", "step+mask+observe"), ("--no-observe", "step+mask")])
def test_with_or_without_observations(capsys, option, kind):
    _, printed, _ = run(capsys, f"{QUICK} --batches 4 --play greedy {option} --runs 2 --json -")
    (result,) = json.loads(printed)["results"]
    assert (result["kind"], result["play"], len(result["runs"])) == (kind, "greedy", 2)
    assert result["times_faster_than"] == {}


def test_all_tables(capsys):
    command = f"{QUICK} --batches 4 --play random --no-observe --clock wall".replace("--no-footprint", "")
    status, printed, _ = run(capsys, command)
    speed, memory, start = printed.split("\n\n")
    assert status == 0
    assert [line.split("  ")[0] for line in speed.splitlines()[1:]] == [
        "hebei: engine, 4 games, masks",
        "hebei: PettingZoo env()",
        "hebei: PettingZoo env(), plain loop",
        "hebei: gymnasium.make(), plain loop",
    ]
    assert memory.splitlines()[1].startswith("hebei: engine, 4 games")
    assert start.splitlines()[1].startswith("hebei: a new process")


def test_beside_peers(capsys):
    pytest.importorskip("rlcard")
    pytest.importorskip("riichienv")
    command = f"{QUICK} --batches 8 --play random greedy".replace("--no-peers", "")
    status, printed, _ = run(capsys, command)
    assert status == 0
    engine, observing, greedy, seeing_greedy, aec, loop, learner = printed.splitlines()[-7:]
    assert re.search(r"masks  .* [\d.]+ x RLCard mahjong, [\d.]+ x RiichiEnv$", engine)
    assert re.search(r"observations .* x RLCard mahjong, [\d.]+ x RiichiEnv with mask and observation$", observing)
    assert re.search(r"env\(\) .* x RLCard mahjong behind PettingZoo's wrappers$", aec)
    assert re.search(r"env\(\), plain loop .* x RLCard mahjong, plain loop$", loop)
    assert re.search(r"gymnasium.make\(\), plain loop .* x hebei: PettingZoo env\(\), plain loop$", learner)
    assert " x " not in greedy + seeing_greedy
    assert "greedy play" in greedy


def test_peers_are_left_out_where_nobody_plays_at_random(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rlcard", None)
    command = f"{QUICK} --batches 2 --play greedy --no-observe".replace("--no-peers", "")
    assert run(capsys, command)[0] == 0


def test_missing_peers_are_an_error_that_names_the_remedy(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rlcard", None)
    status, printed, said = run(capsys, "bench --variant hebei")
    assert (status, printed) == (2, "")
    assert "pip install 'mahjong-env[bench]'" in said


def test_compared_with_an_earlier_file(capsys, tmp_path):
    path = tmp_path / "earlier.json"
    command = f"{QUICK} --batches 2 --play random --no-observe"
    assert run(capsys, f"{command} --json {path}")[0] == 0
    status, printed, _ = run(capsys, f"{command} --against {path}")
    assert status == 0
    heading, columns, *lines, note = printed.split("\n\n")[1].splitlines()
    assert heading == f"against {path}"
    assert columns.split() == ["then", "now", "now/then"]
    assert [re.split(" {2,}", line)[0] for line in lines] == [
        "hebei: engine, 2 games, masks",
        "hebei: PettingZoo env()",
        "hebei: PettingZoo env(), plain loop",
        "hebei: gymnasium.make(), plain loop",
    ]
    assert "no peer was measured both times" in note


def test_a_plot_is_drawn(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "speed.svg"
    status, _, _ = run(capsys, f"{QUICK} --batches 1 4 --play random greedy --plot {path}")
    assert status == 0
    drawn = path.read_text(encoding="utf-8")
    assert drawn.startswith("<?xml")
    for title in ("step+mask, random play", "step+mask+observe, greedy play"):
        assert title in drawn


def test_a_plot_needs_its_extra(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    status, printed, said = run(capsys, f"{QUICK} --plot {tmp_path}/speed.png")
    assert (status, printed) == (2, "")
    assert "pip install 'mahjong-env[bench]'" in said


def test_profile_prints_a_table(capsys):
    status, printed, _ = run(capsys, f"{QUICK} --batches 1 16 --play random --profile")
    assert status == 0
    lines = printed.splitlines()
    assert lines[0] == "| random play, 16 games | hebei |"
    assert len(lines) == len(PARTS) + 3
    status, printed, _ = run(capsys, f"{QUICK} --batches 4 --play random --profile --json -")
    told = json.loads(printed)
    assert (status, told["results"]) == (0, [])
    assert sum(told["profile"][0]["parts"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--batches 0", "--batches and --runs are integers from 1"),
        ("--runs 0", "--batches and --runs are integers from 1"),
        ("--seconds nan", "--seconds is a number above 0"),
        ("--batches 2 2", "--batches names one thing twice: 2 2"),
        ("--play random random", "--play names one thing twice"),
        ("--play nobody", "no agent is called 'nobody'; valid are"),
        ("--knob players", "a knob is written NAME=VALUE"),
        ("--knob colour=2", "colour"),
        ("--profile --plot x.png", "--profile measures no speeds"),
        ("--json nowhere/x.json", "there is no folder nowhere"),
        ("--plot nowhere/x.png", "there is no folder nowhere"),
        ("--plot speed.abc", "writes files that end in .*png.*, not 'speed.abc'"),
        ("--against nowhere.json", "nowhere.json cannot be read"),
    ],
)
def test_wrong_options_are_said_before_anything_is_measured(capsys, monkeypatch, options, message):
    monkeypatch.setattr(bench_command, "_measure", lambda *_: pytest.fail("measured"))
    status, printed, said = run(capsys, f"{QUICK} {options}")
    assert (status, printed) == (2, "")
    assert re.search(message, said), said


def test_a_terminal_sees_what_is_going_on(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _, _, said = run(capsys, f"{QUICK} --batches 2 --play random --no-observe --runs 2")
    assert "[1/40] run 1 of 2: hebei: engine, 2 games, masks" in said
    assert "[40/40] run 2 of 2: hebei: gymnasium.make(), plain loop" in said
    assert said.endswith("\r")
