"""The command line."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict

import pytest

import mahjong_env
from mahjong_env import VARIANTS, describe_rules, score
from mahjong_env.cli import main
from mahjong_env.cli.rules_command import terminal_text
from mahjong_env.cli.terminal import say
from mahjong_env.drawing.text import columns, paint
from mahjong_env.records import read_records, replay_points

CALL = "main(__import__('os').environ['COMMAND'].split())"


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
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("seed 1\ntiles: 1-9m characters")
    assert "\n\nHebei 河北麻将: hand 1 of 1" in done.stdout


def test_closed_pipes_are_no_error():
    done = subprocess.run(
        f"{sys.executable} -m mahjong_env show --variant hebei --tables moves | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("raise BrokenPipeError(32, 'Broken pipe')", "error: BrokenPipeError: Broken pipe"),
        ("open('no_weights.npz')", "error: no_weights.npz: No such file or directory"),
        ("mahjong_env.action('discard')", "error: no action is called 'discard'; "),
    ],
)
def test_errors_of_agents_say_who_was_asked(does, said, capsys, tmp_path):
    lines = "import mahjong_env\n\nclass Mine:\n    name = 'mine'\n\n    def act(self, view, rng):\n        "
    (tmp_path / "mine.py").write_text(lines + does + "\n", encoding="utf-8")
    status, _, printed = run(
        capsys, f"show --variant hebei --seed 1 --agents {shlex.quote(str(tmp_path))}/mine.py:Mine"
    )
    first, asked = printed.splitlines()
    assert (status, first.startswith(said)) == (2, True), first
    assert asked.startswith("the agent 'mine' was asked for 1 seats, the first of them in game 0, seat ")


# --- full disks ----------------------------------------------------------------------------------------------

FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="no device that is always full")
SHOW = "show --variant hebei --seed 3 --tables none"
SCORE = "score --variant hebei --hand 123456789m11p55s --winning-tile 1p --source draw"


@needs_full
@pytest.mark.parametrize(
    "command",
    [
        SHOW,
        *(pytest.param(line, marks=pytest.mark.thorough) for line in ("rules --variant hebei", "show --help")),
        pytest.param("rules --variant hebei --markdown", marks=pytest.mark.thorough),
        pytest.param(f"{SCORE} --json", marks=pytest.mark.thorough),
    ],
    ids=lambda command: " ".join(command.split()[:3]),
)
def test_an_output_that_cannot_be_written_is_an_error_of_one_line(command):
    line = f"{shlex.quote(sys.executable)} -m mahjong_env {command} > {FULL}"
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=buffered)
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert done.returncode == 2


@pytest.mark.thorough
@needs_full
@pytest.mark.parametrize("where", [">/dev/full", ">&-", "2>/dev/full", "2>&-"])
@pytest.mark.parametrize("command", ["rules --variant hebei", "show nothing.jsonl"])
def test_streams_that_are_full_or_closed_leave_no_traceback(where, command):
    line = f"{shlex.quote(sys.executable)} -m mahjong_env {command} {where}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, encoding="utf-8")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == (2 if "nothing" in command or where == ">/dev/full" else 0)


@pytest.mark.skipif(os.name == "nt", reason="a shell that closes streams")
def test_play_without_stdin_ends_as_at_the_end_of_a_file():
    line = f"{shlex.quote(sys.executable)} -m mahjong_env play --variant hebei --seed 1 <&-"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "you have left the table" in done.stdout


BENCH = "bench --variant hebei --no-peers --no-footprint --batches 1 --seconds 0.01 --runs 1 --play random --json"


@needs_full
@pytest.mark.parametrize("command", [f"{SHOW} --record", f"{SHOW} --html", f"{SCORE} --html", f"{SCORE} --svg", BENCH])
def test_files_on_a_full_device(capsys, tmp_path, command):
    (tmp_path / "full").symlink_to(FULL)
    status, _, said = run(capsys, f"{command} {tmp_path}/full")
    assert re.fullmatch(r"error: .*/full.*: No space left on device\n", said)
    assert status == 2
    assert not os.path.isfile(FULL)  # which is still a device


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="no limits of processes")
def test_no_half_of_a_page_is_left_on_a_full_disk(tmp_path):
    page = tmp_path / "page.html"
    for before in (None, "the page before"):
        if before is not None:
            page.write_text(before, encoding="utf-8")
        line = f"ulimit -f 40; {shlex.quote(sys.executable)} -m mahjong_env {SHOW} --html {page}"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, encoding="utf-8")
        assert done.stderr == f"error: {page}: cannot be written: File too large\n"
        assert done.returncode == 2
        assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ([] if before is None else [before])


def test_pages_are_written_through_links(capsys, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    for _ in range(2):
        assert run(capsys, f"{SHOW} --html {tmp_path}/link.html")[0] == 0
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("command", [SHOW, "play --variant hebei --seed 3"])
def test_a_broken_file_of_records_is_refused_before_anything_is_played(capsys, tmp_path, monkeypatch, command):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody is at the terminal
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"format":"mahjong_env.record"}\n', encoding="utf-8")
    status, printed, said = run(capsys, f"{command} --record {broken}")
    assert (status, printed) == (2, "")
    assert "is not a file of records, and is left as it is" in said
    assert broken.read_text(encoding="utf-8") == '{"format":"mahjong_env.record"}\n'
    assert run(capsys, f"{command} --record {tmp_path}/new.jsonl")[0] == 0


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("show {0} --html {1}", "RECORD and --html"),
        (f"{SHOW} --record {{0}} --html {{1}}", "--record and --html"),
        (f"{SCORE} --html {{0}} --svg {{1}}", "--html and --svg"),
    ],
)
def test_two_options_that_name_one_file_are_refused(capsys, tmp_path, command, options):
    file, link = tmp_path / "file", tmp_path / "link"
    run(capsys, f"{SHOW} --record {file}")
    before = file.read_bytes()
    link.symlink_to(file)
    status, printed, said = run(capsys, command.format(file, link))
    assert (status, printed) == (2, "")
    assert f"{options} name the same file, {file}: name another one for" in said
    assert file.read_bytes() == before


# --- score ---------------------------------------------------------------------------------------------------


def test_score_prints_rows_and_payments(capsys):
    command = (
        "score --variant hebei --hand 123456789m11p55s --winning-tile 1p --source discard --from-seat 2 --dealer 1"
    )
    status, printed, _ = run(capsys, command)
    assert status == 0
    assert printed.splitlines() == [
        "hand      123456789m 11p 55s, + 1p discarded by seat 2",
        "sets      123m  456m  789m  11p+1p  55s",
        "",
        "row                value",
        "-----------------  -----",
        "Closed Hand 门清   2",
        "One Dragon 一条龙  2",
        "the hand is worth  2 × 2 = 4",
        "",
        "seat 0 receives 4: won the hand",
        "seat 2 pays 4: gave the winning tile",
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
    assert json.loads(printed) == json.loads(json.dumps(asdict(expected)))


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
        often: run(capsys, f"show --variant hebei --seed 5 --tables {often}")[1].count("Hebei 河北麻将: hand 1")
        for often in ("none", "hands", "moves")
    }
    assert tables["none"] == 0
    assert tables["hands"] == 2
    assert tables["moves"] > 50


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
    ("options", "said"),
    [
        ("--knob cap=3 --seed 5", "has its own rules, players and cards: leave out --knob, --seed"),
        ("--agents nobody --num-hands 4", "leave out --agents, --num-hands"),
        ("--record other.jsonl --thoughts", "leave out --record, --thoughts"),
        (f"--match {10**24}", f"games.jsonl has no match {10**24}"),
    ],
)
def test_what_has_no_effect_on_a_recorded_game_is_refused(options, said, tmp_path, capsys):
    file = tmp_path / "games.jsonl"
    run(capsys, f"{SHOW} --record {file}")
    status, printed, told = run(capsys, f"show {file} {options}")
    assert (status, printed) == (2, "")
    assert said in told


def test_a_seed_is_drawn_and_said(capsys):
    seeds = {run(capsys, "show --variant hebei --tables none")[1].splitlines()[0] for _ in range(3)}
    assert len(seeds) == 3


# --- help, and words that cannot be ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "show", "play", "score", "rules"])
def test_help_says_how_tiles_are_written_and_knobs_are_listed(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([*command.split(), "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "1-9m characters" in said
    assert ("--knob" in said and "`python -m mahjong_env rules --variant VARIANT` lists them" in said) or not command


@pytest.mark.parametrize(
    ("command", "encoding"),
    [
        ("rules --variant wuhan", "latin-1"),
        pytest.param("show --variant hebei --seed 1 --unicode", "cp1252", marks=pytest.mark.thorough),
        ("score --variant hebei --hand \u4e00", "ascii"),
        pytest.param("evaluate --variant hebei --agents random --deals 2", "ascii", marks=pytest.mark.thorough),
    ],
)
def test_encodings_without_chinese_are_no_error(command, encoding):
    done = subprocess.run(
        [sys.executable, "-m", "mahjong_env", *command.split()],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"},
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == (2 if command.startswith("score") else 0), done.stderr
    assert (done.stderr if done.returncode else done.stdout).decode(encoding)


# --- Ctrl-C --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command",
    [
        "play --variant hebei",
        "show --variant hebei --num-hands 30000 --tables none",
        "bench --variant hebei --no-peers --batches 1 --seconds 60",
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_is_one_line(command):
    # A shell's background job, which tests may be, ignores Ctrl-C, and so would the process that it begins.
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heeds}; import sys; from mahjong_env.cli import main; print(flush=True); sys.exit({CALL})"
    begun = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COMMAND": command},
        encoding="utf-8",
    )
    begun.stdout.readline()  # it has been imported
    time.sleep(1.5)
    begun.send_signal(signal.SIGINT)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert said.strip() == "interrupted"


@pytest.mark.parametrize(
    ("command", "extras"), [("evaluate", "evaluate"), ("bench", "bench"), ("train", "train,evaluate")]
)
def test_a_command_names_the_extras_that_it_needs_and_no_others(monkeypatch, capsys, command, extras):
    monkeypatch.setitem(sys.modules, "tyro", None)
    assert main([command]) == 2
    assert capsys.readouterr().err.endswith(f" {command} needs tyro: pip install 'mahjong-env[{extras}]'\n")


def test_the_version(capsys):
    with suppress(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"mahjong_env {mahjong_env.__version__}\n"


# --- What a terminal lacks is written otherwise; rule pages are read without markup -----------------------------------


PAGE = "<!-- x -->\n\n# `x`\n\nA **bold** word, an *emphasis*, a [link](other.md#part) and <https://example.org>.\n"


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_rule_pages_show_no_markup(variant):
    pytest.importorskip("rich")
    text = terminal_text(describe_rules(variant), 80, colour=False)
    assert not re.search(r"\*\*|^\||```|\]\(|^#|<!--|\|---|\x1b", text, re.MULTILINE)
    assert VARIANTS[variant].title in text
    assert max(map(columns, text.splitlines())) <= 80


def test_rich_draws_where_it_is_installed(monkeypatch):
    pytest.importorskip("rich")
    text = terminal_text(PAGE, 60, colour=True)
    assert "\x1b[" in text
    assert "**" not in text
    assert "(https" not in text
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert "A **bold** word, an *emphasis*, a link and https://example.org" in terminal_text(PAGE, 60, colour=True)


def test_the_command_follows_knobs_and_can_print_the_page_itself(capsys):
    assert main(["rules", "--variant", "hebei", "--knob", "players=4", "cap=8"]) == 0
    text = capsys.readouterr().out
    assert "four players" in text
    assert "**" not in text
    assert main(["rules", "--variant", "hebei", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Hebei mahjong")
    assert main(["rules", "--variant", "hebei", "--knob", "lid=3"]) == 2
    assert "has no knob 'lid'" in capsys.readouterr().err


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_rules_go_through_a_pager_and_lines_end_between_words(monkeypatch):
    paged = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", terminal := _Terminal())
    assert main(["rules", "--variant", "hebei"]) == 0
    assert (len(paged), terminal.getvalue()) == (1, "")
    assert main(["rules", "--variant", "hebei", "--no-pager"]) == 0
    assert len(paged) == 1
    assert "Hebei mahjong" in terminal.getvalue()
    monkeypatch.setattr(sys, "stdout", terminal := _Terminal())
    say("write a tile to discard it (5m), or an action\nq: leave", "")
    assert terminal.getvalue() == "write a tile to discard it (5m), or\n    an action\nq: leave\n\n"
    monkeypatch.setattr(sys, "stdout", pipe := io.StringIO())
    say("write a tile to discard it (5m), or an action")
    assert pipe.getvalue() == "write a tile to discard it (5m), or an action\n"


def test_paint():
    assert paint("you discard 5m") == "\x1b[1myou\x1b[0m discard \x1b[31m5m\x1b[0m"
    assert paint("123m 55z F1 12 tiles, 3 points") == (
        "\x1b[31m123m\x1b[0m \x1b[33m55z\x1b[0m \x1b[35mF1\x1b[0m 12 tiles, 3 points"
    )
    assert paint("player_0 may pung") == "player_0 may pung"
