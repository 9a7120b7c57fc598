"""``python -m training evaluate``: agents against each other on the same deals, from every seat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from agents import Agent, make_agent
from mahjong_env import Rules
from mahjong_env.ruleset.knobs import read_rules
from training import exports, report
from training.config import EvaluateConfig
from training.errors import TrainingError
from training.evaluation import Evaluation
from training.folders import check_file, write_bytes
from training.lineups import Block, blocks, one_against_copies, play_block, summarise
from training.play import Played
from training.pool import play_in_processes, set_threads
from training.progress import status
from training.references import Entrant, with_references
from training.sigma import sigma
from training.sizes import check_counts, check_evaluation, check_seed, check_threads

_FILES: Final = ("evaluation.json", "evaluation.csv", "evaluation.html", "evaluation.png")

__all__ = ["Evaluation", "evaluate", "lineups", "run"]


@dataclass(frozen=True)
class _Plan:
    """What is played and who plays, once everything that a user can get wrong has been looked at."""

    rules: Rules
    entrants: tuple[Entrant, ...]
    agents: tuple[Agent, ...]
    todo: tuple[list[Block], ...]

    @property
    def every_block(self) -> list[Block]:
        return [block for of_lineup in self.todo for block in of_lineup]

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' names, or what the user called them where names are not different."""
        names = [getattr(agent, "name", type(agent).__name__) for agent in self.agents]
        specs = [str(entrant.spec) for entrant in self.entrants]
        if len(set(names)) == len(names):
            return tuple(names)
        return (
            tuple(specs) if len(set(specs)) == len(specs) else tuple(f"{spec} #{i}" for i, spec in enumerate(specs, 1))
        )

    @property
    def clones(self) -> tuple[tuple[int, int], ...]:
        """For trained policies, by number, the number of the same policy before learning."""
        specs = [entrant.spec for entrant in self.entrants]
        return tuple(
            (number, specs.index(entrant.clone)) for number, entrant in enumerate(self.entrants) if entrant.clone
        )


def lineups(agents: int, people: int, named: int | None = None) -> Iterator[tuple[int, ...]]:
    """Return the line-ups of an evaluation: see `Evaluation.results`. A single agent plays itself.

    Args:
        agents: how many there are.
        people: persons at a table.
        named: how many of them, the first ones, the user has named; None: all.
    """
    if agents == 1:
        yield (0,) * people
    for agent in range(agents):
        for other in range(agents):
            if agent != other:
                yield one_against_copies(agent, other, people)
    if (named or agents) == people and people > 2:
        yield tuple(range(people))


def evaluate(
    config: EvaluateConfig,
    progress: Callable[[str], object] = lambda line: None,
    *,
    agents: Sequence[Agent | str] = (),
) -> Evaluation:
    """Evaluate agents; nothing is printed or written.

    Args:
        config: what to do.
        progress: told what is being played.
        agents: agents, as objects or by name, instead of those that the settings name. In several processes the
            objects are pickled.

    Raises:
        MahjongError: settings, agents or policy files that cannot be used.
    """
    if agents:
        config = replace(config, agents=tuple(agents))  # type: ignore[arg-type]  # the command line has names only
    return _play(_prepare(config), config, progress)


def _prepare(config: EvaluateConfig) -> _Plan:
    check_counts(deals=config.deals, processes=config.processes)
    check_threads(config.threads)
    check_seed(config.seed)
    if not config.agents:
        raise TrainingError("--agents is empty: name at least one")
    played = read_rules(config.variant, config.knobs)
    check_evaluation(config, played)
    entrants = with_references(config.agents) if config.teachers else [Entrant(spec) for spec in config.agents]
    agents = tuple(make_agent(entrant.spec) for entrant in entrants)
    all_lineups = lineups(len(agents), played.people, len(config.agents))
    todo = tuple(blocks(lineup, config.deals) for lineup in all_lineups)
    return _Plan(played, tuple(entrants), agents, todo)


def _play(plan: _Plan, config: EvaluateConfig, progress: Callable[[str], object]) -> Evaluation:
    every = plan.every_block
    if config.processes == 1:
        parts: Iterable[Played] = (play_block(plan.rules, plan.agents, block, config.seed) for block in every)
    else:
        config = replace(config, agents=tuple(entrant.spec for entrant in plan.entrants))
        parts = play_in_processes(config, every)
    parts = _watched(parts, every, plan.names, progress)
    results = [
        summarise(plan.rules, of_lineup[0].lineup, list(islice(parts, len(of_lineup)))) for of_lineup in plan.todo
    ]
    progress("sigma: greedy among greedy players")
    return Evaluation(
        rules=plan.rules,
        agents=plan.names,
        deals=config.deals,
        seed=config.seed,
        results=tuple(results),
        sigma=sigma(plan.rules),
        roles=tuple(entrant.role for entrant in plan.entrants),
        clones=plan.clones,
    )


def _watched(
    parts: Iterable[Played], every: list[Block], names: tuple[str, ...], progress: Callable[[str], object]
) -> Iterator[Played]:
    """Tell what is waited for."""
    waiting = iter(parts)
    for number, block in enumerate(every, start=1):
        progress(f"part {number} of {len(every)}: {', '.join(names[agent] for agent in block.lineup)}")
        yield next(waiting)


def run(config: EvaluateConfig) -> Evaluation:
    """Evaluate, print the tables, and write the files if a folder is given.

    Raises:
        MahjongError: see `evaluate`; files that cannot be written are found before anything is played.
    """
    plan = _prepare(config)
    if config.out is not None:
        for name in _FILES:
            check_file(config.out / name)
    set_threads(config.threads)
    with status() as progress:
        found = _play(plan, config, progress)
    report.print_tables(found, details=config.details)
    if config.out is not None:
        _write(found, config.out)
    return found


def _write(found: Evaluation, folder: Path) -> None:
    png = report.draw(found)
    texts = (exports.json_text(found), exports.csv_text(found), exports.html_text(found, png))
    for name, data in zip(_FILES, (*(text.encode("utf-8") for text in texts), png), strict=True):
        write_bytes(folder / name, data)
    print(f"written: {', '.join(str(folder / name) for name in _FILES)}")
