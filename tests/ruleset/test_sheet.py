"""Every variant explains itself: prose with source and version, every row with its Chinese name, every knob."""

from __future__ import annotations

import re

import pytest

import mahjong_env
from mahjong_env.cli import main


@pytest.mark.parametrize("variant", sorted(mahjong_env.VARIANTS))
def test_the_sheet_is_complete(variant, capsys):
    rules = mahjong_env.VARIANTS[variant]
    sheet = mahjong_env.describe_rules(variant)
    assert rules.chinese in sheet
    assert re.search(rf"(?s)Source: 00\d, .*Version {rules.version}: first release", sheet)
    for heading in ("**What is played.**", "**Payment.**", "**Readings and deviations**"):
        assert heading in sheet
    for row in rules.rows:
        assert re.search(r"[\u4e00-\u9fff]", row.chinese), f"{row.name} has no Chinese name"
        assert f"| {row.name} | {row.chinese} |" in sheet
        assert row.meaning
    for name in rules.knobs:
        assert f"| {name} |" in sheet
    assert main(["rules", "--variant", variant]) == 0
    assert capsys.readouterr().out.strip() == sheet.strip()


@pytest.mark.parametrize("variant", sorted(mahjong_env.VARIANTS))
def test_every_reason_is_said_in_words(variant):
    reasons = mahjong_env.VARIANTS[variant].reasons
    assert reasons[0] == ""
    assert all(len(reason.split()) > 3 for reason in reasons[1:])
    assert len(set(reasons)) == len(reasons)
