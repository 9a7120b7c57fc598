"""Rewards: what a learner is paid, points or what a researcher makes of them; see docs/rewards_and_features.md.

A reward is a function of what happened to n learners between two decisions (`Paid`). It may have a ``potential``, a
function of what they see, which shapes it: ``gamma * potential after - potential before`` is added, and nothing at the
end of a hand counts, so that the best policy stays the same (Ng, Harada and Russell, ICML 1999).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import look_ahead
from mahjong_env import Rules, View
from mahjong_env.environments.agents import Kind, find_maker, make, parse_address, read_value
from mahjong_training.errors import RewardError
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning.places import mean_places

Amounts = NDArray[Any]


@dataclass(frozen=True)
class Paid:
    """What n learners were paid, each between a decision and its next one, or until the hand ended.

    Attributes:
        rules: what is played.
        points: [n] int64 points received.
        totals: [n, P] int64 points that each person has won or lost in the hand so far.
        person: [n] int64 the learner among the persons.
        ended: [n] bool the hand is over.
        before: [n, P] int64 points of the match before the hand; None where no matches are played.
        hands_to_come: [n] int64 hands of the match after this one; None likewise.
    """

    rules: Rules
    points: NDArray[np.int64]
    totals: NDArray[np.int64]
    person: NDArray[np.int64]
    ended: NDArray[np.bool_]
    before: NDArray[np.int64] | None = None
    hands_to_come: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """The number of learners."""
        return len(self.points)

    @property
    def total(self) -> NDArray[np.int64]:
        """[n] points that the learner has won or lost in the hand so far."""
        return self.totals[np.arange(len(self)), self.person]

    @property
    def rank(self) -> NDArray[np.float64]:
        """[n] place of the learner by its points in the hand so far: 1 for the most; equal persons share places."""
        own = self.total[:, None]
        return 1 + (self.totals > own).sum(axis=1) + ((self.totals == own).sum(axis=1) - 1) / 2


Reward = Callable[[Paid], Amounts]
"""[n] numbers for n learners. An attribute ``potential``, a function of a view of n seats that returns [n] numbers,
shapes it."""


# --- Rewards by name ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Points:
    """The points received, times a number."""

    scale: float = 1.0

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] amounts."""
        return paid.points * self.scale


@dataclass(frozen=True)
class Sigma:
    """The points received in sigma, the spread of a hand's points among greedy players (`matches.sigma`)."""

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] amounts."""
        return paid.points / sigma(paid.rules)


@dataclass(frozen=True)
class Clipped:
    """Points in sigma, as if no hand could bring more than a limit or cost more than it."""

    limit: float = 2.0

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] amounts; those of a hand sum to its points in sigma, clipped."""
        unit = sigma(paid.rules)
        now, before = paid.total / unit, (paid.total - paid.points) / unit
        return now.clip(-self.limit, self.limit) - before.clip(-self.limit, self.limit)


@dataclass(frozen=True)
class Ranked:
    """At the end of a hand the place by points: 1 for the first, -1 for the last; equal persons share places."""

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] amounts."""
        people = paid.totals.shape[1]
        return paid.ended * ((people + 1) / 2 - paid.rank) / ((people - 1) / 2)


@dataclass(frozen=True)
class Place:
    """The place in a match, from 1 for the first to -1 for the last, paid hand by hand.

    At the end of a hand, what the standing is worth now (`mahjong_training.learning.places`) less what it was worth
    before; over a match these sum to the final place, less what all persons begin with, which is 0. In each hand the
    persons' sum to zero.
    """

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] amounts.

        Raises:
            RewardError: what is paid are single hands.
        """
        if paid.before is None or paid.hands_to_come is None:
            raise RewardError("the reward 'place' is of matches: `mahjong-env train --match-hands 16 --reward place`")
        ends, found = np.flatnonzero(paid.ended), np.zeros(len(paid))
        before, left, unit = paid.before[ends], paid.hands_to_come[ends], sigma(paid.rules)
        change = mean_places(before, left + 1, unit) - mean_places(before + paid.totals[ends], left, unit)
        found[ends] = change[np.arange(len(ends)), paid.person[ends]] / ((before.shape[1] - 1) / 2)
        return found


