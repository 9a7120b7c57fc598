"""Findings of a review as data, in words, as tables on the terminal, as notes in the match's record, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS
from mahjong_env.drawing.table import person_name
from mahjong_env.drawing.text import table_text
from mahjong_env.records import GameRecord
from mahjong_env.viewer import viewer_html
from mahjong_training.analysis.action_values import ActionValues, Comparison, End
from mahjong_training.analysis.study import new_console, new_table
from mahjong_training.evaluation.estimates import Estimate, student_t

_SHOWN: Final = 12
"""Decisions of a review that are told in sentences on the terminal; the files have all."""
_DECIMALS: Final = 2  # on the page
_LEAST_SHARE: Final = 0.005
"""Shares below this on both sides are not mentioned."""
BOTH_INTERVALS: Final = (
    "± is the interval of the difference to the action taken. Which other action is the best one is not known: the "
    "interval in brackets holds whichever it is, and is wider."
)


Reason = tuple[str, str, str, str]
"""A word of `PATTERNS` and one of `ENDS`, and the two numbers that the pattern is about, as text."""


@dataclass(frozen=True)
class Line:
    """One action of one decision; points are from there to the end of the hand, shares those of worlds.

    Attributes:
        taken: whether it was played (or, where nothing was played, is what the agent would do).
        against_taken: the points less those of the action taken.
        against_best: the points less those of the best other action, whichever that is: a wider interval.
        reasons: why, in words.
        sentence: all this in words.
    """

    action: str
    taken: bool
    points: float
    against_taken: Estimate
    against_best: Estimate
    wins: float
    self_draws: float
    deal_ins: float
    draws: float
    reasons: str
    sentence: str


@dataclass(frozen=True)
class Decision:
    """The findings at one decision of a person: a line for each legal action, from the best one down.

    Attributes:
        number: counted from 0 over all actions of the match.
        seat: whose decision it is.
        worlds: how many were played.
        gain: the points that a better choice would have brought, with their standard error: see `ActionValues.gain`.
        why: why the best action brings more or less than the one taken.
    """

    number: int
    seat: int
    worlds: int
    gain: tuple[float, float]
    why: list[Reason]
    lines: tuple[Line, ...]

    @property
    def taken(self) -> Line:
        """The line of the action that was taken."""
        return next(line for line in self.lines if line.taken)

    @property
    def cost(self) -> Estimate:
        """The points that the action taken costs against the best other one; negative where it is the best itself."""
        best = self.taken.against_best
        return Estimate(-best.mean, -best.high, -best.low)


@dataclass(frozen=True)
class Findings:
    """The findings at some decisions of a match: `values`, and the same as sentences, in the order of the match."""

    positions: Any
    values: ActionValues
    settings: dict[str, Any]
    decisions: tuple[Decision, ...]

    @property
    def ranked(self) -> list[Decision]:
        """The decisions, the most expensive first."""
        return sorted(self.decisions, key=lambda decision: -decision.cost.mean)

    def lost(self, seat: int | None = None) -> Estimate:
        """The points that a person, or everybody, has lost by all decisions together: see `ActionValues.gain`."""
        some = [decision for decision in self.decisions if seat in (None, decision.seat)]
        mean, error = sum(one.gain[0] for one in some), np.hypot.reduce([one.gain[1] for one in some])
        reach = student_t(max(min(one.worlds for one in some) // 2 - 1, 1), 0.95) * float(error)
        return Estimate(mean, mean - reach, mean + reach)

    @property
    def summary(self) -> str:
        """Who played, on what, and what the numbers are, in words."""
        settings, worlds = self.settings, self.values.worlds
        number = f"{worlds.min():,}" if worlds.min() == worlds.max() else f"{worlds.min():,} to {worlds.max():,}"
        mark = "" if len(self.decisions) > 1 else "; > marks what was taken"
        if self.positions.taken is None:
            mark = "; > marks what the agent would do"
        hidden = "with the true hidden tiles" if settings["hindsight"] else "hidden tiles drawn anew"
        return (
            f"{self.values.rules.title}: {number} worlds, {hidden}; {', '.join(settings['agents'])} at all seats "
            f"afterwards. Points from here to the end of the hand, paired 95 % intervals{mark}."
        )


def findings(positions: Any, values: ActionValues, settings: dict[str, Any]) -> Findings:
    """Put findings together; see `Findings`."""
    taken, best, words, means = values.against_taken(), values.against_best(), sentences(values), values.mean()
    gains = list(zip(*(part.tolist() for part in values.gain()), strict=True))
    shares = {
        "wins": values.share(End.SELF_DRAWN, End.WON_ON_TILE),
        "self_draws": values.share(End.SELF_DRAWN),
        "deal_ins": values.share(End.DEALT_IN),
        "draws": values.share(End.DRAWN),
    }
    decisions = []
    for place, number in enumerate(positions.decision):
        of_position = np.flatnonzero(values.position == place)
        own = of_position[np.argsort(-means[of_position], kind="stable")].tolist()
        lines = tuple(
            Line(
                action=ACTIONS[values.action[at]],
                taken=bool(values.action[at] == values.taken[place]),
                points=float(means[at]),
                against_taken=taken.of(at),
                against_best=best.of(at),
                **{name: float(share[at]) for name, share in shares.items()},
                reasons=reasons_text(words[at][0]),
                sentence=words[at][1],
            )
            for at in own
        )
        seat, worlds = int(values.seat[place]), int(values.worlds[place])
        decisions.append(Decision(int(number), seat, worlds, gains[place], words[own[0]][0], lines))
    return Findings(positions, values, settings, tuple(decisions))


def as_json(found: Findings) -> dict[str, Any]:
    """Return everything as plain data."""
    decisions = []
    for one in found.decisions:
        told = {"decision": one.number, "seat": one.seat, "worlds": one.worlds, "taken": one.taken.action}
        decisions.append(told | {"cost": asdict(one.cost), "actions": [asdict(line) for line in one.lines]})
    return {**found.settings, "lost": asdict(found.lost()), "decisions": decisions}


def as_lines(found: Findings) -> list[dict[str, Any]]:
    """Return a line for each action of each decision, with the ends of intervals in columns of their own."""
    lines = []
    for decision in found.decisions:
        for line in decision.lines:
            told: dict[str, Any] = {"decision": decision.number, "seat": decision.seat, "worlds": decision.worlds}
            for name, value in (vars(line) | {"taken": int(line.taken)}).items():
                ends = asdict(value).items() if isinstance(value, Estimate) else [("mean", value)]
                told |= {name if end == "mean" else f"{name}_{end}": number for end, number in ends}
            lines.append(told)
    return lines


def annotated(found: Findings) -> GameRecord:
    """Return the record with what was found in its notes, for the viewer; other notes of the record stay.

    `GameRecord.notes` says what ``value`` and ``intervals`` mean.
    """
    record: GameRecord = found.positions.record
    notes = {number: dict(note) for number, note in record.notes.items()}
    for decision in found.decisions:
        intervals = {}
        for line in decision.lines:
            mean, low, high = line.against_taken.mean, line.against_taken.low, line.against_taken.high
            ends = (low, mean, high) if np.isfinite(high) else (mean, mean, mean)
            intervals[line.action] = [round(end, 4) for end in ends]
        note = {"value": round(decision.taken.points, 4), "intervals": intervals}
        notes[decision.number] = notes.get(decision.number, {}) | note
    return replace(record, notes=dict(sorted(notes.items())))


def sentences(found: ActionValues) -> list[tuple[list[Reason], str]]:
    """Return for each action why it brings more or less than the one taken, and a sentence with all of it."""
    points, means, told = found.against_taken(), found.mean(), []
    for number, (other, coded) in enumerate(zip(found.reference, reasons(found), strict=True)):
        name, why = ACTIONS[found.action[number]], reasons_text(coded)
        if number == other:
            sentence = f"{name}, which the others are compared with: {means[number]:+.2f} points on average; {why}."
        else:
            difference = points.of(number)
            verdict = "" if difference.is_clear_of_zero else ", which is not clear of zero"
            against = f"{points_text(difference)} points against {ACTIONS[found.action[other]]}"
            sentence = f"{name}: {against}{verdict}; {why}."
        told.append((coded, sentence))
    return told


ENDS: Final[Mapping[str, tuple[str, str, tuple[End, ...]]]] = {
    "wins": ("wins", "胡", (End.SELF_DRAWN, End.WON_ON_TILE)),
    "deals in": ("deals in", "点炮", (End.DEALT_IN,)),
    "others win": ("others win", "别人胡", (End.DEALT_IN, End.OTHERS_WON)),
    "drawn": ("the hand is drawn", "流局", (End.DRAWN,)),
}
PATTERNS: Final[Mapping[str, tuple[str, str]]] = {
    "is": ("{} {}", "{} {}"),
    "never": ("never {}", "从不{}"),
    "hardly": ("hardly ever {}", "几乎不{}"),
    "more": ("{} more often ({} against {})", "{}更多（{}，所打 {}）"),
    "less": ("{} less often ({} against {})", "{}更少（{}，所打 {}）"),
    "same": ("{} about as often ({} against {})", "{}差不多（{}，所打 {}）"),
    "worth more": ("its {} bring more ({} points against {})", "{}的分更多（{} 分，所打 {}）"),
    "worth less": ("its {} bring less ({} points against {})", "{}的分更少（{} 分，所打 {}）"),
}


def reasons_text(coded: Sequence[Reason], language: int = 0) -> str:
    """Return reasons in English (0) or Chinese (1)."""
    return ("，" if language else ", ").join(
        PATTERNS[pattern][language].format(ENDS[end][language], own, its) for pattern, end, own, its in coded
    )


def reasons(found: ActionValues) -> list[list[Reason]]:
    """Return for each action how hands end after it, against those after the action taken.

    A share is called greater or smaller only where the paired 95 % interval of the difference is clear of zero.
    """
    ways = {
        end: (found.against_taken(np.isin(found.end, some)), found.share(*some)) for end, (_, _, some) in ENDS.items()
    }
    worth = _worth_of_wins(found)
    return [
        list(_reasons(number, int(other), ways, worth))
        if number != other
        else [("is", end, _percent(share[number]), "") for end, (_, share) in ways.items() if end != "others win"]
        for number, other in enumerate(found.reference)
    ]


def _reasons(
    number: int, other: int, ways: dict[str, tuple[Comparison, NDArray[np.float64]]], worth: tuple[Any, Any]
) -> Iterator[Reason]:
    """Yield the reasons of an action other than the one taken; see `_worth_of_wins`."""
    for end, (difference, share) in ways.items():
        own, its = share[number], share[other]
        always = end in ("wins", "deals in")
        if max(own, its) < _LEAST_SHARE:
            if always:
                yield ("never" if own == 0 else "hardly"), end, "", ""
        elif (is_clear := difference.of(number).is_clear_of_zero) or always:
            pattern = "same" if not is_clear else "more" if difference.mean[number] > 0 else "less"
            yield pattern, end, _percent(own), _percent(its)
        if end == "wins" and abs(worth[0][number] - worth[0][other]) > worth[1][number]:
            pattern = "worth more" if worth[0][number] > worth[0][other] else "worth less"
            yield pattern, end, f"{worth[0][number]:.1f}", f"{worth[0][other]:.1f}"


def _worth_of_wins(found: ActionValues) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return [m] mean points of the worlds won, NaN without one, and half the 95 % interval of their differences."""
    number = found.worlds[found.position]
    won = np.isin(found.end, (End.SELF_DRAWN, End.WON_ON_TILE))
    wins = won.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = (found.points * won).sum(axis=1) / wins
        # Each world's share in the error of the quotient; the difference of two is again paired world by world.
        influence = np.where(won, found.points - worth[:, None], 0) / (wins / number)[:, None]
        between = found.against_taken(influence)
    return worth, 1.96 * between.error


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"


