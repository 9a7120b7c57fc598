"""Tables on the terminal: they fit, lose nothing, and begin with what one wants to know."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation import tables
from mahjong_training.evaluation.command import evaluate
from support.marks import variants


def printed(found, width=80):
    text = io.StringIO()
    tables.print_tables(found, Console(file=text, width=width, highlight=False))
    return text.getvalue()


def test_a_narrow_terminal_loses_nothing(monkeypatch, capsys):
    found = evaluate(EvaluateConfig(variant="hebei", agents=("random", "greedy"), deals=30))
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "40")
    tables.print_tables(found)
    told = capsys.readouterr().out
    assert "\u2026" not in told
    assert told == printed(found)


class TestTables:
    @pytest.mark.parametrize("variant", variants("hebei"))
    def test_fit_eighty_columns(self, variant):
        agents = ("random", "greedy", "closed-greedy")
        found = evaluate(EvaluateConfig(variant=variant, agents=agents, deals=2))
        assert max(map(len, printed(found).splitlines())) <= 80
        assert "sigma = " in printed(found)

    def test_long_names_are_folded_and_markup_is_text(self):
        agents = ("random", "greedy", "random", "greedy", "random")
        found = evaluate(EvaluateConfig(variant="hebei", agents=agents, deals=2))
        names = ("a_run_with_a_name_of_forty_characters_or_so/best", "[red]x[/]", "b" * 70, "greedy", "d")
        told = printed(replace(found, agents=names, clones=((0, 3),)))
        assert max(map(len, told.splitlines())) <= 80
        assert "[red]x[/]" in told
        assert "what learning added" in told
        assert sum(line.count("b") for line in told.splitlines()) > 70 * 5
        assert "…" not in told

    def test_begin_with_the_verdict_and_what_learning_added(self):
        found = evaluate(EvaluateConfig(variant="hebei", agents=("greedy", "random", "closed-greedy"), deals=30))
        told = printed(replace(found, clones=((0, 2),)))
        assert told.startswith(found.verdicts()[0][:40])
        assert told.index("what learning added") < told.index("agent, and against whom")
