"""Writes the pages of docs/variants: ``make rules``; test_site.py compares them with the code.

Standings and speeds are taken from docs/leaderboard.md (`mahjong-env leaderboard --readme`) and docs/performance.md
(the output of ``make bench``).
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import mahjong_env
from mahjong_env import Rules
from mahjong_env.environments.registration import gymnasium_id, pettingzoo_id
from mahjong_env.observation.planes import SHAPE
from mahjong_env.rulebook.page import anchor, sections, variant_page
from mahjong_training.evaluation.standing import END, START
from support.case_files import hand_cases, scenes

DOCS = Path(__file__).parents[1] / "docs"
FOLDER, LEADERBOARD, PERFORMANCE = DOCS / "variants", DOCS / "leaderboard.md", DOCS / "performance.md"
NOTE = "<!-- Made by `make rules` from the code and from {source}; change these. -->\n"
PER_SECOND = "decisions per second"
_BLOCK = re.compile(r"```text\n(.*?)\n```", re.DOTALL)


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    return {f"{name}.md": page(rules) for name, rules in sorted(mahjong_env.VARIANTS.items())}


def page(rules: Rules) -> str:
    """Return the page of one variant, which says everything about it or links to where it is said."""
    told = dict(sections(variant_page(rules)))
    parts = [
        NOTE.format(source=f"mahjong_env/variants/{rules.name}.md"),
        f"# {rules.title} {rules.chinese}\n",
        picture(rules),
        "## In a minute\n",
        to_rules(told["The game in short"].strip(), rules),
        f"\n[The whole rules](../rules/{rules.name}.md), for players ([中文](../rules/{rules.name}.zh.md)); "
        "[what all variants share](../rules/common.md).\n",
        "## Play\n",
        usage(rules),
        f"`python -m mahjong_env play --variant {rules.name} --agents greedy` lets you play yourself.\n",
        "## Specification\n",
        specification(rules),
        "\n## House rules\n",
        "Every knob is a keyword argument of `rules`, `make_engine`, `score` and all environments, and"
        " `--knob NAME=VALUE` on the command line.\n",
        to_rules(told["House rules"].strip(), rules),
        "\n## Scoring rows\n",
        "Each with a hand that scores it, and the tile that it wins on behind the arrow; a row leads to its rule, with"
        " what the hand is worth and who pays.\n",
        rows(rules, told),
        "\n## Where the source is unclear\n",
        "Every place where the source contradicts itself or says nothing, with the reading that is played here:\n",
        unclear(rules),
        "\n## What a seat sees and may do\n",
        seen(rules),
        "\n## Rewards\n",
        rewards(rules, told),
        "\n## Standings\n",
        standing(rules),
        "What the rows and intervals mean: [the leaderboard](../leaderboard.md). What is known of each"
        " agent beside this table: [The agents](../agents.md).\n",
        "\n## Speed\n",
        speed(rules),
        "Processor time of one core; [Speed](../performance.md#what-was-measured) says on what machine, and what was"
        f" measured in turns with it. `mahjong-env bench --variant {rules.name}` measures it on yours.\n",
        "## Versions and errata\n",
        versions(rules),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(map(wrapped, parts))).rstrip("\n") + "\n"


def wrapped(part: str) -> str:
    """Return a part with its prose in lines of at most 120 characters; tables, lists, code and headings unchanged."""
    if not part[:1].isalnum() and not part.startswith("["):
        return part
    if "\n|" in part:  # a table with a paragraph before it
        paragraph, _, table = part.partition("\n\n")
        return wrapped(paragraph) + "\n" + table
    filled = [
        textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) for text in part.strip().split("\n\n")
    ]
    return "\n\n".join(filled) + "\n"


def to_rules(text: str, rules: Rules) -> str:
    """Return text of the page of rules with its links changed so that they lead there from docs/variants."""
    text = re.sub(r"\]\(#", f"](../rules/{rules.name}.md#", text)
    return re.sub(r"\]\(([a-z]+\.md)", r"](../rules/\1", text)


def picture(rules: Rules) -> str:
    """Return the markup of a picture of the variant's table, for light and dark pages."""
    file = f"../pictures/{rules.name}"
    return f"""<picture>
  <source media="(prefers-color-scheme: dark)" srcset="{file}-dark.svg">
  <img src="{file}-light.svg" width="620" alt="A table of {rules.title} mahjong, all hands open">
</picture>
"""


def usage(rules: Rules) -> str:
    """Return the code that makes the variant's engine and environments."""
    name, version = rules.name, rules.version
    return f"""```python
import gymnasium
import mahjong_env
from mahjong_env import {name}_v{version}

engine = mahjong_env.make_engine("{name}", num_games=256, seed=7)  # many games at once
table = {name}_v{version}.env()  # PettingZoo, every seat an agent
seat = gymnasium.make("{gymnasium_id(name, version)}", opponents="greedy")  # one learning seat
```
"""


