"""The rules of a variant as one page for players, in Markdown; it follows the knobs.

The text of a variant lies beside its module, `<variant>.md`, what all variants share in `common.md` here.
`docs/rules/` holds the same pages, filled with the default rules. Pages have holes that the rules of a table fill:

    {{cap}}              the value of a knob, or of a number that follows from the knobs
    {{words seats}}      the same number in words
    {{cap? None: no limit | else: {{cap}} at most}}
                         the text for the value; several values may share one: ``3, 4: ...``
    {{row x#}}           under a heading that names a scoring row: what it is worth (at the ``#``) and when
    {{rows}}             the scoring table
    {{knobs}}            the table of the house rules

A hole may stand inside another one's text. Fenced blocks marked ``hand`` are drawn by `drawing.draw_hand`.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from mahjong_env.basics.errors import RulesError
from mahjong_env.rulebook.drawing import draw_hand
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$")
_HAND: Final = re.compile(r"^```hand\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMES_OF_KNOBS: Final = re.compile(r"\{\{(?:words )?(\w+)")
_KNOB_OF_A_ROW: Final = re.compile(r" ?\(knob (\w+)\)")
_WORDS: Final = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)

Draw = Callable[[Rules, str], str]


def anchor(heading: str) -> str:
    """The anchor of a heading, as Markdown viewers make it: ``"Who deals next?"`` becomes ``"who-deals-next"``."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def sections(page: str) -> Iterator[tuple[str, str]]:
    """Each heading of a page with the text below it, down to the next heading."""
    heading, lines, fenced = "", [], False
    for line in page.splitlines():
        fenced ^= line.startswith("```")
        found = None if fenced else _HEADING.match(line)
        if found is None:
            lines.append(line)
            continue
        if heading:
            yield heading, "\n".join(lines)
        heading, lines = found[1], []
    if heading:
        yield heading, "\n".join(lines)


def fill_page(source: str, rules: Rules, draw_hand: Draw) -> str:
    """The page as it reads with these rules.

    Args:
        source: the page with its holes.
        rules: whose knobs fill them.
        draw_hand: makes text of the inside of a ``hand`` block.

    Raises:
        RulesError: a hole names what the rules do not have, or has no text for a value.
    """
    drawn = _HAND.sub(lambda block: f"```text\n{draw_hand(rules, block[1])}\n```", source)
    heading, lines = "", []
    for part in _split_at_headings(drawn):
        found = _HEADING.match(part)
        heading = found[1] if found else heading
        lines.append(_fill_and_wrap(part, rules, heading, source))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def knobs_by_section(source: str, rules: Rules) -> dict[str, list[str]]:
    """For each knob the headings under which the page speaks of it, in the order of the page."""
    rows = {row.name: _KNOB_OF_A_ROW.findall(f"{row.value_text(rules)} {row.meaning}") for row in rules.rows}
    found: dict[str, list[str]] = {name: [] for name in rules.knobs}
    for heading, text in sections(source):
        for name in dict.fromkeys([*_NAMES_OF_KNOBS.findall(text), *rows.get(heading, ())]):
            if name in found:
                found[name].append(heading)
    return found


def worth(rules: Rules, row_name: str) -> str:
    """The value of one entry of a scoring row with these rules."""
    row = next((row for row in rules.rows if row.name == row_name), None)
    if row is None:
        raise RulesError(f"the page of {rules.name} speaks of the row {row_name!r}, which is not scored")
    return _KNOB_OF_A_ROW.sub("", row.value_text(rules))


# --- Holes -----------------------------------------------------------------------------------------------------------


def _split_at_headings(text: str) -> list[str]:
    """The page in pieces, each heading a piece of its own."""
    pieces: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and _HEADING.match(line):
            pieces += [[line], []]
        else:
            pieces[-1].append(line)
    return ["\n".join(piece) for piece in pieces if piece]


def _fill_and_wrap(text: str, rules: Rules, heading: str, source: str) -> str:
    """Fill the holes; paragraphs and items of lists that had some are wrapped anew."""
    blocks = []
    for block in text.split("\n\n"):
        filled = _fill(block, rules, heading, source)
        if "{{" in block and not filled.strip().startswith(("|", "```")):
            prose = filled.strip("\n")
            before, after = "\n" * filled.startswith("\n"), "\n" * filled.endswith("\n")
            filled = before + "\n".join(map(_wrap, re.split(r"\n(?=\* )", prose))) + after
        blocks.append(filled)
    return "\n\n".join(blocks)


