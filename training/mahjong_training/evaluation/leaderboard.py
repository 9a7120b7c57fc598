"""``mahjong-env leaderboard``: every level against every other level, in every variant.

A row shows what an agent wins alone against copies of each level, on deals that are always the same. It depends only on
the agent and the levels, and the levels never change (`mahjong_agents.levels`). The row of an agent that is added later
can therefore be compared with all the others.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np

from mahjong_agents import Agent, make_agent
from mahjong_agents.greedy import reference_agent
from mahjong_agents.levels import LEVELS
from mahjong_env import VARIANTS, Rules, __version__
from mahjong_env import rules as rules_of
from mahjong_training.config import LeaderboardConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import standing
from mahjong_training.evaluation.estimates import Estimate, mean, plain_json, share
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import Seatings, one_against_copies, orders_of_a_deal, seated
from mahjong_training.evaluation.matches import Contest, play_contests, sigma
from mahjong_training.evaluation.payoffs import Payoffs
from mahjong_training.evaluation.results import LineupResult, Standing, shares_of_places
from mahjong_training.evaluation.standing import Kept, around, cell, lines, titled
from mahjong_training.runtime.console import kept_in, saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, provenance
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.limits import check_settings

KEPT: Final = "standings.json"
_MIXED: Final = "mixed"
_MATCH: Final = "match"


@dataclass(frozen=True)
class Table:
    """The leaderboard of one variant: what each agent wins against copies of every level except itself."""

    rules: Rules
    sigma: float
    levels: tuple[str, ...]
    rows: dict[str, dict[str, Standing]]
    payoffs: Payoffs | None
    """The pay-off matrix of the levels, if there are at least two of them and duels were played."""
    mixed: Mapping[str, Estimate] = field(default_factory=dict)
    """Points a hand at mixed tables, by agent."""
    places: Mapping[str, tuple[Estimate, ...]] = field(default_factory=dict)
    """Shares of the places in whole matches at mixed tables, and behind them the mean place, by agent."""
    ratings: Mapping[str, float] = field(default_factory=dict)
    """Openskill ratings by agent; empty if openskill is not installed."""

    @cached_property
    def overall(self) -> dict[str, dict[str, Any]]:
        """The summary of the pay-off matrix for each level; see `Payoffs.summary`."""
        return {} if self.payoffs is None else self.payoffs.summary()

    @property
    def mark(self) -> str:
        """The name of the `reference_agent`, against which every agent plays."""
        return reference_agent(self.rules).name

    def cell(self, agent: str, level: str) -> str:
        """Return the sigma a hand of an agent against copies of a level, in bold if clear of zero."""
        return cell(self.rows[agent][level].points.over(self.sigma)) if level in self.rows[agent] else "0"

    def kept(self, agent: str, config: LeaderboardConfig) -> dict[str, Any]:
        """Return the row of an agent in the standings; see `mahjong_training.evaluation.standing.Rows`."""
        how = provenance(self.rules, seed=config.seed)
        found: dict[str, Any] = {}
        if self.mark in self.rows[agent]:
            points = self.rows[agent][self.mark].points.over(self.sigma)
            found |= {"points": points, "how": how | {"deals": config.deals, "sigma": self.sigma}}
        if self.mark in self.rows[agent] or agent == self.mark:
            found |= {"against": self.mark}
        if self.payoffs is not None and agent in self.overall:
            found |= {"duels": {level: one.points.over(self.sigma) for level, one in self.rows[agent].items()}}
            found |= {"nash_rating": self.overall[agent]["nash_rating"].over(self.sigma)}
            found |= {"nash_share": self.overall[agent]["nash_share"], "how_duels": how | {"deals": config.deals}}
            found |= {"alpha_rank": self.overall[agent].get("alpha_rank")}
        if agent in self.mixed:
            found |= {"mixed": self.mixed[agent].over(self.sigma)}
            found |= {"how_mixed": how | {"deals": config.mixed_deals, "pool": config.pool}}
        if agent in self.places:
            *shares, mean_place = self.places[agent]
            found |= {"places": shares, "mean_place": mean_place}
            found |= {"how_places": how | {"deals": config.matches, "hands": config.match_hands, "pool": config.pool}}
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the whole table as plain data and estimates."""
        rows = [
            {
                "agent": agent,
                "against": {level: asdict(one) for level, one in standings.items()},
                "mixed": self.mixed.get(agent),
                "places": self.places.get(agent, ()),
                "rating": self.ratings.get(agent),
            }
            for agent, standings in self.rows.items()
        ]
        named = {"variant": self.rules.name, "version": self.rules.version}
        return named | {"sigma": self.sigma, "mark": self.mark, "rows": rows, "overall": self.overall}


