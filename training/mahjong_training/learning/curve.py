"""Learning curves: the learner measured on the way, as lines of a file and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from mahjong_env import MissingExtraError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.runtime.folders import write_bytes


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
    return {"against": against} | {name: round(number, 4) for name, number in numbers.items()}


def describe(row: Mapping[str, Any]) -> str:
    """Return one line of the learning curve in words."""
    points = Estimate(row["points"], row["points_low"], row["points_high"])
    return (
        f"against {row['against']}: {points.text(2, sign='+')} points a hand, "
        f"wins {100 * row['wins']:.1f} % of hands (each opponent {100 * row['their_wins']:.1f} %)"
    )


def plot_curve(rows: Sequence[Mapping[str, str]], title: str, path: Path) -> None:
    """Draw points and wins over the decisions that were learned from."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the learning curve needs matplotlib: pip install 'mahjong-env[evaluate]'") from error
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, name in enumerate(dict.fromkeys(row["against"] for row in rows)):
        of_name = [row for row in rows if row["against"] == name]
        steps = [int(row["steps"]) for row in of_name]
        points, low, high, wins = (
            [float(row[key]) for row in of_name] for key in ("points", "points_low", "points_high", "wins")
        )
        colour = f"C{number}"
        left.plot(steps, points, color=colour, marker=".", label=f"against {name}")
        left.fill_between(steps, low, high, color=colour, alpha=0.2)
        right.plot(steps, [100 * win for win in wins], color=colour, marker=".", label=f"against {name}")
    left.axhline(0, color="black", linewidth=0.8)
    left.set_ylabel("points per hand, 95 % intervals")
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
