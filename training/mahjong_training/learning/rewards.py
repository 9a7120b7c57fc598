"""Rewards of learners: points, or what you make of them; see docs/rewards_and_features.md.

A reward is a function of what happened to n learners between two decisions (`Paid`). It may be shaped by a
``potential``, a function of what the learners see: ``gamma * potential after - potential before`` is then added. The
potential at the end of a hand counts as 0, so that the best policy stays the same (Ng, Harada and Russell, ICML 1999).
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
from mahjong_env import Rules, View, make_engine
from mahjong_env.environments.agents import Kind, find_maker, make, parse_address
from mahjong_training.errors import RewardError
from mahjong_training.evaluation.matches import sigma

Amounts = NDArray[Any]


@dataclass(frozen=True)
class Paid:
    """What n learners were paid, each between one of its decisions and the next, or until the end of the hand.

    Attributes:
        rules: the rules that are played.
        points: [n] int64 the points that each learner received. Those before its first decision of a hand are added to
            that decision by `train-sb3`, and left out by `train`.
        totals: [n, P] int64 the points that each person has won or lost in the hand so far.
        person: [n] int64 the learner's number among the persons.
        ended: [n] bool whether the hand is over.
        before: [n, P] int64 the points in the match before the hand; None if no matches are played.
        hands_to_come: [n] int64 the number of hands of the match after this one; None if no matches are played.
    """

    rules: Rules
    points: NDArray[np.int64]
    totals: NDArray[np.int64]
    person: NDArray[np.int64]
    ended: NDArray[np.bool_]
    before: NDArray[np.int64] | None = None
    hands_to_come: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Return the number of learners."""
        return len(self.points)

    @property
    def total(self) -> NDArray[np.int64]:
        """The points that each learner has won or lost in the hand so far: [n]."""
        return self.totals[np.arange(len(self)), self.person]

    @property
    def rank(self) -> NDArray[np.float64]:
        """The place of each learner by its points in the hand so far: [n], 1 for the most; ties share their places."""
        own = self.total[:, None]
        return 1 + (self.totals > own).sum(axis=1) + ((self.totals == own).sum(axis=1) - 1) / 2


Reward = Callable[[Paid], Amounts]
"""A reward: a function that returns [n] numbers for n learners.

It is shaped if it has an attribute ``potential``, a function of a view of n seats that returns [n] numbers.
"""


# --- Rewards by name ---------------------------------------------------------------------------------------------
def points(paid: Paid, scale: float = 1.0) -> Amounts:
    """Return [n] the points received, multiplied by ``scale``."""
    return paid.points * scale


def in_sigma(paid: Paid) -> Amounts:
    """Return [n] the points received in sigma, the spread of a hand's points among greedy players (`matches.sigma`)."""
    return paid.points / sigma(paid.rules)


def clipped(paid: Paid, limit: float = 2.0) -> Amounts:
    """Return [n] the points received, in sigma, with the total of the hand so far clipped to ± ``limit``.

    The rewards of a hand sum to its clipped points in sigma, less those before the first decision where these are left
    out (`Paid.points`).

    Raises:
        RewardError: the limit is not a number above 0.
    """
    if not limit > 0:
        raise RewardError(f"the limit of the reward 'clipped' is a number above 0, not {limit:g}")
    unit = sigma(paid.rules)
    now, before = paid.total / unit, (paid.total - paid.points) / unit
    return now.clip(-limit, limit) - before.clip(-limit, limit)


def ranked(paid: Paid) -> Amounts:
    """Return [n] the place by points where a hand ends, 1 (first) to -1 (last), and else 0; ties share their places."""
    people = paid.totals.shape[1]
    return paid.ended * ((people + 1) / 2 - paid.rank) / ((people - 1) / 2)


def place(paid: Paid) -> Amounts:
    """Return [n] the place in a match, from 1 (first) to -1 (last), paid hand by hand.

    The reward at the end of a hand is what the standing is worth now (`mean_places`), less what it was worth before the
    hand. Over a match these sum to the final place, less what all persons begin with, which is 0, for persons who play
    every hand; `train` pays nothing for hands that somebody sits out. In each hand, the rewards of all persons sum to
    zero.

    Raises:
        RewardError: single hands are played.
    """
    if paid.before is None or paid.hands_to_come is None:
        raise RewardError("the reward 'place' needs matches: `mahjong-env train --match-hands 16 --reward place`")
    ends, found = np.flatnonzero(paid.ended), np.zeros(len(paid))
    before, left, unit = paid.before[ends], paid.hands_to_come[ends], sigma(paid.rules)
    change = mean_places(before, left + 1, unit) - mean_places(before + paid.totals[ends], left, unit)
    found[ends] = change[np.arange(len(ends)), paid.person[ends]] / ((before.shape[1] - 1) / 2)
    return found


