"""The README is true: its tables are those of the code, its Python runs, its commands exist."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from mahjong_env.basics.plugins import installed
from mahjong_env.cli import main
from tools.readme import README, README_ZH, code_blocks

ROOT = Path(__file__).parents[2]
# Run whole by .ci/run, or by a test of their own.
MAKE_TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_both_languages_say_the_same():
    """Code but for its comments, links, names, numbers, headings and items of lists."""
    english, chinese = (page.read_text(encoding="utf-8") for page in (README, README_ZH))

    def code(text):
        return [re.sub(r" *#.*", "", block) for block in re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)]

    def prose(text):
        text = re.sub(r"^```.*?^```|<!-- table.*?<!-- end -->", "", text, flags=re.MULTILINE | re.DOTALL)
        return re.sub(r"\[(English|中文)\]\([^)]*\)", "", text).replace(".zh.md", ".md")

    assert code(chinese) == code(english)
    for pattern in (r"\]\(([^)]*)\)", r"`[^`]*`", r"(?<![a-z0-9.])\d[\d,]*(?: %)?", r"^(#+) ", r"^(\*) "):
        found = [sorted(re.findall(pattern, prose(text), re.MULTILINE)) for text in (english, chinese)]
        assert found[0] == found[1], pattern
    assert len(re.findall("[\u4e00-\u9fff]", prose(chinese))) > 500


@pytest.mark.parametrize("place", range(len(code_blocks("python"))))
def test_python_runs(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code_blocks("python")[place], f"README.md python block {place}", "exec"), {"__name__": "readme"})


ADDED = installed("mahjong_env.commands")


def shell_lines():
    return [line for block in code_blocks("sh") for line in block.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("line", shell_lines())
def test_commands_exist(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        assert words[1] in MAKE_TARGETS
    elif words[0] == "mahjong-env":
        # What learns is run by tests of its own and by .ci/run, the page by tests/play; here options are checked.
        asks = words[1] in ADDED or "--browser" in words
        try:
            status = main([words[1], "--help"] if asks else words[1:])
        except SystemExit as left:
            status = left.code
        assert status == 0
        told = capsys.readouterr().out
        assert all(word in told for word in words if asks and word.startswith("--"))
    else:
        assert words[:2] == ["pip", "install"]
