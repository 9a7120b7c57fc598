"""The generated tables of README.md: ``make readme`` writes them anew, test_readme.py compares them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mahjong_env
from mahjong_env.observation.planes import FACT_PLACES
from support.case_files import hand_cases, scenes

README = Path(__file__).parents[2] / "README.md"


def variants_table() -> str:
    """The variants and what is special about them, read off their rules."""
    lines = [
        "| variant | module | players | hand | set | wild tile | scoring rows | knobs | written cases |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, rules in sorted(mahjong_env.VARIANTS.items()):
        wild = "yes" if rules.has_wild else "no"
        cases = len(hand_cases(name)) + len(scenes(name))
        title, module = f"{rules.title} {rules.chinese}", f"`{name}_v{rules.version}`"
        sizes = f"{rules.seats} | {rules.hand_size} | {int(rules.deck.sum())}"
        lines.append(f"| {title} | {module} | {sizes} | {wild} | {len(rules.rows)} | {len(rules.knobs)} | {cases} |")
    return "\n".join(lines)


def observation_table() -> str:
    """The planes of an observation."""
    lines = ["| piece | planes | meaning |", "|---|---|---|"]
    lines += [f"| `{piece.name}` | {piece.planes} | {piece.meaning} |" for piece in mahjong_env.OBSERVATION_PIECES]
    return "\n".join(lines)


def facts_table() -> str:
    """The facts, with their places in the piece "facts"."""
    lines = ["| places | fact | meaning |", "|---|---|---|"]
    for fact in mahjong_env.OBSERVATION_FACTS:
        at = FACT_PLACES[fact.name]
        places = f"{at.start}-{at.stop - 1}" if fact.by_slot else str(at.start)
        each = "for each slot: " if fact.by_slot else ""
        most = f" (at most {fact.high})" if fact.is_open_ended else ""
        lines.append(f"| {places} | `{fact.name}` | {each}{fact.meaning}{most} |")
    return "\n".join(lines)


TABLES = {"variants": variants_table, "observation": observation_table, "facts": facts_table}


def with_tables(text: str) -> str:
    """The README with its tables made anew."""
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        assert pattern.search(text), f"README.md has no place for the table {name!r}"
        text = pattern.sub(lambda match, table=table: match[1] + table() + "\n" + match[2], text)
    return text


def code_blocks(language: str) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write("README.md: tables written\n")
