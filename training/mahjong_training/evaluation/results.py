"""Results: how each line-up ended, and what an evaluation found in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.control_variates import UNIT
from mahjong_env import Rules, __version__
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import FEWEST, Estimate, ratio
from mahjong_training.evaluation.hand_statistics import MAIN, THEMES, Played
from mahjong_training.evaluation.lineups import (
    Kind,
    Seatings,
    one_against_copies,
    orders_of_a_deal,
    seated,
    two_against_two,
)

_SHARES = tuple(column.name for column in THEMES[MAIN] if column.name != "draws")
_RATIOS = [column for theme, columns in THEMES.items() if theme != MAIN for column in columns]


@dataclass(frozen=True)
class Standing:
    """The results of one agent in a line-up, per hand and seat; rates of several seats are means over them.

    Attributes:
        wins, self_draws, deal_ins: share of hands won, won by self-draw, lost by giving the winning tile.
        details: the other columns of the report, by name, see `mahjong_training.evaluation.hand_statistics.THEMES`.
            What never happened is left out.
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
    """The results of a line-up.

    Attributes:
        orders: in how many orders of seats every deal was played.
        draws: share of drawn hands.
        standings: one for each agent, in the order of the agents' numbers.
        totals: for each agent in the same order, [deals] its points over all orders of a deal, luck taken off.
        seat_hands: and [deals] how many hands that is of, counted for each of its seats. Where people take turns in
            sitting out, a single hand is none of those who sit out.
        places: of matches the same: [deals] its mean place, from 1; of single hands none.
        confidence: of every interval.
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
        """Return the standing of one agent."""
        return next(standing for standing in self.standings if standing.agent == agent)

    def estimates(self, standing: Standing) -> dict[str, Estimate]:
        """Return all columns of the report for a standing, by name, and ``points_with_luck`` if luck was taken off."""
        luck = {"points_with_luck": standing.with_luck} if standing.with_luck else {}
        main = {name: getattr(standing, name) for name in _SHARES}
        return {"points": standing.points} | luck | main | {"draws": self.draws} | dict(standing.details)

    def points_by_deal(self, agent: int) -> NDArray[Any]:
        """Return [deals] the points of one agent, summed over its seats and the orders of each deal, luck taken off."""
        return self.totals[self._number(agent)]

    def points_per_hand(self, agent: int) -> NDArray[np.float64]:
        """Return [deals] the same for each hand and seat of a deal, of deals with as many hands."""
        return self.points_by_deal(agent) / self.seat_hands_by_deal(agent).mean()

    def seat_hands_by_deal(self, agent: int) -> NDArray[np.int64]:
        """Return [deals] how many hands these points are of, counted for each of its seats."""
        return self.seat_hands[self._number(agent)]

    def places_by_deal(self, agent: int) -> NDArray[np.float64]:
        """Return [deals] the mean place of one agent in the matches of each deal."""
        return self.places[self._number(agent)]

    def mean_place(self, agent: int) -> Estimate:
        """Return the mean place of one agent in matches, from 1."""
        return ratio(self.places_by_deal(agent), np.ones(self.deals), self.confidence)

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
    """Return means and intervals of a line-up, clustered by deal, from what its blocks brought, in order.

    ``first`` is the number of their first deal, by which it is known who sat where.
    """
    orders = orders_of_a_deal(lineup, seatings)

    def by_deal(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(-1, orders).sum(axis=1)

    played = Played.joined(parts)
    hands = by_deal(played.hands)
    who = seated(lineup, first + np.arange(len(hands)), seatings)
    counted = {name: getattr(played, name) for name in _SHARES} | played.counts
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
        shares = {name: ratio(of_agent[name], of_seats, confidence) for name in _SHARES}
        points: NDArray[Any] = of_agent["points"]
        if "luck" in of_agent:
            points = points - of_agent.pop("luck") / UNIT
            shares |= {"points": ratio(points, of_seats, confidence), "with_luck": shares["points"]}
        details = {
            column.name: ratio(of_agent[column.total], counts, confidence)
            for column in _RATIOS
            if {column.total, column.per} - {""} <= of_agent.keys()
            and (counts := of_agent[column.per] if column.per else of_seats).any()
        }
        has_scored = (played.rows > 0) & ((played.wins * is_seat).sum(axis=1) > 0)[:, None]
        rows = {
            row.name: ratio(by_deal(scored.astype(np.int64)), of_agent["wins"], confidence)
            for row, scored in zip(rules.rows, has_scored.T, strict=True)
            if scored.any()
        }
        standings.append(Standing(agent, seats, **shares, details=details, rows=rows))
        totals.append(points)
        seat_hands.append(of_seats)
        if is_of_matches:
            of_places = shares_of_places(lineup, parts, seatings, agent, first=first)
            places.append(of_places @ np.arange(1, rules.people + 1))
    draws = ratio(by_deal(played.draws), hands, confidence)
    found = (tuple(standings), tuple(totals), tuple(seat_hands), tuple(places))
    return LineupResult(tuple(lineup), orders, len(hands), int(hands.sum()), draws, *found, confidence)


def shares_of_places(
    lineup: Sequence[int], parts: Sequence[Played], seatings: Seatings, agent: int = 0, *, first: int = 0
) -> NDArray[np.float64]:
    """Return [deals, P] the shares of the games of each deal that an agent ends in each place, by points.

    Places that persons of equal points share count in parts for each of them. ``first`` is as for `summarise`.
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
    """Estimate how many points per hand and seat one agent brings more than another in its place.

    The second line-up is the first one with another agent in its place, on the same deals in the same orders of seats:
    what the deals bring by themselves is in both, and cancels.

    Raises:
        TrainingError: the line-ups are not of the same deals and orders.
    """
    if (one.orders, one.deals, one.of(agent).seats) != (other.orders, other.deals, other.of(its_agent).seats):
        raise TrainingError("line-ups of other deals or seats cannot be compared deal by deal")
    more = one.points_by_deal(agent) - other.points_by_deal(its_agent)
    return ratio(more, one.seat_hands_by_deal(agent), one.confidence)


