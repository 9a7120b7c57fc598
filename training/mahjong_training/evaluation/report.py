"""Reports of evaluations: tables on the terminal, a self-contained page, and CSV.

The columns are those of `mahjong_training.evaluation.hand_statistics.THEMES`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, Final

from mahjong_env import MissingExtraError
from mahjong_env.viewer.page import document_html
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES, Column
from mahjong_training.evaluation.results import Evaluation

try:
    from rich import box, markup
    from rich.console import Console
    from rich.table import Table
except ImportError as error:
    raise MissingExtraError(f"evaluation needs {error.name}: pip install 'mahjong-env[evaluate]'") from error

_WIDEST: Final = 80  # narrower terminals wrap the lines of tables; rich itself would cut off names and digits
_NAMES: Final = 26  # longer names of agents are folded
_POINTS, *_OWN = THEMES[MAIN]
_SHARES: Final = [*_OWN[:-1], Column("their_wins", "wins", heading="they win", unit="share"), _OWN[-1]]
_DETAILS: Final = [column for theme in THEMES if theme != MAIN for column in THEMES[theme] if column.heading]

_CLEAR: Final = "\0"  # at the end of a cell's text: the cell is shown in bold, or in colour

Lines = Iterable[Sequence[str]]


def _headings(columns: Iterable[Column], *, names: bool = False) -> list[str]:
    found = []
    for column in columns:
        found.append(column.name.replace("_", " ") if names else column.heading)
        found += ["in sigma"] * (column.unit == "points")
    return found


def _cells(
    found: Evaluation, columns: Iterable[Column], estimates: Mapping[str, Estimate], *, brief: bool = False
) -> list[str]:
    """Return the cells of some columns: points (also in sigma), shares in per cent, and plain numbers.

    Points whose interval is clear of zero are marked with `_CLEAR`. Cells for what never happened are empty. With
    ``brief``, plain numbers have no interval.
    """
    cells = []
    for column in columns:
        one = estimates.get(column.name)
        if one is None:
            cells.append("")
        elif column.unit == "points":
            for unit in (1, found.sigma):
                decimals = 1 if 10 <= one.half_width / unit < float("inf") else 3
                cells.append(one.text(decimals, unit, "+") + _CLEAR * one.is_clear_of_zero)
        elif column.unit == "share":
            cells.append(one.text(1, 0.01))
        else:
            cells.append(f"{one.mean:.2f}" if brief else one.text(2))
    return cells


def _overall(found: Evaluation) -> Lines:
    """Yield a line with each agent's points over all of its line-ups, the best agent first."""
    points = [found.overall(agent) for agent in range(len(found.agents))]
    for agent in sorted(range(len(points)), key=lambda agent: -points[agent].mean):
        yield [found.agents[agent], *_cells(found, [_POINTS], {"points": points[agent]})]


def _gains(found: Evaluation) -> list[list[str]]:
    """Return a line for each policy and opponent with what learning added against that opponent."""
    names = found.agents
    return [
        [f"{names[policy]} - {names[clone]}, against {names[against]}", *_cells(found, [_POINTS], {"points": points})]
        for policy, clone, against, points in found.gains()
    ]


def _notes(found: Evaluation) -> list[str]:
    roles = [f"{name}: {role}" for name, role in zip(found.agents, found.roles, strict=False) if role]
    failures = found.failures().items()
    return roles + [f"{name} failed: {number} decisions were made for it (docs/bots.md)" for name, number in failures]


# --- The terminal ------------------------------------------------------------------------------------------------


def print_tables(found: Evaluation, console: Console | None = None, *, details: bool = False) -> None:
    """Print the verdicts and the tables: what learning added, duels, the table of all agents, and overall points.

    Args:
        found: the results.
        console: where to print; None for the terminal.
        details: whether to print how the agents play as well.
    """
    console = console or Console(width=_WIDEST, highlight=False)
    for sentence in found.verdicts():
        console.print(f"[bold]{markup.escape(sentence)}[/]")
    console.print(f"{found.rules.title}: {found.how_played}; per hand and seat, {found.intervals}")
    console.print(f"sigma = {found.sigma:.2f} points: the spread of a hand's points among greedy players")
    if gains := _gains(found):
        console.print(_table("what learning added", _headings([_POINTS]), gains))
    if found.kind != "league":
        themes = {"agent, and against whom": [_POINTS], "of 100 hands": _SHARES}
        for heading, columns in (themes | ({"turns, points, melds": _DETAILS} if details else {})).items():
            console.print(_table(heading, _headings(columns), _duels(found, columns)))
    columns = [_POINTS, *(column for column in _SHARES if column.name in ("wins", "deal_ins"))]
    for result in found.results:
        if found.kind == "duels" and len(result.standings) > 2:
            of_agents = ((found.agents[one.agent], result.estimates(one)) for one in result.standings)
            lines = ([name, *_cells(found, columns, estimates)] for name, estimates in of_agents)
            console.print(_table("all at one table", _headings(columns), lines))
    if len(found.agents) > 1:
        words = {
            "duels": "in all line-ups",
            "pairs": "in all pairs",
            "league": f"league of {len(found.results)} tables",
        }
        console.print(_table(words[found.kind], _headings([_POINTS]), _overall(found)))
    for role in _notes(found):
        console.print(markup.escape(role))


