"""The variants by name: those in `mahjong_env.variants`, and those that other distributions register.

A distribution registers a variant in the entry-point group `mahjong_env.variants`, under the variant's name::

    [project.entry-points."mahjong_env.variants"]
    guangdong = "guangdong_mahjong:RULES"

Names are known without loading anything; a variant is imported when its rules are first asked for. What is wrong with
a registration is therefore an error of that variant alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Final

from mahjong_env.basics import plugins
from mahjong_env.basics.errors import RulesError, did_you_mean
from mahjong_env.ruleset.questions import Rules, with_knobs

GROUP: Final = "mahjong_env.variants"
"""The entry-point group, and the package of the variants that are shipped."""

_NAME = re.compile(r"(?P<variant>[a-z][a-z0-9_]*?)(_v(?P<version>[0-9]+))?")
_SHIPPED_BY: Final = "mahjong_env itself"


@dataclass(frozen=True)
class _Source:
    """The source of a variant: a module of this package, or an entry point."""

    module: str = ""
    entry: EntryPoint | None = None
    version: int = 0

    def __str__(self) -> str:
        return _SHIPPED_BY if self.entry is None else f"{plugins.distribution(self.entry)} ({self.entry.value})"


class VariantRegistry(Mapping[str, Rules]):
    """Each variant's name and its default rules; iterating, ``len`` and ``in`` load nothing.

    What distributions register is read once, when it is first needed.

    Attributes:
        group: the entry-point group that is read.
    """

    def __init__(self, group: str = GROUP) -> None:
        self.group = group
        self._loaded: dict[str, Rules] = {}

    def __getitem__(self, name: str) -> Rules:
        """The default rules of a variant.

        Raises:
            KeyError: there is no such variant.
            RulesError: it is registered twice, or what is registered cannot be loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = _load(name, self._sources[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __repr__(self) -> str:
        return f"<variants: {', '.join(self)}>"

    @property
    def outside(self) -> dict[str, int]:
        """The variants of other distributions, each with the version that its environments' ids bear."""
        return {
            name: sources[0].version
            for name, sources in self._sources.items()
            if all(source.entry is not None for source in sources) and _NAME.fullmatch(name)
        }

    @cached_property
    def _sources(self) -> dict[str, list[_Source]]:
        found = {name: [_Source(module=f"{GROUP}.{name}")] for name in _shipped()}
        for written, entries in plugins.installed(self.group).items():
            match = _NAME.fullmatch(written)
            name, version = (match["variant"], int(match["version"] or 0)) if match else (written, 0)
            found.setdefault(name, []).extend(_Source(entry=entry, version=version) for entry in entries)
        return found


def _shipped() -> list[str]:
    """The modules of the package of variants: each but the private ones is one, and bears its name."""
    package = find_spec(GROUP)
    folders = package.submodule_search_locations if package is not None else None
    return sorted(module.name for module in iter_modules(folders) if not module.name.startswith("_"))


def _load(name: str, sources: list[_Source]) -> Rules:
    if len(sources) > 1:
        raise RulesError(
            f"the variant {name!r} is registered more than once, by {' and by '.join(map(str, sources))}; "
            "uninstall all but one of them"
        )
    source = sources[0]
    if source.entry is None:
        shipped: Rules = import_module(source.module).RULES
        return shipped
    if not _NAME.fullmatch(name):
        raise RulesError(
            f"{source} registers a variant as {name!r}; a variant's name begins with a lower-case letter and consists "
            "of lower-case letters, digits and underscores"
        )
    found = plugins.load(source.entry, RulesError)
    if not isinstance(found, Rules):
        raise RulesError(f"the variant {name!r} of {source} must be a Rules object, not {found!r}")
    if (found.name, found.version) != (name, source.version):
        suffix = f"_v{found.version}" if found.version else ""
        raise RulesError(
            f"{source} registers {source.entry.name!r}, but these rules call themselves {found.name!r}, version "
            f"{found.version}: their entry point is {found.name + suffix!r}"
        )
    return found


VARIANTS: Final = VariantRegistry()
"""Each variant's name and its default rules, those of other distributions included."""


def rules(variant: str | Rules, **knobs: Any) -> Rules:
    """The rules of a variant, with its knobs.

    Args:
        variant: a name in `VARIANTS`, or rules whose knobs are to be changed.
        **knobs: house rules; the variant's page of rules lists them, and so does ``rules(variant).knob_help()``.

    Returns:
        Frozen rules.

    Raises:
        RulesError: no such variant, no such knob, or a value that a knob does not have; the message lists the
            valid ones. Also if the variant comes from another distribution and cannot be loaded.
    """
    if isinstance(variant, Rules):
        return with_knobs(variant, knobs)
    if not isinstance(variant, str) or variant not in VARIANTS:
        close = did_you_mean(variant, VARIANTS)
        raise RulesError(f"there is no variant {variant!r}; valid are {', '.join(sorted(VARIANTS))}{close}")
    return with_knobs(VARIANTS[variant], knobs)
