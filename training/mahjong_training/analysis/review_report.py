"""Findings of a review: sentences, tables on the terminal, one page, JSON, CSV, and notes in the match's record."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, MissingExtraError, __version__
from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.table import person_name, read_table, seen_table
from mahjong_env.drawing.text import table_text
from mahjong_env.records import GameRecord
from mahjong_training.analysis.action_values import (
    DEALT_IN,
    DRAWN,
    OTHERS_WON,
    SELF_DRAWN,
    WON_ON_TILE,
    ActionValues,
    Comparison,
)
from mahjong_training.analysis.positions import Positions
from mahjong_training.evaluation.estimates import Estimate, plain_json

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
BOTH_INTERVALS: Final = (
    "± is the interval of the difference to the action taken. Which other action is the best one is not known: the "
    "interval in brackets holds whichever it is, and is wider."
)
_LEAST_SHARE: Final = 0.005
"""Shares below this on both sides are not mentioned."""


@dataclass(frozen=True)
class Line:
    """One action of one decision; points are from there to the end of the hand.

    Attributes:
        action: its name.
        taken: whether it was played (or, where nothing was played, is what the agent would do).
        points: mean points.
        against_taken: the points less those of the action taken.
        against_best: the points less those of the best other action, whichever that is: a wider interval.
        wins, self_draws, deal_ins, draws: shares of worlds.
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
    """The findings at one decision; actions are ordered from the best one down.

    Attributes:
        number: of the decision, counted from 0 over all actions of the match.
        seat: the person who decides.
        worlds: worlds that were played.
        lines: one for each legal action.
    """

    number: int
    seat: int
    worlds: int
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
    """The findings at some decisions of a match.

    Attributes:
        positions: the decisions.
        values: what every action brought there.
        settings: how it was found, by name.
        decisions: the same as `values`, in the order of the match.
    """

    positions: Positions
    values: ActionValues
    settings: dict[str, Any]
    decisions: tuple[Decision, ...]

    @property
    def ranked(self) -> list[Decision]:
        """The decisions, the most expensive first."""
        return sorted(self.decisions, key=lambda decision: -decision.cost.mean)


def findings(positions: Positions, values: ActionValues, settings: dict[str, Any]) -> Findings:
    """Put findings together."""
    taken, best, words = values.against_taken(), values.against_best(), sentences(values)
    shares = {
        "wins": values.share(SELF_DRAWN, WON_ON_TILE),
        "self_draws": values.share(SELF_DRAWN),
        "deal_ins": values.share(DEALT_IN),
        "draws": values.share(DRAWN),
    }
    means, decisions = values.mean(), []
    for number, seat in enumerate(values.seat):
        own = np.flatnonzero(values.position == number)
        lines = [
            Line(
                action=ACTIONS[values.action[at]],
                taken=bool(values.action[at] == values.taken[number]),
                points=float(means[at]),
                against_taken=_estimate(taken, at),
                against_best=_estimate(best, at),
                **{name: float(share[at]) for name, share in shares.items()},
                reasons=words[at][0],
                sentence=words[at][1],
            )
            for at in own[np.argsort(-means[own], kind="stable")]
        ]
        decisions.append(Decision(int(positions.decision[number]), int(seat), int(values.worlds[number]), tuple(lines)))
    return Findings(positions, values, settings, tuple(decisions))


def _estimate(compared: Comparison, at: int) -> Estimate:
    return Estimate(float(compared.mean[at]), float(compared.low[at]), float(compared.high[at]))


# --- Words --------------------------------------------------------------------------------------------------------


def points_text(mean: float, half: float) -> str:
    """Return "-0.42 ± 0.21", with as many decimals as the interval deserves."""
    decimals = 2 if half < 1 else 1 if half < 10 else 0
    shown = f"{mean:+.{decimals}f}"
    shown = shown.replace("-", "+") if float(shown) == 0 else shown
    return f"{shown} ± {half:.{decimals}f}"


