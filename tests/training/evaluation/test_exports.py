"""Evaluations as files: JSON, CSV, and a page that needs nothing else."""

from __future__ import annotations

import base64
import csv
import json
import re
from dataclasses import replace

import pytest

from mahjong_env.cli import main
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation import exports
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("evaluation") / "out"
    words = ["evaluate", "--variant", "hangzhou", "--agents", "greedy", "closed-greedy", "--deals", "30"]
    assert main([*words, "--details", "--out", str(out)]) == 0
    return out


def test_so_few_deals_carry_no_interval(tmp_path, capsys):
    words = ["evaluate", "--variant", "hebei", "--agents", "greedy", "random", "--deals", "3"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "per hand and seat, fewer than 30 deals carry no interval" in told
    assert "± ?" in told
    text = (tmp_path / "evaluation.json").read_text(encoding="utf-8")
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    points = data["lineups"][0]["standings"][0]["points"]
    assert (points["low"], points["high"]) == (None, None)


class TestFiles:
    def test_the_csv_has_what_the_json_has(self, written):
        data = json.loads((written / "evaluation.json").read_text(encoding="utf-8"))
        with (written / "evaluation.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
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
                assert found == [estimate["mean"], estimate["low"], estimate["high"]]

    def test_the_page_needs_nothing_else(self, written):
        page = (written / "evaluation.html").read_text(encoding="utf-8")
        assert re.findall(r'(?:src|href)="(?!data:)', page) == []
        assert "http" not in re.sub(r"<!DOCTYPE[^>]*>", "", page)
        png = base64.b64decode(re.search(r"base64,([^\"]*)", page)[1])
        assert png == (written / "evaluation.png").read_bytes()
        tags = re.findall(r"<(/?)(table|tr|td|th|html|body|head|style|h1|h2|p|tbody|thead)\b", page)
        for tag in {name for _, name in tags}:
            assert sum(1 if not end else -1 for end, name in tags if name == tag) == 0
        for words in ("closed-greedy", "sigma = ", "Rows scored", "turn of tenpai"):
            assert words in page

    def test_names_are_text_and_no_markup(self):
        found = evaluate(EvaluateConfig(variant="hebei", agents=("random", "greedy"), deals=2))
        page = exports.html_text(replace(found, agents=("<i>x</i>", "a & b")), b"")
        assert "<i>" not in page
        assert "&lt;i&gt;x&lt;/i&gt;" in page
        assert "a &amp; b" in page

    def test_every_column_that_is_declared_is_in_every_file(self, written):
        """`THEMES` is the one place of a column."""
        data = json.loads((written / "evaluation.json").read_text(encoding="utf-8"))
        found = {name for lineup in data["lineups"] for one in lineup["standings"] for name in one["details"]}
        with (written / "evaluation.csv").open(newline="") as file:
            names = csv.DictReader(file).fieldnames
        page = (written / "evaluation.html").read_text(encoding="utf-8")
        for theme, columns in THEMES.items():
            for column in columns:
                if theme != MAIN and column.name not in found:
                    continue  # it never happened
                assert {column.name, f"{column.name}_low"} <= set(names)
                assert f"<th>{column.heading if theme == MAIN else column.name.replace('_', ' ')}</th>" in page
        assert len(found) > 30

    def test_the_page_begins_with_the_verdict(self, written):
        page = (written / "evaluation.html").read_text(encoding="utf-8")
        (verdict,) = json.loads((written / "evaluation.json").read_text(encoding="utf-8"))["verdicts"]
        assert f"<h1>Hangzhou</h1>\n<p><b>{verdict}</b></p>" in page