class Distance:
    """Another reward, shaped by the distance to a win (tiles that the best action leaves to be missing)."""

    def __init__(self, weight: float = 0.1, base: str = "sigma") -> None:
        """Find the reward that is shaped; the potential is minus the distance, times the weight."""
        self.weight, self.base = weight, find_reward(base)

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] amounts of the other reward."""
        return self.base(paid)

    def potential(self, view: View) -> Amounts:
        """Return [n] the potential of what n seats see."""
        return -self.weight * look_ahead(view).distance.min(axis=1)


_NAMED: Final[dict[str, Callable[..., Reward]]] = {
    "points": Points,
    "sigma": Sigma,
    "clipped": Clipped,
    "ranked": Ranked,
    "place": Place,
    "distance": Distance,
}


def find_reward(reward: Any) -> Reward:
    """Return the reward that a text names, or the function itself.

    Args:
        reward: a function of a `Paid`; or "points", "sigma", "clipped", "ranked", "place", "distance", ``module:name``
            or ``file.py:name``, with ``?option=value&option=value`` behind it. What is named is the function, or a
            class whose objects are called like one; options are arguments of either.

    Raises:
        RewardError: there is no such reward, it cannot be made, or it is something else.
    """
    found = reward
    if isinstance(reward, str):
        address, options = parse_address(_KIND, reward)
        maker: Any = _NAMED.get(address) or find_maker(_KIND, reward, address)
        if maker is None:
            raise RewardError(f"no reward is called {reward!r}; valid are {_valid()}")
        if inspect.isfunction(maker):
            found = _with_options(reward, maker, {name: read_value(text) for name, text in options.items()})
        else:
            found = make(_KIND, reward, maker, None, options)
    if not _is_reward(found):
        raise RewardError(f"a reward is a function of what was paid; {found!r} is something else")
    if not callable(getattr(found, "potential", len)):
        raise RewardError(f"the potential of a reward is a function of a view; that of {found!r} is something else")
    return found


def _with_options(text: str, function: Callable[..., Any], options: dict[str, Any]) -> Reward:
    try:
        inspect.signature(function).bind(None, **options)
    except TypeError as error:
        raise RewardError(f"reward {text!r}: {function.__name__} is called with what was paid; {error}") from None
    return partial(function, **options) if options else function


def _is_reward(one: Any) -> bool:
    return callable(one) and not isinstance(one, type)


def _valid() -> str:
    return f"{', '.join(_NAMED)}, module:name, file.py:name, and in Python functions of what was paid"


# A function in a file is not made by calling it, but an object that stands ready there is one already.
_KIND: Final = Kind(
    "reward", "a reward", RewardError, "__call__", lambda one: _is_reward(one) and not inspect.isfunction(one), _valid
)


# --- Paying ------------------------------------------------------------------------------------------------------
def pay(reward: Reward, paid: Paid) -> NDArray[np.float32]:
    """Return [n] float32 what a reward makes of what was paid; a potential is not asked.

    Raises:
        RewardError: it returns something else than n finite numbers.
    """
    return _numbers(reward, "reward", reward(paid), len(paid))


def potential(reward: Reward, view: View) -> NDArray[np.float32] | None:
    """Return [n] float32 the potential of what n seats see; None: this reward is not shaped.

    Raises:
        RewardError: it is something else than n finite numbers.
    """
    shape = getattr(reward, "potential", None)
    return None if shape is None else _numbers(reward, "potential", shape(view), len(view))


def _numbers(reward: Reward, what: str, found: Any, number: int) -> NDArray[np.float32]:
    amounts = np.asarray(found)
    if amounts.shape != (number,) or amounts.dtype.kind not in "iufb" or not np.isfinite(amounts).all():
        raise RewardError(
            f"the {what} of {number} learners is {number} finite numbers, not {amounts.dtype} of shape {amounts.shape}"
            f"{' with numbers that are not finite' if amounts.shape == (number,) else ''}: {reward!r}"
        )
    return amounts.astype(np.float32)
