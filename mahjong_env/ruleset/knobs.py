"""Knobs as they are written on every command line: ``cap=none``, ``players=4``, ``discard_payers=all``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from mahjong_env.basics.errors import RulesError
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

OPTIONS: Final = ("--knob", "--knobs")
"""Both spellings work everywhere; each may be given several times, with several knobs behind it."""

EXAMPLE: Final = "NAME=VALUE, such as cap=none or players=4"


def read_rules(variant: str | Rules, texts: Iterable[str]) -> Rules:
    """Return the rules of a variant with knobs that are written as text, one ``NAME=VALUE`` for each.

    A value is one of the knob's choices, an integer, or none; case makes no difference. ``preset=NAME`` stands for the
    knobs of a preset (`Rules.presets`); other knobs may be given beside it.

    Raises:
        RulesError: there is no such variant or knob, a knob cannot have its value (the message lists the valid ones),
            or a knob is written in another form or twice.
    """
    played = rules(variant)
    knobs: dict[str, Any] = {}
    given: set[str] = set()
    preset: Mapping[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise RulesError(f"a knob is written {EXAMPLE}, not {text!r}")
        if name in given:
            raise RulesError(f"the knob {name!r} is given twice")
        given.add(name)
        if name == "preset" and played.presets:
            if value.lower() not in played.presets:
                raise RulesError(f"{played.name} has no preset {value!r}; it has: {', '.join(played.presets)}")
            preset = played.presets[value.lower()]
            continue
        knobs[name] = _read_value(value, played.knob_choices().get(name, ()))
    return rules(played, **{**preset, **knobs})


def _read_value(text: str, choices: tuple[Any, ...]) -> Any:
    """Return the choice that is meant, None, an integer, or the text itself, which is refused later."""
    for choice in (*choices, None):
        if text.lower() == str(choice).lower():
            return choice
    with suppress(ValueError):  # not an integer, or one with thousands of digits
        return int(text)
    return text


def gather(arguments: Iterable[str]) -> list[str]:
    """Move all knobs of a command line behind one ``--knobs``, for parsers that take an option only once."""
    rest: list[str] = []
    found: list[str] = []
    into = rest
    for word in arguments:
        option, equals, value = word.partition("=")
        if option in OPTIONS:
            found = found or [OPTIONS[-1]]
            found += [value] if equals else []
            into = rest if equals else found
        else:
            into = rest if word.startswith("-") else into
            into.append(word)
    return [*rest, *found]