def points_text(points: Estimate) -> str:
    """Return "-0.42 ± 0.21", with as many decimals as the interval deserves."""
    half = points.half_width
    return points.text(2 if half < 1 else 1 if half < 10 else 0, sign="+")


def cost_text(cost: Estimate) -> str:
    """Return what the action taken costs against the best of the others, whichever that is: nothing where none is."""
    if cost.mean > 0:
        return _range(cost)
    return f"at most {cost.high:+.{2 if cost.high < 10 else 1}f}" if cost.high > 0 else "nothing: the best"


def _range(found: Estimate) -> str:
    length = found.high - found.low
    decimals = 2 if length < 10 else 1 if length < 100 else 0
    return f"{found.mean:+.{decimals}f} [{found.low:+.{decimals}f}, {found.high:+.{decimals}f}]"


def print_findings(found: Findings) -> None:
    """Print a table and a sentence for each action of one decision; of several, the most expensive first."""
    console = new_console()
    console.print(found.summary)
    if len(found.decisions) == 1:
        decision = found.decisions[0]
        person = None if found.settings["hindsight"] else decision.seat
        console.print(table_text(found.positions.engine, person=person))
        table = new_table("action", "points", "against taken", "against best other", "wins", "deals in")
        for line in decision.lines:
            points = f"{line.points:+.{1 if abs(line.points) >= 100 else 2}f}"
            against = "" if line.taken else points_text(line.against_taken)
            shares = [f"{100 * share:.0f} %" for share in (line.wins, line.deal_ins)]
            name = f"{'>' if line.taken else ' '} {line.action}"
            table.add_row(name, points, against, _range(line.against_best), *shares)
        console.print(table)
        console.print(BOTH_INTERVALS)
        for line in decision.lines:
            console.print(line.sentence)
        return
    table = new_table("decision", "person", "taken", "the best other", "taken costs", "worlds")
    for decision in found.ranked:
        other = next((line for line in decision.lines if not line.taken), decision.lines[0])
        style = "bold" if decision.cost.low > 0 else None
        cost, worlds = cost_text(decision.cost), str(decision.worlds)
        told = (str(decision.number), str(decision.seat), decision.taken.action, other.action)
        table.add_row(*told, cost, worlds, style=style)
    console.print(table)
    for decision in found.ranked[:_SHOWN]:
        if decision.cost.mean > 0:  # the table has the number and its interval; a second interval would confuse
            best = decision.lines[0]
            which = f"decision {decision.number} ({person_name(decision.seat)}, {decision.taken.action})"
            console.print(f"{which}: {best.action} {best.reasons}.")
    console.print(
        f"Points lost in all: {_range(found.lost())}. For each decision half of the worlds choose, "
        "and the other half measure what that brings more: this sum is not too high, as the costs above are."
    )


