"""The variants: every module here that defines ``RULES`` is one.

A variant is its difference from `mahjong_env.ruleset.questions.Rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, Final

from mahjong_env.basics.errors import RulesError
from mahjong_env.ruleset.questions import Rules, with_knobs


def _discover() -> Mapping[str, Rules]:
    modules = (import_module(module.name) for module in iter_modules(__path__, prefix=f"{__name__}."))
    found: list[Rules] = [module.RULES for module in modules if hasattr(module, "RULES")]
    return MappingProxyType({rules.name: rules for rules in found})


VARIANTS: Final[Mapping[str, Rules]] = _discover()
"""Each variant's name and its default rules."""


def rules(variant: str | Rules, **knobs: Any) -> Rules:
    """The rules of a variant, with its knobs.

    Args:
        variant: a name in `VARIANTS`, or rules whose knobs are to be changed.
        **knobs: house rules; the variant's rule sheet lists them, and so does ``rules(variant).knob_help()``.

    Returns:
        Frozen rules.

    Raises:
        RulesError: no such variant, no such knob, or a value that a knob does not have; the message lists the
            valid ones.
    """
    if isinstance(variant, Rules):
        return with_knobs(variant, knobs)
    if not isinstance(variant, str) or variant not in VARIANTS:
        raise RulesError(f"there is no variant {variant!r}; valid are {', '.join(sorted(VARIANTS))}")
    return with_knobs(VARIANTS[variant], knobs)