def _duels(found: Evaluation, columns: Sequence[Column]) -> Lines:
    """Yield, for each agent, a line with its name, a line for each of its duels, and an empty line that ends them."""
    duels = [result for result in found.results if len(result.standings) <= 2]
    for agent, of_agent in groupby(duels, lambda result: result.lineup[0]):
        yield [f"{found.agents[agent]}{_CLEAR}"]
        for result in of_agent:
            other, own = result.lineup[-1], result.lineup.count(agent)
            several = "" if own in (1, len(result.lineup)) else f"{own} of it, "
            label = f" {several}{len(result.lineup) - own or own} x {found.agents[other]}"
            estimates = result.estimates(result.of(agent)) | {"their_wins": result.of(other).wins}
            yield [label, *_cells(found, columns, estimates, brief=True)]
        yield []


def _table(first: str, headings: Sequence[str], lines: Lines) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(first, max_width=_NAMES, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        if line:
            texts = [markup.escape(cell.removesuffix(_CLEAR)) for cell in line]
            table.add_row(
                *(f"[bold]{t}[/]" if cell.endswith(_CLEAR) else t for t, cell in zip(texts, line, strict=True))
            )
        else:
            table.add_section()
    return table


# --- Files -------------------------------------------------------------------------------------------------------


def csv_text(found: Evaluation) -> str:
    """Return the results as CSV: for each agent of each line-up, every number with the ends of its interval."""
    lines = []
    for result in found.results:
        for standing in result.standings:
            line: dict[str, Any] = {
                "variant": found.rules.name,
                "knobs": " ".join(f"{name}={value}" for name, value in found.rules.knobs.items()),
                "seed": found.seed,
                "deals": result.deals,
                "hands": result.hands,
                "sigma": found.sigma,
                "lineup": " | ".join(found.agents[agent] for agent in result.lineup),
                "agent": found.agents[standing.agent],
                "seats": standing.seats,
            }
            rows = {f"row: {name}": estimate for name, estimate in standing.rows.items()}
            for name, one in (result.estimates(standing) | rows).items():
                line |= {name: one.mean, f"{name}_low": one.low, f"{name}_high": one.high}
            lines.append(line)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for line in lines for name in line)), restval="")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def html_text(found: Evaluation) -> str:
    """Return a self-contained HTML page with every table; it loads nothing from elsewhere."""
    knobs = ", ".join(f"{name}={value}" for name, value in found.rules.knobs.items())
    dealt_from = f"seed {found.seed}" if found.blind is None else f"blind test {found.blind}"
    sections = [
        f"<h1>{escape(found.rules.title)}</h1>",
        *(f"<p><b>{escape(sentence)}</b></p>" for sentence in found.verdicts()),
        f"<p>{found.how_played}, {dealt_from}. Per hand and seat, {found.intervals}; shares in per cent.</p>",
        f"<p>sigma = {found.sigma:.2f} points: the spread of a hand's points among greedy players.</p>",
        f'<p class="faint">{escape(knobs)}</p>',
        *(f"<p>{escape(role)}</p>" for role in _notes(found)),
    ]
    if gains := _gains(found):
        sections += _section("What learning added", ["policy", "points", "in sigma"], gains)
    known = []
    for result in found.results:
        names = [found.agents[agent] for agent in result.lineup]
        lineup = ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
        known += [(found.agents[one.agent], lineup, result.estimates(one) | dict(one.rows)) for one in result.standings]
    rows = tuple(Column(row.name, "", unit="share") for row in found.rules.rows)
    for theme, every in {**THEMES, "Rows scored, of 100 wins": rows}.items():
        columns = [column for column in every if any(column.name in estimates for _, _, estimates in known)]
        headings = ["agent", "line-up", *_headings(columns, names=theme != MAIN)]
        lines = ([agent, lineup, *_cells(found, columns, estimates)] for agent, lineup, estimates in known)
        sections += _section(theme, headings, lines) if columns else []
        if theme == MAIN and len(found.agents) > 1:
            sections += _section("All line-ups together", ["agent", "points", "in sigma"], _overall(found))
    return document_html(f"{found.rules.title}: {', '.join(found.agents)}", "\n".join(sections))


def _section(title: str, headings: Sequence[str], lines: Lines) -> list[str]:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "\n".join(f"<tr>{''.join(map(_td, line))}</tr>" for line in lines)
    kind = "numbers named" if "line-up" in headings else "numbers"
    table = f'<table class="{kind}"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'
    return [
        f"<h2>{escape(title)}</h2>",
        f'<div class="wide" role="region" aria-label="{escape(title)}" tabindex="0">{table}</div>',
    ]


def _td(cell: str) -> str:
    sign = {"+": ' class="better"', "-": ' class="worse"'}.get(cell[:1], "") if cell.endswith(_CLEAR) else ""
    return f"<td{sign}>{escape(cell.removesuffix(_CLEAR))}</td>"
