"""The rules of a variant as one page for players, in Markdown; it follows the knobs.

The text of a variant lies beside its module, `<variant>.md`, what all variants share in `common.md` here. Both have
holes for whatever depends on the rules of a table (page.py), and hands that are drawn and scored (drawing.py).
`docs/rules/` holds the same pages, filled with the default rules.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Final

from mahjong_env.rulebook.drawing import draw_hand
from mahjong_env.rulebook.page import fill_page
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

COMMON: Final = Path(__file__).with_name("common.md")
"""What all variants have in common."""


def describe_rules(variant: str | Rules) -> str:
    """Everything that a player needs to know about the rules of a variant.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules: the page says what is played with their knobs.

    Returns:
        Markdown: how a hand goes, every scoring row with an example that is drawn and scored, every payment, every
        question that the sources leave open, the knobs; then the rules that all variants share. A variant that has no
        page is described by the docstring of its module and its knobs.

    Raises:
        RulesError: there is no such variant.
    """
    chosen = rules(variant)
    shared = COMMON.read_text(encoding="utf-8")
    return f"{_to_one_text(variant_page(chosen))}\n{_to_one_text(shared)}"


def variant_page(chosen: Rules) -> str:
    """The page of one variant alone, filled with its rules; it begins with the house rules, if there are any."""
    page = fill_page(page_source(chosen), chosen, draw_hand)
    defaults = chosen.knob_help()
    changed = [f"`{name}={value!r}`" for name, value in chosen.knobs.items() if value != defaults[name][0]]
    if not changed:
        return page
    title, _, text = page.partition("\n")
    return f"{title}\n\nHouse rules of this table: {', '.join(changed)}.\n{text}"


def page_source(chosen: Rules) -> str:
    """The page of a variant with its holes: the file beside its module, or what its docstring says."""
    module = sys.modules[type(chosen).__module__]
    file = getattr(module, "__file__", None)  # none where the rules have been typed in at a prompt
    beside = Path(file).with_name(f"{chosen.name}.md") if file else None
    if beside is not None and beside.is_file():
        return beside.read_text(encoding="utf-8")
    told = inspect.cleandoc(module.__doc__ or "")
    return f"# {chosen.title}\n\n{told}\n\n## Scoring table\n\n{{{{rows}}}}\n\n## House rules\n\n{{{{knobs}}}}\n"


def _to_one_text(page: str) -> str:
    """Links between the pages lead to headings of the one text that they have become."""
    return re.sub(r"\]\([a-z]+\.md(#[\w-]+)?\)", lambda link: f"]({link[1] or '#'})", page)
