"""What has to be the same on every node, so that results are the same wherever a shard is done."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from mahjong_env import __version__

Versions = Mapping[str, str]
"""Versions by name; "" for a package that is not installed."""

OURS: Final = ("mahjong_env", "agents", "training")
_CODE: Final = "code of mahjong_env"
_OTHERS: Final = ("numpy", "torch")
"""Packages whose versions may change the numbers that come out."""


@cache
def versions() -> Versions:
    """Return the versions of this process: of Python, of this package and its code, of numpy and torch."""
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}", "mahjong_env": __version__, _CODE: _code()}
    return found | {name: _installed(name) for name in _OTHERS}


def differences(expected: Versions, found: Versions) -> list[str]:
    """Return in words what differs: nothing if work may be done there.

    Args:
        expected: the versions of the process that asks; what it lacks itself nobody else needs.
        found: those of the process that is to do the work.
    """
    return [
        f"{name} is {found.get(name) or 'missing'} and not {wanted}"
        for name, wanted in expected.items()
        if wanted and found.get(name) != wanted
    ]


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _code() -> str:
    """Return a digest of the source: two checkouts may differ and bear the same version."""
    digest = hashlib.sha256()
    for package in OURS:
        spec = find_spec(package)
        for folder in sorted(spec.submodule_search_locations or ()) if spec else ():
            for file in sorted(Path(folder).rglob("*.py")):
                digest.update(file.relative_to(folder).as_posix().encode())
                digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
