"""What is measured of hands that were played by some rules, with all that paired intervals need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent
from mahjong_agents.base import games_at_once
from mahjong_agents.shared_chance import pair
from mahjong_env import Rules
from mahjong_training.evaluation.estimates import Estimate, ratio
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.matches import deal, play_out

MOST_GAMES: Final = 4096
"""Deals that are played at once, so that memory stays small."""

MEASURES: Final[Mapping[str, str]] = {
    "dealer_points": "points a hand of the dealer",
    "dealer_wins": "hands that the dealer wins",
    "drawn": "hands that nobody wins",
    "self_drawn": "wins by self-draw",
    "win_points": "points that a win brings",
    "discards": "discards in a hand",
    "kongs": "kongs in a hand",
    "sigma": "standard deviation of a seat's points in a hand",
    "first_dealer_points": "points a hand of who deals first in the match",
    "hands": "hands in a match",
    "match_sigma": "standard deviation of a person's points in a match",
}
"""What is measured, and in words, the last three of matches alone and the dealer's and sigma of single hands alone;
``seat_1_points`` and so on are the points a hand of the seats after the (first) dealer."""


_KONGS: Final = ("exposed_kongs", "added_kongs", "concealed_kongs")


@dataclass(frozen=True)
class Influence:
    """A number, and how much each deal has moved it: what intervals of it, and of differences, follow from.

    Attributes:
        value: the number.
        of_deal: [n] how far each deal pulls it from the mean of all; their mean is 0.
    """

    value: float
    of_deal: NDArray[np.float64]

    def estimate(self) -> Estimate:
        """Return the number with its 95 % interval."""
        return _moved(ratio(self.of_deal, np.ones(len(self.of_deal))), self.value)

    def less(self, other: Influence) -> Estimate:
        """Return how much greater it is than the same number by other rules on the same deals."""
        difference = self.of_deal - other.of_deal
        return _moved(ratio(difference, np.ones(len(difference))), self.value - other.value)


def _moved(spread: Estimate, value: float) -> Estimate:
    return Estimate(value, value + spread.low, value + spread.high)


@dataclass(frozen=True)
class Measures:
    """What n deals came to by some rules.

    Attributes:
        rules: the rules.
        points: [n, P] points by seats counted from the dealer (by persons from the first dealer, where people sit out
            or several hands are played).
        numbers: what was measured, by name; see `MEASURES`.
        rows: for each row that was scored, by name: how many of 100 wins score it, and the share of all points of
            wins that are paid for hands with it, in %; of single hands alone.
    """

    rules: Rules
    points: NDArray[np.int64]
    numbers: Mapping[str, Influence]
    rows: Mapping[str, tuple[Influence, Influence]]


@dataclass(frozen=True)
class Block:
    """Some deals that are played together by one set of rules; what happens there depends on no other block.

    Attributes:
        rules: which set of rules, by its number.
        number: of the block.
        first, last: its deals, ``last`` not among them.
    """

    rules: int
    number: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """What it is called among what is kept."""
        return f"{self.rules}_{self.number}_{self.first}-{self.last}"


@dataclass(frozen=True)
class PlayedBlock:
    """What happened in the n deals of a block.

    Attributes:
        played: what happened.
        dealer: [n] intp who dealt first.
    """

    played: Played
    dealer: NDArray[np.intp]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays by name, for a file."""
        return self.played.arrays() | {"dealer": self.dealer}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> PlayedBlock:
        """Return what `arrays` has given; a `KeyError` if something is missing."""
        rest = dict(arrays)
        dealer = rest.pop("dealer")
        return cls(Played.of_arrays(rest), dealer)


def blocks_of(rules: int, deals: int, agents: Sequence[Agent]) -> list[Block]:
    """Return the blocks in which so many deals are played by one set of rules, given by its number."""
    size = min(MOST_GAMES, games_at_once(agents))
    return [Block(rules, number, first, min(first + size, deals)) for number, first in enumerate(range(0, deals, size))]


