"""References for trained policies: their teachers, and the same policy before it learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mahjong_agents.policy.file import PolicyFile, find_policy
from mahjong_env import Rules

INITIAL: Final = "initial.zip"
"""The name, in the folder of a run, of the policy as it began."""


@dataclass(frozen=True)
class Entrant:
    """An agent that takes part in an evaluation.

    Attributes:
        spec: the text that it is made from.
        role: what it is to the trained policies among the others; "" if nothing.
        clone: for a trained policy, the spec of the same policy before learning; "" if there is none.
    """

    spec: Any
    role: str = ""
    clone: str = ""


def with_references(specs: Sequence[Any], rules: Rules | None = None) -> list[Entrant]:
    """Return agents, and behind them the teachers and the clones of trained policies that are not named themselves.

    Args:
        specs: the agents, by name or as objects.
        rules: what is played: of a policy that was trained with other house rules that is said; None: of none.

    Raises:
        MahjongError: a policy file that cannot be used.
    """
    entrants = [Entrant(spec) for spec in specs]
    for spec in specs:
        name, _, place = str(spec).partition("?")[0].partition(":")
        if name.strip() == "policy" and place:
            for found in _family(spec, find_policy(place), rules):
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


def _family(spec: str, path: Path, rules: Rules | None) -> list[Entrant]:
    """Return a policy of a run, what it was before it learned, and its teachers."""
    saved = PolicyFile.read(path)
    trained = saved.training
    if not trained.get("teacher"):
        return []
    teacher, teachers = trained["teacher"], trained.get("teachers") or ()
    words = _BEGUN if trained.get("method") == "ppo" else _IMITATED
    steps = int(trained.get("steps", 0))
    own, *family = (
        _after_learning(spec, path, words, teacher, steps) if steps else _before_learning(spec, path, words, teacher)
    )
    own = replace(own, role=own.role + _other_house_rules(saved, rules))
    others = (Entrant(other, words.teacher if other == teacher else words.other) for other in teachers)
    return [own, *family, *others]


@dataclass(frozen=True)
class _Words:
    """The words for policies that came from a teacher in one way."""

    after: str
    plays: str
    teacher: str
    other: str


_IMITATED: Final = _Words("after imitating", "imitates", "teacher, imitated", "teacher, not imitated")
_BEGUN: Final = _Words("having begun as", "plays like", "what it began as", "not what it began as")


def _other_house_rules(saved: PolicyFile, rules: Rules | None) -> str:
    if rules is None or saved.variant != rules.name:
        return ""
    other = [f"{name}={value}" for name, value in saved.knobs.items() if rules.knobs.get(name, value) != value]
    return f"; trained with other house rules: {', '.join(other)}" if other else ""


def _after_learning(spec: str, path: Path, words: _Words, teacher: str, steps: int) -> list[Entrant]:
    """Return a policy that has learned, and its clone if that was kept."""
    role = f"learned from {steps:,} decisions, {words.after} {teacher}"
    for folder in (path.parent, path.parent.parent):
        if (folder / INITIAL).is_file():
            clone = f"policy:{folder / INITIAL}"
            before = f"the same before learning: it {words.plays} {teacher}"
            return [Entrant(spec, role, clone), Entrant(clone, before)]
    return [Entrant(spec, role)]


def _before_learning(spec: str, path: Path, words: _Words, teacher: str) -> list[Entrant]:
    """Return a policy that plays like its teacher, and the one that it became, if that is not as good."""
    if path.name == INITIAL:
        return [Entrant(spec, f"{words.plays} {teacher}; what the policies of its run were before learning")]
    family = [Entrant(spec, f"{words.plays} {teacher}; nothing that was learned later measured better")]
    last = path.parent / "last.zip"
    if path.name != last.name and last.is_file() and (steps := int(PolicyFile.read(last).training.get("steps", 0))):
        family.append(Entrant(f"policy:{last}", f"the same after learning from {steps:,} decisions", spec))
    return family
