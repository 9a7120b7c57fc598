"""The results of line-ups, and of an evaluation as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.control_variates import UNIT
from mahjong_env import VARIANTS, Rules, __version__
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import FEWEST, Estimate, mean, ratio, share
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES, Column, Played
from mahjong_training.evaluation.lineups import (
    Kind,
    Seatings,
    one_against_copies,
    orders_of_a_deal,
    seated,
    two_against_two,
)
from mahjong_training.evaluation.standing import share_of_ceiling

_OF_AGENTS = [column for column in THEMES[MAIN] if column.name != "draws"]
_RATIOS = [column for theme, columns in THEMES.items() if theme != MAIN for column in columns]


@dataclass(frozen=True)
class Standing:
    """The results of one agent in a line-up, per hand and seat (a mean over seats where the agent has several).

    Attributes:
        agent: the agent's number.
        seats: how many seats the agent has.
        points: points won.
        wins, self_draws, deal_ins: shares of hands won, won by self-draw, and lost by giving the winning tile.
        details: the other columns of the report by name, without those for what never happened; see
            `mahjong_training.evaluation.hand_statistics.THEMES`.
        rows: by the name of a row, the share of the agent's wins that scored it.
        with_luck: the points before luck was subtracted; None if it was not.
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
    """The results of a line-up.

    Attributes:
        lineup: the agents' numbers, one for each person.
        orders: the number of orders of seats in which every deal was played.
        deals: the number of deals.
        hands: the number of hands.
        draws: the share of drawn hands.
        standings: the results of each agent, in the order of the agents' numbers.
        totals: for each agent in the same order, [deals] its points summed over all orders of a deal, after luck is
            subtracted.
        seat_hands: for each agent, [deals] the number of hands in those totals, counted once for each of its seats.
            Where people take turns sitting out, a single hand does not count for those who sit out.
        places: for each agent, [deals] its mean place in matches, from 1; empty for single hands.
        confidence: the confidence of every interval.
    """

    lineup: tuple[int, ...]
    orders: int
    deals: int
    hands: int
    draws: Estimate
    standings: tuple[Standing, ...]
    totals: tuple[NDArray[Any], ...] = field(default=(), compare=False, repr=False)
    seat_hands: tuple[NDArray[np.int64], ...] = field(default=(), compare=False, repr=False)
    places: tuple[NDArray[np.float64], ...] = field(default=(), compare=False, repr=False)
    confidence: float = 0.95

    def of(self, agent: int) -> Standing:
        """Return the results of one agent."""
        return next(standing for standing in self.standings if standing.agent == agent)

    def estimates(self, standing: Standing) -> dict[str, Estimate]:
        """Return all report columns of a standing by name, and ``points_with_luck`` if luck was subtracted."""
        luck = {"points_with_luck": standing.with_luck} if standing.with_luck else {}
        main = {column.name: getattr(standing, column.name) for column in _OF_AGENTS}
        return {"points": standing.points} | luck | main | {"draws": self.draws} | dict(standing.details)

    def points_by_deal(self, agent: int) -> NDArray[Any]:
        """Return [deals] an agent's points, less any luck, summed over its seats and the orders of each deal."""
        return self.totals[self._number(agent)]

    def points_per_hand(self, agent: int) -> NDArray[np.float64]:
        """Return [deals] an agent's points per hand and seat, for deals that all have the same number of hands."""
        return self.points_by_deal(agent) / self.seat_hands_by_deal(agent).mean()

    def seat_hands_by_deal(self, agent: int) -> NDArray[np.int64]:
        """Return [deals] the number of hands in an agent's points, counted once for each of its seats."""
        return self.seat_hands[self._number(agent)]

    def places_by_deal(self, agent: int) -> NDArray[np.float64]:
        """Return [deals] an agent's mean place, from 1, in the matches of each deal."""
        return self.places[self._number(agent)]

    def mean_place(self, agent: int) -> Estimate:
        """Estimate an agent's mean place, from 1, in matches."""
        return mean(self.places_by_deal(agent), self.confidence)

    def _number(self, agent: int) -> int:
        return [standing.agent for standing in self.standings].index(agent)


