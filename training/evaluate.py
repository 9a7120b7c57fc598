"""``python -m training evaluate``: agents against each other on the same deals, from every seat."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from agents import Agent, make_agent
from mahjong_env import Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from training import report
from training.config import EvaluateConfig, check_positive
from training.errors import TrainingError
from training.folders import make_folder, write_text
from training.lineups import Block, LineupResult, blocks, one_against_copies, play_block, summarise
from training.play import Played
from training.pool import play_in_processes, set_threads


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found.

    Attributes:
        rules: what was played.
        agents: the agents' names.
        deals: deals of each line-up.
        seed: the seed.
        results: one for each line-up: every agent against copies of every other one, then, if there are as many agents
            as persons, all of them together.
    """

    rules: Rules
    agents: tuple[str, ...]
    deals: int
    seed: int
    results: tuple[LineupResult, ...]

    def against(self, agent: int, other: int) -> LineupResult:
        """Return the line-up of one agent against copies of another."""
        wanted = one_against_copies(agent, other, self.rules.people)
        return next(result for result in self.results if result.lineup == wanted)

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
            "unit": "points and shares per hand and seat; 95 % intervals, clustered by deal",
            "lineups": [self._lineup_as_json(result) for result in self.results],
        }

    def _lineup_as_json(self, result: LineupResult) -> dict[str, Any]:
        standings = [
            {"agent": self.agents[one.agent]} | {k: v for k, v in asdict(one).items() if k != "agent"}
            for one in result.standings
        ]
        return {
            "lineup": [self.agents[agent] for agent in result.lineup],
            "orders": result.orders,
            "hands": result.hands,
            "draws": asdict(result.draws),
            "standings": standings,
        }


def lineups(agents: int, people: int) -> Iterator[tuple[int, ...]]:
    """Return the line-ups of an evaluation: see `Evaluation.results`. A single agent plays itself."""
    if agents == 1:
        yield (0,) * people
    for agent in range(agents):
        for other in range(agents):
            if agent != other:
                yield one_against_copies(agent, other, people)
    if agents == people and people > 2:
        yield tuple(range(people))


def evaluate(config: EvaluateConfig, progress: Callable[[str], None] = lambda line: None) -> Evaluation:
    """Evaluate agents; nothing is printed or written.

    Args:
        config: what to do.
        progress: told what is being played.

    Raises:
        MahjongError: settings, agents or policy files that cannot be used.
    """
    played, agents = _prepare(config)
    todo = [blocks(lineup, config.deals) for lineup in lineups(len(agents), played.people)]
    every = [block for of_lineup in todo for block in of_lineup]
    if config.processes == 1:
        parts: Iterable[Played] = (play_block(played, agents, block, config.seed) for block in every)
    else:
        parts = play_in_processes(config, every)
    parts = _watched(parts, every, _names(agents, config.agents), progress)
    results = [summarise(of_lineup[0].lineup, list(islice(parts, len(of_lineup)))) for of_lineup in todo]
    return Evaluation(played, _names(agents, config.agents), config.deals, config.seed, tuple(results))


def _watched(
    parts: Iterable[Played], every: list[Block], names: tuple[str, ...], progress: Callable[[str], None]
) -> Iterator[Played]:
    """Tell what is waited for."""
    waiting = iter(parts)
    for number, block in enumerate(every, start=1):
        progress(f"part {number} of {len(every)}: {', '.join(names[agent] for agent in block.lineup)}")
        yield next(waiting)


def _prepare(config: EvaluateConfig) -> tuple[Rules, list[Agent]]:
    """Return what is played and who plays, once everything that a user can get wrong has been looked at."""
    check_positive(deals=config.deals, processes=config.processes, threads=config.threads)
    if not config.agents:
        raise TrainingError("--agents is empty: name at least one")
    return read_rules(config.variant, config.knobs), [make_agent(spec) for spec in config.agents]


def _names(agents: list[Agent], specs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the agents' names, or what the user called them where names are not different."""
    names = [agent.name for agent in agents]
    if len(set(names)) == len(names):
        return tuple(names)
    return tuple(specs) if len(set(specs)) == len(specs) else tuple(f"{spec} #{i}" for i, spec in enumerate(specs, 1))


def run(config: EvaluateConfig) -> Evaluation:
    """Evaluate, print the table, and write the files if a folder is given."""
    if config.out is not None:
        _prepare(config)  # before anything is written
        make_folder(config.out)
    set_threads(config.threads)
    with report.status() as progress:
        found = evaluate(config, progress)
    report.print_tables(found)
    if config.out is not None:
        write_text(config.out / "evaluation.json", json.dumps(found.as_json(), indent=2))
        report.plot(found, config.out / "evaluation.png")
        print(f"written: {config.out / 'evaluation.json'}, {config.out / 'evaluation.png'}")
    return found
