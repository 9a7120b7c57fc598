"""The pages on other interfaces: their commands and blocks run, and print what the pages show."""

import re
import shlex
from io import StringIO
from pathlib import Path

import pytest

from mahjong_env.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [pytest.param("text", marks=pytest.mark.thorough), "openspiel"]


def blocks(page):
    """The blocks of a page in order: language, text."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(page, monkeypatch, capsys):
    """Run the blocks of a page; yields what Python printed, and what stands in the text block behind it."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.stdin", StringIO("q\n"))
    names, every = {"__name__": "page"}, blocks(page)
    for (language, block), (following, shown) in zip(every, [*every[1:], ("", "")], strict=True):
        if language == "python":
            capsys.readouterr()
            exec(compile(block, f"{page}.md", "exec"), names)
            printed = capsys.readouterr().out
            if following == "text":
                yield printed, shown
        elif language == "sh":
            for line in filter(None, block.splitlines()):
                words = shlex.split(line, comments=True)
                if words[0] == "mahjong-env":
                    assert main(words[1:]) == 0
                else:
                    assert words[:2] == ["pip", "install"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page, monkeypatch, capsys):
    if page == "openspiel":
        pytest.importorskip("pyspiel")
    compared = 0
    for printed, shown in run(page, monkeypatch, capsys):
        assert printed == shown
        compared += 1
    assert compared
