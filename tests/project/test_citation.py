"""CITATION.cff, the changelog and the package say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import mahjong_env

ROOT = Path(__file__).parents[2]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def field(name):
    (found,) = re.findall(rf'^{name}: "?(.+?)"?$', text("CITATION.cff"), re.MULTILINE)
    return found


def test_the_citation_has_the_version_and_the_address_of_the_package():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert field("version") == mahjong_env.__version__
    assert field("license") == project["license"]
    assert field("repository-code") == project["urls"]["Repository"]
    assert field("title") == "mahjong_env"


def test_the_newest_heading_of_the_changelog_is_unreleased_or_this_version():
    newest = re.search(r"^## (.+)$", text("CHANGELOG.md"), re.MULTILINE)[1]
    assert newest in ("Unreleased", mahjong_env.__version__)
