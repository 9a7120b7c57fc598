"""Line-ups (which agents sit together at a table) and the orders of seats in which they play a deal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from mahjong_training.errors import TrainingError

Seatings: TypeAlias = Literal["all", "balanced", "turns"]
Kind: TypeAlias = Literal["duels", "pairs", "league"]
Lineup: TypeAlias = tuple[int, ...]
Named = TypeVar("Named", bound=int | str)

_MOST_TABLES: Final = 40  # of a league in which every set of agents meets; larger leagues play a cyclic design


def _check_word(word: str, words: Any, what: str) -> None:
    """Check that a word, which Python code may have misspelt, is one of a Literal's; a TrainingError otherwise."""
    if word not in get_args(words):
        raise TrainingError(f"{what} are {', '.join(get_args(words))}, not {word!r}")


def orders_of(lineup: Sequence[int], seatings: Seatings = "all") -> list[Lineup]:
    """Return the orders of seats in which the deals of a line-up are played.

    Args:
        lineup: the agents' numbers, one for each person.
        seatings: which orders to return.

            - "all" returns all distinct orders: one if all persons are the same agent, P if one differs from the rest.
            - "turns" returns the same orders as "all", but each deal is played in only one of them, in turn.
            - "balanced" returns a Williams design (E. J. Williams, 1949), in which every agent sits in every seat
              equally often and follows every other agent equally often. It has P orders if P is even, 2 P if P is odd.
              Line-ups with no more distinct orders than that get all of them.

    Returns:
        The orders, each with one agent's number for each person.
    """
    _check_word(seatings, Seatings, "seatings")
    every = sorted(set(permutations(lineup)))
    if seatings != "balanced":
        return every
    size = len(lineup)
    zigzag = [0] * size
    for place in range(1, size):
        zigzag[place] = (zigzag[place - 1] + (place if place % 2 else -place)) % size
    rows = [[(number + step) % size for number in zigzag] for step in range(size)]
    if size % 2:
        rows += [row[::-1] for row in rows]
    design = sorted(tuple(lineup[place] for place in row) for row in rows)
    return design if len(design) < len(every) else every


def orders_of_a_deal(lineup: Sequence[int], seatings: Seatings = "all") -> int:
    """Return the number of orders of seats in which each deal is played; see `orders_of`."""
    return 1 if seatings == "turns" else len(orders_of(lineup, seatings))


def seated(lineup: Sequence[int], deals: NDArray[np.intp], seatings: Seatings = "all") -> NDArray[np.intp]:
    """Return [games, P] the agent of each person in the games of some deals [n]; games of a deal are adjacent."""
    orders = np.array(orders_of(lineup, seatings), np.intp)
    return orders[deals % len(orders)] if seatings == "turns" else np.tile(orders, (len(deals), 1))


def one_against_copies(agent: Named, other: Named, people: int) -> tuple[Named, ...]:
    """Return the line-up of one agent, given by number or text, against copies of another in all other seats."""
    return (agent, *[other] * (people - 1))


def two_against_two(agent: int, other: int, people: int) -> Lineup:
    """Return the line-up of two agents with two seats each; a TrainingError unless there are four persons."""
    if people != 4:
        raise TrainingError(
            f"two against two takes four players, and this table has {people}; where a variant has the knob, "
            "--knob players=4 changes that"
        )
    return (agent, agent, other, other)


def lineups(kind: Kind, agents: int, people: int, named: int | None = None) -> list[Lineup]:
    """Return the line-ups of an evaluation.

    Args:
        kind: "duels" lets every agent play alone against copies of every other one, and then, if as many agents are
            named as there are persons, all of them together; a single agent plays itself. "pairs" plays two against
            two. For "league" see `league`.
        agents: the number of agents.
        people: the number of persons at a table.
        named: how many agents, from the first on, the user has named; None for all. The others are references.

    Raises:
        TrainingError: there are too few agents, not four persons for "pairs", or no such kind.
    """
    _check_word(kind, Kind, "line-ups")
    if kind == "league":
        return league(agents, people)
    if kind == "pairs":
        if agents < 2:
            raise TrainingError("two against two takes at least two agents")
        return [two_against_two(*pair, people) for pair in combinations(range(agents), 2)]
    if agents == 1:
        return [(0,) * people]
    together = [tuple(range(people))] if (named or agents) == people > 2 else []
    return [one_against_copies(*pair, people) for pair in permutations(range(agents), 2)] + together


def league(agents: int, people: int) -> list[Lineup]:
    """Return the line-ups of a league: all agents play equally many tables, and every two of them meet.

    With fewer agents than persons, the seats are shared out as evenly as possible, and the agents take the spare seats
    in turn. With more agents, every set of P agents makes a table, as long as this makes at most 40 tables.

    Beyond 40 tables, a cyclic design is used. Its tables are sets of agents' numbers, each shifted by 1, 2, ... around
    the circle of agents. Such sets are added, always the one that spreads the meetings most evenly, until every two
    agents have met.

    Raises:
        TrainingError: there are fewer than two agents.
    """
    if agents < 2:
        raise TrainingError(f"a league takes at least two agents, not {agents}")
    numbers = tuple(range(agents))
    if agents < people:
        each, spare = divmod(people, agents)
        return [tuple(sorted(numbers * each + extra)) for extra in combinations(numbers, spare)]
    if comb(agents, people) <= _MOST_TABLES:
        return list(combinations(numbers, people))
    half = agents // 2
    bases = [(0, *rest) for rest in combinations(range(1, agents), people - 1)][:20_000]
    apart = [[min(b - a, agents - b + a) for a, b in combinations(base, 2)] for base in bases]
    distances = np.array([np.bincount(steps, minlength=half + 1) for steps in apart])
    met = np.zeros(half + 1, np.int64)  # how often agents at each distance around the circle meet
    tables: list[Lineup] = []
    while not met[1:].all():
        uneven = ((met + distances)[:, 1:] ** 2).sum(axis=1) - 10 * ((met == 0) & (distances > 0))[:, 1:].sum(axis=1)
        best = int(uneven.argmin())
        met += distances[best]
        # The set removes duplicates: a base with a rotational symmetry would give each table several times.
        moved = {tuple(sorted((number + step) % agents for number in bases[best])) for step in range(agents)}
        tables += sorted(moved)
    return tables
