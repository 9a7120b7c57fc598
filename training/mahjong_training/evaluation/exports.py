"""Evaluations as files for other programs and for readers: JSON, CSV, and one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from mahjong_training.evaluation.hand_statistics import THEMES
from mahjong_training.evaluation.lineups import LineupResult, Standing
from mahjong_training.evaluation.results import Evaluation
from mahjong_training.evaluation.statistics import Estimate, plain_json


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
    for name, estimate in _estimates(result, standing).items():
        line |= {name: estimate.mean, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return line


def _estimates(result: LineupResult, standing: Standing) -> dict[str, Estimate]:
    return {
        "points": standing.points,
        **({"points_with_luck": standing.with_luck} if standing.with_luck else {}),
        "wins": standing.wins,
        "self_draws": standing.self_draws,
        "deal_ins": standing.deal_ins,
        "draws": result.draws,
        **standing.details,
        **{f"row: {name}": estimate for name, estimate in standing.rows.items()},
    }


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
    sections = [
        f"<h1>{escape(found.rules.title)}</h1>",
        f"<p>{found.deals} deals, {found.dealt_from}, {found.how_seated}. All numbers are per hand and seat, "
        f"{found.intervals}.</p>",
        f"<p>sigma = {found.sigma:.2f} points: the spread of a hand's points among greedy players.</p>",
        f"<p><small>{escape(knobs)}</small></p>",
        _roles(found),
        f'<img alt="points and wins" src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">',
        "<h2>Points and wins</h2>",
        _table(("agent", "line-up", "points", "in sigma", "wins", "by draw", "deals in", "drawn"), _results(found)),
        *(
            ["<h2>All line-ups together</h2>", _table(("agent", "", "points", "in sigma", "rating"), _overall(found))]
            if len(found.agents) > 1
            else []
        ),
        *(part for theme in THEMES for part in _theme(found, theme)),
        "<h2>Rows scored, of 100 wins</h2>",
        _table(("agent", "line-up", *_row_names(found)), _rows(found)),
    ]
    if gains := found.gains():
        lines = (
            [
                found.agents[gain.policy],
                f"against {found.agents[gain.against]}, less what {found.agents[gain.clone]} brings there",
                _signed(gain.points, 1),
                _signed(gain.points, found.sigma),
            ]
            for gain in gains
        )
        sections += ["<h2>What learning added</h2>", _table(("policy", "", "points", "in sigma"), lines)]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(sections) + "\n</body></html>\n"
    )


def _roles(found: Evaluation) -> str:
    known = [(name, role) for name, role in zip(found.agents, found.roles, strict=False) if role]
    return (
        "<ul>" + "".join(f"<li>{escape(name)}: {escape(role)}</li>" for name, role in known) + "</ul>" if known else ""
    )


def _table(headings: tuple[str, ...], lines: Iterator[list[str]]) -> str:
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


def _results(found: Evaluation) -> Iterator[list[str]]:
    for result, standing, line in _standings(found):
        shares = (standing.wins, standing.self_draws, standing.deal_ins, result.draws)
        points = [_signed(standing.points, 1), _signed(standing.points, found.sigma)]
        yield [*line, *points, *(f"{_with_half(share, 100, 1)} %" for share in shares)]


def _overall(found: Evaluation) -> Iterator[list[str]]:
    for number, (name, rating) in enumerate(zip(found.agents, found.ratings, strict=True)):
        points = found.overall(number)
        shown = f"{rating.mu:.2f} ± {rating.sigma:.2f}"
        yield [name, f"{rating.matches} matches", _signed(points, 1), _signed(points, found.sigma), shown]


def _theme(found: Evaluation, theme: str) -> list[str]:
    """Return the heading and the table of one theme of how agents play; nothing if nothing of it is known."""
    known = {name for _, standing, _ in _standings(found) for name in standing.details}
    names = [name for name, _, _ in THEMES[theme] if name in known]
    if not names:
        return []
    lines = ([*line, *_known(standing.details, names, 1, 2)] for _, standing, line in _standings(found))
    headings = ("agent", "line-up", *(name.replace("_", " ") for name in names))
    return [f"<h2>{escape(theme)}</h2>", _table(headings, lines)]


def _row_names(found: Evaluation) -> list[str]:
    scored = {name for _, standing, _ in _standings(found) for name in standing.rows}
    return [row.name for row in found.rules.rows if row.name in scored]


def _rows(found: Evaluation) -> Iterator[list[str]]:
    return ([*line, *_known(standing.rows, _row_names(found), 100, 1)] for _, standing, line in _standings(found))


def _known(estimates: Mapping[str, Estimate], names: list[str], factor: float, decimals: int) -> list[str]:
    return [_with_half(estimates[name], factor, decimals) if name in estimates else "" for name in names]


def _with_half(estimate: Estimate, factor: float, decimals: int) -> str:
    return estimate.text(decimals, 1 / factor)


def _signed(points: Estimate, unit: float) -> str:
    """Return points; with a star, which colours them, where the interval is clear of zero."""
    star = "*" if points.is_clear_of_zero else ""
    return points.text(3, unit, "+") + star
