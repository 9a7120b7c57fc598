"""Learning curves: the learner measured on the way, as lines of a file and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.runtime.folders import write_bytes

MEAN_PLACE: Final = "mean_place"
"""The column of the mean place, which runs of matches have; its interval stands in "mean_place_low" and "..._high"."""


def curve_row(result: LineupResult, judge: int, against: str) -> dict[str, Any]:
    """Return what the curve says of agent 0, the learner, against copies of agent ``judge``, named ``against``."""
    own, their = result.of(0), result.of(judge)
    numbers = {
        "points": own.points.mean,
        "points_low": own.points.low,
        "points_high": own.points.high,
        "wins": own.wins.mean,
        "self_draws": own.self_draws.mean,
        "deal_ins": own.deal_ins.mean,
        "their_wins": their.wins.mean,
        "draws": result.draws.mean,
    }
    if result.places:
        place = result.mean_place(0)
        numbers |= {MEAN_PLACE: place.mean, f"{MEAN_PLACE}_low": place.low, f"{MEAN_PLACE}_high": place.high}
    return {"against": against} | {name: round(number, 4) for name, number in numbers.items()}


def describe(row: Mapping[str, Any]) -> str:
    """Return one line of the learning curve in words."""
    points = Estimate(row["points"], row["points_low"], row["points_high"])
    place = ""
    if MEAN_PLACE in row:
        of_matches = Estimate(row[MEAN_PLACE], row[f"{MEAN_PLACE}_low"], row[f"{MEAN_PLACE}_high"])
        place = f"mean place {of_matches.text(2)}, "
    return (
        f"against {row['against']}: {place}{points.text(2, sign='+')} points a hand, "
        f"wins {100 * row['wins']:.1f} % of hands (each opponent {100 * row['their_wins']:.1f} %)"
    )


def plot_curve(rows: Sequence[Mapping[str, str]], title: str, path: Path, *, people: int) -> None:
    """Draw points, of matches the mean place, and wins over the decisions that were learned from.

    Args:
        rows: the lines of the learning curve.
        title: of the picture.
        path: where it is written.
        people: persons of a match, which says what equal players come to.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the learning curve needs matplotlib: pip install 'mahjong-env[evaluate]'") from error
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    is_of_matches = any(MEAN_PLACE in row for row in rows)
    counts = MEAN_PLACE if is_of_matches else "points"
    for number, name in enumerate(dict.fromkeys(row["against"] for row in rows)):
        of_name = [row for row in rows if row["against"] == name]
        steps = [int(row["steps"]) for row in of_name]
        means, low, high, wins = (
            [float(row[key]) for row in of_name] for key in (counts, f"{counts}_low", f"{counts}_high", "wins")
        )
        colour = f"C{number}"
        left.plot(steps, means, color=colour, marker=".", label=f"against {name}")
        left.fill_between(steps, low, high, color=colour, alpha=0.2)
        right.plot(steps, [100 * win for win in wins], color=colour, marker=".", label=f"against {name}")
    left.axhline((people + 1) / 2 if is_of_matches else 0, color="black", linewidth=0.8)
    left.set_ylabel(f"{'mean place in matches' if is_of_matches else 'points per hand'}, 95 % intervals")
    if is_of_matches:
        left.invert_yaxis()  # the first place is at the top
    right.set_ylabel("hands won, %")
    for axes in (left, right):
        axes.set_xlabel("decisions learned from (0: before learning)")
        axes.grid(alpha=0.3)
    for text in left.legend().get_texts():
        text.set_parse_math(False)  # agents and runs are named after folders, in which "$" is only a character
    figure.suptitle(title, parse_math=False)
    data = BytesIO()
    figure.savefig(data, format="png", dpi=120)
    write_bytes(path, data.getvalue())
