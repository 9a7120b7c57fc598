"""The rule sheet of a variant as one page of text, made from its module: prose, scoring table, knobs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence

from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules


def describe_rules(variant: str | Rules) -> str:
    """Everything that is to be known about the rules of a variant.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.

    Returns:
        Text: the docstring of the variant's module (what is played, payments, deviations from its source, version
        history), its scoring table with Chinese names, and its knobs with their defaults and valid values.

    Raises:
        RulesError: there is no such variant.
    """
    played = rules(variant)
    prose = inspect.cleandoc(sys.modules[type(played).__module__].__doc__ or "")
    return "\n\n".join([prose, _scoring_table(played), _knob_table(played)]) + "\n"


def _scoring_table(played: Rules) -> str:
    rows = [(row.name, row.chinese, str(row.value), row.meaning) for row in played.rows]
    return _table("**Scoring table**", ("row", "Chinese", "value", "when"), rows)


def _knob_table(played: Rules) -> str:
    rows = [(name, repr(default), valid, about) for name, (default, valid, about) in played.knob_help().items()]
    return _table("**Knobs**", ("knob", "default", "valid", "what it does"), rows)


def _table(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [title, "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