def _wrap(paragraph: str) -> str:
    indent = "  " if paragraph.startswith("* ") else ""
    words = " ".join(paragraph.split())
    return textwrap.fill(words, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _fill(text: str, rules: Rules, heading: str, source: str) -> str:
    start = text.find("{{")
    if start < 0:
        return text
    end = _end_of_hole(text, start)
    filled = _value_of_hole(text[start + 2 : end].strip(), rules, heading, source)
    return text[:start] + _fill(filled, rules, heading, source) + _fill(text[end + 2 :], rules, heading, source)


def _end_of_hole(text: str, start: int) -> int:
    depth, position = 1, start + 2
    while depth:
        opens, closes = text.find("{{", position), text.find("}}", position)
        if closes < 0:
            raise RulesError(f"a hole is not closed: {text[start : start + 60]!r}")
        inside = 0 <= opens < closes
        depth += 1 if inside else -1
        position = (opens if inside else closes) + 2
    return position - 2


def _value_of_hole(hole: str, rules: Rules, heading: str, source: str) -> str:
    if hole == "rows":
        return _table_of_rows(rules)
    if hole == "knobs":
        return _table_of_knobs(rules, source)
    if hole.startswith("row "):
        return _line_of_row(rules, heading, hole.removeprefix("row "))
    if hole.startswith("words "):
        number = _number(rules, hole.removeprefix("words "))
        return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)
    name, asks, choices = hole.partition("?")
    value = _number(rules, name.strip())
    if not asks:
        return str(value)
    for choice in _split_choices(choices):
        labels, _, text = choice.partition(":")
        if str(value) in [label.strip() for label in labels.split(",")] or labels.strip() == "else":
            return text.strip()
    raise RulesError(f"the page has no text for {name.strip()}={value!r}: {choices.strip()}")


def _number(rules: Rules, name: str) -> Any:
    if name in rules.knobs:
        return rules.knobs[name]
    if name in ("seats", "people", "reserve", "hand_size", "drawable"):
        return getattr(rules, name)
    raise RulesError(f"the page of {rules.name} asks for {name!r}, which is neither a knob nor a number of the rules")


def _split_choices(text: str) -> list[str]:
    """Split at the bars that stand outside of inner holes."""
    parts, depth = [""], 0
    for token in re.split(r"(\{\{|\}\}|\|)", text):
        depth += (token == "{{") - (token == "}}")
        if token == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


# --- Rows and knobs --------------------------------------------------------------------------------------------------


def _line_of_row(rules: Rules, heading: str, form: str) -> str:
    value = worth(rules, heading)
    row = next(row for row in rules.rows if row.name == heading)
    chinese, _, reading = row.chinese.partition(" ")
    meaning = _KNOB_OF_A_ROW.sub("", row.meaning)
    return f"**{form.replace('#', value)}** · {chinese} *{reading}* · {meaning}."


def _table_of_rows(rules: Rules) -> str:
    lines = []
    for row in rules.rows:
        chinese, _, reading = row.chinese.partition(" ")
        link = f"[{row.name}](#{anchor(row.name)})"
        lines.append((link, chinese, reading, worth(rules, row.name), _KNOB_OF_A_ROW.sub("", row.meaning)))
    return _table(("row", "Chinese", "pinyin", "worth", "when"), lines)


def _table_of_knobs(rules: Rules, source: str) -> str:
    changed = any(rules.knobs[name] != default for name, (default, _, _) in rules.knob_help().items())
    places = knobs_by_section(source, rules)
    lines = []
    for name, (default, valid, about) in rules.knob_help().items():
        here = [repr(rules.knobs[name])] if changed else []
        links = ", ".join(f"[{heading}](#{anchor(heading)})" for heading in places[name])
        lines.append((name, *here, repr(default), valid, about, links))
    return _table(("knob", *(["here"] if changed else []), "default", "valid", "what it does", "see"), lines)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join(rows)


COMMON: Final = Path(__file__).with_name("common.md")
"""The page of the rules that all variants have in common."""


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
