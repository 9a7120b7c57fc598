"""Rewards: what a learner is paid, points or what a researcher makes of them; see docs/rewards_and_features.md.

A reward is a function of what happened to n learners between two decisions (`Paid`). It may have a ``potential``, a
function of what they see, which shapes it: ``gamma * potential after - potential before`` is added, and nothing at the
end of a hand counts, so that the best policy stays the same (Ng, Harada and Russell, ICML 1999).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import look_ahead
from mahjong_env import Rules, View
from mahjong_env.environments.agents import Kind, find_maker, make, parse_address
from mahjong_training.errors import RewardError
from mahjong_training.evaluation.matches import sigma

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
def points(paid: Paid, scale: float = 1.0) -> Amounts:
    """Return [n] the points received, times a number."""
    return paid.points * scale


def in_sigma(paid: Paid) -> Amounts:
    """Return [n] the points received in sigma, the spread of a hand's points among greedy players (`matches.sigma`)."""
    return paid.points / sigma(paid.rules)


def clipped(paid: Paid, limit: float = 2.0) -> Amounts:
    """Return [n] points in sigma, as if no hand could bring more than a limit or cost more than it.

    Those of a hand sum to its points in sigma, clipped.
    """
    unit = sigma(paid.rules)
    now, before = paid.total / unit, (paid.total - paid.points) / unit
    return now.clip(-limit, limit) - before.clip(-limit, limit)


def ranked(paid: Paid) -> Amounts:
    """Return [n] at the end of a hand the place by points: 1 for the first, -1 for the last; equal persons share."""
    people = paid.totals.shape[1]
    return paid.ended * ((people + 1) / 2 - paid.rank) / ((people - 1) / 2)


def place(paid: Paid) -> Amounts:
    """Return [n] the place in a match, from 1 for the first to -1 for the last, paid hand by hand.

    At the end of a hand, what the standing is worth now (`mean_places`) less what it was worth before; over a match
    these sum to the final place, less what all persons begin with, which is 0. In each hand the persons' sum to zero.

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


def mean_places(totals: NDArray[np.int64], hands_left: NDArray[np.int64], unit: float) -> NDArray[np.float64]:
    """Return [n, P] the places, from 1, that persons can expect in a match; the P of a row sum to P (P + 1) / 2.

    The rest of a match is taken for a random walk: in each hand that is still to come, the difference between two
    persons moves by a normal number of mean zero, whose variance is that among greedy players. One person then ends
    before another with a chance that has a closed form, and its mean place is one more than the persons who are
    expected before it. Where this is wrong, a hand is paid too much or too little of what it did to the place; the sum
    over a match is the place itself all the same, and the last hand is paid exactly.

    Args:
        totals: [n, P] points in the match so far.
        hands_left: [n] hands that are still to be played; 0: the places are final, and equal persons share theirs.
        unit: the standard deviation of what a person wins in a hand.
    """
    from scipy.special import ndtr  # of an extra: the settings of `train` are read without it

    people = totals.shape[1]
    behind = (totals[:, None, :] - totals[:, :, None]).astype(np.float64)  # [n, one, other]: the other has so much more
    # Points sum to zero, so that two persons' correlate by -1 / (P - 1).
    spread = unit * np.sqrt(2 * people / (people - 1) * hands_left)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(spread > 0, ndtr(behind / spread), (np.sign(behind) + 1) / 2)
    return 1 + before.sum(axis=2) - 0.5  # less oneself, of whom half is before


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


_NAMED: Final[dict[str, Callable[..., Any]]] = {
    "points": points,
    "sigma": in_sigma,
    "clipped": clipped,
    "ranked": ranked,
    "place": place,
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
        found = make(_KIND, reward, _binding(maker) if inspect.isfunction(maker) else maker, None, options)
    if not _is_reward(found):
        raise RewardError(f"a reward is a function of what was paid; {found!r} is something else")
    if not callable(getattr(found, "potential", len)):
        raise RewardError(f"the potential of a reward is a function of a view; that of {found!r} is something else")
    return found


def _binding(function: Callable[..., Any]) -> Callable[..., Reward]:
    """Return what makes a reward of a function of what was paid: it takes all arguments but that one as options."""

    def bound(**options: Any) -> Reward:
        return partial(function, **options) if options else function

    return update_wrapper(bound, partial(function, None))  # for its signature


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
