"""``mahjong-env rule-values``: what a knob, a row, the dealer's seat or a house rule is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Final

from mahjong_agents import Agent, make_agent
from mahjong_env import Rules
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.analysis.config import RuleValuesConfig
from mahjong_training.analysis.rule_values import report
from mahjong_training.analysis.rule_values.comparing import Change, Study, changes_of, compare, every_knob, play_of
from mahjong_training.analysis.rule_values.measures import Block, PlayedBlock
from mahjong_training.analysis.rule_values.report import Found
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation.parts import digests, of_rules
from mahjong_training.runtime.folders import check_file, write_bytes, write_text
from mahjong_training.runtime.interrupts import exit_status, stopping_in_order
from mahjong_training.runtime.kept import Kept
from mahjong_training.runtime.lock import alone_in
from mahjong_training.runtime.progress import TimeLeft, status
from mahjong_training.runtime.sizes import check_counts, check_seed
from mahjong_training.runtime.workers import check_workers, new_executor

_FILES: Final = ("rules.json", "rules.csv", "rules.png")


def run(config: RuleValuesConfig) -> Found:
    """Play, print, and write the files if a folder is given.

    Raises:
        MahjongError: settings that cannot be used; files that cannot be written are found before anything is played.
        InterruptedRunError: Ctrl-C or SIGTERM; with a folder, the deals that were played are kept in it.
    """
    asked = _read(config)
    agents = tuple(make_agent(spec) for spec in config.agents)
    if config.out is not None:
        for name in _FILES:
            check_file(config.out / name)
    kept = _kept(config, asked, agents)
    with alone_in(config.out):
        try:
            with stopping_in_order(), status() as tell:
                base, compared = compare(
                    asked.rules,
                    asked.changes,
                    agents=agents,
                    deals=config.deals,
                    seed=config.seed,
                    hands=config.hands,
                    play=lambda study: _play(config, study, kept, tell),
                )
        except KeyboardInterrupt as interrupt:
            text = f"interrupted; {len(kept)} parts are kept: the same command goes on with them"
            raise InterruptedRunError(text if kept.is_kept else "interrupted", exit_status(interrupt)) from None
        names = tuple(agent.name for agent in agents)
        found = Found(asked.rules, names, config.deals, config.hands, config.seed, base, tuple(compared))
        report.print_found(found)
        if asked.unknown:
            unknown = ", ".join(asked.unknown)
            print(f"not turned, as no number is near at hand: {unknown}; name one with --knobs NAME=VALUE")
        if config.out is not None:
            write_text(config.out / _FILES[0], report.json_text(found))
            write_text(config.out / _FILES[1], report.csv_text(found))
            write_bytes(config.out / _FILES[2], report.draw(found))
            print(f"written: {', '.join(str(config.out / name) for name in _FILES)}")
            kept.remove()
    return found


@dataclass(frozen=True)
class _Asked:
    """What the settings ask for: rules, their changes, and the knobs that have to be named with a value."""

    rules: Rules
    changes: tuple[Change, ...]
    unknown: tuple[str, ...]


def _read(config: RuleValuesConfig) -> _Asked:
    check_counts(deals=config.deals, hands=config.hands)
    check_workers(config)
    check_seed(config.seed)
    if config.deals < 2:
        raise TrainingError("--deals must be at least 2, for intervals")
    if not config.agents:
        raise TrainingError("--agents is empty: name at least one")
    rules = read_rules(config.variant, config.house)
    if config.all_knobs and (config.knobs or config.together):
        raise TrainingError("--all-knobs turns each knob by itself: it goes without --knobs and --together")
    knobs, unknown = every_knob(rules, config.hands) if config.all_knobs else (list(config.knobs), [])
    rows = [row.name for row in rules.rows] if config.all_rows else list(config.rows)
    if config.together and not (knobs or rows):
        raise TrainingError("--together makes one change of --knobs and --rows: name some")
    return _Asked(rules, tuple(changes_of(rules, knobs, rows, together=config.together)), tuple(unknown))


def _again(config: RuleValuesConfig) -> Study:
    asked = _read(config)
    rules = (asked.rules, *(change.rules for change in asked.changes))
    return Study(rules, tuple(make_agent(spec) for spec in config.agents), config.deals, config.seed, config.hands)


def _kept(config: RuleValuesConfig, asked: _Asked, agents: Sequence[Agent]) -> Kept:
    """Return where what was played is kept, under a name of all that it depends on."""
    told = {name: getattr(config, name) for name in ("variant", "house", "agents", "deals", "hands", "seed")}
    changes = [change.name for change in asked.changes]
    files = [digests(spec, agent, asked.rules) for spec, agent in zip(config.agents, agents, strict=True)]
    depends_on = [of_rules(asked.rules), told, changes, files]
    return Kept(config.out, "rules", depends_on)


def _play(
    config: RuleValuesConfig, study: Study, kept: Kept, tell: Callable[[str], object]
) -> dict[Block, PlayedBlock]:
    """Play the blocks of a study that are not kept, wherever the settings say."""
    every = study.blocks
    played = {block: part for block in every if (part := _read_block(kept, block)) is not None}
    missing = [block for block in every if block not in played]
    left = TimeLeft(len(missing))
    tell(f"{len(study.rules)} sets of rules")
    with (
        new_executor(config.processes, config.ray, config.threads) as executor,
        closing(executor.map(play_of, study, missing, partial(_again, config))) as done,
    ):
        for place, part in done:
            kept.put(missing[place].name, part.arrays())
            played[missing[place]] = part
            left.done()
            tell(f"part {len(played)} of {len(every)}{left}")
    return played


def _read_block(kept: Kept, block: Block) -> PlayedBlock | None:
    arrays = kept.get(block.name)
    try:
        return None if arrays is None else PlayedBlock.of_arrays(arrays)
    except KeyError:
        return None
