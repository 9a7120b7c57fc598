"""``mahjong-env evaluate``: agents against each other on the same deals, from every seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import weights_of
from mahjong_env import AgentError, Rules
from mahjong_env.records import RecordWriter
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import EvaluateConfig
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation import exports
from mahjong_training.evaluation import tables as report
from mahjong_training.evaluation.estimates import confidence, looks
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.holdout import BlindTest, check_blind
from mahjong_training.evaluation.lineups import lineups
from mahjong_training.evaluation.matches import Block, block_cache, blocks, play_block, sigma
from mahjong_training.evaluation.ratings import rate
from mahjong_training.evaluation.references import Entrant, with_references
from mahjong_training.evaluation.results import Evaluation, summarise
from mahjong_training.runtime.cache import ResultCache
from mahjong_training.runtime.console import TimeLeft, exit_status, status, stopping_in_order
from mahjong_training.runtime.digests import agent_digests
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import alone_in, check_file, write_bytes
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.runtime.workers import check_workers, new_executor
from mahjong_training.seeds import blind_seed

_FILES: Final = ("evaluation.json", "evaluation.csv", "evaluation.html", "evaluation.png")

__all__ = ["Evaluation", "evaluate", "run"]


@dataclass(frozen=True)
class _Plan:
    """The blocks to play and the agents that play them, checked."""

    rules: Rules
    entrants: tuple[Entrant, ...]
    agents: tuple[Agent, ...]
    todo: tuple[list[Block], ...]
    looks: tuple[int, ...]

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
            objects are pickled. A blind test is recorded, as by the command line.

    Raises:
        MahjongError: settings, agents or policy files that cannot be used.
    """
    if agents:
        config = replace(config, agents=tuple(agents))  # type: ignore[arg-type]  # the command line has names only
    plan, config = _prepare(config)
    with _blind_test(plan, config):
        return _play(plan, config, _cache(plan, config, None), progress)


def _cache(plan: _Plan, config: EvaluateConfig, out: Path | None) -> ResultCache[Block, Played]:
    recorded = "" if config.record is None else "thoughts" if config.thoughts else "games"
    specs = [str(entrant.spec) for entrant in plan.entrants]
    return block_cache(out, plan.rules, specs, plan.agents, config.seed, recorded=recorded)


@contextmanager
def _blind_test(plan: _Plan, config: EvaluateConfig) -> Iterator[None]:
    """Record a blind test, if it is one, before it is played and once its results are known."""
    if config.blind is None:
        yield
        return
    specs = tuple(str(entrant.spec) for entrant in plan.entrants)
    digests = (tuple(agent_digests(spec, agent, plan.rules)) for spec, agent in zip(specs, plan.agents, strict=True))
    test = BlindTest(config.blind, plan.rules, specs, tuple(digests))
    test.begin(again=config.blind_again)
    yield
    test.finish()


def _prepare(config: EvaluateConfig) -> tuple[_Plan, EvaluateConfig]:
    """Check the settings; returns the plan, and the settings with the seed that is played."""
    check_counts(deals=config.deals)
    check_workers(config)
    check_seed(config.seed)
    if config.until is not None and not 0 < config.until < float("inf"):
        raise TrainingError(f"--until is a number of sigma above 0, not {config.until}")
    if config.blind is not None:
        check_blind(config.blind)
        config = replace(config, seed=blind_seed(config.blind))
    if not config.agents:
        raise TrainingError("--agents is empty: name at least one")
    played = read_rules(config.variant, config.knobs)
    if config.record is not None:
        RecordWriter(config.record).close()
    elif config.thoughts:
        raise TrainingError("--thoughts says what records hold: name a file for them (--record)")
    entrants = with_references(config.agents, played) if config.teachers else [Entrant(spec) for spec in config.agents]
    agents = tuple(make_agent(entrant.spec) for entrant in entrants)
    all_lineups = list(lineups(config.lineups, len(agents), played.people, len(config.agents)))
    if config.control_variates:
        weights_of(played)
    when = looks(config.deals) if config.until is not None or config.until_clear else (config.deals,)
    how: dict[str, Any] = {"control_variates": config.control_variates, "looks": when}
    todo = tuple(blocks(lineup, config.deals, config.seatings, agents=agents, **how) for lineup in all_lineups)
    return _Plan(played, tuple(entrants), agents, todo, when), config