# --- The page --------------------------------------------------------------------------------------------------------


def html_text(found: Findings, *, play_on: str = "", command: str = "") -> str:
    """Return the page; it loads nothing from anywhere.

    Args:
        found: the review.
        play_on: the address that a position is played on from, less the number of actions before it.
        command: the command that plays on, less the person and that number, for a page without a server.
    """
    return viewer_html(found.positions.record, review_told(found) | {"playOn": play_on, "command": command})


def review_told(found: Findings) -> dict[str, Any]:
    """Return what the page shows of a review.

    Returns:
        ``agents``, ``worlds`` (least and most) and ``hindsight``; ``lost`` by person, and ``choices`` in their order:
        ``at`` (actions played before), ``person``, ``taken``, ``isPlayed`` (False: the agent would), ``cost``,
        ``gain``, ``why`` (of the best action: `Reason`) and ``lines``, the best one first: action, points
        to the end of the hand, these less those of the best other action, shares of wins and deal-ins. Intervals are
        [low, mean, high].
        ``patterns`` and ``ends`` are what reasons are made of, in English and Chinese.
    """
    worlds = found.values.worlds
    return {
        "agents": found.settings["agents"],
        "worlds": [int(worlds.min()), int(worlds.max())],
        "hindsight": found.settings["hindsight"],
        "lost": {str(seat): _ends(found.lost(seat)) for seat in sorted({one.seat for one in found.decisions})},
        "choices": [
            {
                "at": one.number,
                "person": one.seat,
                "taken": one.taken.action,
                "isPlayed": found.positions.taken is not None,
                "cost": _ends(one.cost),
                "gain": round(one.gain[0], _DECIMALS),
                "why": one.why,
                "lines": [
                    [
                        line.action,
                        round(line.points, _DECIMALS),
                        _ends(line.against_best),
                        *(round(share, 3) for share in (line.wins, line.deal_ins)),
                    ]
                    for line in one.lines
                ],
            }
            for one in found.decisions
        ],
        "patterns": PATTERNS,
        "ends": {end: words[:2] for end, words in ENDS.items()},
    }


def _ends(found: Estimate) -> list[float | None]:
    return [round(end, _DECIMALS) if np.isfinite(end) else None for end in (found.low, found.mean, found.high)]
