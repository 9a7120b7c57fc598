"""CONTRIBUTING.md sends people to places that exist; the citation is right, and the code is in plain English."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import mahjong_env
from support.architecture import LAYERS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
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


def test_every_path_exists():
    assert [path for path in paths_in(TEXT) if not exists(path)] == []


def test_a_path_that_is_gone_is_found():
    found = [exists(path) for path in paths_in("`engine/step.py` `engine/gone.py` `a b/c.py` `gone.py`")]
    assert found == [True, False, False]


# --- The citation and the changelog ----------------------------------------------------------------------------------
def test_the_citation_and_the_changelog_fit_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r'^([a-z-]+): "?(.+?)"?$', citation, re.MULTILINE))
    assert (fields["title"], fields["version"]) == ("mahjong_env", mahjong_env.__version__)
    assert (fields["license"], fields["repository-code"]) == (project["license"], project["urls"]["Repository"])
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (.+)$", changelog, re.MULTILINE)[1] in ("Unreleased", mahjong_env.__version__)


# --- Phrases that read like a translation stay out of the code -------------------------------------------------------
PHRASES = re.compile(
    r"\bso many\b|\bwhoever\b|what there is to say|nothing (?:else )?(?:is|was|were) chosen on|\btold apart\b"
    r"|nothing is open\b|better greedy|closed greedy|standing table",
    re.IGNORECASE,
)


def test_the_code_says_it_in_plain_english():
    files = [file for layer, home in LAYERS.items() for file in (ROOT / home / layer).rglob("*.py")]
    assert len(files) > 100
    assert {str(file) for file in files if PHRASES.search(file.read_text(encoding="utf-8"))} == set()
    assert len(PHRASES.findall("Whoever plays so many hands against the better greedy")) == 3
