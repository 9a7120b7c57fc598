"""``mahjong-env leaderboard``: every level against every other one, on every variant.

A row says what an agent brings, alone against copies of each level, on deals that are always the same. It depends on
nothing but the agent and the levels, which never change (`mahjong_agents.levels`): an agent that is added gets a row
that can be compared with all the others.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_agents.levels import LEVELS
from mahjong_env import VARIANTS, Rules, __version__
from mahjong_env import rules as rules_of
from mahjong_training.config import LeaderboardConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, plain_json
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Block, block_cache, blocks, play_block, sigma
from mahjong_training.evaluation.payoffs import Payoffs, picture
from mahjong_training.evaluation.results import LineupResult, Standing, summarise
from mahjong_training.runtime.cache import ResultCache
from mahjong_training.runtime.console import TimeLeft, saying_what_is_kept
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import alone_in, check_file, write_bytes, write_text
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.runtime.workers import check_workers, new_executor

PICTURE: Final = "payoffs.png"
START: Final = "<!-- leaderboard -->"
END: Final = "<!-- end of leaderboard -->"


@dataclass(frozen=True)
class Table:
    """The leaderboard of one variant: for each agent, what it brings against copies of each level but itself."""

    rules: Rules
    sigma: float
    levels: tuple[str, ...]
    rows: dict[str, dict[str, Standing]]
    payoffs: Payoffs | None
    """Of the levels that are rows as well, if these are at least two."""

    @property
    def mark(self) -> str:
        """The level that is the `reference_agent`, or the first level that was played against."""
        reference = reference_agent(self.rules).name
        return reference if reference in self.levels else self.levels[0]

    def cell(self, agent: str, level: str) -> str:
        """Return the points of an agent against copies of a level, in sigma, bold if they are clear of zero."""
        if level not in self.rows[agent]:
            return "0"
        points = self.rows[agent][level].points
        text = points.text(3, self.sigma, "+")
        return f"**{text}**" if points.is_clear_of_zero else text

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        rows = [
            {"agent": agent, "against": {level: asdict(one) for level, one in standings.items()}}
            for agent, standings in self.rows.items()
        ]
        named = {"variant": self.rules.name, "version": self.rules.version}
        summary = {} if self.payoffs is None else self.payoffs.summary()
        overall = {agent: {name: _plain(one) for name, one in columns.items()} for agent, columns in summary.items()}
        return named | {"sigma": self.sigma, "mark": self.mark, "rows": rows, "overall": overall}


def _plain(value: Any) -> Any:
    return asdict(value) if isinstance(value, Estimate) else value


def run(config: LeaderboardConfig) -> list[Table]:
    """Play what has not been played yet, print the table and write it; what was played is kept."""
    check_counts(deals=config.deals)
    check_workers(config)
    check_seed(config.seed)
    for level in config.levels:
        if not 0 <= level < len(LEVELS):
            raise TrainingError(f"there is no level {level}; levels are 0 to {len(LEVELS) - 1}")
    levels = tuple(LEVELS[level] for level in dict.fromkeys(config.levels)) or tuple(LEVELS)
    variants = [rules_of(name) for name in config.variants or sorted(VARIANTS)]
    for name in ("leaderboard.json", "leaderboard.md", PICTURE):
        check_file(config.out / name)
    before, after = "", ""
    if config.readme is not None:
        check_file(config.readme)
        before, after = _around_table(config.readme)
    agents = _agents(config)
    set_threads(config.threads)
    with alone_in(config.out):
        kept = f"what was played is kept in {config.out}: the same command goes on with it"
        with saying_what_is_kept(lambda: kept) as progress:
            tables = _play(variants, levels, agents, config, progress)
        text = markdown(tables, config)
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
        drawn = {table.rules.title: table.payoffs for table in tables if table.payoffs is not None}
        if drawn:
            write_bytes(config.out / PICTURE, picture(drawn, {table.rules.title: table.sigma for table in tables}))
        if config.readme is not None:
            write_text(config.readme, f"{before}{START}\n{text}\n{END}{after}")
    return tables


def _agents(config: LeaderboardConfig) -> dict[str, Agent]:
    """Return the agents that get a row: levels in their order, also those that are only rows, then others."""
    specs = dict.fromkeys([*(LEVELS[level] for level in config.levels or range(len(LEVELS))), *config.agents])
    ordered = sorted(specs, key=lambda spec: LEVELS.index(spec) if spec in LEVELS else len(LEVELS))
    return {spec: make_agent(spec) for spec in ordered}


class _Pair(NamedTuple):
    """One agent against copies of a level in a variant: what is played, and where it is kept."""

    rules: Rules
    agent: str
    level: str
    blocks: list[Block]
    kept: ResultCache[Block, Played]

    def result(self) -> LineupResult:
        """Return how the agent did, from blocks that are all kept."""
        parts = [part for block in self.blocks if (part := self.kept.get(block)) is not None]
        if len(parts) < len(self.blocks):
            raise TrainingError("what was played has gone from the folder; the same command plays it again")
        return summarise(self.rules, self.blocks[0].lineup, parts)


def _play(
    variants: Sequence[Rules],
    levels: tuple[str, ...],
    agents: Mapping[str, Agent],
    config: LeaderboardConfig,
    progress: Callable[[str], object],
) -> list[Table]:
    """Play all blocks of all pairs that are not kept, wherever the settings say, and put the tables together."""
    pairs = []
    for rules, agent, level in product(variants, agents, levels):
        if agent != level:
            lineup, players = one_against_copies(0, 1, rules.people), [agents[agent], agents[level]]
            luck_off = useful_weights(rules) is not None
            every = blocks(lineup, config.deals, agents=players, control_variates=luck_off)
            kept = block_cache(config.out, rules, (agent, level), players, config.seed)
            pairs.append(_Pair(rules, agent, level, every, kept))
    missing = [(pair, block) for pair in pairs for block in pair.blocks if pair.kept.get(block) is None]
    tasks = [(pair.rules, pair.agent, pair.level, block) for pair, block in missing]
    left = TimeLeft(len(missing))
    progress(f"part 1 of {len(missing)}")
    with (
        new_executor(config.processes, config.ray, config.threads) as executor,
        closing(executor.map(_play_task, (agents, config.seed), tasks, partial(_state_of, config))) as done,
    ):
        for number, (place, part) in enumerate(done, start=1):
            pair, block = missing[place]
            pair.kept.put(block, part)
            left.done()
            who = f"{pair.rules.title}: {pair.agent} against {pair.rules.people - 1} x {pair.level}"
            progress(f"part {number} of {len(missing)}, {who}{left}")
    tables = []
    for rules in variants:
        progress(f"{rules.title}: sigma")
        results = {(pair.agent, pair.level): pair.result() for pair in pairs if pair.rules is rules}
        rows: dict[str, dict[str, Standing]] = {agent: {} for agent in agents}
        for (agent, level), result in results.items():
            rows[agent][level] = result.of(0)
        tables.append(Table(rules, sigma(rules), levels, rows, _payoffs(results, levels, config.deals)))
    return tables


def _payoffs(results: Mapping[tuple[str, str], LineupResult], levels: tuple[str, ...], deals: int) -> Payoffs | None:
    """Return the matrix of the levels."""
    if len(levels) < 2:
        return None
    by_deal = np.zeros((len(levels), len(levels), deals))
    clear = np.zeros(by_deal.shape[:2], np.bool_)
    for (one, agent), (other, level) in product(enumerate(levels), repeat=2):
        if one != other:
            result = results[agent, level]
            by_deal[one, other] = result.points_by_deal(0) * result.deals / result.hands
            clear[one, other] = result.of(0).points.is_clear_of_zero
    return Payoffs(levels, by_deal, clear)


def _state_of(config: LeaderboardConfig) -> tuple[Mapping[str, Agent], int]:
    return _agents(config), config.seed


def _play_task(state: tuple[Mapping[str, Agent], int], task: tuple[Rules, str, str, Block]) -> Played:
    (agents, seed), (rules, agent, level, block) = state, task
    return play_block(rules, [agents[agent], agents[level]], block, seed)


# --- Text --------------------------------------------------------------------------------------------------------


def command(config: LeaderboardConfig) -> str:
    """Return the command that makes this table again."""
    words = ["mahjong-env", "leaderboard"]
    for option in ("variants", "levels", "agents"):
        if values := getattr(config, option):
            words += [f"--{option}", *map(str, values)]
    return shlex.join([*words, "--deals", str(config.deals), "--seed", str(config.seed)])


def markdown(tables: Sequence[Table], config: LeaderboardConfig) -> str:
    """Return the table as README shows it: an agent a row, a variant a column, against the reference agent."""
    said = (
        f"Points a hand in sigma, one against copies of the reference agent, {config.deals:,} deals from every seat, "
        f"± 95 % ({time.strftime('%Y-%m-%d')}, `{command(config)}`):\n\n"
    )
    head = ["agent", *(table.rules.title for table in tables)]
    rows = [[agent, *(table.cell(agent, table.mark) for table in tables)] for agent in tables[0].rows]
    return said + _lines([head, ["*the reference agent is*", *(f"*{table.mark}*" for table in tables)], *rows])


def _matrix(table: Table) -> str:
    """Return every agent against every level."""
    head = ["one, against", *(f"{table.rules.people - 1} x {level}" for level in table.levels)]
    rows = [[agent, *(table.cell(agent, level) for level in table.levels)] for agent in table.rows]
    text = f"\n## {table.rules.title}\n\nsigma = {table.sigma:.2f} points\n\n{_lines([head, *rows])}"
    return text if table.payoffs is None else f"{text}\n\n{_overall(table, table.payoffs)}"


def _overall(table: Table, payoffs: Payoffs) -> str:
    """Return what the whole matrix says of each level, the strongest by Nash averaging first."""
    summary = payoffs.summary()
    head = ["all opponents", "mean", "Nash rating", "Nash share", "alpha-rank"]
    rows = []
    for agent in sorted(summary, key=lambda agent: -summary[agent]["nash_rating"].mean):
        one = summary[agent]
        share = f"{one['alpha_rank']:.2f}" if "alpha_rank" in one else ""
        numbers = (one[name].text(3, table.sigma, "+") for name in ("mean", "nash_rating"))
        rows.append([agent, *numbers, one["nash_share"].text(2), share])
    return _lines([head, *rows])


def _lines(table: list[list[str]]) -> str:
    """Return a table whose rows begin with agents, levels with their numbers."""
    titles = {level: f"{number}: {level}" for number, level in enumerate(LEVELS)}
    head, *rows = (f"| {' | '.join([titles.get(first, first), *cells])} |" for first, *cells in table)
    return "\n".join([head, "|" + "---|" * len(table[0]), *rows])


def _around_table(readme: Path) -> tuple[str, str]:
    """Return what stands before and behind the table in a file; a TrainingError if there is no place for it."""
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise TrainingError(f"{readme}: nothing shows where the table goes; it needs the lines {START} and {END}")
    return before, after