class Gain(NamedTuple):
    """What a policy brings against copies of an agent, less what the same policy brought there before learning."""

    policy: int
    clone: int
    against: int
    points: Estimate


@dataclass(frozen=True)
class Evaluation:
    """The result of `mahjong_training.evaluation.command.evaluate`.

    Attributes:
        deals: deals of each line-up.
        results: one for each line-up.
        sigma: the unit, in points: see `mahjong_training.evaluation.matches.sigma`.
        roles: what each agent is to the trained policies among them; "" if nothing.
        clones: for trained policies, by number, the number of the same policy before learning.
        control_variates: whether luck was taken off all points.
        looks: after how many deals one meant to look; more than one if one could stop early.
        blind: the number of the blind test, if it was one.
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
        """In words, how many deals were played, and how."""
        orders = {"all": "every order", "balanced": "balanced orders", "turns": "one order (in turns)"}[self.seatings]
        luck = ", luck taken off" if self.control_variates else ""
        return f"{self.deals} deals, each played in {orders} of seats{luck}"

    @property
    def intervals(self) -> str:
        """In words, what the intervals are."""
        if self.deals < FEWEST:
            return f"fewer than {FEWEST} deals carry no interval"
        looks = f", for {len(self.looks)} looks at up to {self.looks[-1]} deals" if len(self.looks) > 1 else ""
        return f"± 95 % clustered by deal{looks}"

    def overall(self, agent: int) -> Estimate:
        """Estimate the points of an agent per hand and seat over all of its line-ups, clustered by deal."""
        results = [result for result in self.results if agent in result.lineup and len(result.standings) > 1]
        if not results:
            raise TrainingError(f"{self.agents[agent]} has met nobody")
        totals = np.sum([result.points_by_deal(agent) for result in results], axis=0)
        hands = np.sum([result.seat_hands_by_deal(agent) for result in results], axis=0)
        return ratio(totals, hands, results[0].confidence)

    def against(self, agent: int, other: int) -> LineupResult:
        """Return the line-up of one agent against copies of another."""
        wanted = one_against_copies(agent, other, self.rules.people)
        return next(result for result in self.results if result.lineup == wanted)

    def verdicts(self) -> list[str]:
        """Return the result in sentences: is the first agent better than each of the others, by how much, how sure.

        In duels and pairs a sentence is about the table at which these two meet, and goes on with the two shares that
        matter most, of hands won and of deal-ins; in a league it is about all tables.
        """
        if len(self.agents) < 2:
            return []
        if self.kind == "league":
            return [self.verdict(self.overall(0), f"the average of the other {len(self.agents) - 1}")]
        meet = one_against_copies if self.kind == "duels" else two_against_two
        lineups = {meet(0, other, self.rules.people): name for other, name in enumerate(self.agents) if other}
        met = [result for result in self.results if result.lineup in lineups]
        sentences = []
        for result in met:
            own = result.of(0)
            shares = f"of 100 hands it wins {own.wins.text(1, 0.01)}, deals in {own.deal_ins.text(1, 0.01)}"
            sentences.append(f"{self.verdict(own.points, lineups[result.lineup])}; {shares}")
        return sentences

    def verdict(self, points: Estimate, other: str) -> str:
        """Return the sentence about the points of the first agent against another one."""
        found, name = points.over(self.sigma), self.agents[0]
        if not np.isfinite(found.half_width):
            return f"{name} against {other}: {found.mean:+.3f} sigma a hand; too few deals to say how sure that is"
        if not found.is_clear_of_zero:
            return f"{name} against {other}: {found.text(3, sign='+')} sigma a hand; no difference could be shown"
        more, better = ("more", "better") if found.mean > 0 else ("less", "worse")
        low, high = sorted((abs(found.low), abs(found.high)))
        size = Estimate(abs(found.mean), low, high)
        # A skewed interval may be clear of zero while the mean ± its longer side is not: then both ends are shown.
        amount = size.text(3) if size.half_width < size.mean else f"{size.mean:.3f} ({low:.3f} to {high:.3f})"
        return f"{name} wins {amount} sigma a hand {more} than {other}: {better} (95 %)"

    def failures(self) -> dict[str, int]:
        """Return how many decisions were made for each agent that is a program and failed to make them, by name."""
        counts = dict.fromkeys(self.agents, 0)
        for result in self.results:
            for one in result.standings:
                if failed := one.details.get("failed_decisions"):
                    counts[self.agents[one.agent]] += round(failed.mean * result.seat_hands_by_deal(one.agent).sum())
        return {name: count for name, count in counts.items() if count}

    def gains(self) -> list[Gain]:
        """Return what learning added to each policy whose clone was measured too, against each of the others."""
        return [
            Gain(
                policy, clone, other, difference(self.against(policy, other), policy, self.against(clone, other), clone)
            )
            for policy, clone in self.clones
            for other in range(len(self.agents))
            if other not in (policy, clone)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data; agents are named."""
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
