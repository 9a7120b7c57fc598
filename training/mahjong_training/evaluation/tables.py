"""Evaluations as tables on the terminal and as plots; the columns are those of `hand_statistics.THEMES`."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.estimates import Estimate, sides
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES, Column
from mahjong_training.evaluation.results import Evaluation, Gain, LineupResult, Standing

if TYPE_CHECKING:
    from rich.table import Table

try:
    from matplotlib.figure import Figure  # not pyplot, so that no display is needed and notebooks keep their own
    from rich.console import Console
    from rich.markup import escape
except ImportError as error:
    raise MissingExtraError(f"evaluation needs {error.name}: pip install 'mahjong-env[evaluate]'") from error

_WIDEST: Final = 80
"""Columns of the tables; narrower terminals break their lines, where rich would leave names and digits out."""
_NAMES: Final = 26
"""Columns for the names of agents; longer ones are folded."""
_POINTS, *_OWN = THEMES[MAIN]
_THEIRS: Final = Column("their_wins", "wins", heading="they win", unit="share")
_SHARES: Final = [*_OWN[:-1], _THEIRS, _OWN[-1]]
_DETAILS: Final = [column for theme in THEMES if theme != MAIN for column in THEMES[theme] if column.heading]


def print_tables(found: Evaluation, console: Console | None = None, *, details: bool = False) -> None:
    """Print the verdict, what learning added, duels, the table at which all agents sit together, and all in all.

    Args:
        found: the results.
        console: where to; None: the terminal.
        details: also print how the agents play.
    """
    console = console or Console(width=_WIDEST, highlight=False)
    for sentence in found.verdicts():
        console.print(f"[bold]{escape(sentence)}[/]")
    console.print(f"{found.rules.title}: {found.deals} deals, {found.how_seated}; per hand and seat, {found.intervals}")
    console.print(f"sigma = {found.sigma:.2f} points: the spread of a hand's points among greedy players")
    if gains := found.gains():
        console.print(_gains_table(found, gains))
    duels = [result for result in found.results if len(set(result.lineup)) <= 2 and found.kind != "league"]
    if duels:
        console.print(_duels_table(found, duels, "agent, and against whom", [_POINTS]))
        console.print(_duels_table(found, duels, "of 100 hands", _SHARES))
        if details:
            console.print(_duels_table(found, duels, "turns, points, melds", _DETAILS))
    for result in found.results:
        if found.kind == "duels" and len(set(result.lineup)) > 2:
            console.print(_together_table(found, result))
    if len(found.agents) > 1:
        console.print(_overall_table(found))
    for name, role in zip(found.agents, found.roles, strict=False):
        if role:
            console.print(f"{escape(name)}: {escape(role)}")


def _duels_table(found: Evaluation, results: list[LineupResult], heading: str, columns: Sequence[Column]) -> Table:
    """Make a table of some columns; each agent has a line of its own above its duels."""
    headings = [heading for column in columns for heading in _headings(column)]
    table = _new_table(heading, *headings)
    for number, result in enumerate(results):
        agent, other = result.lineup[0], result.lineup[-1]
        if not number or agent != results[number - 1].lineup[0]:
            table.add_row(f"[bold]{escape(found.agents[agent])}[/]")
        estimates = result.estimates(result.of(agent)) | {_THEIRS.name: result.of(other).wins}
        cells = [cell for column in columns for cell in _cells(column, estimates.get(column.name), found.sigma)]
        is_last = number + 1 == len(results) or results[number + 1].lineup[0] != agent
        own = result.lineup.count(agent)
        label = f"{len(result.lineup) - own or own} x {escape(found.agents[other])}"
        several = "" if own in (1, len(result.lineup)) else f"{own} of it, "
        table.add_row(f" {several}{label}", *cells, end_section=is_last)
    return table


def _headings(column: Column) -> list[str]:
    return [column.heading, "in sigma"] if column.unit == "points" else [column.heading]


def _cells(column: Column, estimate: Estimate | None, sigma: float) -> list[str]:
    if column.unit == "points":
        assert estimate is not None
        return _points(estimate, sigma)
    if estimate is None:
        return [""]
    return [estimate.text(1, 0.01) if column.unit == "share" else f"{estimate.mean:.2f}"]


def _together_table(found: Evaluation, result: LineupResult) -> Table:
    columns = [_POINTS, *(column for column in _SHARES if column.name in ("wins", "deal_ins"))]
    table = _new_table("all at one table", *(heading for column in columns for heading in _headings(column)))
    for standing in result.standings:
        estimates = result.estimates(standing)
        cells = (cell for column in columns for cell in _cells(column, estimates[column.name], found.sigma))
        table.add_row(escape(found.agents[standing.agent]), *cells)
    return table


def _overall_table(found: Evaluation) -> Table:
    """All line-ups together, the best first: points, and the rating."""
    words = {"duels": "in all line-ups", "pairs": "in all pairs", "league": f"league of {len(found.results)} tables"}
    table = _new_table(words[found.kind], "points", "in sigma", "rating")
    points = [found.overall(agent) for agent in range(len(found.agents))]
    for agent in sorted(range(len(points)), key=lambda agent: -points[agent].mean):
        rating = found.ratings[agent]
        shown = f"{rating.mu:.1f} ± {rating.sigma:.1f}"
        table.add_row(escape(found.agents[agent]), *_points(points[agent], found.sigma), shown)
    return table


def _gains_table(found: Evaluation, gains: list[Gain]) -> Table:
    table = _new_table("what learning added", "points", "in sigma")
    for gain in gains:
        label = f"{found.agents[gain.policy]} - {found.agents[gain.clone]}, against {found.agents[gain.against]}"
        table.add_row(escape(label), *_points(gain.points, found.sigma))
    return table


def _new_table(heading: str, *headings: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(heading, max_width=_NAMES, overflow="fold")
    for other in headings:
        table.add_column(other, justify="right", no_wrap=True)
    return table


def _points(points: Estimate, sigma: float) -> list[str]:
    """Return points, and the same in sigma; bold where the interval is clear of zero."""
    shown = [_interval(points, 1), _interval(points, sigma)]
    return [f"[bold]{text}[/]" if points.is_clear_of_zero else text for text in shown]


def _interval(points: Estimate, unit: float) -> str:
    half = points.half_width / unit
    return points.text(3 if half < 10 or half == float("inf") else 1, unit, "+")


def draw(found: Evaluation) -> bytes:
    """Draw points and shares of wins of all line-ups, of a league points and ratings; returns a PNG."""
    rows = _league_rows(found) if found.kind == "league" else _lineup_rows(found)
    figure = Figure(figsize=(10, 1.2 + 0.4 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = range(len(rows))[::-1]
    _bars(left, places, [points for _, points, _ in rows], 1)
    _bars(right, places, [second for _, _, second in rows], 1 if found.kind == "league" else 100)
    left.axvline(0, color="black", linewidth=0.8)
    left.set_yticks(places, [label for label, _, _ in rows], parse_math=False)
    left.set_xlabel("points per hand")
    right.set_xlabel("rating ± its sigma (openskill)" if found.kind == "league" else "hands won, %")
    figure.suptitle(f"{found.rules.title}: {found.deals} deals, {found.how_seated}, 95 % intervals")
    data = BytesIO()
    figure.savefig(data, format="png", dpi=120)
    return data.getvalue()


def _league_rows(found: Evaluation) -> list[tuple[str, Estimate, Estimate]]:
    """Label, points over all tables, and rating of each agent, the best first."""
    rows = [
        (name, found.overall(number), Estimate(rating.mu, rating.mu - rating.sigma, rating.mu + rating.sigma))
        for number, (name, rating) in enumerate(zip(found.agents, found.ratings, strict=True))
    ]
    return sorted(rows, key=lambda row: -row[1].mean)


def _lineup_rows(found: Evaluation) -> list[tuple[str, Estimate, Estimate]]:
    """Label, points and wins of each agent of each line-up; of two agents in a line-up the first one only."""
    return [
        (_label(found, result, standing), standing.points, standing.wins)
        for result in found.results
        for standing in result.standings
        if len(set(result.lineup)) != 2 or standing.agent == result.lineup[0]
    ]


def _label(found: Evaluation, result: LineupResult, standing: Standing) -> str:
    others = [agent for agent in result.lineup if agent != standing.agent] or [standing.agent] * (standing.seats - 1)
    seats = f" ({standing.seats} seats)" if 1 < standing.seats < len(result.lineup) else ""
    if len(set(others)) == 1:
        return f"{found.agents[standing.agent]}{seats}\nagainst {len(others)} x {found.agents[others[0]]}"
    return f"{found.agents[standing.agent]}\nall at one table"


def _bars(axes: Any, places: range, estimates: list[Estimate], factor: float) -> None:
    middle = [factor * estimate.mean for estimate in estimates]
    axes.barh(
        places,
        middle,
        xerr=sides(estimates, factor),
        height=0.6,
        capsize=3,
        color=["C0" if value >= 0 else "C3" for value in middle],
    )
    axes.grid(axis="x", alpha=0.3)