def play_block(rules: Rules, agents: Sequence[Agent], block: Block, seed: int, hands: int = 1) -> PlayedBlock:
    """Play the deals of a block; deal i has the same cards by whatever rules with the same tiles.

    Args:
        rules: what is played.
        agents: one for all seats, or one for each person.
        block: the deals.
        seed: of the deals and of the agents' chance, which belongs to the deals: where the rules make no difference,
            agents do the same.
        hands: of each deal; the match that they are may end before.
    """
    numbers = np.arange(block.first, block.last)
    engine = deal(rules, numbers, seed, hands)
    dealer = engine.dealer.astype(np.intp)
    seats = np.arange(rules.people) if len(agents) > 1 else np.zeros(rules.people, np.intp)
    own = int(np.random.SeedSequence([seed, block.number]).generate_state(1)[0])
    paired = pair(engine, agents, np.arange(len(numbers)), own)
    played = play_out(engine, paired, np.tile(seats, (len(numbers), 1)), np.random.default_rng(seed))
    return PlayedBlock(played, dealer)


def measures_of(rules: Rules, blocks: Sequence[PlayedBlock], hands: int = 1) -> Measures:
    """Return what was measured by some rules, from what happened in all blocks, in order; so many hands a deal."""
    played = Played.joined([block.played for block in blocks])
    dealer = np.concatenate([block.dealer for block in blocks])
    every, people = np.arange(len(dealer)), played.points.shape[1]
    points = played.points[every[:, None], (dealer[:, None] + np.arange(people)) % people]
    number, wins, paid = played.hands, played.wins.sum(axis=1), played.counts["win_points"].sum(axis=1)
    numbers = {
        "dealer_points" if hands == 1 else "first_dealer_points": _mean(points[:, 0], number),
        **{f"seat_{offset}_points": _mean(points[:, offset], number) for offset in range(1, people)},
        "drawn": _mean(100 * played.draws, number),
        "self_drawn": _mean(100 * played.self_draws.sum(axis=1), wins),
        "win_points": _mean(paid, wins),
        "discards": _mean(played.counts["discards"].sum(axis=1), number),
    }
    if hands == 1:
        numbers |= {"dealer_wins": _mean(100 * played.wins[every, dealer], number), "sigma": _spread(points)}
        kongs = [played.counts[name] for name in _KONGS if name in played.counts]
        if kongs:
            numbers["kongs"] = _mean(np.sum(kongs, axis=0).sum(axis=1), number)
    else:
        numbers |= {"hands": _mean(number, np.ones(len(number))), "match_sigma": _spread(points)}
    return Measures(rules, points, numbers, _rows_of(rules, played) if hands == 1 else {})


def _rows_of(rules: Rules, played: Played) -> dict[str, tuple[Influence, Influence]]:
    scored, wins, paid = played.rows > 0, played.wins.sum(axis=1), played.counts["win_points"].sum(axis=1)
    return {
        row.name: (_mean(100 * scored[:, number], wins), _mean(100 * scored[:, number] * paid, paid))
        for number, row in enumerate(rules.rows)
        if scored[:, number].any()
    }


def _mean(totals: NDArray[np.generic], counts: NDArray[np.generic]) -> Influence:
    """Return a total per count; where nothing was counted, 0."""
    of_deal, by = np.asarray(totals, np.float64), np.asarray(counts, np.float64)
    if not by.sum():
        return Influence(0.0, np.zeros(len(by)))
    value = float(of_deal.sum() / by.sum())
    return Influence(value, (of_deal - value * by) / by.mean())


def _spread(points: NDArray[np.int64]) -> Influence:
    """Return the standard deviation of a seat's points, whose mean over seats is 0."""
    squares = (points.astype(np.float64) ** 2).mean(axis=1)
    value = float(np.sqrt(squares.mean()))
    return Influence(value, (squares - value**2) / (2 * value) if value else np.zeros(len(points)))
