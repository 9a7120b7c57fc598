"""Reports: tables that fit and lose nothing, and files that have every column that is declared."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from mahjong_env.cli import main
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation import report
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES
from support.marks import variants

TRIO = ("greedy", "random", "closed-greedy")


def printed(found, width=80):
    text = io.StringIO()
    report.print_tables(found, Console(file=text, width=width, highlight=False))
    return text.getvalue()


class TestTables:
    def test_a_narrow_terminal_loses_nothing(self, monkeypatch, capsys):
        found = evaluate(EvaluateConfig(variant="hebei", agents=("random", "greedy"), deals=30))
        capsys.readouterr()
        monkeypatch.setenv("COLUMNS", "40")
        report.print_tables(found)
        told = capsys.readouterr().out
        assert "…" not in told
        assert told == printed(found)

    @pytest.mark.parametrize("variant", variants("hebei"))
    def test_fit_eighty_columns(self, variant):
        told = printed(evaluate(EvaluateConfig(variant=variant, agents=TRIO, deals=2)))
        assert max(map(len, told.splitlines())) <= 80
        assert "sigma = " in told

    def test_long_names_are_folded_and_markup_is_text(self):
        found = evaluate(EvaluateConfig(variant="hebei", agents=("random", "greedy", "random", "greedy"), deals=2))
        names = ("a_run_with_a_name_of_forty_characters_or_so/best", "[red]x[/]", "b" * 70, "greedy*")
        told = printed(replace(found, agents=names, clones=((0, 3),)))
        assert max(map(len, told.splitlines())) <= 80
        assert "[red]x[/]" in told
        assert "greedy*" in told
        assert "what learning added" in told
        assert sum(line.count("b") for line in told.splitlines()) > 70 * 4
        assert "…" not in told

    def test_begin_with_the_verdict_and_what_learning_added(self):
        found = evaluate(EvaluateConfig(variant="hebei", agents=TRIO, deals=30))
        told = printed(replace(found, clones=((0, 2),)))
        assert told.startswith(found.verdicts()[0][:40])
        assert (
            told.index("what learning added") < told.index("agent, and against whom") < told.index("all at one table")
        )
        assert f"{found.against(0, 1).of(0).points.mean:+.3f} ± " in told


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("evaluation") / "out"
    words = ["evaluate", "--variant", "hangzhou", "--agents", "greedy", "closed-greedy", "--deals", "30"]
    assert main([*words, "--details", "--out", str(out)]) == 0
    return out


def read(folder):
    """The JSON, the lines of the CSV and the page."""
    data = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    with (folder / "evaluation.csv").open(newline="") as file:
        return data, list(csv.DictReader(file)), (folder / "evaluation.html").read_text(encoding="utf-8")


class TestFiles:
    def test_the_csv_has_what_the_json_has(self, written):
        data, lines, _ = read(written)
        standings = [(lineup, one) for lineup in data["lineups"] for one in lineup["standings"]]
        assert len(lines) == len(standings) == 4
        for line, (lineup, one) in zip(lines, standings, strict=True):
            assert (line["agent"], int(line["hands"])) == (one["agent"], lineup["hands"])
            assert line["lineup"].split(" | ") == lineup["lineup"]
            numbers = {name: one[name] for name in ("points", "wins", "self_draws", "deal_ins")} | one["details"]
            numbers |= {f"row: {name}": estimate for name, estimate in one["rows"].items()}
            assert len(numbers) > 12
            for name, estimate in numbers.items():
                found = [float(line[name]), float(line[f"{name}_low"]), float(line[f"{name}_high"])]
                in_json = [None if np.isinf(number) else number for number in found]
                assert in_json == [estimate["mean"], estimate["low"], estimate["high"]]

    def test_the_page_needs_nothing_else_and_begins_with_the_verdict(self, written):
        data, _, page = read(written)
        assert re.findall(r'(?:src|href)="(?!data:)', page) == []
        assert not re.search("https?://", page)
        assert "prefers-color-scheme: dark" in page
        tags = re.findall(r"<(/?)(table|tr|td|th|html|body|head|style|h1|h2|p|tbody|thead)\b", page)
        for tag in {name for _, name in tags}:
            assert sum(1 if not end else -1 for end, name in tags if name == tag) == 0
        for words in ("closed-greedy", "sigma = ", "Rows scored", "turn of tenpai"):
            assert words in page
        (verdict,) = data["verdicts"]
        assert f"<h1>Hangzhou</h1>\n<p><b>{verdict}</b></p>" in page

    def test_names_are_text_and_no_markup(self):
        found = evaluate(EvaluateConfig(variant="hebei", agents=("random", "greedy"), deals=2))
        page = report.html_text(replace(found, agents=("<i>x</i>", "a & b*")))
        assert "<i>" not in page
        assert "&lt;i&gt;x&lt;/i&gt;" in page
        assert "a &amp; b*" in page

    def test_every_column_that_is_declared_is_in_every_file(self, written):
        """`THEMES` is the one place of a column."""
        data, lines, page = read(written)
        found = {name for lineup in data["lineups"] for one in lineup["standings"] for name in one["details"]}
        for theme, columns in THEMES.items():
            for column in columns:
                if theme != MAIN and column.name not in found:
                    continue  # it never happened
                assert {column.name, f"{column.name}_low"} <= set(lines[0])
                assert f"<th>{column.heading if theme == MAIN else column.name.replace('_', ' ')}</th>" in page
        assert len(found) > 30

    def test_so_few_deals_carry_no_interval(self, tmp_path, capsys):
        words = ["evaluate", "--variant", "hebei", "--agents", "greedy", "random", "--deals", "3"]
        assert main([*words, "--out", str(tmp_path)]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "per hand and seat, fewer than 30 deals carry no interval" in told
        assert "± ?" in told
        text = (tmp_path / "evaluation.json").read_text(encoding="utf-8")
        data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        points = data["lineups"][0]["standings"][0]["points"]
        assert (points["low"], points["high"]) == (None, None)

    @pytest.mark.parametrize(
        ("kind", "words", "tables"),
        [
            ("league", ("--variant", "wuhan", "--agents", *TRIO), 3),
            ("pairs", ("--variant", "hebei", "--knob", "players=4", "--agents", "greedy", "random"), 1),
            ("duels", ("--variant", "wuhan", "--agents", "greedy", "random"), 2),
        ],
    )
    def test_every_kind_of_line_up(self, kind, words, tables, tmp_path, capsys):
        how = ("--lineups", kind, "--seatings", "balanced", "--deals", "20", "--out", str(tmp_path))
        assert main(["evaluate", *words, *how]) == 0
        told = capsys.readouterr().out
        assert "balanced orders of seats" in " ".join(told.split())
        assert max(map(len, told.splitlines()[:-1])) <= 80
        data, _, page = read(tmp_path)
        assert (data["kind"], data["seatings"], len(data["lineups"])) == (kind, "balanced", tables)
        assert "All line-ups together" in page
        assert f"{data['overall']['greedy']['mean']:+.3f} ± ?" in page
