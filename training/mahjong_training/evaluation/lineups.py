"""Line-ups of agents, measured on the same deals in every order of seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent
from mahjong_agents.base import games_at_once
from mahjong_agents.control_variates import UNIT, weights_of
from mahjong_env import Rules
from mahjong_env.basics.errors import AnswerError
from mahjong_env.environments.agents import agent_name
from mahjong_env.records import GameRecord
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.hand_statistics import RATIOS
from mahjong_training.evaluation.matches import Played, deal, play_out
from mahjong_training.evaluation.seating import Seatings, one_against_copies, orders_of, orders_of_a_deal, seated
from mahjong_training.evaluation.shared_chance import SharedChance, deal_keys
from mahjong_training.evaluation.statistics import Estimate, ratio

__all__ = [
    "Block",
    "LineupResult",
    "Standing",
    "blocks",
    "difference",
    "measure",
    "one_against_copies",
    "orders_of",
    "play_block",
    "summarise",
]

_SHARES = ("points", "wins", "self_draws", "deal_ins")


@dataclass(frozen=True)
class Standing:
    """How one agent did in a line-up, per hand that it sat at; rates of several seats are means over them.

    Attributes:
        agent: its number in the line-up's agents.
        seats: how many seats it had.
        points: mean points per hand and seat.
        wins, self_draws, deal_ins: share of hands won, won by self-draw, lost by giving the winning tile.
        details: what else is known of how it played, by name, see `mahjong_training.evaluation.hand_statistics.RATIOS`:
            turns and points of wins, costs of deal-ins, tenpai, melds per hand. What never happened is not in it.
        rows: share of its wins that scored a row, by name.
        with_luck: where luck was taken off ``points``: what they were before that.
    """

    agent: int
    seats: int
    points: Estimate
    wins: Estimate
    self_draws: Estimate
    deal_ins: Estimate
    details: Mapping[str, Estimate] = field(default_factory=dict)
    rows: Mapping[str, Estimate] = field(default_factory=dict)
    with_luck: Estimate | None = None


@dataclass(frozen=True)
class LineupResult:
    """What a line-up came to.

    Attributes:
        lineup: the agents' numbers, one for each person.
        orders: orders of seats that every deal was played in.
        deals: deals.
        hands: hands played in all.
        draws: share of hands that nobody won.
        standings: one for each agent, in the order of the agents' numbers.
        totals: for each agent in the same order, [deals] its points over all orders of a deal.
        confidence: of every interval.
    """

    lineup: tuple[int, ...]
    orders: int
    deals: int
    hands: int
    draws: Estimate
    standings: tuple[Standing, ...]
    totals: tuple[NDArray[Any], ...] = field(default=(), compare=False, repr=False)
    confidence: float = 0.95

    def of(self, agent: int) -> Standing:
        """Return the standing of one agent."""
        return next(standing for standing in self.standings if standing.agent == agent)

    def points_by_deal(self, agent: int) -> NDArray[Any]:
        """Return [deals] the points of one agent, summed over its seats and the orders of each deal, luck taken off."""
        place = [standing.agent for standing in self.standings].index(agent)
        return self.totals[place]


@dataclass(frozen=True)
class Block:
    """Some deals of a line-up that are played together; what happens there depends on no other block.

    Attributes:
        lineup: the agents' numbers, one for each person.
        number: the number of the block in its line-up.
        first, last: its deals, ``last`` not among them.
        seatings: in which orders of seats each of them is played, see `mahjong_training.evaluation.seating.orders_of`.
        control_variates: whether luck is measured and taken off the points, see `mahjong_agents.control_variates`.
    """

    lineup: tuple[int, ...]
    number: int
    first: int
    last: int
    seatings: Seatings = "all"
    control_variates: bool = False

    def games(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return [games] the deal of each game, and [games, P] who sits there; those of a deal beside each other."""
        deals = np.arange(self.first, self.last)
        return np.repeat(deals, orders_of_a_deal(self.lineup, self.seatings)), seated(self.lineup, deals, self.seatings)


