"""The findings of a review: as data, in words, as tables, as notes in the match's record, and as a page."""

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
"""The most decisions that the terminal describes in sentences; the files have all of them."""
_DECIMALS: Final = 2  # on the page
_LEAST_SHARE: Final = 0.005
"""Shares are not mentioned where both are below this."""
BOTH_INTERVALS: Final = (
    "± is the interval of the difference to the action taken. Which other action is the best one is not known: the "
    "interval in brackets holds whichever it is, and is wider."
)


Reason = tuple[str, str, str, str]
"""A key of `PATTERNS`, a key of `ENDS`, and the two numbers that go into the pattern, as text."""


@dataclass(frozen=True)
class Line:
    """The results of one action of one decision.

    Points count from the decision to the end of the hand; shares are shares of the worlds.

    Attributes:
        action: the name of the action.
        taken: whether the action was played (or, where nothing was played, is what the agent would do).
        points: the mean points.
        against_taken: the points less those of the action taken.
        against_best: the points less those of the best other action. The interval is wider, as it is valid whichever
            action that is.
        wins, self_draws, deal_ins, draws: shares of worlds that ended in a win, a win by self-draw, a deal-in, a draw.
        reasons: why the action brings more or less than the one taken, in words.
        sentence: all of this in words.
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
    """The findings at one decision.

    Attributes:
        number: the number of the decision, counted from 0 over all actions of the match.
        seat: the person who decides.
        worlds: how many worlds were played.
        gain: the points that a better choice would have gained, and their standard error; see `ActionValues.gain`.
        why: why the best action brings more or less than the one taken.
        lines: the results of each legal action, the best one first.
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
        """The points that the action taken costs against the best other action; negative if it is the best itself."""
        best = self.taken.against_best
        return Estimate(-best.mean, -best.high, -best.low)


@dataclass(frozen=True)
class Findings:
    """The findings at some decisions of a match, as arrays (`values`) and by decision, in the order of the match."""

    positions: Any
    values: ActionValues
    settings: dict[str, Any]
    decisions: tuple[Decision, ...]

    @property
    def ranked(self) -> list[Decision]:
        """The decisions, the most expensive first."""
        return sorted(self.decisions, key=lambda decision: -decision.cost.mean)

    def lost(self, seat: int | None = None) -> Estimate:
        """Estimate the points that a person (None for everybody) lost by all decisions; see `ActionValues.gain`."""
        some = [decision for decision in self.decisions if seat in (None, decision.seat)]
        mean, error = sum(one.gain[0] for one in some), np.hypot.reduce([one.gain[1] for one in some])
        reach = student_t(max(min(one.worlds for one in some) // 2 - 1, 1), 0.95) * float(error)
        return Estimate(mean, mean - reach, mean + reach)

    @property
    def summary(self) -> str:
        """The rules, worlds and agents, and the meaning of the numbers, in words."""
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
    """Compute the findings of a review; see `Findings`."""
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
    """Return the findings as plain data."""
    decisions = []
    for one in found.decisions:
        told = {"decision": one.number, "seat": one.seat, "worlds": one.worlds, "taken": one.taken.action}
        decisions.append(told | {"cost": asdict(one.cost), "actions": [asdict(line) for line in one.lines]})
    return {**found.settings, "lost": asdict(found.lost()), "decisions": decisions}


def as_lines(found: Findings) -> list[dict[str, Any]]:
    """Return the findings as lines of a table: one for each action of each decision, intervals in several columns."""
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
    """Return the record with the findings added to its notes, for the viewer; other notes of the record stay.

    `GameRecord.notes` explains ``value`` and ``intervals``. Intervals that are not known (of one world) are left out.
    """
    record: GameRecord = found.positions.record
    notes = {number: dict(note) for number, note in record.notes.items()}
    for decision in found.decisions:
        points = {line.action: line.against_taken for line in decision.lines}
        intervals = {
            name: [round(end, 4) for end in (one.low, one.mean, one.high)]
            for name, one in points.items()
            if np.isfinite(one.high)
        }
        note = {"value": round(decision.taken.points, 4), "intervals": intervals}
        notes[decision.number] = notes.get(decision.number, {}) | note
    return replace(record, notes=dict(sorted(notes.items())))


def sentences(found: ActionValues) -> list[tuple[list[Reason], str]]:
    """Return, for each action, the reasons why it brings more or less than the one taken, and a full sentence."""
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
    """Return reasons as text, in English (0) or Chinese (1)."""
    return ("，" if language else ", ").join(
        PATTERNS[pattern][language].format(ENDS[end][language], own, its) for pattern, end, own, its in coded
    )


def reasons(found: ActionValues) -> list[list[Reason]]:
    """Return, for each action, how hands end after it compared with hands after the action taken.

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
    """Yield the reasons for an action other than the one taken; for ``worth`` see `_worth_of_wins`."""
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
    """Return [m] the mean points of the worlds won (NaN without any), and half the 95 % interval of the differences."""
    number = found.worlds[found.position]
    won = np.isin(found.end, (End.SELF_DRAWN, End.WON_ON_TILE))
    wins = won.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = (found.points * won).sum(axis=1) / wins
        # Each world's contribution to the error of the quotient; differences are again paired world by world.
        influence = np.where(won, found.points - worth[:, None], 0) / (wins / number)[:, None]
        between = found.against_taken(influence)
    return worth, 1.96 * between.error


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"


def points_text(points: Estimate) -> str:
    """Return points as text such as "-0.42 ± 0.21", with the number of decimals that the interval justifies."""
    half = points.half_width
    return points.text(2 if half < 1 else 1 if half < 10 else 0, sign="+")


def cost_text(cost: Estimate) -> str:
    """Return as text what the action taken costs compared with the best other action, "nothing" if it is the best."""
    if cost.mean > 0:
        return _range(cost)
    return f"at most {cost.high:+.{2 if cost.high < 10 else 1}f}" if cost.high > 0 else "nothing: the best"


def _range(found: Estimate) -> str:
    length = found.high - found.low
    decimals = 2 if length < 10 else 1 if length < 100 else 0
    return f"{found.mean:+.{decimals}f} [{found.low:+.{decimals}f}, {found.high:+.{decimals}f}]"


def print_findings(found: Findings) -> None:
    """Print the findings: every action of a single decision, or a table of several, the most expensive first."""
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
    """Return the page of a review as self-contained HTML; it loads nothing from elsewhere.

    Args:
        found: the findings.
        play_on: the address at which a position can be played on, without the number of actions before it.
        command: the command that plays on, without the person and that number, for a page without a server.
    """
    return viewer_html(found.positions.record, review_told(found) | {"playOn": play_on, "command": command})


def review_told(found: Findings) -> dict[str, Any]:
    """Return what the page shows of a review, as plain data.

    Returns:
        ``agents``, ``worlds`` (the least and the most), ``hindsight``, ``lost`` by person, and ``choices`` in their
        order.

        A choice has ``at`` (the number of actions played before), ``person``, ``taken``, ``isPlayed`` (False if it is
        what the agent would do), ``cost``, ``gain``, ``why`` (the `Reason` list of the best action) and ``lines``, the
        best action first. A line has the action, its points to the end of the hand, these less the points of the best
        other action, and its shares of wins and of deal-ins. Intervals are [low, mean, high].

        ``patterns`` and ``ends`` hold the words of reasons in English and Chinese.
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
