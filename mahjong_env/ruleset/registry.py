"""The variants by name: those in `mahjong_env.variants`, and those that other distributions register.

A distribution registers a variant in the entry-point group `mahjong_env.variants`, under the variant's name::

    [project.entry-points."mahjong_env.variants"]
    guangdong = "guangdong_mahjong:RULES"

Names are known without loading anything; a variant is imported when its rules are first asked for. A faulty
registration is therefore an error of that variant alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
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


class VariantRegistry(Mapping[str, Rules]):
    """The default rules of each variant by its name; iterating, ``len`` and ``in`` load nothing.

    The registrations of other distributions are read once, when they are first needed.
    """

    def __init__(self, group: str = GROUP) -> None:
        self._group = group
        self._loaded: dict[str, Rules] = {}

    def __getitem__(self, name: str) -> Rules:
        """Return the default rules of a variant.

        Raises:
            KeyError: there is no such variant.
            RulesError: it is registered twice, or what is registered cannot be loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = _load(name, plugins.only(f"variant {name!r}", self._sources[name], RulesError))
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __repr__(self) -> str:
        return f"<variants: {', '.join(self)}>"

    def without_house_rules(self, rules: Rules) -> bool:
        """Whether these rules play a variant as it is registered, apart from the knob ``shows_drawn``."""
        default = self.get(rules.name)
        return default is not None and replace(rules, shows_drawn=True) == replace(default, shows_drawn=True)

    def preset(self, name: str) -> Rules:
        """Return the rules of a platform: the variant with a preset of this name (`Rules.presets`), with its knobs.

        Raises:
            RulesError: no variant has it.
        """
        for variant in self._sources:
            with suppress(RulesError):  # errors of other variants do not matter here
                rules = self[variant]
                if name in rules.presets:
                    return with_knobs(rules, dict(rules.presets[name]))
        raise RulesError(f"no variant has a preset {name!r}")

    @property
    def outside(self) -> dict[str, int]:
        """The variants of other distributions, each with the version in the ids of its environments."""
        first = {name: entries[0] for name, entries in self._sources.items() if _is_name(name)}
        return {name: _name_and_version(entry.name)[1] for name, entry in first.items() if entry is not None}

    @cached_property
    def _sources(self) -> dict[str, list[EntryPoint | None]]:
        """The entry points of each variant; None stands for the module of this package."""
        package = find_spec(GROUP)
        folders = package.submodule_search_locations if package is not None else None
        shipped = sorted(module.name for module in iter_modules(folders) if not module.name.startswith("_"))
        found: dict[str, list[EntryPoint | None]] = {name: [None] for name in shipped}
        for written, entries in plugins.installed(self._group).items():
            found.setdefault(_name_and_version(written)[0], []).extend(entries)
        return found


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def _name_and_version(written: str) -> tuple[str, int]:
    match = _NAME.fullmatch(written)
    return (match["variant"], int(match["version"] or 0)) if match else (written, 0)


def _load(name: str, entry: EntryPoint | None) -> Rules:
    if entry is None:
        shipped: Rules = import_module(f"{GROUP}.{name}").RULES
        return shipped
    if not _is_name(name):
        raise RulesError(
            f"{plugins.source(entry)} registers a variant as {name!r}; a variant's name begins with a lower-case "
            "letter and consists of lower-case letters, digits and underscores"
        )
    found = plugins.load(entry, RulesError)
    if not isinstance(found, Rules):
        raise RulesError(f"the variant {name!r} of {plugins.source(entry)} must be a Rules object, not {found!r}")
    if (found.name, found.version) != _name_and_version(entry.name):
        suffix = f"_v{found.version}" if found.version else ""
        raise RulesError(
            f"{plugins.source(entry)} registers {entry.name!r}, but these rules call themselves {found.name!r}, "
            f"version {found.version}: their entry point is {found.name + suffix!r}"
        )
    return found


VARIANTS: Final = VariantRegistry()
"""The default rules of each variant by its name, those of other distributions included."""


def rules(variant: str | Rules, **knobs: Any) -> Rules:
    """Return the rules of a variant, frozen, with its knobs.

    Args:
        variant: a name in `VARIANTS`, or rules whose knobs are to be changed.
        **knobs: house rules; the variant's page of rules lists them, and so does ``rules(variant).knob_help()``.

    Raises:
        RulesError: there is no such variant or knob, or a knob cannot have its value; the message lists the valid ones.
            Also if the variant comes from another distribution and cannot be loaded.
    """
    if isinstance(variant, Rules):
        return with_knobs(variant, knobs)
    if not isinstance(variant, str) or variant not in VARIANTS:
        close = did_you_mean(variant, VARIANTS)
        raise RulesError(f"there is no variant {variant!r}; valid are {', '.join(sorted(VARIANTS))}{close}")
    return with_knobs(VARIANTS[variant], knobs)
