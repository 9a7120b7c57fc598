"""Writes the generated tables in pages that are otherwise written by hand: ``make readme``; the tests compare them.

A table stands in a page between a line ``<!-- table: NAME -->`` and a line ``<!-- end -->``.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mahjong_env
from mahjong_agents.policy.file import SHIPPED
from mahjong_env.environments.aec import MahjongAEC
from mahjong_env.environments.learning_seats import LearningSeats
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.observation.planes import FACT_PLACES
from mahjong_training.evaluation.standing import Kept, Rows, card, policies
from support.case_files import hand_cases, scenes

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
README_ZH = ROOT / "README.zh.md"
CARDS = tuple(sorted(SHIPPED.glob("*.md")))
PAGES = (README, README_ZH, *sorted((ROOT / "docs" / "reference").glob("*.md")), *CARDS)
_HOLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def variants_table(head: str, yes: str, no: str, *, english: bool) -> str:
    """Return the table of the variants with their properties, from their rules; ``head`` has bars between headings."""
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    for name, rules in sorted(mahjong_env.VARIANTS.items()):
        wild = yes if rules.has_wild else no
        cases = len(hand_cases(name)) + len(scenes(name))
        title = f"[{f'{rules.title} ' * english}{rules.chinese}](docs/variants/{name}.md)"
        sizes = f"{rules.seats} | {rules.hand_size} | {int(rules.deck.sum())}"
        counts = f"{len(rules.rows)} | {len(rules.knobs)} | {cases}"
        lines.append(f"| {title} | `{name}_v{rules.version}` | {sizes} | {wild} | {counts} |")
    return "\n".join(lines)


def pieces_table(pieces: tuple[Any, ...]) -> str:
    """Return the table of the pieces of an observation."""
    lines = ["| piece | planes | meaning |", "|---|---|---|"]
    lines += [f"| `{piece.name}` | {piece.planes} | {piece.meaning} |" for piece in pieces]
    return "\n".join(lines)


def facts_table() -> str:
    """Return the table of the facts, with their places in the piece "facts"."""
    lines = ["| places | fact | meaning |", "|---|---|---|"]
    for fact in mahjong_env.OBSERVATION_FACTS:
        at = FACT_PLACES[fact.name]
        places = f"{at.start}-{at.stop - 1}" if fact.by_slot else str(at.start)
        each = "for each slot: " if fact.by_slot else ""
        most = f" (at most {fact.high})" if fact.is_open_ended else ""
        lines.append(f"| {places} | `{fact.name}` | {each}{fact.meaning}{most} |")
    return "\n".join(lines)


def events_table() -> str:
    """Return the table of the events, with what their numbers mean."""
    rows = [f"| {code} | {meaning} |" for code, meaning in mahjong_env.EVENTS.items()]
    return "\n".join(["| code | what happened, and the third, fourth and fifth numbers |", "|---|---|", *rows])


def actions_table() -> str:
    """Return the table of the actions by number; successive names that differ only in the tile share a line."""
    lines, names = ["| numbers | actions |", "|---|---|"], mahjong_env.ACTIONS
    verbs = [name.rpartition(" ")[0] if name[-1] in "mpsz" else name for name in names]
    first = 0
    for last, verb in enumerate(verbs):
        if last + 1 == len(verbs) or verbs[last + 1] != verb:
            numbers = f"{first}-{last}" if last > first else f"{first}"
            shown = f"`{names[first]}` to `{names[last]}`" if last > first else f"`{names[first]}`"
            lines.append(f"| {numbers} | {shown} |")
            first = last + 1
    return "\n".join(lines)


def names_table() -> str:
    """Return the table of everything public in `mahjong_env`, with the first paragraph of its docstring."""
    lines = ["| name | what it is |", "|---|---|"]
    for name in sorted(mahjong_env.__all__, key=lambda name: (name.isupper(), name.lower())):
        thing = getattr(mahjong_env, name)
        told = inspect.getdoc(thing) if callable(thing) else CONSTANTS[name]
        lines.append(f"| `{name}` | {(told or '').partition(chr(10) * 2)[0].replace(chr(10), ' ')} |")
    return "\n".join(lines)


def arguments_table() -> str:
    """Return the table of the arguments of the environments, with their meanings from the docstrings."""
    makers = {"`env()`": MahjongAEC, "`gymnasium.make`": SingleSeatEnv, "`make_vec`": MahjongVectorEnv}
    takes = {name: inspect.signature(maker).parameters for name, maker in makers.items()}
    meanings = {name: _meanings(maker) for name, maker in makers.items()}
    lines = ["| argument | default | for | meaning |", "|---|---|---|---|"]
    for argument in dict.fromkeys(argument for parameters in takes.values() for argument in parameters):
        if argument in ("variant", "num_envs"):
            continue
        owners = [name for name in makers if argument in takes[name]]
        told = next(meanings[name][argument] for name in owners if argument in meanings[name])
        if told == "see `mahjong_env.make_engine`.":
            told = _meanings(mahjong_env.make_engine)[argument]
        default = takes[owners[0]][argument].default
        shown = "" if default is inspect.Parameter.empty else f"`{getattr(default, 'value', default)!r}`"
        whose = "all" if len(owners) == len(makers) else ", ".join(owners)
        lines.append(f"| `{argument if argument != 'knobs' else '**knobs'}` | {shown} | {whose} | {told} |")
    return "\n".join(lines)


def _meanings(maker: Callable[..., object]) -> dict[str, str]:
    """Return the meaning of each argument in the section Args of the docstring of a function or constructor."""
    text = (
        (inspect.getdoc(maker.__init__ if isinstance(maker, type) else maker) or "")
        .partition("Args:\n")[2]
        .partition("\n\n")[0]
    )
    found = re.findall(r"^    \**(\w+): (.*(?:\n        .*)*)", text, re.MULTILINE)
    meanings = {name: " ".join(meaning.split()) for name, meaning in found}
    return meanings | _meanings(LearningSeats) if "arguments" in meanings else meanings


def standings() -> Rows:
    """Return what has been measured of the strength of agents."""
    return Kept.read(ROOT / "docs" / "standings.json").rows


def _card(variant: str) -> str:
    return card(standings().get(variant, {}), variant)


CONSTANTS = {
    "ACTIONS": "The names of the actions; the index is the action.",
    "NUM_ACTIONS": "How many actions there are.",
    "EVENTS": "What the codes of `View.events` mean.",
    "OBSERVATION_FACTS": "The numbers in the piece `facts` of an observation, in their order.",
    "OBSERVATION_PIECES": "The pieces of an observation, in their order.",
    "PRIVILEGED_PIECES": "The pieces of `Engine.observe(privileged=True)`, in their order.",
    "OBSERVATION_VERSION": "Moves whenever the layout of observations or the meaning of a number in them does.",
    "VARIANTS": "The default rules of every variant by its name, those of other distributions too.",
}
TABLES = {
    "variants": lambda: variants_table(
        "variant | module | players | hand | set | wild tile | scoring rows | knobs | written cases",
        "yes",
        "no",
        english=True,
    ),
    "variants-zh": lambda: variants_table(
        "玩法 | 模块 | 人数 | 手牌 | 牌数 | 赖子 | 番种 | 可选规则 | 书面用例", "有", "无", english=False
    ),
    "observation": lambda: pieces_table(mahjong_env.OBSERVATION_PIECES),
    "privileged": lambda: pieces_table(mahjong_env.PRIVILEGED_PIECES),
    "facts": facts_table,
    "events": events_table,
    "actions": actions_table,
    "names": names_table,
    "arguments": arguments_table,
    "policies": lambda: policies(standings()),
} | {f"card-{page.stem}": partial(_card, page.stem) for page in CARDS}


def with_tables(text: str) -> str:
    """Return a page with its tables made anew."""
    return _HOLE.sub(lambda hole: f"{hole[1]}{TABLES[hole[2]]()}\n{hole[3]}", text)


def tables_in(text: str) -> list[str]:
    """Return the names of the tables in a page."""
    return [hole[2] for hole in _HOLE.finditer(text)]


def code_blocks(language: str, page: Path = README) -> list[str]:
    """Return the code blocks of one language in a page."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
    others = f"{len(PAGES) - len(CARDS) - 2} pages of docs/reference, {len(CARDS)} cards"
    sys.stdout.write(f"README in both languages, {others}: tables written\n")
