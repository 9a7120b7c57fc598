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
    """Return a trained policy, its clone and its teachers."""
    learned = PolicyFile.read(path).training
    teacher, teachers = str(learned.get("teacher", "")), [str(text) for text in learned.get("teachers", ())]
    steps = int(learned.get("steps", 0))
    if not steps or not teacher:
        return []
    clones = [folder / CLONE for folder in (path.parent, path.parent.parent) if (folder / CLONE).is_file()]
    clone = f"policy:{clones[0]}" if clones and clones[0] != path else ""
    family = [Entrant(spec, f"learned from {steps:,} decisions, after imitating {teacher}", clone)]
    if clone:
        family.append(Entrant(clone, f"the same before learning: it imitates {teacher}"))
    for other in teachers:
        role = "teacher, imitated" if other == teacher else "teacher, tried out and not imitated"
        family.append(Entrant(other, role))
    return family
