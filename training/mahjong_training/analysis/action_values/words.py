"""What the actions of a position are worth, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS
from mahjong_training.analysis.action_values.branches import (
    DEALT_IN,
    DRAWN,
    OTHERS_WON,
    SELF_DRAWN,
    WON_ON_TILE,
    Branches,
    Comparison,
)

_LEAST_SHARE = 0.005  # what is rarer than this on both sides is not worth a word


def points_text(mean: float, half: float) -> str:
    """Return "-0.42 ± 0.21", with as many decimals as the interval deserves."""
    decimals = 2 if half < 1 else 1 if half < 10 else 0
    shown = f"{mean:+.{decimals}f}"
    shown = shown.replace("-", "+") if float(shown) == 0 else shown
    return f"{shown} ± {half:.{decimals}f}"


def sentences(found: Branches) -> list[str]:
    """Return one sentence for each action of `Branches`: what it brings more or less than the one taken, and why.

    A share is called greater or smaller only where the paired 95 % interval of the difference is clear of zero.
    """
    points = found.against_taken()
    ends = {
        "wins": (SELF_DRAWN, WON_ON_TILE),
        "deals in": (DEALT_IN,),
        "others win": (DEALT_IN, OTHERS_WON),
        "the hand is drawn": (DRAWN,),
    }
    ways = {verb: (found.against_taken(np.isin(found.end, some)), found.share(*some)) for verb, some in ends.items()}
    worth = _worth_of_wins(found)
    return [_sentence(found, number, points, ways, worth) for number in range(len(found.action))]


def sentence(found: Branches, number: int) -> str:
    """Return the sentence about one action, by its place in `Branches`."""
    return sentences(found)[number]


def _sentence(
    found: Branches,
    number: int,
    points: Comparison,
    ways: dict[str, tuple[Comparison, NDArray[np.float64]]],
    worth: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> str:
    name, other = ACTIONS[found.action[number]], int(found.reference[number])
    if number == other:
        mean = found.mean()[number]
        shares = ", ".join(f"{verb} {_percent(way[1][number])}" for verb, way in ways.items() if verb != "others win")
        return f"{name}, which the others are compared with: {mean:+.2f} points on average; {shares}."
    told = list(_reasons(number, other, ways, worth))
    difference = points_text(points.mean[number], points.half_width[number])
    verdict = "" if _is_clear(points, number) else ", which is not clear of zero"
    return f"{name}: {difference} points against {ACTIONS[found.action[other]]}{verdict}; {', '.join(told)}."


def _reasons(
    number: int,
    other: int,
    ways: dict[str, tuple[Comparison, NDArray[np.float64]]],
    worth: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Iterator[str]:
    for verb, (difference, share) in ways.items():
        own, its = share[number], share[other]
        always = verb in ("wins", "deals in")
        if max(own, its) < _LEAST_SHARE:
            if always:
                yield f"never {verb}" if own == 0 else f"hardly ever {verb}"
        elif _is_clear(difference, number):
            word = "more" if difference.mean[number] > 0 else "less"
            yield f"{verb} {word} often ({_percent(own)} against {_percent(its)})"
        elif always:
            yield f"{verb} about as often ({_percent(own)} against {_percent(its)})"
        if verb == "wins" and abs(worth[0][number] - worth[0][other]) > worth[1][number]:
            word = "more" if worth[0][number] > worth[0][other] else "less"
            yield f"its wins bring {word} ({worth[0][number]:.1f} points against {worth[0][other]:.1f})"


def _worth_of_wins(found: Branches) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return [m] mean points of the worlds won, NaN without one, and half the 95 % interval of their differences."""
    number = found.worlds[found.position]
    won = found.wins
    wins = won.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = (found.points * won).sum(axis=1) / wins
        # Each world's share in the error of the quotient; the difference of two is again paired world by world.
        influence = np.where(won, found.points - worth[:, None], 0) / (wins / number)[:, None]
        between = found.against_taken(influence)
    return worth, 1.96 * between.error


def _is_clear(difference: Comparison, number: int) -> bool:
    return bool(difference.low[number] > 0 or difference.high[number] < 0)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"
