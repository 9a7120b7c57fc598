"""Entry points that distributions register; their names are known before anything is loaded."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from mahjong_env.basics.errors import MahjongError

_OWN: Final = "mahjong-env"


def installed(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name, sorted; several under one name if distributions disagree.

    Nothing is imported. Reading them takes milliseconds, so they are read again only after something has been
    installed.
    """
    places = tuple((folder, os.stat(folder or ".").st_mtime_ns) for folder in sys.path if os.path.exists(folder or "."))
    return _installed(group, places, _checkout() is not None)


@lru_cache(maxsize=16)
def _installed(group: str, places: tuple[tuple[str, int], ...], in_checkout: bool) -> dict[str, list[EntryPoint]]:
    """Return the same, cached by the folders of distributions, their last changes, and whether this is a checkout."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(_registered(group), key=lambda entry: (entry.name, distribution(entry))):
        found.setdefault(entry.name, []).append(entry)
    return found


def _registered(group: str) -> Iterator[EntryPoint]:
    """Yield the installed entry points; for a checkout of this distribution, those of its current pyproject.toml.

    A checkout may be used without being installed, or may have changed since it was.
    """
    own = _checkout()
    yield from (EntryPoint(name, value, group) for name, value in (own or {}).get(group, {}).items())
    for entry in entry_points(group=group):
        if own is None or entry.dist is None or entry.dist.name.replace("_", "-").lower() != _OWN:
            yield entry


@cache
def _checkout() -> dict[str, dict[str, str]] | None:
    """Return the entry points that this checkout of the repository declares; None if this is not a checkout."""
    try:
        text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text).get("project", {})
    except (OSError, ValueError):
        return None
    return dict(project.get("entry-points", {})) if project.get("name") == _OWN else None


def distribution(entry: EntryPoint) -> str:
    """Return the distribution that registers an entry point, such as "guangdong-mahjong 1.2"."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else f"this checkout of {_OWN}"


def source(entry: EntryPoint | None) -> str:
    """Return where something comes from, for messages: its distribution and place; None stands for this package."""
    return "mahjong_env itself" if entry is None else f"{distribution(entry)} ({entry.value})"


def only(
    what: str, entries: Sequence[EntryPoint | None], error: type[MahjongError] = MahjongError
) -> EntryPoint | None:
    """Return the one entry point of a name; if there are several, raise ``error`` and name ``what`` and its owners."""
    if len(entries) > 1:
        owners = " and by ".join(map(source, entries))
        raise error(f"the {what} is registered more than once, by {owners}; uninstall all but one of them")
    return entries[0]


def load(entry: EntryPoint, error: type[MahjongError] = MahjongError) -> Any:
    """Import what an entry point names, and return it.

    Raises:
        MahjongError: the import fails, for whatever reason; the error is of the class ``error`` and names the
            distribution and the place.
    """
    try:
        return entry.load()
    except MahjongError:  # its message already says what is missing, such as an extra
        raise
    except Exception as cause:  # somebody else's module may raise anything when it is imported
        raise error(
            f"{entry.name!r}, registered by {distribution(entry)}, cannot be loaded: "
            f"{entry.value} raises {type(cause).__name__}: {cause}"
        ) from cause
