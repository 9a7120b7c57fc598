"""Evaluations as tables on the terminal and as plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahjong_env import MissingExtraError
from training.lineups import LineupResult, Standing
from training.statistics import Estimate

if TYPE_CHECKING:
    from rich.table import Table

    from training.evaluate import Evaluation

try:
    from matplotlib.figure import Figure  # not pyplot, so that no display is needed and notebooks keep their own
    from rich.console import Console
except ImportError as error:
    raise MissingExtraError(f"evaluation needs {error.name}: pip install 'mahjong-env[evaluate]'") from error

_WIDTH = 118


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """Show what is being done on a terminal, and nothing elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status("") as spinner:
        yield spinner.update


def print_tables(found: Evaluation, console: Console | None = None) -> None:
    """Print the results: duels, then the table at which all agents sit together."""
    console = console or _console()
    duels = [result for result in found.results if len(set(result.lineup)) <= 2]
    together = [result for result in found.results if len(set(result.lineup)) > 2]
    console.print(
        f"{found.rules.title}: {found.deals} deals, each played in every order of seats; "
        "per hand and seat, ± 95 % clustered by deal"
    )
    if duels:
        console.print(_duel_table(found, duels))
    for result in together:
        console.print(_together_table(found, result))


def _console() -> Console:
    """Return a console that is wide enough for the tables: a narrow terminal breaks lines, but loses nothing."""
    return Console(width=max(Console().width, _WIDTH))


def _duel_table(found: Evaluation, results: list[LineupResult]) -> Table:
    table = _new_table("agent", "against", "points", "wins %", "self-draw %", "deals in %", "their wins %", "drawn %")
    for result in results:
        agent, other = result.lineup[0], result.lineup[-1]
        own, their = result.of(agent), result.of(other)
        copies = len(result.lineup) - 1
        table.add_row(
            found.agents[agent],
            f"{copies} x {found.agents[other]}",
            *_cells(own),
            _percent(their.wins),
            _percent(result.draws),
        )
    return table


def _together_table(found: Evaluation, result: LineupResult) -> Table:
    table = _new_table("all at one table", "points", "wins %", "self-draw %", "deals in %", "drawn %")
    for standing in result.standings:
        table.add_row(found.agents[standing.agent], *_cells(standing), _percent(result.draws))
    return table


def _new_table(*headings: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        is_text = heading in ("agent", "against", "all at one table")
        table.add_column(heading, justify="left" if is_text else "right", no_wrap=not is_text)
    return table


def _cells(standing: Standing) -> list[str]:
    points = standing.points
    shown = f"{points.mean:+.3f} ± {points.half_width:.3f}"
    return [
        f"[bold]{shown}[/]" if points.is_clear_of_zero else shown,
        *(_percent(rate) for rate in (standing.wins, standing.self_draws, standing.deal_ins)),
    ]


def _percent(rate: Estimate) -> str:
    return f"{100 * rate.mean:.1f} ± {100 * rate.half_width:.1f}"


def plot(found: Evaluation, path: Path) -> None:
    """Draw points and shares of wins of all line-ups into a PNG."""
    rows = [(result, standing) for result in found.results for standing in result.standings]
    rows = [(result, standing) for result, standing in rows if _is_shown(result, standing)]
    labels = [_label(found, result, standing) for result, standing in rows]
    figure = Figure(figsize=(10, 1.2 + 0.4 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = range(len(rows))[::-1]
    _bars(left, places, [standing.points for _, standing in rows], 1)
    _bars(right, places, [standing.wins for _, standing in rows], 100)
    left.axvline(0, color="black", linewidth=0.8)
    left.set_yticks(places, labels, parse_math=False)
    left.set_xlabel("points per hand")
    right.set_xlabel("hands won, %")
    figure.suptitle(f"{found.rules.title}: {found.deals} deals from every seat, 95 % intervals")
    figure.savefig(path, dpi=120)


def _is_shown(result: LineupResult, standing: Standing) -> bool:
    return len(set(result.lineup)) != 2 or standing.agent == result.lineup[0]


def _label(found: Evaluation, result: LineupResult, standing: Standing) -> str:
    others = list(result.lineup)
    others.remove(standing.agent)
    if len(set(others)) == 1:
        return f"{found.agents[standing.agent]}\nagainst {len(others)} x {found.agents[others[0]]}"
    return f"{found.agents[standing.agent]}\nall at one table"


def _bars(axes: Any, places: range, estimates: list[Estimate], factor: float) -> None:
    middle = [factor * estimate.mean for estimate in estimates]
    errors = [factor * estimate.half_width for estimate in estimates]
    axes.barh(
        places, middle, xerr=errors, height=0.6, capsize=3, color=["C0" if value >= 0 else "C3" for value in middle]
    )
    axes.grid(axis="x", alpha=0.3)