def sentences(found: ActionValues) -> list[tuple[str, str]]:
    """Return for each action why it brings more or less than the one taken, and a sentence with all of it.

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


def _sentence(
    found: ActionValues,
    number: int,
    points: Comparison,
    ways: dict[str, tuple[Comparison, NDArray[np.float64]]],
    worth: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[str, str]:
    name, other = ACTIONS[found.action[number]], int(found.reference[number])
    if number == other:
        mean = found.mean()[number]
        shares = ", ".join(f"{verb} {_percent(way[1][number])}" for verb, way in ways.items() if verb != "others win")
        return shares, f"{name}, which the others are compared with: {mean:+.2f} points on average; {shares}."
    reasons = ", ".join(_reasons(number, other, ways, worth))
    difference = points_text(points.mean[number], points.half_width[number])
    verdict = "" if _is_clear(points, number) else ", which is not clear of zero"
    return reasons, f"{name}: {difference} points against {ACTIONS[found.action[other]]}{verdict}; {reasons}."


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


def _worth_of_wins(found: ActionValues) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


# --- On the terminal ------------------------------------------------------------------------------------------------


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
    for decision in found.ranked[:_SHOWN]:
        if decision.cost.mean > 0:  # the table has the number and its interval; a second interval would confuse
            best = decision.lines[0]
            console.print(f"{_title(decision)}: {best.action} {best.reasons}.", markup=False)
    console.print(
        f"All costs together: {sum(max(decision.cost.mean, 0) for decision in found.decisions):.2f} points. The best "
        "action is chosen by the same worlds, so that costs are rather too high than too low; the intervals allow "
        "for that.",
        markup=False,
    )


def how_it_was_found(found: Findings) -> str:
    """Return in words who played, on what, and what the numbers are."""
    settings, worlds = found.settings, found.values.worlds
    number = f"{worlds.min():,}" if worlds.min() == worlds.max() else f"{worlds.min():,} to {worlds.max():,}"
    mark = "" if len(found.decisions) > 1 else "; > marks what was taken"
    if found.positions.taken is None:
        mark = "; > marks what the agent would do"
    hidden = "with the true hidden tiles" if settings["hindsight"] else "hidden tiles drawn anew"
    return (
        f"{found.values.rules.title}: {number} worlds, {hidden}; {', '.join(settings['agents'])} at all seats "
        f"afterwards. Points from here to the end of the hand, paired 95 % intervals{mark}."
    )


def _print_decision(decision: Decision, console: Console) -> None:
    table = _new_table("action", "points", "against taken", "against best other", "wins", "deals in")
    for line in decision.lines:
        mark = "> " if line.taken else "  "
        table.add_row(f"{mark}{line.action}", *_cells(line)[:-1])
    console.print(table)
    console.print(BOTH_INTERVALS, markup=False)
    for line in decision.lines:
        console.print(line.sentence, markup=False)


def _cells(line: Line) -> list[str]:
    shares = [f"{100 * share:.0f} %" for share in (line.wins, line.deal_ins, line.draws)]
    gain = line.against_taken
    difference = "" if line.taken else points_text(gain.mean, (gain.high - gain.low) / 2)
    return [f"{line.points:+.{1 if abs(line.points) >= 100 else 2}f}", difference, _range(line.against_best), *shares]


def _range(found: Estimate) -> str:
    length = found.high - found.low
    decimals = 2 if length < 10 else 1 if length < 100 else 0
    return f"{found.mean:+.{decimals}f} [{found.low:+.{decimals}f}, {found.high:+.{decimals}f}]"


def cost_text(cost: Estimate) -> str:
    """Return what the action taken costs against the best of the others, whichever that is: nothing where none is."""
    if cost.mean > 0:
        return _range(cost)
    return f"at most {cost.high:+.{2 if cost.high < 10 else 1}f}" if cost.high > 0 else "nothing: the best"


def _ranking(found: Findings) -> Table:
    table = _new_table("decision", "person", "taken", "the best other", "taken costs", "worlds")
    for decision in found.ranked:
        names = (decision.taken.action, _best_other(decision).action)
        cost = cost_text(decision.cost)
        cost = f"[bold]{cost}[/]" if decision.cost.low > 0 else cost
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


# --- Files ----------------------------------------------------------------------------------------------------------


def json_text(found: Findings) -> str:
    """Return everything as JSON; infinite ends of intervals (a single world) are null."""
    rules = found.values.rules
    told = {
        "mahjong_env": __version__,
        "variant": rules.name,
        "variant_version": rules.version,
        "knobs": rules.knobs,
        **found.settings,
        "decisions": [
            {
                "decision": decision.number,
                "seat": decision.seat,
                "worlds": decision.worlds,
                "taken": decision.taken.action,
                "cost": asdict(decision.cost),
                "actions": [asdict(line) for line in decision.lines],
            }
            for decision in found.decisions
        ],
    }
    return plain_json(told) + "\n"


def csv_text(found: Findings) -> str:
    """Return one line for each action of each decision, with the ends of intervals in columns of their own."""
    lines = []
    for decision in found.decisions:
        for line in decision.lines:
            told: dict[str, Any] = {"decision": decision.number, "seat": decision.seat, "worlds": decision.worlds}
            for name, value in asdict(line).items():
                ends = {"": "mean", "_low": "low", "_high": "high"}
                is_estimate = isinstance(value, dict)
                told |= {name + end: value[key] for end, key in ends.items()} if is_estimate else {name: value}
            lines.append(told | {"taken": int(line.taken)})
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def annotated(found: Findings) -> GameRecord:
    """Return the record with what was found in its notes, for the viewer; other notes of the record stay.

    `GameRecord.notes` says what ``value`` and ``intervals`` mean.
    """
    record = found.positions.record
    notes = {number: dict(note) for number, note in record.notes.items()}
    for decision in found.decisions:
        intervals = {line.action: _interval(line.against_taken) for line in decision.lines}
        note = {"value": round(decision.taken.points, 4), "intervals": intervals}
        notes[decision.number] = notes.get(decision.number, {}) | note
    return replace(record, notes=dict(sorted(notes.items())))


def _interval(difference: Estimate) -> list[float]:
    ends = (difference.low, difference.mean, difference.high)
    return [round(end if np.isfinite(end) else difference.mean, 4) for end in ends]


# --- HTML --------------------------------------------------------------------------------------------------------


def html_text(found: Findings) -> str:
    """Return a page with the table as it stood, the actions and the sentences of every decision."""
    title = f"{found.values.rules.title}: what each action is worth"
    knobs = ", ".join(f"{name}={value}" for name, value in found.values.rules.knobs.items())
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(how_it_was_found(found))} {escape(BOTH_INTERVALS)}</p>",
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
            _coloured(cost_text(decision.cost), decision.taken.against_best),
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
        coloured = [_coloured(difference, line.against_taken), _coloured(best, line.against_best)]
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


def _coloured(text: str, found: Estimate) -> str:
    name = "up" if found.low > 0 else "down" if found.high < 0 else ""
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)