def summarise(
    rules: Rules,
    lineup: Sequence[int],
    parts: Sequence[Played],
    seatings: Seatings = "all",
    confidence: float = 0.95,
    *,
    first: int = 0,
) -> LineupResult:
    """Compute the results of a line-up, with intervals clustered by deal.

    Args:
        rules: the rules that were played.
        lineup: the agents' numbers, one for each person.
        parts: the outcomes of the line-up's blocks, in order.
        seatings: the orders of seats; see `orders_of_a_deal`.
        confidence: the confidence of every interval.
        first: the number of the first deal, on which it may depend who sat where.
    """
    orders = orders_of_a_deal(lineup, seatings)

    def by_deal(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(-1, orders).sum(axis=1)

    played = Played.joined(parts)
    hands = by_deal(played.hands)
    who = seated(lineup, first + np.arange(len(hands)), seatings)
    counted = {column.name: getattr(played, column.name) for column in _OF_AGENTS} | played.counts
    for column in _RATIOS:
        factors = column.total.split("*")
        if counted.keys() >= set(factors):
            counted[column.total] = np.prod([counted[name] for name in factors], axis=0)
    is_of_matches = bool((played.hands > 1).any())
    sits = np.arange(who.shape[1]) < (rules.people if is_of_matches else rules.seats)
    standings, totals, places = list[Standing](), list[NDArray[Any]](), list[NDArray[np.float64]]()
    seat_hands = list[NDArray[np.int64]]()
    for agent in sorted(set(lineup)):
        is_seat = (who == agent) & sits
        seats = lineup.count(agent)
        of_seats = by_deal(played.hands * is_seat.sum(axis=1))
        of_agent = {name: by_deal((values * is_seat).sum(axis=1)) for name, values in counted.items()}
        main = {column.name: _mean(column, of_agent[column.name], of_seats, confidence) for column in _OF_AGENTS}
        points: NDArray[Any] = of_agent["points"]
        if "luck" in of_agent:
            points = points - of_agent.pop("luck") / UNIT
            main |= {"points": ratio(points, of_seats, confidence), "with_luck": main["points"]}
        details = {
            column.name: _mean(column, of_agent[column.total], counts, confidence)
            for column in _RATIOS
            if {column.total, column.per} - {""} <= of_agent.keys()
            and (counts := of_agent[column.per] if column.per else of_seats).any()
        }
        has_scored = (played.rows > 0) & ((played.wins * is_seat).sum(axis=1) > 0)[:, None]
        rows = {
            row.name: share(by_deal(scored.astype(np.int64)), of_agent["wins"], confidence)
            for row, scored in zip(rules.rows, has_scored.T, strict=True)
            if scored.any()
        }
        standings.append(Standing(agent, seats, **main, details=details, rows=rows))
        totals.append(points)
        seat_hands.append(of_seats)
        if is_of_matches:
            of_places = shares_of_places(lineup, parts, seatings, agent, first=first)
            places.append(of_places @ np.arange(1, rules.people + 1))
    draws = share(by_deal(played.draws), hands, confidence)
    found = (tuple(standings), tuple(totals), tuple(seat_hands), tuple(places))
    return LineupResult(tuple(lineup), orders, len(hands), int(hands.sum()), draws, *found, confidence)


def _mean(column: Column, totals: NDArray[Any], counts: NDArray[Any], confidence: float) -> Estimate:
    return (share if column.unit == "share" else ratio)(totals, counts, confidence)


def shares_of_places(
    lineup: Sequence[int], parts: Sequence[Played], seatings: Seatings, agent: int = 0, *, first: int = 0
) -> NDArray[np.float64]:
    """Return [deals, P] the share of each deal's games that an agent ends in each place, by points.

    Persons with equal points share their places, and each counts for an equal part of them. The arguments are those of
    `summarise`; ``agent`` is the agent's number.
    """
    points = Played.joined(parts).points
    orders, people = orders_of_a_deal(lineup, seatings), points.shape[1]
    is_seat = seated(lineup, first + np.arange(len(points) // orders), seatings) == agent
    before = (points[:, None] > points[:, :, None]).sum(axis=2)
    beside = (points[:, None] == points[:, :, None]).sum(axis=2)
    number = np.arange(people)
    has = (number >= before[..., None]) & (number < (before + beside)[..., None])
    shares = (has / beside[..., None] * is_seat[..., None]).sum(axis=1) / is_seat.sum(axis=1, keepdims=True)
    of_deals: NDArray[np.float64] = shares.reshape(-1, orders, people).mean(axis=1)
    return of_deals


def difference(one: LineupResult, agent: int, other: LineupResult, its_agent: int) -> Estimate:
    """Estimate how many more points per hand and seat one agent wins than another in its place.

    The second line-up must be the first with the agent replaced, on the same deals in the same orders of seats. What
    the deals themselves are worth is in both results, and cancels.

    Args:
        one: the results with the first agent.
        agent: the number of the first agent.
        other: the results with the other agent in its place.
        its_agent: the number of the other agent.

    Raises:
        TrainingError: the line-ups differ in the numbers of deals, orders or seats.
    """
    if (one.orders, one.deals, one.of(agent).seats) != (other.orders, other.deals, other.of(its_agent).seats):
        raise TrainingError("line-ups of other deals or seats cannot be compared deal by deal")
    more = one.points_by_deal(agent) - other.points_by_deal(its_agent)
    return ratio(more, one.seat_hands_by_deal(agent), one.confidence)


class Gain(NamedTuple):
    """What learning added to a policy: its points against copies of an agent, less those of its clone.

    Attributes:
        policy: the number of the policy.
        clone: the number of the same policy before it learned.
        against: the number of the agent in all other seats.
        points: the difference, in points a hand.
    """

    policy: int
    clone: int
    against: int
    points: Estimate


@dataclass(frozen=True)
class Evaluation:
    """The result of `mahjong_training.evaluation.command.evaluate`.

    Attributes:
        rules: the rules that were played.
        agents: the names of the agents, whose numbers are positions in this tuple.
        deals: the number of deals of each line-up.
        seed: the seed of the deals and of the agents' choices.
        results: the results of each line-up.
        sigma: the unit of strength, in points; see `mahjong_training.evaluation.matches.sigma`.
        roles: what each agent is to the trained policies among them; "" where there is nothing to say.
        clones: pairs of the number of a trained policy and the number of the same policy before it learned.
        kind: the kind of line-ups; see `mahjong_training.evaluation.lineups.lineups`.
        seatings: the orders of seats; see `mahjong_training.evaluation.lineups.orders_of`.
        control_variates: whether luck was subtracted from all points.
        looks: the planned numbers of deals at which to look; more than one if the evaluation could stop early.
        blind: the number of the blind test; None if it was not one.
    """

    rules: Rules
    agents: tuple[str, ...]
    deals: int
    seed: int
    results: tuple[LineupResult, ...]
    sigma: float
    roles: tuple[str, ...] = ()
    clones: tuple[tuple[int, int], ...] = ()
    kind: Kind = "duels"
    seatings: Seatings = "all"
    control_variates: bool = False
    looks: tuple[int, ...] = ()
    blind: int | None = None

    @property
    def how_played(self) -> str:
        """The number of deals, orders of seats and treatment of luck, in words."""
        orders = {"all": "every order", "balanced": "balanced orders", "turns": "one order (in turns)"}[self.seatings]
        luck = ", luck taken off" if self.control_variates else ""
        return f"{self.deals} deals, each played in {orders} of seats{luck}"

    @property
    def intervals(self) -> str:
        """The kind of the intervals, in words."""
        if self.deals < FEWEST:
            return f"fewer than {FEWEST} deals carry no interval"
        looks = f", for {len(self.looks)} looks at up to {self.looks[-1]} deals" if len(self.looks) > 1 else ""
        return f"± 95 % clustered by deal{looks}"

    def overall(self, agent: int) -> Estimate:
        """Estimate the points of an agent per hand and seat over all of its line-ups, clustered by deal."""
        results = [result for result in self.results if agent in result.lineup and len(result.standings) > 1]
        if not results:
            raise TrainingError(f"{self.agents[agent]} has played against nobody else")
        totals = np.sum([result.points_by_deal(agent) for result in results], axis=0)
        hands = np.sum([result.seat_hands_by_deal(agent) for result in results], axis=0)
        return ratio(totals, hands, results[0].confidence)

    def against(self, agent: int, other: int) -> LineupResult:
        """Return the results of one agent against copies of another."""
        wanted = one_against_copies(agent, other, self.rules.people)
        return next(result for result in self.results if result.lineup == wanted)

    def verdicts(self) -> list[str]:
        """Return sentences that say whether the first agent is better than the others, by how much, and how surely.

        In duels and pairs there is a sentence for each other agent, about the table at which the two meet. It ends with
        the two most important shares, of hands won and of deal-ins. Among copies of the reference agent it says the
        share of the ceiling, too, where there is one. In a league there is one sentence, about all tables.
        """
        if len(self.agents) < 2:
            return []
        if self.kind == "league":
            return [self.verdict(self.overall(0), f"the average of the {len(self.agents)} agents")]
        meet = one_against_copies if self.kind == "duels" else two_against_two
        lineups = {meet(0, other, self.rules.people): name for other, name in enumerate(self.agents) if other}
        met = [result for result in self.results if result.lineup in lineups]
        sentences = []
        for result in met:
            own, other = result.of(0), lineups[result.lineup]
            ceiling = self._share_of_ceiling(own.points, other)
            shares = f"of 100 hands it wins {own.wins.text(1, 0.01)}, deals in {own.deal_ins.text(1, 0.01)}"
            sentences.append("; ".join([self.verdict(own.points, other), *ceiling, shares]))
        return sentences

    def _share_of_ceiling(self, points: Estimate, other: str) -> list[str]:
        """Return the words about it, none where `share_of_ceiling` has none; it is known for the default rules."""
        if self.kind != "duels" or self.rules != VARIANTS.get(self.rules.name):
            return []
        share = share_of_ceiling(points.over(self.sigma), self.rules.name, other)
        return [] if share is None else [f"{100 * share:.0f} % of the ceiling"]

    def verdict(self, points: Estimate, other: str) -> str:
        """Return the sentence about the points of the first agent against the named other one."""
        found, name = points.over(self.sigma), self.agents[0]
        if not np.isfinite(found.half_width):
            return f"{name} against {other}: {found.mean:+.3f} sigma a hand; too few deals to say how sure that is"
        if not found.is_clear_of_zero:
            return f"{name} against {other}: {found.text(3, sign='+')} sigma a hand; no difference could be shown"
        more, better = ("more", "better") if found.mean > 0 else ("less", "worse")
        low, high = sorted((abs(found.low), abs(found.high)))
        size = Estimate(abs(found.mean), low, high)
        # A skewed interval may be clear of zero although the mean ± its longer side is not; then both ends are shown.
        amount = size.text(3) if size.half_width < size.mean else f"{size.mean:.3f} ({low:.3f} to {high:.3f})"
        return f"{name} wins {amount} sigma a hand {more} than {other}: {better} (95 %)"

    def failures(self) -> dict[str, int]:
        """Return, by name, how many decisions a program failed to make, so that they were made for it."""
        counts = dict.fromkeys(self.agents, 0)
        for result in self.results:
            for one in result.standings:
                if failed := one.details.get("failed_decisions"):
                    counts[self.agents[one.agent]] += round(failed.mean * result.seat_hands_by_deal(one.agent).sum())
        return {name: count for name, count in counts.items() if count}

    def gains(self) -> list[Gain]:
        """Return what learning added to each policy whose clone was measured as well, against each other agent."""
        return [
            Gain(
                policy, clone, other, difference(self.against(policy, other), policy, self.against(clone, other), clone)
            )
            for policy, clone in self.clones
            for other in range(len(self.agents))
            if other not in (policy, clone)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all results as plain data, with agents given by their names."""
        names = self.agents
        return {
            "mahjong_env": __version__,
            "variant": self.rules.name,
            "variant_version": self.rules.version,
            "knobs": self.rules.knobs,
            **{name: getattr(self, name) for name in ("seed", "deals", "agents", "looks", "blind", "sigma", "kind")},
            "seatings": self.seatings,
            "control_variates": self.control_variates,
            "unit": "points and shares per hand and seat; 95 % intervals, clustered by deal",
            "roles": dict(zip(names, self.roles, strict=False)),
            "verdicts": self.verdicts(),
            "overall": {name: asdict(self.overall(number)) for number, name in enumerate(names) if len(names) > 1},
            "lineups": [
                {
                    "lineup": [names[agent] for agent in result.lineup],
                    "orders": result.orders,
                    "hands": result.hands,
                    "draws": asdict(result.draws),
                    "standings": [asdict(one) | {"agent": names[one.agent]} for one in result.standings],
                }
                for result in self.results
            ],
            "learning_added": [
                {"policy": names[one], "clone": names[clone], "against": names[other], "points": asdict(points)}
                for one, clone, other, points in self.gains()
            ],
        }
