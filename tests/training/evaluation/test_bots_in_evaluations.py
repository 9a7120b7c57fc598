"""Bots in evaluations: what they fail to decide is counted, and nothing that was played is lost."""

import shlex
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from mahjong_agents import AgentError
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation.command import evaluate, run

EXAMPLE = Path(__file__).parents[3] / "notebooks" / "examples" / "bots" / "bot.py"
# The example, which ends instead of answering in mid-evaluation, as long as a file is there.
ENDING = textwrap.dedent(
    """
    import os, runpy, sys
    lines = sys.stdin
    def some():
        for number, line in enumerate(lines):
            if number > 1200 and os.path.exists(sys.argv[2]): sys.exit("no more")
            yield line
    sys.stdin = some()
    runpy.run_path(sys.argv[1])
    """
)


@pytest.fixture
def bot(tmp_path):
    (tmp_path / "ending.py").write_text(ENDING, encoding="utf-8")
    (tmp_path / "end").mkdir()  # no file: the same bot is asked with it and without
    words = [sys.executable, str(tmp_path / "ending.py"), str(EXAMPLE), str(tmp_path / "end")]
    return f"command:{shlex.join(words)}"


def settings(agent, **more):
    return EvaluateConfig(variant="hebei", agents=(agent, "greedy"), deals=12, seed=3, **more)


@pytest.mark.thorough
def test_failures_are_counted_and_named_at_the_end(bot, tmp_path, capsys, caplog):
    found = run(settings(f"{bot}?failures=1000", out=tmp_path / "out"))
    number = found.failures()["command:simple-python"]
    assert number == len(caplog.records) > 0
    assert f"command:simple-python failed: {number} decisions were made for it" in capsys.readouterr().out
    assert "no more" in caplog.text
    csv = (tmp_path / "out" / "evaluation.csv").read_text("utf-8").splitlines()
    assert "failed_decisions" in csv[0]
    (tmp_path / "end").rmdir()
    assert evaluate(settings(bot)).failures() == {}


@pytest.mark.thorough
def test_what_was_played_before_a_failure_is_kept(bot, tmp_path):
    config = settings(f"{bot}?failures=0&games=6", out=tmp_path / "out")
    with pytest.raises(AgentError, match=r"(?s)no more.*[1-9]\d* of 12 parts are kept in"):
        run(config)
    (tmp_path / "end").rmdir()
    assert run(config) == evaluate(replace(config, out=None))
