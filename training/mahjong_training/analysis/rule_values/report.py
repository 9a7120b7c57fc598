"""What rules are worth as tables, JSON, CSV and a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from mahjong_env import MissingExtraError, Rules, __version__
from mahjong_training.analysis.rule_values.comparing import Comparison, sentences
from mahjong_training.analysis.rule_values.measures import MEASURES, Measures
from mahjong_training.evaluation.estimates import Estimate, plain_json, sides

if TYPE_CHECKING:
    from rich.table import Table

try:
    from matplotlib.figure import Figure  # not pyplot, so that no display is needed
    from rich.console import Console
except ImportError as error:
    raise MissingExtraError(f"the laboratories need {error.name}: pip install 'mahjong-env[evaluate]'") from error

_WIDTH: Final = 100
_OF_HANDS: Final = {
    "dealer_points": "dealer",
    "win_points": "a win brings",
    "drawn": "drawn, %",
    "discards": "discards",
    "sigma": "sigma",
}
_OF_MATCHES: Final = {
    "first_dealer_points": "first dealer",
    "win_points": "a win",
    "hands": "hands",
    "match_sigma": "sigma",
}


@dataclass(frozen=True)
class Found:
    """What was found about some rules.

    Attributes:
        rules: the rules.
        agents: names of those who played.
        deals: deals by each set of rules.
        hands: of each deal.
        seed: of the deals.
        base: what was measured by the rules as they are.
        comparisons: what each change came to.
    """

    rules: Rules
    agents: tuple[str, ...]
    deals: int
    hands: int
    seed: int
    base: Measures
    comparisons: tuple[Comparison, ...]

    @property
    def shown(self) -> dict[str, str]:
        """What has a column on the terminal, and its heading; the files have all."""
        return _OF_HANDS if self.hands == 1 else _OF_MATCHES

    @property
    def size(self) -> str:
        """How much was played, in words."""
        return f"{self.deals:,} deals" + (f" of up to {self.hands} hands" if self.hands > 1 else "")


def print_found(found: Found, console: Console | None = None) -> None:
    """Print the rules as they are, what each change makes of them, and what the rows bring."""
    console = console or Console(width=max(80, min(Console().width, _WIDTH)), highlight=False)
    console.print(
        f"{found.rules.title}: {found.size}, {', '.join(found.agents)} at all seats; ± 95 %, changes paired "
        "deal by deal",
        markup=False,
    )
    table = _new_table("", *found.shown.values())
    table.add_row("as it is", *(_cell(found.base.numbers[name].estimate()) for name in found.shown))
    for one in found.comparisons:
        cells = [_difference(one.differences[name]) if name in one.differences else "" for name in found.shown]
        table.add_row(one.change.name, *cells)
    console.print(table)
    for sentence in sentences(found.base, found.comparisons):
        console.print(sentence, markup=False)
    if found.base.rows:
        console.print(_rows_table(found.base))


def _rows_table(base: Measures) -> Table:
    table = _new_table("row", "of 100 wins", "share of all that wins pay, %")
    for name, (number, share) in sorted(base.rows.items(), key=lambda row: -row[1][1].value):
        table.add_row(name, _cell(number.estimate()), _cell(share.estimate()))
    never = [row.name for row in base.rules.rows if row.name not in base.rows]
    if never:
        table.caption = f"never scored: {', '.join(never)}"
    return table


def _new_table(heading: str, *headings: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(heading, overflow="fold", min_width=14, max_width=34)
    for other in headings:
        table.add_column(other, justify="right", no_wrap=True)
    return table


def _cell(estimate: Estimate) -> str:
    decimals = 2 if estimate.half_width < 1 else 1
    return estimate.text(decimals).replace("± ", "±")


def _difference(estimate: Estimate) -> str:
    decimals = 2 if estimate.half_width < 1 else 1
    text = estimate.text(decimals, sign="+").replace("± ", "±")
    if not estimate.half_width and not estimate.mean:
        return "="
    return f"[bold]{text}[/]" if estimate.is_clear_of_zero else text


# --- Files -------------------------------------------------------------------------------------------------------


def json_text(found: Found) -> str:
    """Return everything as JSON."""
    told: dict[str, Any] = {
        "mahjong_env": __version__,
        "variant": found.rules.name,
        "variant_version": found.rules.version,
        "knobs": found.rules.knobs,
        "agents": list(found.agents),
        "deals": found.deals,
        "hands": found.hands,
        "seed": found.seed,
        "measures": dict(MEASURES),
        "as_it_is": _plain(found.base),
        "changes": [
            {
                "change": one.change.name,
                "knobs": one.change.rules.knobs,
                "deals_that_differ": one.deals_that_differ,
                "differences": {name: _ends(estimate) for name, estimate in one.differences.items()},
                **_plain(one.measures),
            }
            for one in found.comparisons
        ],
        "in_words": list(sentences(found.base, found.comparisons)),
    }
    return plain_json(told) + "\n"


def _plain(measures: Measures) -> dict[str, Any]:
    return {
        "numbers": {name: _ends(value.estimate()) for name, value in measures.numbers.items()},
        "rows": {
            name: {"of_100_wins": _ends(number.estimate()), "share_of_points": _ends(share.estimate())}
            for name, (number, share) in measures.rows.items()
        },
    }


def _ends(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}


def csv_text(found: Found) -> str:
    """Return one line for each number by each set of rules, with its difference to the rules as they are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["rules", "number", "mean", "low", "high", "difference", "difference_low", "difference_high"])
    for name, measures, differences in (
        ("as it is", found.base, {}),
        *((one.change.name, one.measures, one.differences) for one in found.comparisons),
    ):
        for number, value in measures.numbers.items():
            difference = _ends(differences[number]).values() if number in differences else ("", "", "")
            writer.writerow([name, number, *_ends(value.estimate()).values(), *difference])
        for row, (number_of, share) in measures.rows.items():
            writer.writerow([name, f"row of 100 wins: {row}", *_ends(number_of.estimate()).values(), "", "", ""])
            writer.writerow([name, f"row share of points: {row}", *_ends(share.estimate()).values(), "", "", ""])
    return text.getvalue()


