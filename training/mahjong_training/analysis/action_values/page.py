"""Findings for readers: tables on the terminal, and one HTML page that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from mahjong_env import MissingExtraError
from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.table import person_name, read_table, seen_table
from mahjong_env.drawing.text import table_text
from mahjong_training.analysis.action_values.results import Decision, Findings, Line
from mahjong_training.analysis.action_values.words import points_text

if TYPE_CHECKING:
    from rich.table import Table

try:
    from rich.console import Console
except ImportError as error:
    raise MissingExtraError(f"the laboratories need {error.name}: pip install 'mahjong-env[evaluate]'") from error

MATCH: Final = "match.html"
"""The page of the viewer that lies beside."""
_WIDEST: Final = 100
_LEAST: Final = 80
_SHOWN: Final = 12
"""Decisions of a review that are told in sentences on the terminal; the files have all."""

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


def print_findings(found: Findings, console: Console | None = None, *, position: bool = True) -> None:
    """Print a table and a sentence for each action of each decision; of a review, the most expensive first.

    Args:
        found: what was found.
        console: where to; None: the terminal.
        position: also print the table that a single decision is about.
    """
    console = console or Console(width=max(_LEAST, min(Console().width, _WIDEST)), highlight=False)
    console.print(how_it_was_found(found), markup=False)
    if len(found.decisions) == 1:
        if position:
            person = None if found.settings["hindsight"] else found.decisions[0].seat
            console.print(table_text(found.positions.engine, person=person), markup=False)
        _print_decision(found.decisions[0], console)
        return
    console.print(_ranking(found))
    console.print(
        "In the table intervals hold whichever other action is the best one; below they are narrower, of the two "
        "actions that are named.",
        markup=False,
    )
    for decision in found.ranked[:_SHOWN]:
        if decision.cost[0] > 0:
            best = decision.lines[0]
            console.print(f"{_title(decision)}: {best.sentence}", markup=False)
    console.print(
        f"All costs together: {sum(max(decision.cost[0], 0) for decision in found.decisions):.2f} points. The best "
        "action is chosen by the same worlds, so that costs are rather too high than too low; the intervals allow "
        "for that.",
        markup=False,
    )


def how_it_was_found(found: Findings) -> str:
    """Return in words who played, on what, and what the numbers are."""
    settings, worlds = found.settings, found.branches.worlds
    number = f"{worlds.min():,}" if worlds.min() == worlds.max() else f"{worlds.min():,} to {worlds.max():,}"
    mark = "" if len(found.decisions) > 1 else "; > marks what was taken"
    if found.positions.taken is None:
        mark = "; > marks what the agent would do"
    hidden = "with the true hidden tiles" if settings["hindsight"] else "hidden tiles drawn anew"
    return (
        f"{found.branches.rules.title}: {number} worlds, {hidden}; {', '.join(settings['agents'])} at all seats "
        f"afterwards. Points from here to the end of the hand, paired 95 % intervals{mark}."
    )


def _print_decision(decision: Decision, console: Console) -> None:
    table = _new_table("action", "points", "against taken", "against best other", "wins", "deals in")
    for line in decision.lines:
        mark = "> " if line.taken else "  "
        table.add_row(f"{mark}{line.action}", *_cells(line)[:-1])
    console.print(table)
    for line in decision.lines:
        console.print(line.sentence, markup=False)


def _cells(line: Line) -> list[str]:
    mean, low, high = line.difference
    shares = [f"{100 * share:.0f} %" for share in (line.wins, line.deal_ins, line.draws)]
    difference = "" if line.taken else points_text(mean, (high - low) / 2)
    return [f"{line.points:+.{1 if abs(line.points) >= 100 else 2}f}", difference, _range(line.against_best), *shares]


def _range(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    decimals = 2 if high - low < 10 else 1 if high - low < 100 else 0
    return f"{mean:+.{decimals}f} [{low:+.{decimals}f}, {high:+.{decimals}f}]"


def cost_text(cost: tuple[float, float, float]) -> str:
    """Return what the action taken costs against the best of the others, whichever that is: nothing where none is."""
    mean, _, high = cost
    if mean > 0:
        return _range(cost)
    return f"at most {high:+.{2 if high < 10 else 1}f}" if high > 0 else "nothing: the best"


def _ranking(found: Findings) -> Table:
    table = _new_table("decision", "person", "taken", "the best other", "taken costs", "worlds")
    for decision in found.ranked:
        names = (decision.taken.action, _best_other(decision).action)
        cost = cost_text(decision.cost)
        cost = f"[bold]{cost}[/]" if decision.cost[1] > 0 else cost
        table.add_row(str(decision.number), str(decision.seat), *names, cost, str(decision.worlds))
    return table


def _best_other(decision: Decision) -> Line:
    return next((line for line in decision.lines if not line.taken), decision.lines[0])


def _title(decision: Decision) -> str:
    return f"decision {decision.number} ({person_name(decision.seat)}, {decision.taken.action})"


def _new_table(heading: str, *headings: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(heading, no_wrap=True)
    for other in headings:
        table.add_column(other, justify="right", no_wrap=True)
    return table


# --- HTML --------------------------------------------------------------------------------------------------------


def html_text(found: Findings) -> str:
    """Return a page with the table as it stood, the actions and the sentences of every decision."""
    title = f"{found.branches.rules.title}: what each action is worth"
    knobs = ", ".join(f"{name}={value}" for name, value in found.branches.rules.knobs.items())
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(how_it_was_found(found))}</p>",
        f'<p><a href="{MATCH}">The match step by step</a>, with these intervals beside each of the choices.</p>',
        f"<p><small>{escape(knobs)}</small></p>",
    ]
    if len(found.decisions) > 1:
        parts += ["<h2>Decisions by what they cost</h2>", _ranking_html(found)]
    parts += [_decision_html(found, place) for place in range(len(found.decisions))]
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{viewport}<title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _ranking_html(found: Findings) -> str:
    rows = [
        [
            f'<a href="#decision{decision.number}">{decision.number}</a>',
            escape(person_name(decision.seat)),
            escape(decision.taken.action),
            escape(_best_other(decision).action),
            _coloured(cost_text(decision.cost), (-decision.cost[0], -decision.cost[2], -decision.cost[1])),
        ]
        for decision in found.ranked
    ]
    return _table(("decision", "person", "taken", "the best other", "taken costs"), rows)


def _decision_html(found: Findings, place: int) -> str:
    decision = found.decisions[place]
    engine, seat = found.positions.engine, decision.seat
    if found.settings["hindsight"]:
        table = read_table(engine, place, below=seat)
    else:
        table = seen_table(engine.view([place], seats=seat))
    image = base64.b64encode(table_svg(table).encode()).decode("ascii")
    rows, marks = [], []
    for line in decision.lines:
        points, difference, best, *shares = _cells(line)
        coloured = [_coloured(difference, line.difference), _coloured(best, line.against_best)]
        rows.append([escape(line.action), points, *coloured, *shares])
        marks.append(line.taken)
    headings = ("action", "points", "against taken", "against the best other", "wins", "deals in", "drawn")
    words = "".join(f"<li>{escape(line.sentence)}</li>" for line in decision.lines)
    is_open = " open" if len(found.decisions) == 1 else ""
    # The place that links lead to is inside, so that they open it.
    picture = f'<img id="decision{decision.number}" alt="the table" src="data:image/svg+xml;base64,{image}">'
    return (
        f"<details{is_open}><summary>{escape(_title(decision))}</summary>\n"
        f"{picture}\n{_table(headings, rows, marks)}\n<ul>{words}</ul></details>"
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], taken: Sequence[bool] = ()) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = []
    for number, row in enumerate(rows):
        mark = ' class="taken"' if number < len(taken) and taken[number] else ""
        body.append(f"<tr{mark}>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody></table>"


def _coloured(text: str, interval: tuple[float, float, float]) -> str:
    _, low, high = interval
    name = "up" if low > 0 else "down" if high < 0 else ""
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)
