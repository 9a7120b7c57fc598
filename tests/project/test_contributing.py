"""The places that CONTRIBUTING.md sends people to exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| to ")]
MADE_LATER = ("runs/", "build/", "dist/")


def paths_in(text):
    """What looks like a path of this repository: with a slash or an ending, and without a blank."""
    for word in re.findall(r"`([^`\s]+)`", text):
        path = word.replace("<variant>", "hebei").partition("::")[0]
        is_path = re.fullmatch(r"[\w./-]+", path) and re.search(r"/|\.(py|md|toml|cff)$", path)
        if is_path and not path.startswith((".venv", "mahjong_env/Hebei", *MADE_LATER)) and "<" not in path:
            yield path


def exists(path):
    """In the repository, or in the package mahjong_env; a bare name anywhere in the packages."""
    if any((ROOT / folder / path).exists() for folder in ("", "mahjong_env")):
        return True
    return "/" not in path and any(ROOT.glob(f"*/**/{path}"))


@pytest.mark.parametrize("path", sorted(set(paths_in(TEXT))))
def test_a_path_exists(path):
    assert exists(path)


def test_a_path_that_is_gone_is_found():
    assert [exists(path) for path in paths_in("`engine/step.py` `engine/gone.py` `a b/c.py` `gone.py`")] == [
        True,
        False,
        False,
    ]


TASKS = ("add an agent", "a network", "a reward", "a setting of the learner", "a column", "a hint")


@pytest.mark.parametrize("task", TASKS)
def test_everyday_tasks_have_a_row(task):
    rows = [row for row in ROWS if task in row.split("|")[1]]
    assert rows
    assert all(any(paths_in(row)) for row in rows)
