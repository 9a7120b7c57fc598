"""Whom a trained policy has to be compared with: its teachers, and what it was before it learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from agents.policy_file import PolicyFile, find_policy

CLONE: Final = "clone.zip"
"""The name, in a run's folder, of the policy as the warm start left it."""


@dataclass(frozen=True)
class Entrant:
    """An agent that takes part in an evaluation.

    Attributes:
        spec: the text that it is made from.
        role: what it is to the trained policies among the others; "" if nothing.
        clone: for a trained policy, the spec of the same policy before learning; "" if there is none.
    """

    spec: str
    role: str = ""
    clone: str = ""


def with_references(specs: Sequence[str]) -> list[Entrant]:
    """Return agents, and behind them the teachers and the clones of trained policies that are not named themselves.

    Raises:
        MahjongError: a policy file that cannot be used.
    """
    entrants = [Entrant(spec) for spec in specs]
    for spec in specs:
        name, _, place = str(spec).partition("?")[0].partition(":")
        if name.strip() == "policy" and place:
            for found in _family(spec, find_policy(place)):
                entrants = _joined(entrants, found)
    return entrants


def _joined(entrants: list[Entrant], found: Entrant) -> list[Entrant]:
    """Return entrants with what is known of one of them; at the end if it was not among them."""
    if all(entrant.spec != found.spec for entrant in entrants):
        return [*entrants, found]
    return [
        replace(entrant, role=entrant.role or found.role, clone=entrant.clone or found.clone)
        if entrant.spec == found.spec
        else entrant
        for entrant in entrants
    ]


def _family(spec: str, path: Path) -> list[Entrant]:
    """Return a policy of a run, what it was before it learned, and its teachers."""
    trained = PolicyFile.read(path).training
    teacher, teachers = trained.get("teacher"), trained.get("teachers") or ()
    if not teacher:
        return []
    steps = int(trained.get("steps", 0))
    family = _after_learning(spec, path, str(teacher), steps) if steps else _before_learning(spec, path, str(teacher))
    for other in map(str, teachers):
        role = "teacher, imitated" if other == teacher else "teacher, tried out and not imitated"
        family.append(Entrant(other, role))
    return family


def _after_learning(spec: str, path: Path, teacher: str, steps: int) -> list[Entrant]:
    """Return a policy that has learned, and its clone if that was kept."""
    role = f"learned from {steps:,} decisions, after imitating {teacher}"
    for folder in (path.parent, path.parent.parent):
        if (folder / CLONE).is_file():
            clone = f"policy:{folder / CLONE}"
            return [Entrant(spec, role, clone), Entrant(clone, f"the same before learning: it imitates {teacher}")]
    return [Entrant(spec, role)]


def _before_learning(spec: str, path: Path, teacher: str) -> list[Entrant]:
    """Return a policy that imitates, and the one that it became, if that is not as good."""
    if path.name == CLONE:
        return [Entrant(spec, f"imitates {teacher}; what the policies of its run were before learning")]
    family = [Entrant(spec, f"imitates {teacher}; nothing that was learned later measured better")]
    last = path.parent / "last.zip"
    if path.name != last.name and last.is_file() and (steps := int(PolicyFile.read(last).training.get("steps", 0))):
        family.append(Entrant(f"policy:{last}", f"the same after learning from {steps:,} decisions", spec))
    return family
