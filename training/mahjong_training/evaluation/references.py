"""References for trained policies: their teachers, and the same policies before they learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from mahjong_agents import make_agent
from mahjong_agents.levels import LEVELS
from mahjong_agents.policy.file import PolicyFile, find_policy
from mahjong_env import MahjongError, Rules
from mahjong_env.environments.agents import agent_names

INITIAL: Final = "initial.zip"
"""The file name, in the folder of a run, of the policy as it began."""


class Entrant(NamedTuple):
    """An agent that takes part in an evaluation (its text, or the object itself) and what is known about it."""

    spec: Any
    role: str = ""
    """What the agent is to the trained policies in the evaluation, in words."""
    clone: str = ""
    """For a trained policy, the text of the same policy before it learned."""


def with_references(specs: Sequence[Any], rules: Rules | None = None) -> list[Entrant]:
    """Return the agents, followed by the teachers and clones of trained policies that are not among them already.

    A clone is the same policy before it learned. The role of a policy also mentions that it was trained with other
    house rules than ``rules``, and which teachers it names that are not played.

    Args:
        specs: the agents, as texts or objects.
        rules: the rules to play by; None leaves out the comparison of house rules.
    """
    entrants = [Entrant(spec) for spec in specs]
    for spec in specs:
        address, mark, options = str(spec).partition("?")
        name, _, place = address.partition(":")
        if name.strip() != "policy" or not place:
            continue
        for found in _family(spec, find_policy(place), mark + options, rules):
            if all(entrant.spec != found.spec for entrant in entrants):
                entrants.append(found)
            for number, (known, role, clone) in enumerate(entrants):
                if known == found.spec:
                    entrants[number] = Entrant(known, role or found.role, clone or found.clone)
    return entrants


def _family(spec: str, path: Path, options: str, rules: Rules | None) -> Iterator[Entrant]:
    """Yield a policy, the same before it learned (or the run's last, if that is no better), and its teachers.

    Policies of the same run are loaded with the same options, as they have the same inputs and the same network.
    """
    saved = PolicyFile.read(path)
    trained = saved.training
    if not trained.get("teacher"):
        return
    teacher, teachers, name = trained["teacher"], trained.get("teachers") or (), f"{path.parent.name}/{path.stem}"
    if trained.get("method") == "ppo":
        after, plays, what, did = "having begun as", "plays like", "the agent", f"{name} began as"
    else:
        after, plays, what, did = "after imitating", "imitates", "the teacher", f"{name} imitated"
    before = [folder / INITIAL for folder in (path.parent, path.parent.parent) if (folder / INITIAL).is_file()]
    last, later, clone, kin = path.parent / "last.zip", 0, "", None
    if steps := int(trained.get("steps", 0)):
        role = f"learned from {steps:,} decisions, {after} {teacher}"
        if before:
            clone = f"policy:{before[0]}{options}"
            kin = Entrant(clone, f"the same policy before learning, which {plays} {teacher}")
    elif path.name == INITIAL:
        role = f"{plays} {teacher}; what the policies of its run were before learning"
    else:
        role = f"{plays} {teacher}; nothing that was learned later measured better"
        if path.name != last.name and last.is_file():
            later = int(PolicyFile.read(last).training.get("steps", 0))
        if later:
            told = f"the latest policy of the same run, after {later:,} decisions"
            kin = Entrant(f"policy:{last}{options}", told, spec)
    knobs = saved.knobs.items() if rules is not None and saved.variant == rules.name else ()
    other = [f"{name}={value}" for name, value in knobs if rules and rules.knobs.get(name, value) != value]
    house = f"; trained with other house rules: {', '.join(other)}" if other else ""
    absent = [one for one in teachers if not _plays_by_name(one)]
    are, them = ("is", "it") if len(absent) == 1 else ("are", "them")
    unplayed = f"; {', '.join(absent)} {are} not played, unless --agents names {them}" if absent else ""
    yield Entrant(spec, role + house + unplayed, clone)
    if kin:
        yield kin
    played = (one for one in teachers if one not in absent)
    yield from (Entrant(one, f"{what} that {did}" if one == teacher else f"not what {did}") for one in played)


def _plays_by_name(agent: str) -> bool:
    """Return whether an agent that a policy file names is known here: a name, a level or an existing policy.

    An address or a command line is not followed, as the file would then choose what runs on this machine.
    """
    kind, _, place = agent.partition(":")
    try:
        if agent in agent_names() or agent in LEVELS:
            make_agent(agent)  # some names need a file
            return True
        return kind == "policy" and "?" not in place and find_policy(place).is_file()
    except MahjongError:
        return False
