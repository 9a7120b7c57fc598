"""The versions that results depend on: the same on every node of a cluster, and in the key of every kept result."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from mahjong_env import __version__

Versions = Mapping[str, str]
"""Versions by name; "" for a package that is not installed."""

OURS: Final = ("mahjong_env", "mahjong_agents", "mahjong_training")
CODE: Final = "code of mahjong_env"
_CODE_FILES: Final = {".py", ".npz", ".json", ".zip"}
_OTHERS: Final = ("numpy", "torch")
"""Packages whose versions may change the numbers that come out."""


@cache
def versions() -> Versions:
    """Return the versions of this process: of Python, of this package and its code, of numpy and torch."""
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}", "mahjong_env": __version__, CODE: _code()}
    return found | {name: _installed(name) for name in _OTHERS}


def differences(expected: Versions, found: Versions) -> list[str]:
    """Return a text for each version that is not as expected; what is missing there nobody else needs."""
    return [
        f"{name} is {found.get(name) or 'missing'} and not {wanted}"
        for name, wanted in expected.items()
        if wanted and found.get(name) != wanted
    ]


def main() -> None:
    """Print the versions, and those of the packages that Ray pins."""
    found = dict(versions()) | {name: _installed(name) for name in ("ray", "gymnasium")}
    print(", ".join(f"{name} {number or 'not installed'}" for name, number in found.items()))


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _code() -> str:
    """Return the digest of what is installed here: two checkouts may differ and bear the same version."""
    specs = map(find_spec, OURS)
    return code_of(Path(folder) for spec in specs if spec for folder in sorted(spec.submodule_search_locations or ()))


def code_of(folders: Iterable[Path]) -> str:
    """Return a digest of the source in some folders, and of the numbers and policies that it reads."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.suffix in _CODE_FILES):
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]
