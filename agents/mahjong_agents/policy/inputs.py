"""A few strong inputs for each legal action: what a small network needs to weigh actions against each other.

Networks over whole observations have to find out from millions of hands what is known anyway: how far each action
leaves the hand from a win, what would help then, what plan it fits, what others may do with the tile. Here all of this
is worked out, and a network that looks at one action at a time is small enough to be moved by the hands of minutes.

Numpy only, the same numbers for every variant. Each is a small integer with a scale that makes it about 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.plans import FAR_PLANS
from mahjong_agents.policy.custom_features import Features, added_inputs
from mahjong_agents.policy.seat_facts import GROUPS, MARKS, OTHERS, PLACES, PLANS, Seats
from mahjong_env import View

VERSION: Final = 2
"""Raised when inputs are added at the end, or when the meaning of one changes; then `SIZES` and `READABLE` lose what
came before, so that older policy files are refused. Planes that are added to observations change nothing here."""

ACTION_FACTS: Final[Mapping[str, float]] = {
    **dict.fromkeys(GROUPS, 1.0),
    "behind": 1.0,
    "behind at all": 1.0,
    "help": 0.05,
    "help lacking": 0.1,
    "distance": 0.3,
    "opens the hand": 1.0,
    **{f"distance to {plan}": 0.2 for plan in PLANS},
    **{f"away from {plan}": 1.0 for plan in PLANS},
    "wild": 1.0,
    "honour": 1.0,
    "from the edge": 0.3,
    "2, 5 or 8": 1.0,
    "held": 0.5,
    "held beside": 0.3,
    "held two away": 0.3,
    "unseen": 0.3,
    "unseen beside": 0.15,
    "unseen two away": 0.15,
    "just drawn": 1.0,
    "lying": 0.5,
    "lately discarded": 0.2,
    **{f"discarded by {slot}": 1.0 for slot in OTHERS},
    **{f"in the suit of {slot}": 0.5 for slot in OTHERS},
    "held of the suit": 0.2,
    "in the longest suit": 1.0,
    "round wind": 1.0,
    "own wind": 1.0,
    "dragon": 1.0,
    "never melded": 1.0,
    # Version 2:
    **{f"held {place}": 0.5 for place in PLACES},
    **{f"unseen {place}": 0.3 for place in PLACES},
    **{f"distance to {plan}": 0.2 for plan in FAR_PLANS},
    **{f"away from {plan}": 1.0 for plan in FAR_PLANS},
    "next help": 0.05,
    "next help lacking": 0.1,
    "wait by draw": 0.03,
    "wait by draw lacking": 0.05,
    "wait by discard": 0.03,
    "wait by discard lacking": 0.05,
}
"""The numbers for each action, by name, with their scales: A in all."""

TABLE_FACTS: Final[Mapping[str, float]] = {
    **{f"distance {distance}": 1.0 for distance in range(8)},
    "best help": 0.05,
    "left": 0.03,
    "discards": 0.03,
    "closed": 1.0,
    "melds": 0.5,
    "flowers": 0.2,
    "wilds": 0.5,
    "wilds unseen": 0.5,
    "wild": 1.0,
    **{f"suit {place}": 0.2 for place in ("longest", "second", "third")},
    "honours": 0.2,
    "pairs": 0.3,
    "pairs of 2, 5 or 8": 0.5,
    "triplets": 0.5,
    "never melded": 0.5,
    **{f"distance to {plan}": 0.2 for plan in PLANS},
    **{f"phase {phase}": 1.0 for phase in range(1, 6)},
    **{f"opening {stage}": 1.0 for stage in range(1, 4)},
    **{f"offered by {slot}": 1.0 for slot in OTHERS},
    **{f"dealer {slot}": 1.0 for slot in range(4)},
    "streak": 0.3,
    **{f"melds of {slot}": 0.5 for slot in OTHERS},
    **{f"flowers of {slot}": 0.2 for slot in OTHERS},
    **{f"one suit of {slot}": 0.5 for slot in OTHERS},
    **{f"own mark {number}": 0.5 for number in range(MARKS)},
    **{f"most of mark {number}": 0.5 for number in range(MARKS)},
    "kongs in a row": 1.0,
    "closing": 1.0,
    # Version 2:
    **{f"distance to {plan}": 0.2 for plan in FAR_PLANS},
    "best next help": 0.05,
    "best wait by draw": 0.03,
    "best wait by discard": 0.03,
    "own pungs": 0.5,
    **{f"pungs of {slot}": 0.5 for slot in OTHERS},
}
"""The numbers for each row of a view, by name, with their scales: C in all."""

SIZES: Final = {1: (47, 64), VERSION: (len(ACTION_FACTS), len(TABLE_FACTS))}
"""How many facts of actions and of the table each version of the inputs has; later versions add theirs at the end."""


@dataclass(frozen=True)
class Inputs:
    """What a network is shown of n decisions that have m legal actions in all: numpy arrays, or tensors of torch.

    Attributes:
        row: [m] the decision of each action, ascending: 0 to n - 1.
        action: [m] the actions, ascending within a decision.
        per_action: arrays [m, ...] by name.
        per_decision: arrays [n, ...] by name.
    """

    row: Any
    action: Any
    per_action: Mapping[str, Any]
    per_decision: Mapping[str, Any]

    def of_actions(self, which: Any) -> Inputs:
        """Return the same decisions with some of their actions; each keeps one at least."""
        per_action = {name: array[which] for name, array in self.per_action.items()}
        return Inputs(self.row[which], self.action[which], per_action, self.per_decision)

    def map(self, change: Callable[[Any], Any]) -> Inputs:
        """Return the same with every array changed, such as into tensors."""
        per_action = {name: change(array) for name, array in self.per_action.items()}
        per_decision = {name: change(array) for name, array in self.per_decision.items()}
        return Inputs(change(self.row), change(self.action), per_action, per_decision)

    @classmethod
    def joined(cls, parts: Sequence[Inputs], sizes: Sequence[int]) -> Inputs:
        """Return the decisions of several parts, of these sizes (n), one after another."""
        first = np.cumsum([0, *sizes])
        return cls(
            np.concatenate([part.row + start for part, start in zip(parts, first, strict=False)]),
            np.concatenate([part.action for part in parts]),
            {name: np.concatenate([part.per_action[name] for part in parts]) for name in parts[0].per_action},
            {name: np.concatenate([part.per_decision[name] for part in parts]) for name in parts[0].per_decision},
        )


def action_inputs(view: View, features: Features | None = None) -> Inputs:
    """Work out the strong inputs of every row of a view.

    Args:
        view: what the seats see.
        features: what adds inputs of a researcher's own to those of the table.

    Returns:
        Its legal actions, with ``facts`` [m, A] int8 of each action (`ACTION_FACTS`) and ``table`` [n, C] int8 of each
        row (`TABLE_FACTS`; added inputs behind them).

    Raises:
        AgentError: the added inputs are not what they should be.
    """
    row, action = np.nonzero(view.action_mask)
    seats = Seats(view)
    facts = seats.of_actions(row, action) | seats.late_facts(row, action)
    table = _columns(seats.of_table() | seats.late_table(row), TABLE_FACTS)
    if features is not None:
        table = np.concatenate([table, added_inputs(features, view)], axis=1)
    return Inputs(row, action, {"facts": _columns(facts, ACTION_FACTS)}, {"table": table})


def fingerprint(version: int = VERSION) -> str:
    """Return a short text that changes whenever the layout of the inputs does.

    Args:
        version: the layout of an earlier version, whose facts are the first ones of this version's.
    """
    facts, table = SIZES[version]
    layout = (version, [*ACTION_FACTS.items()][:facts], [*TABLE_FACTS.items()][:table])
    return hashlib.sha256(repr(layout).encode()).hexdigest()[:16]


READABLE: Final = frozenset({*map(fingerprint, SIZES), "f5440ecd81627f73", "6a581a49a1a5da46"})
"""The fingerprints of inputs whose networks still play. The last two are those of versions 1 and 2 from when the
version of the planes, which these networks do not see, was counted in; the shipped policies bear the second."""


def _columns(numbers: Mapping[str, Any], names: Mapping[str, float]) -> NDArray[np.int8]:
    """Return arrays [k] by name as [k, names] int8."""
    assert numbers.keys() == names.keys(), numbers.keys() ^ names.keys()
    first = next(iter(numbers.values()))
    columns = np.empty((len(names), len(first)), np.int8)
    for column, name in zip(columns, names, strict=True):
        column[:] = numbers[name]
    return np.ascontiguousarray(columns.T)