def specification(rules: Rules) -> str:
    """Return a table of the variant's properties, taken from its rules."""
    name, version, (planes, kinds) = rules.name, rules.version, SHAPE
    lines = {
        "name": f"`{name}`",
        "version": version,
        "PettingZoo": f"`mahjong_env.{name}_v{version}`, `{pettingzoo_id(name, version)}`",
        "Gymnasium": f"`{gymnasium_id(name, version)}`",
        "players": rules.seats,
        "tiles in hand": f"{rules.hand_size}, and one more to win",
        "tiles in the set": int(rules.deck.sum()),
        "wild tile": "yes" if rules.has_wild else "no",
        "chows may be claimed": "yes" if rules.claims_chows else "no",
        "concealed kongs": "hidden until the hand ends" if rules.hides_concealed_kongs else "seen by all",
        "observation": f"[{planes}, {kinds}] int8, version {mahjong_env.OBSERVATION_VERSION}",
        "actions": f"`Discrete({mahjong_env.NUM_ACTIONS})`, with a mask",
        "rewards": "points paid, integers that sum to zero",
        "scoring rows": len(rules.rows),
        "knobs": len(rules.knobs),
        "written cases": len(hand_cases(name)) + len(scenes(name)),
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {fact} | {value} |" for fact, value in lines.items())])


def rows(rules: Rules, told: dict[str, str]) -> str:
    """Return a table of the scoring rows: what each is worth, when it counts, and an example in tiles."""
    lines = ["| row | worth | when | a hand |", "|---|---|---|---|"]
    for row in rules.rows:
        link = f"[{row.name}](../rules/{rules.name}.md#{anchor(row.name)})"
        block = next((found[1] for found in _BLOCK.finditer(told[row.name]) if "no win" not in found[1]), "")
        lines.append(f"| {link} {row.chinese} | {row.value_text(rules)} | {row.meaning} | {hand_in_a_line(block)} |")
    return "\n".join(lines)


def hand_in_a_line(block: str) -> str:
    """Return the tiles of an example in one line: concealed tiles, melds, flowers, and the winning tile."""
    found: dict[str, list[str]] = {}
    for line in block.splitlines():
        label, _, rest = line.partition("  ")
        found.setdefault(label, []).append(rest.strip().split("   ")[0])
    if "hand" not in found:
        return ""
    tiles = " · ".join(part for label in ("hand", "meld", "flowers") for part in found.get(label, ()) if part)
    return f"{tiles} → {found['wins on'][0]}" if "wins on" in found else tiles


def unclear(rules: Rules) -> str:
    """Return a list of the unclear places of the source, each a link to its section."""
    section = re.search(r"^## Where the source.*?(?=^## |\Z)", variant_page(rules), re.MULTILINE | re.DOTALL)
    names = re.findall(r"^### (.+)$", section[0] if section else "", re.MULTILINE)
    return "".join(f"* [{name}](../rules/{rules.name}.md#{anchor(name)})\n" for name in names)


def seen(rules: Rules) -> str:
    """Return what is special about the variant's observations and actions."""
    marks = [f"`mark_{number}` is `{name}`" for number, name in enumerate(rules.marks)]
    own = f" Of the facts that a variant counts for each seat, {' and '.join(marks)} here." if marks else ""
    return (
        "All variants share [one layout of observations](../reference/observations.md) and"
        f" [one table of actions](../reference/actions.md).{own}\n"
    )


def rewards(rules: Rules, told: dict[str, str]) -> str:
    """Return what rewards are, with links to the rules of payment."""
    names = ["What a hand is worth", "Who pays", "Kongs are paid at once"]
    links = [f"[{name}](../rules/{rules.name}.md#{anchor(name)})" for name in names if name in told]
    return (
        "A reward is the points that change hands, paid when they are owed; over all players it sums to zero. "
        f"{'; '.join(links)}. What comes before a learner's first decision comes with its first reward.\n"
    )


def versions(rules: Rules) -> str:
    """Return the version history from the page of rules, and where errata are listed."""
    intro = " ".join(variant_page(rules).partition("\n## ")[0].split())
    found = list(re.finditer(r"Version \d+[^.]*\.", intro))
    assert found, f"the page of {rules.name} has no version history"
    history = " ".join(item[0] for item in found)
    return (
        f"{history} A corrected rule is a new version, listed in the [changelog](../../CHANGELOG.md) with the old and"
        " the new id; results are comparable only within one version.\n"
    )


def standing(rules: Rules) -> str:
    """Return the variant's column of the leaderboard, with the leaderboard's introduction."""
    block = LEADERBOARD.read_text(encoding="utf-8").partition(START)[2].partition(END)[0].strip()
    intro, _, table = block.partition("\n\n")
    head, *others = cells(table.partition("\n\n")[0])
    if rules.title not in head:
        return "Not measured yet.\n"
    column = head.index(rules.title)
    lines = ["| agent | points a hand in sigma |", "|---|---|", *(f"| {row[0]} | {row[column]} |" for row in others)]
    return "\n".join([intro, "", *lines]) + "\n"


def speed(rules: Rules) -> str:
    """Return the variant's rows of the tables of speeds, one line for each way of measuring.

    A variant without any may have a column of a table that has the ways of measuring in its rows.
    """
    section = PERFORMANCE.read_text(encoding="utf-8").partition("\n## What was measured\n")[2].partition("\n## ")[0]
    lines, tables = list[str](), [table for block in section.split("\n\n") if (table := cells(block))]
    for table in tables:
        if found := [row for row in table if row[0].lower() == rules.name]:
            lines += [f"| {what} | {number} |" for what, number in zip(table[0][1:], found[0][1:], strict=True)]
    for head, *rows in [] if lines else tables:
        if head[0] == PER_SECOND and rules.title in head:
            lines += [f"| {row[0]} | {row[head.index(rules.title)]} |" for row in rows]
    return "\n".join([f"| {PER_SECOND} | |", "|---|---|", *lines]) + "\n" if lines else "Not measured yet.\n"


def cells(text: str) -> list[list[str]]:
    """Return the rows of a Markdown table, with its heading first."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    found = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [row for row in found if set("".join(row)) - set("-: ")]


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
    sys.stdout.write(f"docs/variants: {len(pages())} pages written\n")
