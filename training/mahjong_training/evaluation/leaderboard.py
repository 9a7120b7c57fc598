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
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_agents.levels import LEVELS
from mahjong_env import VARIANTS, AgentError, Rules, __version__
from mahjong_env import rules as rules_of
from mahjong_training.config import LeaderboardConfig
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation.estimates import Estimate, plain_json
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Block, block_cache, blocks, play_block, sigma
from mahjong_training.evaluation.results import Standing, summarise
from mahjong_training.runtime.cache import ResultCache
from mahjong_training.runtime.console import TimeLeft, exit_status, status, stopping_in_order
from mahjong_training.runtime.digests import rules_identity
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.runtime.workers import check_workers, new_executor

START: Final = "<!-- leaderboard -->"
END: Final = "<!-- end of leaderboard -->"
_FILES: Final = ("leaderboard.json", "leaderboard.md")


@dataclass(frozen=True)
class Row:
    """What an agent brings against copies of each level in one variant.

    Attributes:
        agent: its text for `make_agent`.
        standings: by the number of the level.
    """

    agent: str
    standings: dict[int, Standing]


@dataclass(frozen=True)
class Table:
    """The leaderboard of one variant.

    Attributes:
        rules: what was played.
        sigma: the unit, in points.
        levels: the levels that were played against, by number.
        rows: one for each agent.
    """

    rules: Rules
    sigma: float
    levels: tuple[int, ...]
    rows: tuple[Row, ...]

    @property
    def mark(self) -> int:
        """The number of the level of the `reference_agent`, or of the first level that was played against."""
        level = LEVELS.index(reference_agent(self.rules).name)
        return level if level in self.levels else self.levels[0]

    def in_sigma(self, row: Row, level: int) -> Estimate | None:
        """Return the points of a row against copies of a level, in sigma; None against itself."""
        if level not in row.standings:
            return None
        return row.standings[level].points.over(self.sigma)


def run(config: LeaderboardConfig) -> list[Table]:
    """Play what has not been played yet, print the table and write it.

    Raises:
        MahjongError: settings or agents that cannot be used, files that cannot be written.
        InterruptedRunError: Ctrl-C or SIGTERM; what was played is kept.
    """
    variants, levels = _checked(config)
    for name in _FILES:
        check_file(config.out / name)
    if config.readme is not None:
        check_file(config.readme)
        _between(config.readme)
    agents = _agents(config)
    set_threads(config.threads)
    with alone_in(config.out):
        try:
            with stopping_in_order(), status() as progress:
                tables = _tables(variants, levels, agents, config, progress)
        except KeyboardInterrupt as interrupt:
            text = f"interrupted; what was played is kept in {config.out}: the same command goes on with it"
            raise InterruptedRunError(text, exit_status(interrupt)) from None
        except AgentError as error:
            raise AgentError(
                f"{error}.\nWhat was played is kept in {config.out}: the same command goes on with it"
            ) from error
        text = markdown(tables, config)
        print(text)
        data = {
            "mahjong_env": __version__,
            "date": time.strftime("%Y-%m-%d"),
            "command": command(config),
            "deals": config.deals,
            "seed": config.seed,
            "unit": "points per hand, 95 % intervals clustered by deal, luck taken off where that narrows them",
            "variants": [_as_json(table) for table in tables],
        }
        write_text(config.out / "leaderboard.json", plain_json(data) + "\n")
        write_text(config.out / "leaderboard.md", text + "\n" + _matrices(tables))
        if config.readme is not None:
            before, after = _between(config.readme)
            write_text(config.readme, f"{before}{START}\n{text}\n{END}{after}")
    return tables


def _checked(config: LeaderboardConfig) -> tuple[list[Rules], tuple[int, ...]]:
    check_counts(deals=config.deals)
    check_workers(config)
    check_seed(config.seed)
    levels = config.levels or tuple(range(len(LEVELS)))
    unknown = [level for level in levels if not 0 <= level < len(LEVELS)]
    if unknown:
        raise TrainingError(f"there is no level {unknown[0]}; levels are 0 to {len(LEVELS) - 1}")
    return _variants(config), tuple(dict.fromkeys(levels))


