"""Learning curves: the learner measured on the way, as lines of a file and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from mahjong_agents import Agent
from mahjong_env import MissingExtraError, Rules
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Block, blocks, play_block
from mahjong_training.evaluation.results import LineupResult, summarise
from mahjong_training.runtime.folders import write_bytes

Player = Callable[[Sequence[Agent], Sequence[Block], int], Sequence[Played]]
"""Plays blocks of line-ups of some agents with a seed: see `mahjong_training.evaluation.matches.play_block`."""


def measure_learner(
    rules: Rules,
    learner: Agent,
    others: Sequence[Agent],
    *,
    deals: int,
    seed: int,
    play: Player | None = None,
    control_variates: bool = False,
) -> list[LineupResult]:
    """Return how a learner does against copies of each of some agents: it is agent 0, they are agents 1, 2, ...

    Args:
        rules: what is played.
        learner: who is measured.
        others: against whom.
        deals: deals of each line-up.
        seed: of the deals and of all choices.
        play: who plays the hands; None: this process.
        control_variates: take luck off the points, see `mahjong_training.evaluation.matches.measure`.
    """
    agents = [learner, *others]
    lineups = [one_against_copies(0, other, rules.people) for other in range(1, len(agents))]
    todo = [blocks(lineup, deals, agents=agents, control_variates=control_variates) for lineup in lineups]
    every = [block for of_lineup in todo for block in of_lineup]
    played = play(agents, every, seed) if play else [play_block(rules, agents, block, seed) for block in every]
    parts = iter(played)
    return [summarise(rules, of_lineup[0].lineup, list(islice(parts, len(of_lineup)))) for of_lineup in todo]


def curve_rows(results: Sequence[LineupResult], others: Sequence[Agent], **common: Any) -> list[dict[str, Any]]:
    """Return the lines of one measurement for the learning curve's file."""
    rows = []
    for number, (result, other) in enumerate(zip(results, others, strict=True), start=1):
        own, their = result.of(0), result.of(number)
        rows.append(
            common
            | {
                "against": other.name,
                "points": round(own.points.mean, 4),
                "points_low": round(own.points.low, 4),
                "points_high": round(own.points.high, 4),
                "wins": round(own.wins.mean, 4),
                "self_draws": round(own.self_draws.mean, 4),
                "deal_ins": round(own.deal_ins.mean, 4),
                "their_wins": round(their.wins.mean, 4),
                "draws": round(result.draws.mean, 4),
            }
        )
    return rows


def describe(row: dict[str, Any]) -> str:
    """Return one line of the learning curve in words."""
    points = Estimate(row["points"], row["points_low"], row["points_high"])
    return (
        f"against {row['against']}: {points.text(2, sign='+')} points a hand, "
        f"wins {100 * row['wins']:.1f} % of hands (each opponent {100 * row['their_wins']:.1f} %)"
    )


def plot_curve(rows: Sequence[dict[str, str]], title: str, path: Path) -> None:
    """Draw points and wins over PPO's decisions; step 0 is the warm start's result."""
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
        axes.set_xlabel("decisions learned from (0: after the warm start)")
        axes.grid(alpha=0.3)
    for text in left.legend().get_texts():
        text.set_parse_math(False)  # agents and runs are named after folders, in which "$" is only a character
    figure.suptitle(title, parse_math=False)
    data = BytesIO()
    figure.savefig(data, format="png", dpi=120)
    write_bytes(path, data.getvalue())