def run(config: LeaderboardConfig) -> list[Table]:
    """Play what has not been played yet, print the tables and write them; finished blocks are kept."""
    check_settings(config, zero=("deals", "mixed_deals", "matches"))
    for level in config.levels:
        if not 0 <= level < len(LEVELS):
            raise TrainingError(f"there is no level {level}; levels are 0 to {len(LEVELS) - 1}")
    levels = tuple(LEVELS[level] for level in dict.fromkeys(config.levels)) or tuple(LEVELS)
    variants = [rules_of(name) for name in config.variants or sorted(VARIANTS)]
    for rules in variants:
        if config.mixed_deals + config.matches and len(set(config.pool)) < rules.people - 1:
            raise TrainingError(
                f"--pool has {len(set(config.pool))} agents; {rules.title} takes {rules.people - 1} others"
            )
    for name in ("leaderboard.json", "leaderboard.md", *standing.PICTURES.values()):
        check_file(config.out / name)
    kept = Kept.read(config.kept or config.out / KEPT)
    check_file(kept.path)
    if config.readme is not None:
        check_file(config.readme)
        around(config.readme)
    agents = _agents(config)
    set_threads(config.threads)
    with alone_in(config.out):
        with saying_what_is_kept(lambda: kept_in(config.out)) as progress:
            tables = [_table(rules, levels, agents, config, progress) for rules in variants]
        kept = Kept(kept.path, {}) if config.kept is None else Kept.read(kept.path)  # others may have added to it
        for table in tables:
            met = {table.mark if name == "reference" else name for name in (*table.levels, *config.pool)}
            for name in sorted(met - agents.keys()):  # even without a row, so that their replacement will be noticed
                kept.make_room(table.rules.name, name, agent_digests(name, make_agent(name), table.rules))
            digests = {name: agent_digests(name, agent, table.rules) for name, agent in agents.items()}
            if not kept.add(table.rules.name, digests, {name: table.kept(name, config) for name in agents}):
                print(f"{table.rules.name}: the matrix in {kept.path} has other agents, too, and is left as it was")
        kept.write()
        text = standing.page(kept.rows)
        print(text)
        data = {
            "mahjong_env": __version__,
            "date": time.strftime("%Y-%m-%d"),
            "command": command(config),
            "deals": config.deals,
            "seed": config.seed,
            "unit": "points per hand, 95 % intervals clustered by deal, luck taken off where that narrows them",
            "variants": [table.as_json() for table in tables],
        }
        write_text(config.out / "leaderboard.json", plain_json(data) + "\n")
        write_text(config.out / "leaderboard.md", "\n".join([text, *map(_matrix, tables)]) + "\n")
        standing.write_pictures(config.out, kept.rows)
        if config.readme is not None:
            standing.write_page(config.readme, text)
            standing.write_pictures(config.readme.parent, kept.rows)
    return tables


def _agents(config: LeaderboardConfig) -> dict[str, Agent]:
    """Return the agents that get a row: first the levels in their order, including any in --agents, then the others."""
    specs = dict.fromkeys([*(LEVELS[level] for level in config.levels or range(len(LEVELS))), *config.agents])
    ordered = sorted(specs, key=lambda spec: LEVELS.index(spec) if spec in LEVELS else len(LEVELS))
    return {spec: make_agent(spec) for spec in ordered}


def _table(
    rules: Rules,
    levels: tuple[str, ...],
    rows: Mapping[str, Agent],
    config: LeaderboardConfig,
    progress: Callable[[str], object],
) -> Table:
    """Play all contests of a variant, except for blocks that are kept, and return its table."""
    against = tuple(dict.fromkeys((*levels, reference_agent(rules).name)))
    agents = dict(rows) | {spec: make_agent(spec) for spec in (*config.pool, *against)}
    plan: list[tuple[str, str, Contest]] = []  # the agent; a level, "mixed" or "match"; the contest
    for agent in rows:
        for level in against if config.deals else ():
            if level != agent:
                duel = Contest.of(rules, agents, one_against_copies(agent, level, rules.people), range(config.deals))
                plan.append((agent, level, duel))
        for kind, deals, hands in ((_MIXED, config.mixed_deals, 1), (_MATCH, config.matches, config.match_hands)):
            tables = mixed(rules, agents, agent, config.pool, range(deals), hands=hands)
            plan += [(agent, kind, table) for table in tables]
    played = play_contests([one for *_, one in plan], agents, config, config.seed, out=config.out, progress=progress)
    duels: dict[tuple[str, str], LineupResult] = {}
    others: dict[str, dict[str, list[tuple[Contest, list[Played]]]]] = {_MIXED: {}, _MATCH: {}}
    for (agent, kind, _), (contest, parts) in zip(plan, played, strict=True):
        if kind in others:
            others[kind].setdefault(agent, []).append((contest, parts))
        else:
            duels[agent, kind] = contest.result(parts)
    progress(f"{rules.title}: sigma")
    return Table(
        rules,
        sigma(rules),
        against,
        {agent: {level: duels[agent, level].of(0) for level in against if (agent, level) in duels} for agent in rows},
        Payoffs.of(levels, duels) if len(levels) > 1 and duels else None,
        {agent: mixed_points(at_tables) for agent, at_tables in others[_MIXED].items()},
        {agent: mixed_places(at_tables) for agent, at_tables in others[_MATCH].items()},
        ratings([one for at_tables in others[_MATCH].values() for one in at_tables]),
    )


