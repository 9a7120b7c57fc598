"""What an evaluation found: who played, and how each line-up ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mahjong_env import Rules, __version__
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.lineups import LineupResult, difference, one_against_copies
from mahjong_training.evaluation.ratings import Rating
from mahjong_training.evaluation.seating import Kind, Seatings
from mahjong_training.evaluation.statistics import FEWEST, Estimate, ratio


@dataclass(frozen=True)
class Gain:
    """What learning added to a policy: its points less those of what it was before, on the same deals and seats.

    Attributes:
        policy: the trained policy, by its number among the agents.
        clone: the policy before learning.
        against: against copies of whom both were measured.
        points: the difference in points per hand.
    """

    policy: int
    clone: int
    against: int
    points: Estimate


@dataclass(frozen=True)
class Evaluation:
    """What `mahjong_training.evaluation.command.evaluate` found.

    Attributes:
        rules: what was played.
        agents: the agents' names.
        deals: deals of each line-up.
        seed: the seed.
        results: one for each line-up, see `mahjong_training.evaluation.seating.lineups`.
        sigma: the unit that is the same for every variant, in points: see `mahjong_training.evaluation.sigma`.
        roles: what each agent is to the trained policies among them; "" where there is nothing to say.
        clones: for trained policies, by number, the number of the same policy before learning.
        kind: what the line-ups are, see `mahjong_training.evaluation.seating.lineups`.
        ratings: one for each agent, from all line-ups.
        seatings: in which orders of seats every deal was played, see `mahjong_training.evaluation.seating.orders_of`.
        control_variates: whether luck was taken off all points, see `mahjong_agents.control_variates`.
        looks: after how many deals one meant to look; more than one if one could stop early, see
            `mahjong_training.evaluation.sequential`.
        blind: the number of the blind test, if it was one, see `mahjong_training.evaluation.holdout`.
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
    ratings: tuple[Rating, ...] = ()
    seatings: Seatings = "all"

    control_variates: bool = False
    looks: tuple[int, ...] = ()
    blind: int | None = None

    @property
    def intervals(self) -> str:
        """In words, what the intervals are."""
        if self.deals < FEWEST:
            return f"fewer than {FEWEST} deals carry no interval"
        if len(self.looks) < 2:
            return "± 95 % clustered by deal"
        return f"± 95 % clustered by deal, for {len(self.looks)} looks at up to {self.looks[-1]} deals"

    @property
    def dealt_from(self) -> str:
        """In words, where the deals come from."""
        return f"seed {self.seed}" if self.blind is None else f"blind test {self.blind}"

    @property
    def how_seated(self) -> str:
        """In words, how every deal was played."""
        orders = {"all": "every order", "balanced": "balanced orders", "turns": "one order (in turns)"}[self.seatings]
        return f"each played in {orders} of seats" + (", luck taken off" if self.control_variates else "")

    def overall(self, agent: int) -> Estimate:
        """Estimate the points of an agent per hand and seat over all line-ups that it sat in.

        Line-ups play the same deals: the interval is clustered by deal over all of them.
        """
        results = [result for result in self.results if agent in result.lineup and len(result.standings) > 1]
        if not results:
            raise TrainingError(f"{self.agents[agent]} has met nobody")
        totals = np.sum([result.points_by_deal(agent) for result in results], axis=0)
        hands = sum(result.orders * result.of(agent).seats for result in results)
        return ratio(totals, np.full(len(totals), hands), results[0].confidence)

    def against(self, agent: int, other: int) -> LineupResult:
        """Return the line-up of one agent against copies of another."""
        wanted = one_against_copies(agent, other, self.rules.people)
        return next(result for result in self.results if result.lineup == wanted)

    def gains(self) -> list[Gain]:
        """Return what learning added to each policy whose clone was measured too, against each of the others."""
        return [
            Gain(
                policy,
                clone,
                other,
                difference(self.against(policy, other), policy, self.against(clone, other), clone),
            )
            for policy, clone in self.clones
            for other in range(len(self.agents))
            if other not in (policy, clone)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data; agents are named."""
        return {
            "mahjong_env": __version__,
            "variant": self.rules.name,
            "variant_version": self.rules.version,
            "knobs": self.rules.knobs,
            "seed": self.seed,
            "deals": self.deals,
            "agents": list(self.agents),
            "roles": dict(zip(self.agents, self.roles, strict=False)),
            "unit": "points and shares per hand and seat; 95 % intervals, clustered by deal",
            "looks": list(self.looks),
            "blind": self.blind,
            "sigma": self.sigma,
            "kind": self.kind,
            "seatings": self.seatings,
            "control_variates": self.control_variates,
            "ratings": {
                name: asdict(rating) | {"points": self._overall_as_json(number)}
                for number, (name, rating) in enumerate(zip(self.agents, self.ratings, strict=False))
            },
            "lineups": [self._lineup_as_json(result) for result in self.results],
            "learning_added": [
                {
                    "policy": self.agents[gain.policy],
                    "clone": self.agents[gain.clone],
                    "against": self.agents[gain.against],
                    "points": asdict(gain.points),
                }
                for gain in self.gains()
            ],
        }

    def _overall_as_json(self, agent: int) -> dict[str, float] | None:
        return asdict(self.overall(agent)) if len(self.agents) > 1 else None

    def _lineup_as_json(self, result: LineupResult) -> dict[str, Any]:
        standings = [
            {"agent": self.agents[one.agent]} | {key: value for key, value in asdict(one).items() if key != "agent"}
            for one in result.standings
        ]
        return {
            "lineup": [self.agents[agent] for agent in result.lineup],
            "orders": result.orders,
            "hands": result.hands,
            "draws": asdict(result.draws),
            "standings": standings,
        }
