"""The rules of a variant as one page for players, in Markdown, with the knobs as they are set.

The text of a variant is `<variant>.md` beside its module; what all variants share is in `common.md` here. `docs/rules/`
holds the same pages, filled with the default rules. `<variant>.zh.md` and `common.zh.md` say the same in Chinese, under
Chinese headings in the same order. Pages have holes, which the rules of a table fill:

    {{cap}}              the value of a knob, or of a number that follows from the knobs
    {{words seats}}      the same number in words
    {{cap? None: no limit | else: {{cap}} at most}}
                         the text for the value; several values may share one: ``3, 4: ...``
    {{row x#}}           under a heading that names a scoring row: what it is worth (at the ``#``) and when
    {{rows}}             the scoring table
    {{knobs}}            the table of the house rules
    {{example}}          in a translated page: the next example of the English one

A hole may be inside the text of another one. Fenced blocks marked ``hand`` are drawn by `drawing.draw_hand`.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mahjong_env.basics.errors import HandError, RulesError
from mahjong_env.rulebook.drawing import draw_hand, read_block
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.scoring.described import HandScore, score
from mahjong_env.scoring.rows import ByHand, Row

COMMON: Final = {"en": Path(__file__).with_name("common.md"), "zh": Path(__file__).with_name("common.zh.md")}
"""The page of the rules that all variants have in common, in each language."""
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$")
_EXAMPLE: Final = "{{example}}"
_HOLE: Final = re.compile(r"\{\{([^{}]*)\}\}")  # one that holds no other
_HAND: Final = re.compile(r"^```hand\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMES_OF_KNOBS: Final = re.compile(r"\{\{(?:words )?(\w+)")
_KNOB_OF_A_ROW: Final = re.compile(r" ?\(knob (\w+)\)")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<(https?://[^>]+)>")
_NOT_IN_SHORT: Final = ("Source", "Where the source", "House rules")  # headings with all below them
_SOURCE_OF_A_PART: Final = ("Guide:", "Source:")
_WORDS: Final = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMERALS: Final = "零一二三四五六七八九十"


def describe_rules(variant: str | Rules, language: str = "en") -> str:
    """Everything that a player needs to know about the rules of a variant.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules, whose knobs the page then follows.
        language: "en" or "zh".

    Returns:
        Markdown: how a hand goes, every scoring row with an example that is drawn and scored, every payment, every
        question that the sources leave open, the knobs; then the rules that all variants share. A variant that has no
        page is described by the docstring of its module and its knobs.

    Raises:
        RulesError: there is no such variant, or it has no page in that language.
    """
    page = variant_page(rules(variant), language)
    both = f"{page}\n{COMMON[language].read_text(encoding='utf-8')}"
    # The pages are joined to one text, so links between them lead to its headings.
    return re.sub(r"\]\([a-z]+(?:\.zh)?\.md(#[\w-]+)?\)", lambda link: f"]({link[1] or '#'})", both)


def variant_page(chosen: Rules, language: str = "en") -> str:
    """Return the page of one variant alone, filled with its rules; it begins with the house rules, if there are any."""
    return _with_house_rules(fill_page(page_source(chosen, language), chosen, language), chosen, language)


def _with_house_rules(page: str, chosen: Rules, language: str = "en") -> str:
    changed = [f"`{name}={value!r}`" for name, value in chosen.changed_knobs.items()]
    if not changed:
        return page
    title, _, text = page.partition("\n")
    before, after = ("House rules of this table: ", ".") if language == "en" else ("这一桌的规则：", "。")
    return f"{title}\n\n{before}{', '.join(changed)}{after}\n{text}"


def rules_in_short(variant: str | Rules) -> str:
    """Return the rules of a variant on a page or two, as the knobs are set, for readers who have to play at once.

    This is the variant's own page without sources, examples, open questions, and what it says of single rows beyond the
    scoring table.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.

    Returns:
        Markdown without links.

    Raises:
        RulesError: there is no such variant.
    """
    chosen = rules(variant)
    of_rows = {row.name for row in chosen.rows}
    kept: list[str] = []
    left_out = ""  # the marks of a heading below which nothing is kept
    undrawn = _HAND.sub("```text\n```", page_source(chosen))
    for heading, part in _parts(_with_house_rules(fill_page(undrawn, chosen), chosen)):
        marks = part[: len(part) - len(part.lstrip("#"))]
        if left_out and len(marks) > len(left_out):
            continue
        left_out = marks if heading.startswith(_NOT_IN_SHORT) else ""
        if left_out or heading in of_rows:
            continue
        if heading == "Scoring table":
            about = {row.name: _Holes(chosen, "", row.name, "en").about(row) for row in chosen.rows}
            rows = (f"* {name} {chinese}, {worth}: {when}" for name, (chinese, _, worth, when) in about.items())
            part = "\n\n".join((part.partition("\n")[0], "\n".join(rows)))
        blocks: list[str] = []
        for block in filter(None, part.split("\n\n")):
            if not block.startswith("```"):
                blocks.append(block.strip("\n"))
            elif blocks[-1].endswith(":"):  # the paragraph that introduces the example
                blocks.pop()
        if kept and kept[-1].startswith("#") and kept[-1].index(" ") >= len(marks):  # nothing stands below it
            kept.pop()
        kept += [block for block in blocks if not block.startswith(_SOURCE_OF_A_PART)]
    return without_links("\n\n".join(kept))


def without_links(page: str) -> str:
    """Return a page of Markdown without its links, for readers who cannot follow them; bare addresses stay as text."""
    return _LINK.sub(r"\1\2", page)


def page_source(chosen: Rules, language: str = "en") -> str:
    """Return the page of a variant with its holes: the file beside its module, or else what its docstring says.

    Raises:
        RulesError: it has no page in that language, or one whose examples are not those of the English page.
    """
    if language not in COMMON:
        raise RulesError(f"pages of rules are written in {', '.join(COMMON)}, not in {language!r}")
    module = sys.modules[type(chosen).__module__]
    file = getattr(module, "__file__", None)  # None if the rules have been typed in at a prompt
    beside = Path(file).with_name(f"{chosen.name}.md") if file else None
    if language != "en":
        translated = beside and beside.with_suffix(f".{language}.md")
        if translated is None or not translated.is_file():
            raise RulesError(f"{chosen.name} has no page of rules in {language!r}, but it has one in 'en'")
        return _with_examples(translated.read_text(encoding="utf-8"), page_source(chosen))
    if beside is not None and beside.is_file():
        return beside.read_text(encoding="utf-8")
    told = inspect.cleandoc(module.__doc__ or "")
    return f"# {chosen.title}\n\n{told}\n\n## Scoring table\n\n{{{{rows}}}}\n\n## House rules\n\n{{{{knobs}}}}\n"


def _with_examples(page: str, english: str) -> str:
    """Return a page with the examples of the English one, in their order, at the places that it has for them."""
    parts, blocks = page.split(_EXAMPLE), [f"```hand\n{block}```" for block in _HAND.findall(english)]
    if len(parts) != len(blocks) + 1:
        title = page.partition("\n")[0]
        raise RulesError(f"{title!r} has places for {len(parts) - 1} examples; the English page has {len(blocks)}")
    return parts[0] + "".join(block + part for block, part in zip(blocks, parts[1:], strict=True))


def fill_page(source: str, rules: Rules, language: str = "en") -> str:
    """Return the page as it reads with these rules.

    Raises:
        RulesError: a hole names what the rules do not have, or has no text for a value.
    """
    drawn = _HAND.sub(lambda block: f"```text\n{draw_hand(rules, block[1], language)}\n```", source)
    parts = [_Holes(rules, source, heading, language).fill_and_wrap(part) for heading, part in _parts(drawn)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)) + "\n"


def anchor(heading: str) -> str:
    """Return the anchor of a heading as Markdown viewers make it: ``"who-deals-next"`` for ``"Who deals next?"``."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def sections(page: str) -> Iterator[tuple[str, str]]:
    """Yield each heading of a page with the text below it, down to the next heading."""
    for heading, part in _parts(page):
        if heading:
            yield heading, part.partition("\n")[2]