# --- Mixed tables ------------------------------------------------------------------------------------------------


def mixed(
    rules: Rules,
    agents: Mapping[str, Agent],
    agent: str,
    pool: Sequence[str],
    deals: range,
    seatings: Seatings = "balanced",
    *,
    hands: int = 1,
    most: int | None = None,
) -> list[Contest]:
    """Return the contests of an agent at mixed tables, where the others are different agents of a pool.

    Every possible choice of the others gets an equal share of the deals. Every agent measured plays the same deals with
    the same choice, and sits in every seat. The other arguments are those of `Contest.of`.
    """
    choices = list(combinations(dict.fromkeys(pool), rules.people - 1))
    ends = [deals.start + len(deals) * number // len(choices) for number in range(len(choices) + 1)]
    return [
        Contest.of(rules, agents, [agent, *others], range(*part), seatings, hands=hands, most=most)
        for others, part in zip(choices, pairwise(ends), strict=True)
        if part[0] < part[1]
    ]


def mixed_points(played: Sequence[tuple[Contest, list[Played]]]) -> Estimate:
    """Return the points a hand of the first agent of some contests."""
    results = [contest.result(parts) for contest, parts in played]
    return mean(np.concatenate([result.points_per_hand(0) for result in results]))


def mixed_places(played: Sequence[tuple[Contest, list[Played]]]) -> tuple[Estimate, ...]:
    """Return the first agent's share of each place in some contests, then its mean place; see `shares_of_places`."""
    found = []
    for contest, parts in played:
        block = contest.blocks[0]
        found.append(shares_of_places(block.lineup, parts, block.seatings, first=block.first))
    by_deal = np.concatenate(found)
    ones, places = np.ones(len(by_deal)), np.arange(1, by_deal.shape[1] + 1)
    return (*(share(column, ones) for column in by_deal.T), mean(by_deal @ places))


def ratings(played: Sequence[tuple[Contest, list[Played]]]) -> dict[str, float]:
    """Return agents' ratings by their places in matches (openskill's Plackett-Luce); empty without openskill.

    A rating assumes that strength is a single number, so it is shown beside the matrix and never alone. The matches are
    rated in one fixed random order.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        return {}
    model = PlackettLuce()
    known: dict[str, Any] = {}
    games: list[tuple[list[str], list[float]]] = []
    for contest, parts in played:
        points = Played.joined(parts).points
        block = contest.blocks[0]
        deals = block.first + np.arange(len(points) // orders_of_a_deal(block.lineup, block.seatings))
        for who, won in zip(seated(block.lineup, deals, block.seatings), points, strict=True):
            names = [contest.agents[number] for number in who]
            if len(set(names)) == len(names):
                games.append((names, won.tolist()))
    for number in np.random.default_rng(0).permutation(len(games)):
        names, won = games[number]
        teams = [[known.setdefault(name, model.rating(name=name))] for name in names]
        for name, team in zip(names, model.rate(teams, scores=won), strict=True):
            known[name] = team[0]
    return {name: float(rating.mu) for name, rating in known.items()}


# --- Text --------------------------------------------------------------------------------------------------------


def command(config: LeaderboardConfig) -> str:
    """Return the command that reproduces this table."""
    words = ["mahjong-env", "leaderboard"]
    for option in ("variants", "levels", "agents", "pool"):
        if values := getattr(config, option):
            words += [f"--{option}", *map(str, values)]
    for option in ("deals", "mixed_deals", "matches", "match_hands", "seed"):
        words += [f"--{option.replace('_', '-')}", str(getattr(config, option))]
    return shlex.join(words)


def _matrix(table: Table) -> str:
    """Return a table in Markdown of every agent against every level."""
    head = ["one, against", *(f"{table.rules.people - 1} x {level}" for level in table.levels)]
    rows = [[titled(agent), *(table.cell(agent, level) for level in table.levels)] for agent in table.rows]
    text = f"\n## {table.rules.title}\n\nsigma = {table.sigma:.2f} points\n\n{lines(head, rows)}"
    return text if table.payoffs is None else f"{text}\n\n{_overall(table)}"


def _overall(table: Table) -> str:
    """Return a table in Markdown of each level against all opponents, the highest Nash rating first."""
    summary = table.overall
    head = ["all opponents", "mean", "Nash rating", "Nash share", "alpha-rank", "openskill"]
    rows = []
    for agent in sorted(summary, key=lambda agent: -summary[agent]["nash_rating"].mean):
        one = summary[agent]
        share = f"{one['alpha_rank']:.2f}" if "alpha_rank" in one else ""
        numbers = (one[name].text(3, table.sigma, "+") for name in ("mean", "nash_rating"))
        rating = f"{table.ratings[agent]:.1f}" if agent in table.ratings else ""
        rows.append([titled(agent), *numbers, one["nash_share"].text(2), share, rating])
    return lines(head, rows)
