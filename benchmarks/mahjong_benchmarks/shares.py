"""Where the time of a step goes: the self time of every function, given to the part of the step that it belongs to.

A function of the engine belongs to a part by its module, a few public ones by their names. What belongs to no part of
its own (numpy, the state's arithmetic, what a variant does in a phase) is given to its callers, in proportion to
the time that each caller spent there. Looking hands up is a part of its own.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

import mahjong_env
from mahjong_benchmarks.own import WarmGames, choose
from mahjong_benchmarks.timing import Clock
from mahjong_env.engine.batch import Engine
from mahjong_env.ruleset.questions import Rules

CHECKS: Final = "checks of the step"
TURN: Final = "turn: discards, kongs"
CLAIMS: Final = "claims"
HANDS: Final = "hand look-ups"
DRAWING: Final = "drawing"
WINS: Final = "judging and settling wins"
DEALING: Final = "dealing"
MASKS: Final = "masks"
OBSERVATION: Final = "observation"
PARTS: Final = (CHECKS, TURN, CLAIMS, HANDS, DRAWING, WINS, DEALING, MASKS, OBSERVATION)

STEPS: Final = 60

# A module's part, by its name within the package; folders end in a dot. What is not listed belongs to its callers.
MODULES: Final[Mapping[str, str]] = {
    "engine.step": CHECKS,
    "engine.phases.turn": TURN,
    "engine.phases.kongs": TURN,
    "engine.claim_rules": CLAIMS,
    "engine.phases.claims": CLAIMS,
    "engine.phases.grants": CLAIMS,
    "engine.phases.judge": HANDS,
    "hands.": HANDS,
    "engine.phases.draw": DRAWING,
    "engine.phases.settle": WINS,
    "engine.outcome": WINS,
    "scoring.": WINS,
    "engine.phases.deal": DEALING,
    "basics.chance": DEALING,
    "engine.phases.masks": MASKS,
    "observation.": OBSERVATION,
}
# Public functions that belong elsewhere than their module, by module (a folder ends in a dot) and name. What else the
# engine does for its public methods belongs to them.
FUNCTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("engine.batch", "step"): CHECKS,
    ("engine.batch", "observe"): OBSERVATION,
    ("engine.batch", "action_mask"): MASKS,
    **{(module, "tiles_short"): HANDS for module in ("ruleset.", "scoring.", "variants.")},
    **{(module, name): WINS for module in ("ruleset.", "variants.") for name in ("legal", "complete", "score")},
}

Function = tuple[str, int, str]
"""How `pstats` names a function: file (`~` for one that is not written in Python), line, name."""

Stats = Mapping[Function, Any]
PartOf = Callable[[Function], str | None]

_HOME: Final = Path(mahjong_env.__file__).parent


@dataclass(frozen=True)
class Shares:
    """Where the time went.

    Attributes:
        variant: what was played.
        play: by whom.
        batch: games at once.
        microseconds: for one decision, step, mask and observation together, without the profiler.
        parts: the share of each of `PARTS`, from 0 to 1; together they are 1.
    """

    variant: str
    play: str
    batch: int
    microseconds: float
    parts: dict[str, float]


def profile(rules: Rules, play: str, batch: int, steps: int = STEPS) -> Shares:
    """Play steps with masks and observations, by turns one with a clock and one under the profiler.

    Args:
        rules: the variant with its knobs.
        play: a name for `mahjong_env.environments.agents.find_agent`; its time does not count.
        batch: games at once.
        steps: how many each way.
    """
    source = WarmGames(rules, batch, play)
    engine, rng = source.copy(batch), np.random.default_rng(0)
    clock, profiler = Clock(process_time), cProfile.Profile(process_time)
    for _ in range(steps):
        actions = choose(engine, source.agent, rng)
        with clock:
            look_and_step(engine, actions)
        actions = choose(engine, source.agent, rng)
        profiler.enable()
        look_and_step(engine, actions)
        profiler.disable()
    parts = divide(pstats.Stats(profiler).stats, clock.seconds, part_of)  # type: ignore[attr-defined]
    return Shares(rules.name, play, batch, 1e6 * clock.seconds / (steps * batch), parts)


def look_and_step(engine: Engine, actions: Any) -> None:
    """What is measured: a step, the masks, the observations."""
    engine.step(actions)
    engine.action_mask  # noqa: B018
    engine.observe()


def part_of(function: Function) -> str | None:
    """The part that a function belongs to; None: that of its caller."""
    file, _, name = function
    try:
        module = ".".join(Path(file).relative_to(_HOME).with_suffix("").parts)
    except ValueError:
        return None
    names = [module, *(module[: place + 1] for place, letter in enumerate(module) if letter == ".")]
    for known in names:
        if (known, name) in FUNCTIONS:
            return FUNCTIONS[known, name]
    return next((MODULES[known] for known in names if known in MODULES), None)


def divide(stats: Stats, seconds: float, part: PartOf) -> dict[str, float]:
    """Give the self time of all functions to the parts.

    The profiler makes every call dearer, which would make parts with many small calls look large. What it has added
    is known, as the same work has been timed without it: it is taken off again, the same for every call, one half
    where the call was made and one half where it arrived.

    Args:
        stats: as `pstats.Stats` has them: calls, calls, self time, time with all that is called, and the same
            numbers for each caller.
        seconds: how long the same work takes without the profiler.
        part: names a function's part, or None for that of its callers.

    Returns:
        The share of each of `PARTS`, from 0 to 1, together 1. Functions that nobody has called and that belong to no
        part are left out.
    """
    owners = _Owners(stats, part)
    spent, calls = dict.fromkeys(PARTS, 0.0), dict.fromkeys(PARTS, 0.0)
    for function, (_, _, own, _, callers) in stats.items():
        mine = part(function)
        if mine is not None:
            spent[mine] += own
        for caller, (_, number, own_for_caller, _) in callers.items():
            at_caller = owners.of(caller)
            for each, share in at_caller.items():
                calls[each] += share * number / 2
            for each, share in ({mine: 1.0} if mine is not None else at_caller).items():
                calls[each] += share * number / 2
                spent[each] += share * own_for_caller if mine is None else 0.0
    added = max(0.0, sum(spent.values()) - seconds) / max(1.0, sum(calls.values()))
    left = {each: max(0.0, spent[each] - added * calls[each]) for each in PARTS}
    total = sum(left.values())
    return {each: value / total for each, value in left.items()}


class _Owners:
    """Whose time a function spends: its own part's, or that of the parts which have called it."""

    def __init__(self, stats: Stats, part: PartOf) -> None:
        self._stats = stats
        self._part = part
        self._known: dict[Function, dict[str, float]] = {}

    def of(self, function: Function, below: frozenset[Function] = frozenset()) -> dict[str, float]:
        """Shares of parts, together 1; nothing if no part has called it.

        ``below`` are the functions on the way here, so that those which call each other come to an end.
        """
        mine = self._part(function)
        if mine is not None:
            return {mine: 1.0}
        if function in self._known:
            return self._known[function]
        weights: dict[str, float] = {}
        for caller, (_, calls, _, whole) in self._stats[function][4].items():
            if caller not in below:
                for each, share in self.of(caller, below | {function}).items():
                    weights[each] = weights.get(each, 0.0) + share * (whole + 1e-9 * calls)
        total = sum(weights.values())
        shares = {each: weight / total for each, weight in weights.items()}
        if not below:  # inside a circle of calls, some callers have been left out
            self._known[function] = shares
        return shares


def shares_text(shares: Sequence[Shares]) -> str:
    """A table in markdown for each way of playing: parts below each other, variants beside each other."""
    tables = []
    for play in dict.fromkeys(one.play for one in shares):
        shown = [one for one in shares if one.play == play]
        rows = [[f"{play} play, {shown[0].batch} games", *(one.variant for one in shown)], ["---"] * (len(shown) + 1)]
        rows += [[part, *(f"{one.parts[part]:.1%}" for one in shown)] for part in PARTS]
        rows.append(["microseconds for a decision", *(f"{one.microseconds:.2f}" for one in shown)])
        tables.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return "\n\n".join(tables)
