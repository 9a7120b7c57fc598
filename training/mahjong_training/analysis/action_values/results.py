"""What was found at some decisions of a match: as plain data, as lines of CSV, as notes in the match's record."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mahjong_env import ACTIONS, __version__
from mahjong_env.records import GameRecord
from mahjong_training.analysis.action_values.branches import (
    DEALT_IN,
    DRAWN,
    SELF_DRAWN,
    WON_ON_TILE,
    Branches,
    Comparison,
)
from mahjong_training.analysis.action_values.positions import Positions
from mahjong_training.analysis.action_values.words import sentences


@dataclass(frozen=True)
class Line:
    """One action of one decision; points are from there to the end of the hand.

    Attributes:
        action: its name.
        taken: whether it was played (or, where nothing was played, is what the agent would do).
        points: mean points.
        difference: mean, low and high of the points less those of the action taken.
        against_best: the same against the best of the other actions.
        wins, self_draws, deal_ins, draws: shares of worlds.
        sentence: all this in words.
    """

    action: str
    taken: bool
    points: float
    difference: tuple[float, float, float]
    against_best: tuple[float, float, float]
    wins: float
    self_draws: float
    deal_ins: float
    draws: float
    sentence: str


@dataclass(frozen=True)
class Decision:
    """What was found at one decision; actions are ordered from the best one down.

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
    def cost(self) -> tuple[float, float, float]:
        """Mean, low and high of the points that the action taken costs against the best other one.

        Negative where it is the best itself.
        """
        mean, low, high = self.taken.against_best
        return -mean, -high, -low


@dataclass(frozen=True)
class Findings:
    """What was found at some decisions of a match.

    Attributes:
        positions: the decisions.
        branches: what every action brought there.
        settings: how it was found, by name.
        decisions: the same as `branches`, in the order of the match.
    """

    positions: Positions
    branches: Branches
    settings: dict[str, Any]
    decisions: tuple[Decision, ...]

    @property
    def ranked(self) -> list[Decision]:
        """The decisions, the most expensive first."""
        return sorted(self.decisions, key=lambda decision: -decision.cost[0])

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        rules = self.branches.rules
        return {
            "mahjong_env": __version__,
            "variant": rules.name,
            "variant_version": rules.version,
            "knobs": rules.knobs,
            **self.settings,
            "decisions": [_plain(decision) for decision in self.decisions],
        }


def findings(positions: Positions, branches: Branches, settings: dict[str, Any]) -> Findings:
    """Put findings together."""
    taken, best, words = branches.against_taken(), branches.against_best(), sentences(branches)
    wins, self_draws = branches.share(SELF_DRAWN, WON_ON_TILE), branches.share(SELF_DRAWN)
    deal_ins, draws, means = branches.share(DEALT_IN), branches.share(DRAWN), branches.mean()
    decisions = []
    for number in range(len(branches.taken)):
        own = np.flatnonzero(branches.position == number)
        lines = [
            Line(
                action=ACTIONS[branches.action[at]],
                taken=bool(branches.action[at] == branches.taken[number]),
                points=float(means[at]),
                difference=_three(taken, at),
                against_best=_three(best, at),
                wins=float(wins[at]),
                self_draws=float(self_draws[at]),
                deal_ins=float(deal_ins[at]),
                draws=float(draws[at]),
                sentence=words[at],
            )
            for at in own[np.argsort(-means[own], kind="stable")]
        ]
        decisions.append(
            Decision(
                int(positions.decision[number]),
                int(branches.seat[number]),
                int(branches.worlds[number]),
                tuple(lines),
            )
        )
    return Findings(positions, branches, settings, tuple(decisions))


def _three(compared: Comparison, at: int) -> tuple[float, float, float]:
    return float(compared.mean[at]), float(compared.low[at]), float(compared.high[at])


def json_text(found: Findings) -> str:
    """Return everything as JSON; infinite ends of intervals (a single world) are null."""
    return json.dumps(_finite(found.as_json()), indent=1, ensure_ascii=False) + "\n"


def csv_text(found: Findings) -> str:
    """Return one line for each action of each decision."""
    text = io.StringIO()
    names = ["decision", "seat", "worlds", "action", "taken", "points", "difference", "difference_low"]
    names += ["difference_high", "against_best", "against_best_low", "against_best_high"]
    names += ["wins", "self_draws", "deal_ins", "draws", "sentence"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for decision in found.decisions:
        for line in decision.lines:
            head = [decision.number, decision.seat, decision.worlds, line.action, int(line.taken), line.points]
            rates = [line.wins, line.self_draws, line.deal_ins, line.draws]
            writer.writerow([*head, *line.difference, *line.against_best, *rates, line.sentence])
    return text.getvalue()


def annotated(found: Findings) -> GameRecord:
    """Return the record with what was found in its notes, for the viewer; other notes of the record stay.

    `GameRecord.notes` says what ``value`` and ``intervals`` mean.
    """
    record = found.positions.record
    notes = {number: dict(note) for number, note in record.notes.items()}
    for decision in found.decisions:
        intervals = {line.action: _interval(line.difference) for line in decision.lines}
        note = {"value": round(decision.taken.points, 4), "intervals": intervals}
        notes[decision.number] = notes.get(decision.number, {}) | note
    return replace(record, notes=dict(sorted(notes.items())))


def _interval(difference: tuple[float, float, float]) -> list[float]:
    mean, low, high = difference
    return [round(end, 4) if np.isfinite(end) else round(mean, 4) for end in (low, mean, high)]


def _plain(decision: Decision) -> dict[str, Any]:
    cost, low, high = decision.cost
    return {
        "decision": decision.number,
        "seat": decision.seat,
        "worlds": decision.worlds,
        "taken": decision.taken.action,
        "cost": {"mean": cost, "low": low, "high": high},
        "actions": [
            {
                "action": line.action,
                "points": line.points,
                "against_taken": dict(zip(("mean", "low", "high"), line.difference, strict=True)),
                "against_best": dict(zip(("mean", "low", "high"), line.against_best, strict=True)),
                "wins": line.wins,
                "self_draws": line.self_draws,
                "deal_ins": line.deal_ins,
                "draws": line.draws,
                "sentence": line.sentence,
            }
            for line in decision.lines
        ],
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
