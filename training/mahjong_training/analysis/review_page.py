"""The page of a review: the table as it stood, the actions and the sentences of every decision."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import Final

from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.table import person_name, read_table, seen_table
from mahjong_training.analysis.review_report import BOTH_INTERVALS, Findings, cells, cost_text
from mahjong_training.evaluation.estimates import Estimate

MATCH: Final = "match.html"
"""The page of the viewer that lies beside."""

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --faint: #666; --line: #ddd; --taken: #fff3c4;
  --up: #08660a; --down: #a01010; --link: #1a4fb4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e2dc; --paper: #1b1d1f; --faint: #a2a09a; --line: #3d4043;
  --taken: #4a4020; --up: #7fce81; --down: #f09a94; --link: #9dbdf7; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--paper); }
a { color: var(--link); }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr.taken td { background: var(--taken); }
.up { color: var(--up); font-weight: 600; } .down { color: var(--down); font-weight: 600; }
details { margin: 1rem 0; border-top: 1px solid var(--line); padding-top: .5rem; } summary { cursor: pointer; }
img { width: 34rem; max-width: 100%; } small { color: var(--faint); }
"""


def html_text(found: Findings) -> str:
    """Return the page; it loads nothing from anywhere."""
    title = f"{found.values.rules.title}: what each action is worth"
    knobs = ", ".join(f"{name}={value}" for name, value in found.values.rules.knobs.items())
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(found.summary)} {escape(BOTH_INTERVALS)}</p>",
        f'<p><a href="{MATCH}">The match step by step</a>, with these intervals beside each of the choices.</p>',
        f"<p><small>{escape(knobs)}</small></p>",
    ]
    if len(found.decisions) > 1:
        parts += ["<h2>Decisions by what they cost</h2>", _ranking(found)]
    parts += [_decision(found, place) for place in range(len(found.decisions))]
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{viewport}<title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _ranking(found: Findings) -> str:
    rows = [
        [
            f'<a href="#decision{decision.number}">{decision.number}</a>',
            escape(person_name(decision.seat)),
            escape(decision.taken.action),
            escape(decision.best_other.action),
            _coloured(cost_text(decision.cost), decision.taken.against_best),
        ]
        for decision in found.ranked
    ]
    return _table(("decision", "person", "taken", "the best other", "taken costs"), rows)


def _decision(found: Findings, place: int) -> str:
    decision, engine = found.decisions[place], found.positions.engine
    if found.settings["hindsight"]:
        table = read_table(engine, place, below=decision.seat)
    else:
        table = seen_table(engine.view([place], seats=decision.seat))
    image = base64.b64encode(table_svg(table).encode()).decode("ascii")
    rows = []
    for line in decision.lines:
        points, difference, best, *shares = cells(line)
        coloured = [_coloured(difference, line.against_taken), _coloured(best, line.against_best)]
        rows.append([escape(line.action), points, *coloured, *shares])
    headings = ("action", "points", "against taken", "against the best other", "wins", "deals in", "drawn")
    words = "".join(f"<li>{escape(line.sentence)}</li>" for line in decision.lines)
    is_open = " open" if len(found.decisions) == 1 else ""
    # The place that links lead to is inside, so that they open it.
    picture = f'<img id="decision{decision.number}" alt="the table" src="data:image/svg+xml;base64,{image}">'
    return (
        f"<details{is_open}><summary>{escape(decision.title)}</summary>\n"
        f"{picture}\n{_table(headings, rows, [line.taken for line in decision.lines])}\n<ul>{words}</ul></details>"
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], taken: Sequence[bool] = ()) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = []
    for number, row in enumerate(rows):
        mark = ' class="taken"' if number < len(taken) and taken[number] else ""
        body.append(f"<tr{mark}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody></table>"


def _coloured(text: str, found: Estimate) -> str:
    name = "up" if found.low > 0 else "down" if found.high < 0 else ""
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)