def row_examples(chosen: Rules) -> dict[str, tuple[dict[str, Any], HandScore]]:
    """Return for each row the first hand of its section that scores it: the arguments of `score`, and the score."""
    rows = {row.name for row in chosen.rows}
    found: dict[str, tuple[dict[str, Any], HandScore]] = {}
    for heading, text in sections(page_source(chosen)):
        for block in _HAND.findall(text) if heading in rows else ():
            with suppress(HandError, KeyError):  # with these house rules the hand cannot come about
                arguments = read_block(chosen, block)
                scored = score(chosen, **arguments)
                if heading in dict(scored.rows):
                    found.setdefault(heading, (arguments, scored))
    return found


def meanings(chosen: Rules) -> dict[str, tuple[str, str]]:
    """Return when each row counts, in English and, where there is a Chinese page, in its words."""
    in_chinese: dict[str, str] = {}
    with suppress(RulesError):
        for heading, text in sections(variant_page(chosen, "zh")):  # "**×2** · Closed Hand。门清，可以有暗杠。"
            first = without_links(text.strip().partition("\n\n")[0]).replace("**", "")
            in_chinese.setdefault(heading, first.partition("。")[2])
    return {
        row.name: (_KNOB_OF_A_ROW.sub("", row.meaning), in_chinese.get(row.chinese.partition(" ")[0], ""))
        for row in chosen.rows
    }


