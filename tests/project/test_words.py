"""Phrases that read like a translation stay out of the code; CONTRIBUTING.md has the field's own words."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PHRASES = re.compile(
    r"\bso many\b|\bwhoever\b|what there is to say|nothing (?:else )?(?:is|was|were) chosen on|\btold apart\b"
    r"|nothing is open\b|better greedy|closed greedy|standing table",
    re.IGNORECASE,
)


def found(text):
    return [match[0].lower() for match in PHRASES.finditer(text)]


def test_the_code_says_it_in_plain_english():
    files = [
        file for home in ("mahjong_env", "agents", "training", "benchmarks") for file in (ROOT / home).rglob("*.py")
    ]
    assert len(files) > 100
    assert {str(file): words for file in files if (words := found(file.read_text(encoding="utf-8")))} == {}


def test_phrases_are_found():
    assert found("Whoever plays so many hands against the better greedy") == ["whoever", "so many", "better greedy"]