def mean_places(totals: NDArray[np.int64], hands_left: NDArray[np.int64], unit: float) -> NDArray[np.float64]:
    """Return [n, P] the expected places of persons in a match, from 1; each row sums to P (P + 1) / 2.

    The rest of a match is modelled as a random walk. In each hand still to come, the difference between two persons
    moves by a normal number with mean zero and the variance that it has among greedy players. The probability that one
    person ends before another then has a closed form, and the expected place of a person is one more than the expected
    number of persons before it.

    Where this model is wrong, a hand is paid too much or too little of its effect on the place. The sum over a match is
    the place itself all the same, and the last hand is paid exactly.

    Args:
        totals: [n, P] the points in the match so far.
        hands_left: [n] the number of hands still to be played; with 0, places are final, and ties share their places.
        unit: the standard deviation of what a person wins in a hand.
    """
    from scipy.special import ndtr  # an optional extra, not needed to read the settings of `train`

    people = totals.shape[1]
    behind = (totals[:, None, :] - totals[:, :, None]).astype(np.float64)  # [n, one, other] the other's lead
    # Points sum to zero, so that those of two persons have the correlation -1 / (P - 1).
    spread = unit * np.sqrt(2 * people / (people - 1) * hands_left)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(spread > 0, ndtr(behind / spread), (np.sign(behind) + 1) / 2)
    return 1 + before.sum(axis=2) - 0.5  # subtracts the person itself, which counted as half a person before it


class Distance:
    """A reward shaped by the distance to a win: the number of tiles still missing after the best action."""

    def __init__(self, weight: float = 0.1, base: str = "sigma") -> None:
        """Find the reward to shape, ``base``; the potential is minus the distance, times ``weight``."""
        self.weight, self.base = weight, find_reward(base)

    def __call__(self, paid: Paid) -> Amounts:
        """Return [n] the rewards before shaping."""
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
    """Return the reward that a text names; a function is returned as it is.

    Args:
        reward: a function of a `Paid`, or a text: "points", "sigma", "clipped", "ranked", "place", "distance",
            ``module:name`` or ``file.py:name``, optionally followed by ``?option=value&option=value``. The name is that
            of a function, or of a class whose objects are called like one; the options are its arguments.

    Raises:
        RewardError: there is no such reward, it cannot be made, or it is not a function of what was paid.
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


def try_reward(reward: Any, rules: Rules, match_hands: int = 1) -> None:
    """Find a reward and ask for it once, so that one that cannot work fails before anything is played.

    Args:
        reward: see `find_reward`.
        rules: what is to be played.
        match_hands: the hands of a match; 1 for single hands.

    Raises:
        RewardError: there is no such reward, or it does not return what it should.
    """
    found, people = find_reward(reward), rules.people
    totals, person = np.zeros((people, people), np.int64), np.arange(people)
    of_match = {} if match_hands == 1 else {"before": totals, "hands_to_come": np.full(people, match_hands - 1)}
    pay(found, Paid(rules, totals[0], totals, person, person == 0, **of_match))
    potential(found, make_engine(rules, people, seed=0, auto_reset=True).view())


def _binding(function: Callable[..., Any]) -> Callable[..., Reward]:
    """Return a maker of rewards from a function; it takes all arguments except what was paid as options."""

    def bound(**options: Any) -> Reward:
        return partial(function, **options) if options else function

    return update_wrapper(bound, partial(function, None))  # for its signature


def _is_reward(one: Any) -> bool:
    return callable(one) and not isinstance(one, type)


def _valid() -> str:
    return f"{', '.join(_NAMED)}, module:name, file.py:name, and in Python functions of what was paid"


# A function in a file still has its options to bind; any other callable object there is a reward already.
_KIND: Final = Kind(
    "reward", "a reward", RewardError, "__call__", lambda one: _is_reward(one) and not inspect.isfunction(one), _valid
)


# --- Paying ------------------------------------------------------------------------------------------------------
def pay(reward: Reward, paid: Paid) -> NDArray[np.float32]:
    """Return [n] float32 the rewards for what was paid, without shaping by a potential.

    Raises:
        RewardError: the reward does not return n finite numbers.
    """
    return _numbers(reward, "reward", reward(paid), len(paid))


def potential(reward: Reward, view: View) -> NDArray[np.float32] | None:
    """Return [n] float32 the potential of what n seats see; None if the reward is not shaped.

    Raises:
        RewardError: the potential does not return n finite numbers.
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