def _parts(page: str) -> Iterator[tuple[str, str]]:
    """Yield the heading, or "" before the first, and the text of each part of a page; the text includes the heading."""
    heading, fenced = "", False
    lines: list[str] = []
    for line in page.splitlines():
        fenced ^= line.startswith("```")
        found = None if fenced else _HEADING.match(line)
        if found is not None:
            if lines:
                yield heading, "\n".join(lines)
            heading, lines = found[1], []
        lines.append(line)
    yield heading, "\n".join(lines)


def knobs_by_section(source: str, rules: Rules) -> dict[str, list[str]]:
    """Return for each knob the headings under which the page speaks of it, in the order of the page."""
    rows = {
        name: _KNOB_OF_A_ROW.findall(f"{row.value_text(rules)} {row.meaning}")
        for row in rules.rows
        for name in (row.name, row.chinese.partition(" ")[0])
    }
    found: dict[str, list[str]] = {name: [] for name in rules.knobs}
    for heading, text in sections(source):
        for name in dict.fromkeys([*_NAMES_OF_KNOBS.findall(text), *rows.get(heading, ())]):
            if name in found:
                found[name].append(heading)
    return found


@dataclass(frozen=True)
class _Holes:
    """The texts that fill the holes below one heading of a page."""

    rules: Rules
    source: str
    heading: str
    language: str

    def fill_and_wrap(self, text: str) -> str:
        """Fill the holes; wrap paragraphs and items of lists anew if they had any."""
        blocks = []
        for block in text.split("\n\n"):
            filled = self.fill(block)
            if "{{" in block and not filled.strip().startswith(("|", "```")):
                prose = filled.strip("\n")
                before, after = "\n" * filled.startswith("\n"), "\n" * filled.endswith("\n")
                wrap = _wrap if self.language == "en" else _joined
                filled = before + "\n".join(map(wrap, re.split(r"\n(?=\* )", prose))) + after
            blocks.append(filled)
        return "\n\n".join(blocks)

    def fill(self, text: str) -> str:
        """Fill the holes, beginning with those inside others."""
        holes = 1
        while holes:
            text, holes = _HOLE.subn(lambda hole: self.value(hole[1].strip()), text)
        if "{{" in text:
            raise RulesError(f"a hole is not closed: {text[text.index('{{') :][:60]!r}")
        return text

    def value(self, hole: str) -> str:
        """Return what takes the place of a hole; it may have holes itself."""
        if hole == "rows":
            if self.language == "zh":
                named = [(row.chinese.partition(" ")[0], row.name, self.about(row)[2]) for row in self.rules.rows]
                lines = [(f"[{chinese}](#{anchor(chinese)})", *rest) for chinese, *rest in named]
                return _table(("番种", "英文", "分值"), lines)
            lines = [(f"[{row.name}](#{anchor(row.name)})", *self.about(row)) for row in self.rules.rows]
            return _table(("row", "Chinese", "pinyin", "worth", "when"), lines)
        if hole == "knobs":
            return self.table_of_knobs()
        if hole.startswith("row "):
            by_name = {name: row for row in self.rules.rows for name in (row.name, row.chinese.partition(" ")[0])}
            row = by_name.get(self.heading)
            if row is None:
                raise RulesError(
                    f"the page of {self.rules.name} speaks of the row {self.heading!r}, which is not scored"
                )
            chinese, reading, worth, meaning = self.about(row)
            shown = f"**{hole.removeprefix('row ').replace('#', worth)}**"
            return (
                f"{shown} · {row.name}。" if self.language == "zh" else f"{shown} · {chinese} *{reading}* · {meaning}."
            )
        if hole.startswith("words "):
            number, words = self.number(hole.removeprefix("words ")), _NUMERALS if self.language == "zh" else _WORDS
            return words[number] if number in range(len(words)) else str(number)
        name, asks, choices = hole.partition("?")
        value = self.number(name.strip())
        if not asks:
            return str(value)
        for choice in choices.split("|"):
            labels, _, text = choice.partition(":")
            if str(value) in [label.strip() for label in labels.split(",")] or labels.strip() == "else":
                return text.strip()
        raise RulesError(f"the page has no text for {name.strip()}={value!r}: {choices.strip()}")

    def number(self, name: str) -> Any:
        if name in self.rules.knobs:
            return self.rules.knobs[name]
        if name in ("seats", "people", "reserve", "hand_size", "drawable"):
            return getattr(self.rules, name)
        raise RulesError(
            f"the page of {self.rules.name} asks for {name!r}, which is neither a knob nor a number of the rules"
        )

    def about(self, row: Row) -> tuple[str, str, str, str]:
        """Return the Chinese name of a row, its reading, what an entry is worth, and when it counts."""
        chinese, _, reading = row.chinese.partition(" ")
        value = row.value_text(self.rules)
        if self.language == "zh" and isinstance(row.value, ByHand):
            value = value.partition(" ")[0]
        worth, meaning = (_KNOB_OF_A_ROW.sub("", text) for text in (value, row.meaning))
        return chinese, reading, worth, meaning

    def table_of_knobs(self) -> str:
        here = ["here"] if self.rules.changed_knobs else []
        places = knobs_by_section(self.source, self.rules)
        lines = []
        for name, (default, valid, about) in self.rules.knob_help(self.language).items():
            links = ", ".join(f"[{heading}](#{anchor(heading)})" for heading in places[name])
            lines.append((name, *(repr(self.rules.knobs[name]) for _ in here), repr(default), valid, about, links))
        if self.language == "zh":
            return _table(("规则", *("本桌" for _ in here), "默认", "可取", "说明", "见"), lines)
        return _table(("knob", *here, "default", "valid", "what it does", "see"), lines)


def _wrap(paragraph: str) -> str:
    indent = "  " if paragraph.startswith("* ") else ""
    words = " ".join(paragraph.split())
    return textwrap.fill(words, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _joined(paragraph: str) -> str:
    """Join lines of Chinese text, as a line break between Chinese characters would be read as a space."""
    return re.sub(r"(?<![!-~])\n *|\n *(?![!-~])", "", paragraph).replace("\n", " ")


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows += ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join(rows)