def _variants(config: LeaderboardConfig) -> list[Rules]:
    return [rules_of(name) for name in config.variants or sorted(VARIANTS)]


def _agents(config: LeaderboardConfig) -> dict[str, Agent]:
    levels = config.levels or range(len(LEVELS))
    specs = dict.fromkeys([*(LEVELS[level] for level in levels), *config.agents])
    # Levels come in their order, also those that are only rows.
    ordered = sorted(specs, key=lambda spec: LEVELS.index(spec) if spec in LEVELS else len(LEVELS))
    return {spec: make_agent(spec) for spec in ordered}


@dataclass(frozen=True)
class _Pair:
    """One agent against copies of another in a variant: what is played, and what of it is kept."""

    rules: Rules
    agent: str
    level: int
    kept: ResultCache[Block, Played]
    blocks: list[Block]

    @property
    def specs(self) -> tuple[str, str]:
        return self.agent, LEVELS[self.level]

    def standing(self, fresh: Mapping[Block, Played]) -> Standing:
        """Return how the agent did, from blocks that have been played now and others that are kept."""
        parts = [fresh.get(block) or self.kept.get(block) for block in self.blocks]
        return summarise(self.rules, self.blocks[0].lineup, [part for part in parts if part is not None]).of(0)


def _tables(
    variants: Sequence[Rules],
    levels: tuple[int, ...],
    agents: Mapping[str, Agent],
    config: LeaderboardConfig,
    progress: Callable[[str], object],
) -> list[Table]:
    """Play all blocks of all pairs that are not kept, wherever the settings say, and put the tables together."""
    pairs = [
        _pair(rules, spec, level, agents, config)
        for rules in variants
        for spec in agents
        for level in levels
        if LEVELS[level] != spec
    ]
    fresh: list[dict[Block, Played]] = [{} for _ in pairs]
    todo = [(n, block) for n, pair in enumerate(pairs) for block in pair.blocks if pair.kept.get(block) is None]
    shards = [(variants.index(pairs[n].rules), *pairs[n].specs, block) for n, block in todo]
    left = TimeLeft(len(todo))
    progress(f"part 1 of {len(todo)}")
    with (
        new_executor(config.processes, config.ray, config.threads) as executor,
        closing(executor.map(_play_shard, _common(config, agents), shards, partial(_common, config))) as done,
    ):
        for number, (place, played) in enumerate(done, start=1):
            of_pair, block = todo[place]
            pair = pairs[of_pair]
            fresh[of_pair][block] = played
            pair.kept.put(block, played)
            left.done()
            next_one = f"{pair.rules.title}: {pair.agent} against {pair.rules.people - 1} x {LEVELS[pair.level]}"
            progress(f"part {number} of {len(todo)}, {next_one}{left}")
    tables = []
    for rules in variants:
        progress(f"{rules.title}: sigma")
        rows: dict[str, dict[int, Standing]] = {spec: {} for spec in agents}
        for pair, played_now in zip(pairs, fresh, strict=True):
            if pair.rules is rules:
                rows[pair.agent][pair.level] = pair.standing(played_now)
        tables.append(
            Table(rules, _unit(config, rules), levels, tuple(Row(spec, found) for spec, found in rows.items()))
        )
    return tables


def _unit(config: LeaderboardConfig, rules: Rules) -> float:
    """Return sigma, which is kept with the points: they are never divided by another one than that of their time."""
    kept: ResultCache[str, float] = ResultCache(
        config.out,
        "sigma",
        rules_identity(rules),
        read=lambda arrays: float(arrays["sigma"]),
        write=lambda unit: {"sigma": np.array(unit)},
    )
    found = kept.get("sigma")
    if found is None:
        found = sigma(rules)
        kept.put("sigma", found)
    return found


