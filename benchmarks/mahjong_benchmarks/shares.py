"""Where the time of a step goes: samples of the call stack, given to the part of the step to which they belong.

A function of the engine belongs to a part by its module, a few public ones by their names. What belongs to no part of
its own (numpy, the state's arithmetic, what a variant does in a phase) counts as its caller's. Looking hands up is a
part of its own.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import numpy as np

import mahjong_env
from mahjong_benchmarks.contenders import WarmGames, choose
from mahjong_benchmarks.timing import Clock
from mahjong_env.basics.errors import MahjongError
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
    "engine.deal_prefetch": DEALING,
    "basics.chance": DEALING,
    "engine.phases.masks": MASKS,
    "observation.": OBSERVATION,
}
# Public functions that belong elsewhere than their module, by module (a folder ends in a dot) and name.
FUNCTIONS: Final[Mapping[tuple[str, str], str]] = {
    ("engine.batch", "step"): CHECKS,
    ("engine.batch", "observe"): OBSERVATION,
    ("engine.batch", "action_mask"): MASKS,
    **{(module, "tiles_short"): HANDS for module in ("ruleset.", "scoring.", "variants.")},
    **{(module, name): WINS for module in ("ruleset.", "variants.") for name in ("legal", "complete", "score")},
}

_HOME: Final = Path(mahjong_env.__file__).parent
_EVERY_S: Final = 0.001


@dataclass(frozen=True)
class Shares:
    """Where the time went.

    Attributes:
        variant: what was played.
        play: by whom.
        batch: games at once.
        microseconds: for one decision, step, mask and observation together, without sampling.
        parts: the share of each of `PARTS`, from 0 to 1; together they are 1.
        samples: how many these rest on.
    """

    variant: str
    play: str
    batch: int
    microseconds: float
    parts: dict[str, float]
    samples: int


def profile(rules: Rules, play: str, batch: int, samples: int = 2000) -> Shares:
    """Play steps with masks and observations, by turns one with a clock and one that is sampled.

    Args:
        rules: the variant with its knobs.
        play: a name for `mahjong_env.environments.agents.find_agent`; its time does not count.
        batch: games at once.
        samples: how many to take, one in a millisecond.

    Raises:
        MahjongError: the system has no timer that interrupts a program.
    """
    if not hasattr(signal, "setitimer"):
        raise MahjongError("--profile needs a timer that interrupts the program, which this system does not have")
    source = WarmGames(rules, batch, play)
    engine, rng, clock, steps = source.copy(batch), np.random.default_rng(0), Clock(), 0
    found: Counter[str] = Counter()

    sampling = False

    def sample(_: int, frame: FrameType | None) -> None:
        nonlocal sampling
        if sampling:  # on a machine so busy that the next signal comes before this one has been answered
            return
        sampling, part = True, None
        while frame is not None and part is None:
            part = part_of(frame.f_code.co_filename, frame.f_code.co_name)
            frame = frame.f_back
        found.update([part] if part else [])
        sampling = False

    before = signal.signal(signal.SIGALRM, sample)
    try:
        while found.total() < samples:
            actions = choose(engine, source.agent, rng)
            with clock:
                _step_and_look(engine, actions)
            steps += 1
            actions = choose(engine, source.agent, rng)
            signal.setitimer(signal.ITIMER_REAL, rng.random() * _EVERY_S, _EVERY_S)
            _step_and_look(engine, actions)
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    parts = {part: found[part] / found.total() for part in PARTS}
    return Shares(rules.name, play, batch, 1e6 * clock.seconds / (steps * batch), parts, found.total())


def _step_and_look(engine: Engine, actions: np.ndarray) -> None:
    engine.step(actions)
    engine.action_mask  # noqa: B018 looking at it is what is timed
    engine.observe()


def part_of(file: str, name: str) -> str | None:
    """Return the part that a function belongs to; None: that of its caller."""
    try:
        module = ".".join(Path(file).relative_to(_HOME).with_suffix("").parts)
    except ValueError:
        return None
    names = [module, *(module[: place + 1] for place, letter in enumerate(module) if letter == ".")]
    for known in names:
        if part := FUNCTIONS.get((known, name)):
            return part
    return next((MODULES[known] for known in names if known in MODULES), None)


def shares_text(shares: Sequence[Shares]) -> str:
    """Return a table in markdown for each way of playing: parts below each other, variants beside each other."""
    tables = []
    for play in dict.fromkeys(one.play for one in shares):
        shown = [one for one in shares if one.play == play]
        rows = [[f"{play} play, {shown[0].batch} games", *(one.variant for one in shown)], ["---"] * (len(shown) + 1)]
        rows += [[part, *(f"{one.parts[part]:.1%}" for one in shown)] for part in PARTS]
        rows.append(["microseconds for a decision", *(f"{one.microseconds:.2f}" for one in shown)])
        tables.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return "\n\n".join(tables)
