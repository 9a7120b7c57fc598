"""Evaluations as files for other programs and for readers: JSON, CSV, and one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from mahjong_training.evaluation.estimates import Estimate, plain_json
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES, Column
from mahjong_training.evaluation.results import Evaluation, LineupResult, Standing


def json_text(found: Evaluation) -> str:
    """Return everything, as JSON."""
    return plain_json(found.as_json(), 2)


def csv_text(found: Evaluation) -> str:
    """Return one line for each agent of each line-up: every number with the ends of its 95 % interval."""
    lines = [_line(found, result, standing) for result in found.results for standing in result.standings]
    names = list(dict.fromkeys(name for line in lines for name in line))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _line(found: Evaluation, result: LineupResult, standing: Standing) -> dict[str, Any]:
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
    if found.ratings:
        rating = found.ratings[standing.agent]
        line |= {"rating": rating.mu, "rating_sigma": rating.sigma}
    rows = {f"row: {name}": estimate for name, estimate in standing.rows.items()}
    for name, estimate in (result.estimates(standing) | rows).items():
        line |= {name: estimate.mean, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return line


# --- HTML --------------------------------------------------------------------------------------------------------

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0 2rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
.up { color: #08660a; font-weight: 600; } .down { color: #a01010; font-weight: 600; }
img { max-width: 100%; } small { color: #666; }
"""


def html_text(found: Evaluation, png: bytes) -> str:
    """Return a page with every table and the plot; it loads nothing from anywhere."""
    title = f"{found.rules.title}: {', '.join(found.agents)}"
    knobs = ", ".join(f"{name}={value}" for name, value in found.rules.knobs.items())
    known = {name for _, standing, _ in _standings(found) for name in standing.rows}
    scored = [row.name for row in found.rules.rows if row.name in known]
    lines = (
        [*line, *(standing.rows[name].text(1, 0.01) if name in standing.rows else "" for name in scored)]
        for _, standing, line in _standings(found)
    )
    sections = [
        f"<h1>{escape(found.rules.title)}</h1>",
        *(f"<p><b>{escape(sentence)}</b></p>" for sentence in found.verdicts()),
        f"<p>{found.deals} deals, {found.dealt_from}, {found.how_seated}. All numbers are per hand and seat, "
        f"{found.intervals}.</p>",
        f"<p>sigma = {found.sigma:.2f} points: the spread of a hand's points among greedy players.</p>",
        f"<p><small>{escape(knobs)}</small></p>",
        _roles(found),
        f'<img alt="points and wins" src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">',
        *_gains(found),
        *_theme(found, MAIN),
        *_overall(found),
        *(part for theme in THEMES if theme != MAIN for part in _theme(found, theme)),
        "<h2>Rows scored, of 100 wins</h2>",
        _table(("agent", "line-up", *scored), lines),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(sections) + "\n</body></html>\n"
    )


def _roles(found: Evaluation) -> str:
    known = [(name, role) for name, role in zip(found.agents, found.roles, strict=False) if role]
    return (
        "<ul>" + "".join(f"<li>{escape(name)}: {escape(role)}</li>" for name, role in known) + "</ul>" if known else ""
    )


def _table(headings: Sequence[str], lines: Iterable[list[str]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "\n".join("<tr>" + "".join(map(_cell, line)) + "</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def _cell(text: str) -> str:
    sign = {"+": ' class="up"', "-": ' class="down"'}.get(text[:1], "") if text.endswith("*") else ""
    return f"<td{sign}>{escape(text.removesuffix('*'))}</td>"


def _standings(found: Evaluation) -> Iterator[tuple[LineupResult, Standing, list[str]]]:
    for result in found.results:
        for standing in result.standings:
            names = [found.agents[agent] for agent in result.lineup]
            counts = {name: names.count(name) for name in names}
            lineup = ", ".join(f"{number} x {name}" for name, number in counts.items())
            yield result, standing, [found.agents[standing.agent], lineup]


def _gains(found: Evaluation) -> list[str]:
    gains = found.gains()
    lines = (
        [
            found.agents[gain.policy],
            f"against {found.agents[gain.against]}, less what {found.agents[gain.clone]} brings there",
            *_points(gain.points, found.sigma),
        ]
        for gain in gains
    )
    heading = ("policy", "", "points", "in sigma")
    return ["<h2>What learning added</h2>", _table(heading, lines)] if gains else []


def _theme(found: Evaluation, theme: str) -> list[str]:
    """Return the heading and the table of one theme of columns; nothing if nothing of it is known."""
    every = [(result.estimates(standing), line) for result, standing, line in _standings(found)]
    columns = [column for column in THEMES[theme] if any(column.name in estimates for estimates, _ in every)]
    if not columns:
        return []
    headings = [column.heading if theme == MAIN else column.name.replace("_", " ") for column in columns]
    if columns[0].unit == "points":
        headings.insert(1, "in sigma")
    lines = (
        [*line, *(cell for column in columns for cell in _cells(column, estimates.get(column.name), found.sigma))]
        for estimates, line in every
    )
    return [f"<h2>{escape(theme)}</h2>", _table(("agent", "line-up", *headings), lines)]


def _cells(column: Column, estimate: Estimate | None, sigma: float) -> list[str]:
    if estimate is None:
        return [""]
    if column.unit == "points":
        return _points(estimate, sigma)
    return [f"{estimate.text(1, 0.01)} %" if column.unit == "share" else estimate.text(2)]


def _overall(found: Evaluation) -> list[str]:
    if len(found.agents) < 2:
        return []
    lines = []
    for number, (name, rating) in enumerate(zip(found.agents, found.ratings, strict=True)):
        shown = f"{rating.mu:.2f} ± {rating.sigma:.2f}"
        lines.append([name, f"{rating.matches} matches", *_points(found.overall(number), found.sigma), shown])
    return ["<h2>All line-ups together</h2>", _table(("agent", "", "points", "in sigma", "rating"), lines)]


def _points(points: Estimate, sigma: float) -> list[str]:
    """Return points, and the same in sigma; with a star, which colours them, where the interval is clear of zero."""
    star = "*" if points.is_clear_of_zero else ""
    return [points.text(3, unit, "+") + star for unit in (1, sigma)]