def _pair(rules: Rules, spec: str, level: int, agents: Mapping[str, Agent], config: LeaderboardConfig) -> _Pair:
    specs = (spec, LEVELS[level])
    players = [agents[name] for name in specs]
    lineup = one_against_copies(0, 1, rules.people)
    luck_off = useful_weights(rules) is not None
    every = blocks(lineup, config.deals, agents=players, control_variates=luck_off)
    return _Pair(rules, spec, level, block_cache(config.out, rules, specs, players, config.seed), every)


_Common: TypeAlias = tuple[list[Rules], Mapping[str, Agent], int]


def _common(config: LeaderboardConfig, agents: Mapping[str, Agent] | None = None) -> _Common:
    """Return what all blocks need: the variants, the agents, the seed."""
    return _variants(config), _agents(config) if agents is None else agents, config.seed


def _play_shard(common: _Common, shard: tuple[int, str, str, Block]) -> Played:
    (variants, agents, seed), (variant, agent, other, block) = common, shard
    return play_block(variants[variant], [agents[agent], agents[other]], block, seed)


# --- Text --------------------------------------------------------------------------------------------------------


def command(config: LeaderboardConfig) -> str:
    """Return the command that makes this table again."""
    words = ["mahjong-env", "leaderboard"]
    for option, values in (("variants", config.variants), ("levels", config.levels), ("agents", config.agents)):
        if values:
            words += [f"--{option}", *map(str, values)]
    words += ["--deals", str(config.deals), "--seed", str(config.seed)]
    return shlex.join(words)


def markdown(tables: Sequence[Table], config: LeaderboardConfig) -> str:
    """Return the table as README shows it: an agent a row, a variant a column, against the reference agent."""
    lines = [
        f"Points a hand in sigma, one against copies of the reference agent, {config.deals:,} deals from every seat, "
        f"± 95 % ({time.strftime('%Y-%m-%d')}, `{command(config)}`):",
        "",
        "| agent | " + " | ".join(table.rules.title for table in tables) + " |",
        "|---|" + "---|" * len(tables),
        "| *the reference agent is* | " + " | ".join(f"*{LEVELS[table.mark]}*" for table in tables) + " |",
    ]
    for number, row in enumerate(tables[0].rows):
        cells = [_cell(table, table.rows[number], table.mark) for table in tables]
        lines.append(f"| {_title(row.agent)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _matrices(tables: Sequence[Table]) -> str:
    """Return every agent against every level, a table for each variant."""
    text = []
    for table in tables:
        heads = " | ".join(f"{table.rules.people - 1} x {LEVELS[level]}" for level in table.levels)
        text += [f"\n## {table.rules.title}\n", f"sigma = {table.sigma:.2f} points\n"]
        text += [f"| one, against | {heads} |", "|---|" + "---|" * len(table.levels)]
        for row in table.rows:
            text.append(f"| {_title(row.agent)} | {' | '.join(_cell(table, row, level) for level in table.levels)} |")
    return "\n".join(text) + "\n"


def _title(spec: str) -> str:
    return f"{LEVELS.index(spec)}: {spec}" if spec in LEVELS else spec


def _cell(table: Table, row: Row, level: int) -> str:
    found = table.in_sigma(row, level)
    if found is None:
        return "0"
    text = found.text(3, sign="+")
    return f"**{text}**" if found.is_clear_of_zero else text


def _as_json(table: Table) -> dict[str, Any]:
    return {
        "variant": table.rules.name,
        "version": table.rules.version,
        "sigma": table.sigma,
        "mark": LEVELS[table.mark],
        "rows": [
            {"agent": row.agent, "against": {LEVELS[level]: asdict(one) for level, one in row.standings.items()}}
            for row in table.rows
        ],
    }


def _between(readme: Path) -> tuple[str, str]:
    """Return what stands before and behind the table in a file.

    Raises:
        TrainingError: there is no place for it.
    """
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise TrainingError(f"{readme}: nothing shows where the table goes; it needs the lines {START} and {END}")
    return before, after