def blocks(
    lineup: Sequence[int],
    deals: int,
    seatings: Seatings = "all",
    *,
    agents: Sequence[Agent] = (),
    control_variates: bool = False,
    looks: Sequence[int] = (),
) -> list[Block]:
    """Return the blocks of a line-up; they are the same wherever and by how many they are played.

    Args:
        lineup: the agents' numbers, one for each person.
        deals: number of deals.
        seatings: see `Block`.
        agents: those that the numbers stand for: slow ones have smaller blocks, see
            `mahjong_agents.base.games_at_once`.
        control_variates: see `Block`.
        looks: numbers of deals after which a block ends, so that these can be looked at
            (`mahjong_training.evaluation.sequential`).
    """
    at_once = games_at_once([agents[number] for number in set(lineup)] if agents else ())
    size = max(1, at_once // orders_of_a_deal(lineup, seatings))
    ends = sorted({*looks, deals})
    cuts = [
        (start, min(start + size, end))
        for first, end in zip([0, *ends], ends, strict=False)
        for start in range(first, end, size)
    ]
    return [
        Block(tuple(lineup), number, first, last, seatings, control_variates)
        for number, (first, last) in enumerate(cuts)
    ]


def play_block(
    rules: Rules,
    agents: Sequence[Agent],
    block: Block,
    seed: int,
    *,
    record: bool = False,
    thoughts: bool = False,
) -> Played:
    """Play every deal of a block in each order of its line-up; the games of a deal stand beside each other.

    Args:
        rules: what is played, one hand a game.
        agents: who may play.
        block: what is played.
        seed: of the deals and of the agents' choices.
        record: whether the games are recorded.
        thoughts: whether their records also say what agents thought of their choices.
    """
    of_game, who = block.games()
    # The first block has chance as it was when line-ups were played in one stream of it: their results stay the same.
    key = (block.number,) if block.number else ()
    rng = SharedChance(np.random.SeedSequence([seed, *block.lineup], spawn_key=key))
    engine = deal(rules, of_game, seed)
    weights = weights_of(rules) if block.control_variates else None
    keys = deal_keys(seed, of_game)
    found: list[GameRecord] = []
    try:
        if not record:
            return play_out(engine, agents, who, rng, keys, weights)
        keep = lambda *ended: found.extend(ended)  # noqa: E731
        played = play_out(engine, agents, who, rng, keys, weights, keep, thoughts=thoughts)
        lines = "".join(f"{one.to_json()}\n" for one in found).encode()
        return replace(played, records=np.frombuffer(lines, np.uint8))
    except AnswerError as error:
        seated = ", ".join(agent_name(agents[number]) for number in who[error.game])
        raise AnswerError(
            f"{error}. It is deal {of_game[error.game]} of seed {seed}, with {seated} from player_0 on", error.game
        ) from error


def measure(
    rules: Rules,
    agents: Sequence[Agent],
    lineup: Sequence[int],
    *,
    deals: int,
    seed: int,
    seatings: Seatings = "all",
    control_variates: bool = False,
) -> LineupResult:
    """Play a line-up.

    Every deal is played once in each order of the line-up: the same tiles, other seats. Since points sum to zero, the
    same agent in all seats has a mean of exactly 0.

    Args:
        rules: what is played, one hand a game.
        agents: who may play.
        lineup: numbers of the agents, one for each person.
        deals: number of deals; deal i is the same for every line-up with this seed.
        seed: of the deals and of the agents' choices.
        seatings: "all" orders of seats, a "balanced" choice of them, or one for each deal in "turns", see
            `mahjong_training.evaluation.seating.orders_of`.
        control_variates: take luck off the points: the same mean in the long run, narrower intervals, and about twice
            the time with agents as fast as greedy. See `mahjong_agents.control_variates`.

    Returns:
        Means and intervals, clustered by deal.
    """
    every = blocks(lineup, deals, seatings, agents=agents, control_variates=control_variates)
    return summarise(rules, lineup, [play_block(rules, agents, block, seed) for block in every], seatings)


def summarise(
    rules: Rules,
    lineup: Sequence[int],
    parts: Sequence[Played],
    seatings: Seatings = "all",
    confidence: float = 0.95,
) -> LineupResult:
    """Return means and intervals of a line-up, clustered by deal, from what its blocks brought, in order."""
    orders = orders_of_a_deal(lineup, seatings)
    played = Played.joined(parts)
    hands = _by_deal(played.hands, orders)
    who = seated(lineup, np.arange(len(hands)), seatings)
    standings, totals = [], []
    for agent in sorted(set(lineup)):
        is_seat = who == agent
        seats = int(is_seat[0].sum())
        of_agent = {
            name: _by_deal((values * is_seat).sum(axis=1), orders)
            for name, values in ({name: getattr(played, name) for name in _SHARES} | played.counts).items()
        }
        shares = {name: ratio(of_agent[name], hands * seats, confidence) for name in _SHARES}
        points: NDArray[Any] = of_agent["points"]
        if "luck" in of_agent:
            points = points - of_agent.pop("luck") / UNIT
            shares |= {"points": ratio(points, hands * seats, confidence), "with_luck": shares["points"]}
        details = {
            name: ratio(of_agent[total], counts, confidence)
            for name, total, per in RATIOS
            if {total, per} - {""} <= of_agent.keys() and (counts := of_agent[per] if per else hands * seats).any()
        }
        rows = _rows(rules, played, is_seat, of_agent["wins"], confidence)
        standings.append(Standing(agent, seats, **shares, details=details, rows=rows))
        totals.append(points)
    draws = ratio(_by_deal(played.draws, orders), hands, confidence)
    return LineupResult(
        tuple(lineup), orders, len(hands), int(hands.sum()), draws, tuple(standings), tuple(totals), confidence
    )


def difference(one: LineupResult, agent: int, other: LineupResult, its_agent: int) -> Estimate:
    """Estimate how many points per hand and seat one agent brings more than another in its place.

    Both line-ups were played on the same deals, in the same orders of seats: what the deals bring by themselves is in
    both, and cancels.

    Args:
        one: a line-up with ``agent``.
        agent: its number.
        other: the same line-up with another agent in its place.
        its_agent: that agent's number.

    Returns:
        The mean difference, with an interval clustered by deal.

    Raises:
        TrainingError: the line-ups are not of the same deals and orders.
    """
    if (one.orders, one.deals, one.of(agent).seats) != (other.orders, other.deals, other.of(its_agent).seats):
        raise TrainingError("line-ups of other deals or seats cannot be compared deal by deal")
    seats = one.of(agent).seats
    hands = np.full(one.deals, one.hands * seats / one.deals)
    return ratio(one.points_by_deal(agent) - other.points_by_deal(its_agent), hands, one.confidence)


def _rows(
    rules: Rules, played: Played, is_seat: NDArray[np.bool_], wins: NDArray[np.int64], confidence: float
) -> dict[str, Estimate]:
    """Return the share of an agent's wins that scored each row; rows that it never scored are left out."""
    has_won: NDArray[np.bool_] = (played.wins * is_seat).sum(axis=1) > 0
    scored = (played.rows > 0) & has_won[:, None]
    orders = len(has_won) // len(wins)
    return {
        row.name: ratio(_by_deal(scored[:, number].astype(np.int64), orders), wins, confidence)
        for number, row in enumerate(rules.rows)
        if scored[:, number].any()
    }


def _by_deal(values: NDArray[np.int64], orders: int) -> NDArray[np.int64]:
    """Sum over the orders of each deal: [deals]."""
    return values.reshape(-1, orders).sum(axis=1)
