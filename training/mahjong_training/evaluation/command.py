"""``mahjong-env evaluate``: compare agents on the same deals, played from every seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import weights_of
from mahjong_env import Rules
from mahjong_env.records import RecordWriter
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import EvaluateConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import report
from mahjong_training.evaluation.estimates import confidence, looks, plain_json
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.holdout import BlindTest
from mahjong_training.evaluation.lineups import lineups
from mahjong_training.evaluation.matches import Block, block_cache, blocks, check_single_hands, play_block, sigma
from mahjong_training.evaluation.references import Entrant, with_references
from mahjong_training.evaluation.results import Evaluation, summarise
from mahjong_training.runtime.cache import Arrays, ResultCache, fill
from mahjong_training.runtime.console import saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests
from mahjong_training.runtime.executors import new_executor, set_threads
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.limits import check_settings
from mahjong_training.seeds import blind_seed

_FILES: Final = ("evaluation.json", "evaluation.csv", "evaluation.html")

_State: TypeAlias = tuple[Rules, Sequence[Agent], EvaluateConfig]


def evaluate(
    config: EvaluateConfig,
    progress: Callable[[str], object] = lambda line: None,
    *,
    agents: Sequence[Agent | str] = (),
) -> Evaluation:
    """Evaluate agents without printing or writing anything; only a blind test is recorded.

    Args:
        config: the settings.
        progress: called with a line that says what is being played.
        agents: agents, as objects or by name, that replace those of the settings. With several processes, the objects
            are pickled.

    Returns:
        The results.
    """
    if agents:
        config = replace(config, agents=tuple(agents))  # type: ignore[arg-type]  # the command line has names only
    plan = _prepare(config)
    with plan.blind_test():
        return _play(plan, plan.cache(None), progress)


def run(config: EvaluateConfig) -> Evaluation:
    """Evaluate, print the tables, and write the files if a folder is given; it keeps finished parts until then."""
    plan, out = _prepare(config), config.out
    if out:
        for name in _FILES:
            check_file(out / name)
    set_threads(config.threads)
    with alone_in(out):
        kept = plan.cache(out)
        with plan.blind_test(), saying_what_is_kept(lambda: kept.how_far(len(plan.blocks))) as progress:
            found = _play(plan, kept, progress)
        report.print_tables(found, details=config.details)
        if out:
            texts = (plain_json(found.as_json(), 2), report.csv_text(found), report.html_text(found))
            for name, text in zip(_FILES, texts, strict=True):
                write_text(out / name, text)
            print(f"written: {', '.join(str(out / name) for name in _FILES)}")
            kept.remove()
    return found


@dataclass(frozen=True)
class _Plan:
    """A checked plan of an evaluation: the agents, their references, and the blocks of all line-ups."""

    config: EvaluateConfig
    rules: Rules
    entrants: tuple[Entrant, ...]
    agents: tuple[Agent, ...]
    looks: tuple[int, ...]
    blocks: tuple[Block, ...]

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(str(entrant.spec) for entrant in self.entrants)

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' own names; where these are not distinct, the texts by which the user named them."""
        numbered = tuple(f"{spec} #{number}" for number, spec in enumerate(self.specs, 1))
        names = tuple(getattr(agent, "name", type(agent).__name__) for agent in self.agents)
        return next((each for each in (names, self.specs) if len(set(each)) == len(each)), numbered)

    def who(self, block: Block) -> str:
        """Return, for a progress line, the names of the agents in a block."""
        return ": " + ", ".join(self.names[agent] for agent in block.lineup)

    def cache(self, out: Path | None) -> ResultCache:
        recorded = "" if self.config.record is None else "thoughts" if self.config.thoughts else "games"
        return block_cache(out, self.rules, self.specs, self.agents, self.config.seed, recorded=recorded)

    @contextmanager
    def blind_test(self) -> Iterator[None]:
        """If this is a blind test, record that it begins, and record that it is finished once its results are known."""
        if self.config.blind is None:
            yield
            return
        pairs = zip(self.specs, self.agents, strict=True)
        digests = tuple(tuple(agent_digests(spec, agent, self.rules)) for spec, agent in pairs)
        test = BlindTest(self.config.blind, self.rules, self.specs, digests)
        test.begin(again=self.config.blind_again)
        yield
        test.finish()


