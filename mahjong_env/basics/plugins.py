"""What other distributions register in an entry-point group: names that are known before anything is loaded."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mahjong_env.basics.errors import MahjongError


def installed(group: str) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by name, sorted; several under one name if distributions disagree.

    Nothing is imported.
    """
    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, distribution(entry))):
        found.setdefault(entry.name, []).append(entry)
    return found


def distribution(entry: EntryPoint) -> str:
    """The distribution that registers an entry point, such as "guangdong-mahjong 1.2"."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unnamed distribution"


def load(entry: EntryPoint, error: type[MahjongError] = MahjongError) -> Any:
    """Import what an entry point names.

    Args:
        entry: one of `installed`.
        error: the class of the error to raise.

    Raises:
        MahjongError: it cannot be imported, whatever goes wrong; the message names the distribution and the place.
    """
    try:
        return entry.load()
    except Exception as cause:  # a module of somebody else may raise anything when it is imported
        raise error(
            f"{entry.name!r}, registered by {distribution(entry)}, cannot be loaded: "
            f"{entry.value} raises {type(cause).__name__}: {cause}"
        ) from cause
