"""``mahjong-env review``: what is each action worth here? For a position, or for all decisions of a player."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from mahjong_agents import Agent, make_agent
from mahjong_env import Deal
from mahjong_env.records import GameRecord
from mahjong_env.ruleset.knobs import read_rules
from mahjong_env.viewer import viewer_html
from mahjong_training.analysis import review_report as report
from mahjong_training.analysis.action_values import ActionValues, evaluate_actions, join
from mahjong_training.analysis.config import DealConfig, ReviewConfig
from mahjong_training.analysis.positions import Positions, dealt, decisions_of, read_record, recorded
from mahjong_training.analysis.review_report import Findings
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.runtime.cache import ResultCache
from mahjong_training.runtime.console import TimeLeft, exit_status, status, stopping_in_order
from mahjong_training.runtime.digests import agent_digests, rules_identity
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.workers import check_workers, new_executor

_FILES: Final = ("review.json", "review.csv", "review.html", report.MATCH)
_AT_ONCE: Final = 4
"""Decisions that are played together and kept together; what is found depends on it, so it stays as it is."""


def run(config: ReviewConfig) -> Findings:
    """Play, print, and write what was asked for.

    Raises:
        MahjongError: settings, records, deals or agents that cannot be used; files that cannot be written are found
            before anything is played.
        InterruptedRunError: Ctrl-C or SIGTERM; with a folder, the decisions that were played are kept in it.
    """
    check_workers(config)
    common = _again(config)
    positions = common.positions
    for file in _files(config):
        check_file(file)
    kept = _cache(config, positions.record, common.agents)
    with alone_in(config.out):
        try:
            with stopping_in_order(), status() as tell:
                found = _play(common, kept, tell)
        except KeyboardInterrupt as interrupt:
            text, number = "interrupted", len(positions.decision)
            if config.out is not None:
                done = min(number, _AT_ONCE * len(kept))
                text += f"; {done} of {number} decisions are kept: the same command goes on with them"
            raise InterruptedRunError(text, exit_status(interrupt)) from None
        report.print_findings(found)
        _write(config, found)
        kept.remove()
    return found


def find_positions(config: ReviewConfig) -> Positions:
    """Return the decisions that the settings name.

    Raises:
        MahjongError: they name none, or one that is not there.
    """
    if config.record is None:
        if config.variant is None:
            raise TrainingError("name a recorded game (--record FILE), or a variant to be dealt (--variant)")
        if config.decisions or config.review or config.seat is not None or config.match != 1:
            raise TrainingError("--decisions, --review, --seat and --match are about a recorded game (--record)")
        return dealt(read_rules(config.variant, config.knobs), _deal(config.deal), config.actions, config.seed)
    if config.variant is not None or config.knobs or config.actions or _deal(config.deal) is not None:
        raise TrainingError(
            "a recorded game has its own rules and cards: --variant, --knobs, --deal and --actions go without --record"
        )
    record = read_record(config.record, config.match)
    if config.review:
        decisions = decisions_of(record, config.seat)
        if config.decisions:
            raise TrainingError("--review looks at all decisions: it goes without --decisions")
        if not decisions:
            raise TrainingError(f"person {config.seat} had nothing to decide in this match")
        return recorded(record, decisions)
    if config.seat is not None:
        raise TrainingError("--seat says whose decisions --review looks at; --decisions names them by number")
    if not config.decisions:
        last = len(record.actions) - 1
        raise TrainingError(f"name decisions of the match (--decisions, 0 to {last}), or look at all (--review)")
    return recorded(record, sorted(set(config.decisions)))


def _deal(config: DealConfig) -> Deal | None:
    """Return the deal that is described; None if nothing is."""
    if config == DealConfig():
        return None
    told = {item.name: getattr(config, item.name) for item in fields(DealConfig)}
    return Deal(**{name: value for name, value in told.items() if value is not None})


@dataclass(frozen=True)
class _Common:
    """The shared state of all blocks of decisions."""

    config: ReviewConfig
    positions: Positions
    agents: tuple[Agent, ...]

    def block(self, number: int) -> Positions:
        """Return the decisions of a block."""
        first = number * _AT_ONCE
        return self.positions.take(np.arange(first, min(first + _AT_ONCE, len(self.positions.decision))))


def _again(config: ReviewConfig) -> _Common:
    return _Common(config, find_positions(config), tuple(make_agent(spec) for spec in config.agents))


def _play_block(common: _Common, block: int) -> ActionValues:
    some, config = common.block(block), common.config
    return evaluate_actions(
        some.engine,
        worlds=config.worlds,
        agents=common.agents,
        taken=some.taken,
        hindsight=config.hindsight,
        width=config.width,
        milliseconds=config.milliseconds,
        seed=_seed_of(config.seed, block),
    )


def _play(common: _Common, kept: ResultCache[int, ActionValues], tell: Callable[[str], object]) -> Findings:
    config, number = common.config, len(common.positions.decision)
    every = range(-(-number // _AT_ONCE))
    parts = {block: kept.get(block) for block in every}
    missing = [block for block in every if parts[block] is None]
    left = TimeLeft(len(missing))
    tell(f"{number} decisions")
    with (
        new_executor(config.processes, config.ray, config.threads) as executor,
        closing(executor.map(_play_block, common, missing, partial(_again, config))) as done,
    ):
        for place, part in done:
            block = missing[place]
            kept.put(block, part)
            parts[block] = part
            left.done()
            known = sum(len(part.taken) for part in parts.values() if part is not None)
            tell(f"{known} of {number} decisions{left}")
    found = join([part for part in parts.values() if part is not None])
    return report.findings(common.positions, found, _settings(config, common.agents))


def _seed_of(seed: int, block: int) -> int:
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def _settings(config: ReviewConfig, agents: tuple[Agent, ...]) -> dict[str, Any]:
    return {
        "agents": [agent.name for agent in agents],
        "seed": config.seed,
        "hindsight": config.hindsight,
        "most_worlds": config.worlds,
        "width": config.width,
        "milliseconds": config.milliseconds,
    }


def _files(config: ReviewConfig) -> Iterator[Path]:
    if config.out is not None:
        yield from (config.out / name for name in _FILES)
    if config.notes is not None:
        yield config.notes


def _write(config: ReviewConfig, found: Findings) -> None:
    written = list(_files(config))
    if config.out is not None:
        pages = report.html_text(found), viewer_html(report.annotated(found))
        texts = report.json_text(found), report.csv_text(found), *pages
        for name, text in zip(_FILES, texts, strict=True):
            write_text(config.out / name, text)
    if config.notes is not None:
        write_text(config.notes, report.annotated(found).to_json() + "\n")
    if written:
        print(f"written: {', '.join(map(str, written))}")


def _cache(config: ReviewConfig, record: GameRecord, agents: tuple[Agent, ...]) -> ResultCache[int, ActionValues]:
    """Return the cache of the blocks of decisions that have been played."""
    told = asdict(config)
    for name in ("out", "notes", "processes", "threads", "ray"):
        told.pop(name)
    rules, arrays = record.rules, ("seat", "taken", "worlds", "position", "action", "points", "end")
    files = [agent_digests(spec, agent, rules) for spec, agent in zip(config.agents, agents, strict=True)]
    return ResultCache(
        config.out,
        "review",
        [rules_identity(rules), record.to_json(), files, told],
        read=lambda found: ActionValues(rules, **found),
        write=lambda found: {name: getattr(found, name) for name in arrays},
    )
