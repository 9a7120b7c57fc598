"""``python -m training rules``: what a knob, a row, the dealer's seat or a house rule is worth."""

from __future__ import annotations

from typing import Final

from agents import make_agent
from mahjong_env.ruleset.knobs import read_rules
from training.errors import InterruptedRunError, TrainingError
from training.folders import check_file, write_bytes, write_text
from training.interrupts import exit_status, stopping_in_order
from training.laboratories import RulesConfig
from training.progress import status
from training.rule_values import report
from training.rule_values.comparing import changes_of, compare, every_knob
from training.rule_values.report import Found
from training.sizes import check_counts, check_seed

_FILES: Final = ("rules.json", "rules.csv", "rules.png")


def run(config: RulesConfig) -> Found:
    """Play, print, and write the files if a folder is given.

    Raises:
        MahjongError: settings that cannot be used; files that cannot be written are found before anything is played.
        InterruptedRunError: Ctrl-C or SIGTERM.
    """
    check_counts(deals=config.deals)
    check_seed(config.seed)
    if config.deals < 2:
        raise TrainingError("--deals must be at least 2, for intervals")
    if not config.agents:
        raise TrainingError("--agents is empty: name at least one")
    rules = read_rules(config.variant, config.house)
    if config.all_knobs and (config.knobs or config.together):
        raise TrainingError("--all-knobs turns each knob by itself: it goes without --knobs and --together")
    knobs, unknown = every_knob(rules) if config.all_knobs else (list(config.knobs), [])
    rows = [row.name for row in rules.rows] if config.all_rows else list(config.rows)
    if config.together and not (knobs or rows):
        raise TrainingError("--together makes one change of --knobs and --rows: name some")
    changes = changes_of(rules, knobs, rows, together=config.together)
    agents = tuple(make_agent(spec) for spec in config.agents)
    if config.out is not None:
        for name in _FILES:
            check_file(config.out / name)
    try:
        with stopping_in_order(), status() as tell:
            base, compared = compare(rules, changes, agents=agents, deals=config.deals, seed=config.seed, tell=tell)
    except KeyboardInterrupt as interrupt:
        raise InterruptedRunError("interrupted", exit_status(interrupt)) from None
    names = tuple(agent.name for agent in agents)
    found = Found(rules, names, config.deals, config.seed, base, tuple(compared))
    report.print_found(found)
    if unknown:
        print(f"not turned, as their values are numbers: {', '.join(unknown)}; name one with --knobs NAME=VALUE")
    if config.out is not None:
        write_text(config.out / _FILES[0], report.json_text(found))
        write_text(config.out / _FILES[1], report.csv_text(found))
        write_bytes(config.out / _FILES[2], report.draw(found))
        print(f"written: {', '.join(str(config.out / name) for name in _FILES)}")
    return found