def _prepare(config: EvaluateConfig) -> _Plan:
    if config.until is not None and not 0 < config.until < float("inf"):
        raise TrainingError(f"--until is a number of sigma above 0, not {config.until}")
    if config.blind is not None and not 0 <= config.blind < 10**6:
        raise TrainingError(f"--blind must be from 0 to 999,999, not {config.blind}")
    check_settings(config, zero=("blind",))
    if config.blind is not None and config.seed != EvaluateConfig.seed:
        raise TrainingError("--blind deals from a seed of its own: leave out --seed")
    if config.blind is not None:
        config = replace(config, seed=blind_seed(config.blind))
    if not config.agents:
        raise TrainingError("--agents is empty: name at least one")
    rules = read_rules(config.variant, config.knobs)
    check_single_hands(rules)
    if config.record is not None:
        RecordWriter(config.record).close()
    elif config.thoughts:
        raise TrainingError("--thoughts adds to the records: name a file for them (--record)")
    entrants = with_references(config.agents, rules) if config.teachers else [Entrant(spec) for spec in config.agents]
    agents = tuple(make_agent(entrant.spec) for entrant in entrants)
    if config.control_variates:
        weights_of(rules)
    planned = looks(config.deals) if config.until is not None or config.until_clear else (config.deals,)
    every = [
        block
        for lineup in lineups(config.lineups, len(agents), rules.people, len(config.agents))
        for block in blocks(lineup, config.deals, config.seatings, agents, config.control_variates, planned)
    ]
    return _Plan(config, rules, tuple(entrants), agents, planned, tuple(every))


def _play(plan: _Plan, kept: ResultCache, progress: Callable[[str], object]) -> Evaluation:
    """Play the blocks that are not in the cache, up to the look at which the result is decided."""
    config = plan.config
    progress("sigma: greedy among greedy players")
    unit = sigma(plan.rules)
    config_of_all = replace(config, agents=tuple(entrant.spec for entrant in plan.entrants))
    state: _State = plan.rules, plan.agents, config_of_all
    make = partial(_state_of, config_of_all)
    with new_executor(config.processes, config.ray, config.threads) as executor:
        for look in plan.looks:
            tasks = [(kept, block.name, block) for block in plan.blocks if block.last <= look]
            fill(executor, _play_block, state, tasks, make, progress=progress, describe=plan.who)
            played = {block: Played.of_arrays(kept[name]) for _, name, block in tasks}
            found = _found(plan, look, played, unit)
            if _is_decided(found, config):
                break
    if config.record is not None:
        with RecordWriter(config.record) as writer:
            writer.complete(b"".join(part.records.tobytes() for part in played.values()))
    return found


def _play_block(state: _State, block: Block) -> Arrays:
    rules, agents, config = state
    recording = {"record": config.record is not None, "thoughts": config.thoughts}
    return play_block(rules, agents, block, config.seed, **recording).arrays()


def _state_of(config: EvaluateConfig) -> _State:
    return read_rules(config.variant, config.knobs), [make_agent(spec) for spec in config.agents], config


def _found(plan: _Plan, deals: int, played: dict[Block, Played], unit: float) -> Evaluation:
    """Return the results of the blocks that have been played, up to a number of deals."""
    config, level = plan.config, confidence(plan.looks)
    parts: dict[tuple[int, ...], list[Played]] = {}
    for block, part in played.items():
        parts.setdefault(block.lineup, []).append(part)
    results = [summarise(plan.rules, *of_lineup, config.seatings, level) for of_lineup in parts.items()]
    specs = [entrant.spec for entrant in plan.entrants]
    clones = [(number, specs.index(one.clone)) for number, one in enumerate(plan.entrants) if one.clone]
    return Evaluation(
        rules=plan.rules,
        agents=plan.names,
        deals=deals,
        seed=config.seed,
        results=tuple(results),
        sigma=unit,
        roles=tuple(entrant.role for entrant in plan.entrants),
        clones=tuple(clones) if config.lineups == "duels" else (),
        kind=config.lineups,
        seatings=config.seatings,
        control_variates=config.control_variates,
        looks=plan.looks,
        blind=config.blind,
    )


def _is_decided(found: Evaluation, config: EvaluateConfig) -> bool:
    """Return whether all deals are played, or all points are known as precisely as the settings ask."""
    if found.deals == config.deals:
        return True
    if config.lineups == "league":
        points = [found.overall(agent) for agent in range(len(found.agents))]
    else:
        several = (result for result in found.results if len(result.standings) > 1)
        points = [standing.points for result in several for standing in result.standings]
    # An interval of no width means that the agents have played alike so far, which says little about the other deals.
    is_narrow = config.until is None or all(0 < one.half_width <= config.until * found.sigma for one in points)
    return is_narrow and (not config.until_clear or all(one.is_clear_of_zero for one in points))