def draw(found: Found) -> bytes:
    """Draw what the changes make of the dealer's points, of a win and of sigma, and what the rows bring: a PNG."""
    changes, rows = found.comparisons, sorted(found.base.rows.items(), key=lambda row: -row[1][1].value)
    figure = Figure(figsize=(12, 1.5 + 0.3 * max(len(changes), len(rows), 4)), layout="constrained")
    names = [name for name in found.shown if name not in ("drawn", "discards")] if changes else []
    panels = figure.subplots(1, max(1, len(names) + bool(rows)), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=False):
        estimates = [one.differences.get(name, Estimate(0.0, 0.0, 0.0)) for one in changes]
        _bars(panel, estimates, [one.change.name for one in changes] if panel is panels[0] else None)
        panel.set_title(f"{found.shown[name]}, change", fontsize=9)
    if rows:
        _bars(panels[-1], [share.estimate() for _, (_, share) in rows], [name for name, _ in rows])
        panels[-1].set_title("rows: share of all that wins pay, %", fontsize=9)
    figure.suptitle(f"{found.rules.title}: {found.size}, {', '.join(found.agents)}, 95 % intervals")
    data = BytesIO()
    figure.savefig(data, format="png", dpi=120)
    return data.getvalue()


def _bars(panel: Any, estimates: Sequence[Estimate], labels: list[str] | None) -> None:
    places = range(len(estimates))[::-1]
    panel.barh(places, [one.mean for one in estimates], xerr=sides(estimates), height=0.6, capsize=2)
    panel.axvline(0, color="black", linewidth=0.8)
    panel.grid(axis="x", alpha=0.3)
    if labels is None:
        panel.set_yticks([])
    else:
        panel.set_yticks(places, labels, parse_math=False, fontsize=8)
