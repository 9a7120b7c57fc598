"""What a terminal lacks is written otherwise; rule pages are read without markup."""

import io
import re
import sys

import pytest

from mahjong_env import VARIANTS, describe_rules
from mahjong_env.cli import main
from mahjong_env.cli.rules_command import terminal_text
from mahjong_env.cli.terminal import prepare_output, say
from mahjong_env.drawing.text import columns, paint

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


def test_characters_that_an_encoding_lacks(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_output()
    print("\U0001f007 \u00b1 \u4e00", end="")
    stream.flush()
    assert stream.buffer.getvalue().decode("latin-1") == "? \u00b1 ?"


def test_paint():
    assert paint("you discard 5m") == "\x1b[1myou\x1b[0m discard \x1b[31m5m\x1b[0m"
    assert paint("123m 55z F1 12 tiles, 3 points") == (
        "\x1b[31m123m\x1b[0m \x1b[33m55z\x1b[0m \x1b[35mF1\x1b[0m 12 tiles, 3 points"
    )
    assert paint("player_0 may pung") == "player_0 may pung"