def _play(
    plan: _Plan, config: EvaluateConfig, kept: ResultCache[Block, Played], progress: Callable[[str], object]
) -> Evaluation:
    """Play the blocks that are not kept, up to the look at which the result is decided."""
    every = plan.every_block
    played = {block: part for block in every if (part := kept.get(block)) is not None}
    left = TimeLeft(len(every) - len(played))
    progress("sigma: greedy among greedy players")
    unit = sigma(plan.rules)
    config_of_all = replace(config, agents=tuple(entrant.spec for entrant in plan.entrants))
    state = _State(plan.rules, plan.agents, config_of_all)
    found = None
    with new_executor(config.processes, config.ray, config.threads) as executor:
        for look in plan.looks:
            missing = [block for block in every if block.last <= look and block not in played]
            with closing(executor.map(_play_block, state, missing, partial(_state_of, config_of_all))) as done:
                for block in missing:
                    who = ", ".join(plan.names[agent] for agent in block.lineup)
                    progress(f"part {every.index(block) + 1} of {len(every)}: {who}{left}")
                    place, part = next(done)
                    kept.put(missing[place], part)
                    played[missing[place]] = part
                    left.done()
            parts = [[played[block] for block in of_lineup if block.last <= look] for of_lineup in plan.todo]
            found = _found(plan, config, look, parts, unit)
            if look < config.deals and _is_decided(found, config):
                break
    assert found is not None
    if config.record is not None:
        with RecordWriter(config.record) as writer:
            writer.complete(b"".join(part.records.tobytes() for of_lineup in parts for part in of_lineup))
    return replace(found, ratings=rate(found.results, len(plan.names)))


def _found(
    plan: _Plan, config: EvaluateConfig, deals: int, played: Sequence[Sequence[Played]], unit: float
) -> Evaluation:
    """Return the results after a number of deals; without ratings, which take their time."""
    level = confidence(plan.looks)
    results = [
        summarise(plan.rules, of_lineup[0].lineup, parts, config.seatings, level)
        for of_lineup, parts in zip(plan.todo, played, strict=True)
    ]
    return Evaluation(
        rules=plan.rules,
        agents=plan.names,
        deals=deals,
        seed=config.seed,
        results=tuple(results),
        sigma=unit,
        roles=tuple(entrant.role for entrant in plan.entrants),
        clones=plan.clones if config.lineups == "duels" else (),
        kind=config.lineups,
        seatings=config.seatings,
        control_variates=config.control_variates,
        looks=plan.looks,
        blind=config.blind,
    )


def _is_decided(found: Evaluation, config: EvaluateConfig) -> bool:
    """True if all points are known as precisely as the settings ask for."""
    points = (
        [found.overall(agent) for agent in range(len(found.agents))]
        if config.lineups == "league"
        else [standing.points for result in found.results for standing in result.standings]
    )
    is_narrow = config.until is None or all(one.half_width <= config.until * found.sigma for one in points)
    return is_narrow and (not config.until_clear or all(one.is_clear_of_zero for one in points))


@dataclass(frozen=True)
class _State:
    """The shared state of all blocks."""

    rules: Rules
    agents: Sequence[Agent]
    config: EvaluateConfig


def _state_of(config: EvaluateConfig) -> _State:
    return _State(read_rules(config.variant, config.knobs), [make_agent(spec) for spec in config.agents], config)


def _play_block(state: _State, block: Block) -> Played:
    config = state.config
    return play_block(
        state.rules, state.agents, block, config.seed, record=config.record is not None, thoughts=config.thoughts
    )


def run(config: EvaluateConfig) -> Evaluation:
    """Evaluate, print the tables, and write the files if a folder is given.

    Raises:
        MahjongError: see `evaluate`; files that cannot be written are found before anything is played.
        InterruptedRunError: Ctrl-C or SIGTERM; with a folder, the parts that were played are kept in it.
    """
    plan, config = _prepare(config)
    if config.out is not None:
        for name in _FILES:
            check_file(config.out / name)
    set_threads(config.threads)
    with alone_in(config.out):
        kept = _cache(plan, config, config.out)
        with _blind_test(plan, config):

            def how_far() -> str:
                done, every = sum(kept.get(block) is not None for block in plan.every_block), len(plan.every_block)
                return f"{done} of {every} parts are kept in {config.out}: the same command goes on with them"

            try:
                with stopping_in_order(), status() as progress:
                    found = _play(plan, config, kept, progress)
            except KeyboardInterrupt as interrupt:
                text = "interrupted" if config.out is None else f"interrupted; {how_far()}"
                raise InterruptedRunError(text, exit_status(interrupt)) from None
            except AgentError as error:
                if config.out is None:
                    raise
                raise AgentError(f"{error}.\n{how_far()}") from error
        report.print_tables(found, details=config.details)
        if config.out is not None:
            _write(found, config.out)
            kept.remove()
    return found


def _write(found: Evaluation, folder: Path) -> None:
    png = report.draw(found)
    texts = (exports.json_text(found), exports.csv_text(found), exports.html_text(found, png))
    for name, data in zip(_FILES, (*(text.encode("utf-8") for text in texts), png), strict=True):
        write_bytes(folder / name, data)
    print(f"written: {', '.join(str(folder / name) for name in _FILES)}")
