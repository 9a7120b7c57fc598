"""``mahjong-env rule-values``: what a knob, a row, the dealer's seat or a house rule is worth, as tables and files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mahjong_agents import Agent, make_agent
from mahjong_env import MissingExtraError, Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.analysis.config import RuleValuesConfig
from mahjong_training.analysis.rule_values import (
    MEASURES,
    Block,
    Change,
    Comparison,
    Measures,
    PlayedBlock,
    Study,
    changes_of,
    compare,
    every_knob,
    play_of,
)
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation.estimates import Estimate, plain_json, sides
from mahjong_training.runtime.cache import ResultCache
from mahjong_training.runtime.console import TimeLeft, exit_status, status, stopping_in_order
from mahjong_training.runtime.digests import agent_digests, rules_identity
from mahjong_training.runtime.folders import alone_in, check_file, write_bytes, write_text
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.runtime.workers import check_workers, new_executor

if TYPE_CHECKING:
    from rich.table import Table

try:
    from matplotlib.figure import Figure  # not pyplot, so that no display is needed
    from rich.console import Console
except ImportError as error:
    raise MissingExtraError(f"the laboratories need {error.name}: pip install 'mahjong-env[evaluate]'") from error

_FILES: Final = ("rules.json", "rules.csv", "rules.png")
_WIDTH: Final = 100


@dataclass(frozen=True)
class Found:
    """The findings about some rules.

    Attributes:
        rules: the rules.
        agents: names of those who played.
        deals: deals by each set of rules.
        hands: of each deal.
        seed: of the deals.
        base: what was measured by the rules as they are.
        comparisons: what each change came to.
    """

    rules: Rules
    agents: tuple[str, ...]
    deals: int
    hands: int
    seed: int
    base: Measures
    comparisons: tuple[Comparison, ...]

    @property
    def shown(self) -> dict[str, str]:
        """The measures that have a column on the terminal, with their headings; the files have all."""
        told = {name: one.heading for name, one in MEASURES.items() if one.heading and name in self.base.numbers}
        if self.hands > 1:  # what a hand is like says little of matches
            told = {name: heading for name, heading in told.items() if name not in ("drawn", "discards")}
        return told

    @property
    def size(self) -> str:
        """The amount played, in words."""
        return f"{self.deals:,} deals" + (f" of up to {self.hands} hands" if self.hands > 1 else "")


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
            text = "interrupted"
            if config.out is not None:
                text += f"; {len(kept)} parts are kept: the same command goes on with them"
            raise InterruptedRunError(text, exit_status(interrupt)) from None
        names = tuple(agent.name for agent in agents)
        found = Found(asked.rules, names, config.deals, config.hands, config.seed, base, tuple(compared))
        print_found(found)
        if asked.unknown:
            unknown = ", ".join(asked.unknown)
            print(f"not turned, as no number is near at hand: {unknown}; name one with --knobs NAME=VALUE")
        if config.out is not None:
            write_text(config.out / _FILES[0], json_text(found))
            write_text(config.out / _FILES[1], csv_text(found))
            write_bytes(config.out / _FILES[2], draw(found))
            print(f"written: {', '.join(str(config.out / name) for name in _FILES)}")
            kept.remove()
    return found


@dataclass(frozen=True)
class _Asked:
    """The rules that the settings ask for, their changes, and the knobs that have to be named with a value."""

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


def _kept(config: RuleValuesConfig, asked: _Asked, agents: Sequence[Agent]) -> ResultCache[Block, PlayedBlock]:
    """Return the cache of what was played."""
    told = {name: getattr(config, name) for name in ("variant", "house", "agents", "deals", "hands", "seed")}
    changes = [change.name for change in asked.changes]
    files = [agent_digests(spec, agent, asked.rules) for spec, agent in zip(config.agents, agents, strict=True)]
    depends_on = [rules_identity(asked.rules), told, changes, files]
    read, write = PlayedBlock.of_arrays, PlayedBlock.arrays
    return ResultCache(config.out, "rules", depends_on, read=read, write=write, name=lambda block: block.name)


def _play(
    config: RuleValuesConfig, study: Study, kept: ResultCache[Block, PlayedBlock], tell: Callable[[str], object]
) -> dict[Block, PlayedBlock]:
    """Play the blocks of a study that are not kept, wherever the settings say."""
    every = study.blocks
    played = {block: part for block in every if (part := kept.get(block)) is not None}
    missing = [block for block in every if block not in played]
    left = TimeLeft(len(missing))
    tell(f"{len(study.rules)} sets of rules")
    with (
        new_executor(config.processes, config.ray, config.threads) as executor,
        closing(executor.map(play_of, study, missing, partial(_again, config))) as done,
    ):
        for place, part in done:
            kept.put(missing[place], part)
            played[missing[place]] = part
            left.done()
            tell(f"part {len(played)} of {len(every)}{left}")
    return played


# --- On the terminal ------------------------------------------------------------------------------------------------


def sentences(base: Measures, found: Sequence[Comparison]) -> Iterator[str]:
    """Yield what every change came to, in words; what is not clear of zero is said to make no difference shown."""
    for one in found:
        told = []
        for name, measure in MEASURES.items():
            if name in one.differences and (difference := one.differences[name]).is_clear_of_zero:
                word, unit = measure.more if difference.mean > 0 else measure.less, measure.unit
                size = f"{abs(difference.mean):.2f} ± {difference.half_width:.2f}{unit}"
                told.append(f"{word} by {size} (to {one.measures.numbers[name].value:.2f}{unit})")
        share = f"{100 * one.deals_that_differ:.1f} % of the deals are paid differently"
        if not one.deals_that_differ:
            yield f"{one.change.name}: not one deal is paid differently."
        elif told:
            yield f"{one.change.name}: {'; '.join(told)}. {share[0].upper()}{share[1:]}."
        else:
            yield f"{one.change.name}: no difference is clear of zero, although {share}."


def print_found(found: Found, console: Console | None = None) -> None:
    """Print the rules as they are, what each change makes of them, and what the rows bring."""
    console = console or Console(width=max(80, min(Console().width, _WIDTH)), highlight=False)
    console.print(
        f"{found.rules.title}: {found.size}, {', '.join(found.agents)} at all seats; ± 95 %, changes paired "
        "deal by deal",
        markup=False,
    )
    table = _new_table("", *found.shown.values())
    table.add_row("as it is", *(_cell(found.base.numbers[name].estimate()) for name in found.shown))
    for one in found.comparisons:
        cells = [_difference(one.differences[name]) if name in one.differences else "" for name in found.shown]
        table.add_row(one.change.name, *cells)
    console.print(table)
    for sentence in sentences(found.base, found.comparisons):
        console.print(sentence, markup=False)
    if found.base.rows:
        console.print(_rows_table(found.base))


def _rows_table(base: Measures) -> Table:
    table = _new_table("row", "of 100 wins", "share of all that wins pay, %")
    for name, (number, share) in sorted(base.rows.items(), key=lambda row: -row[1][1].value):
        table.add_row(name, _cell(number.estimate()), _cell(share.estimate()))
    never = [row.name for row in base.rules.rows if row.name not in base.rows]
    if never:
        table.caption = f"never scored: {', '.join(never)}"
    return table


def _new_table(heading: str, *headings: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(heading, overflow="fold", min_width=14, max_width=34)
    for other in headings:
        table.add_column(other, justify="right", no_wrap=True)
    return table


def _cell(estimate: Estimate) -> str:
    decimals = 2 if estimate.half_width < 1 else 1
    return estimate.text(decimals).replace("± ", "±")


def _difference(estimate: Estimate) -> str:
    decimals = 2 if estimate.half_width < 1 else 1
    text = estimate.text(decimals, sign="+").replace("± ", "±")
    if not estimate.half_width and not estimate.mean:
        return "="
    return f"[bold]{text}[/]" if estimate.is_clear_of_zero else text


# --- Files -------------------------------------------------------------------------------------------------------


def json_text(found: Found) -> str:
    """Return everything as JSON."""
    told: dict[str, Any] = {
        "mahjong_env": __version__,
        "variant": found.rules.name,
        "variant_version": found.rules.version,
        "knobs": found.rules.knobs,
        "agents": list(found.agents),
        "deals": found.deals,
        "hands": found.hands,
        "seed": found.seed,
        "measures": {name: measure.words for name, measure in MEASURES.items()},
        "as_it_is": _plain(found.base),
        "changes": [
            {
                "change": one.change.name,
                "knobs": one.change.rules.knobs,
                "deals_that_differ": one.deals_that_differ,
                "differences": {name: _ends(estimate) for name, estimate in one.differences.items()},
                **_plain(one.measures),
            }
            for one in found.comparisons
        ],
        "in_words": list(sentences(found.base, found.comparisons)),
    }
    return plain_json(told) + "\n"


def _plain(measures: Measures) -> dict[str, Any]:
    return {
        "numbers": {name: _ends(value.estimate()) for name, value in measures.numbers.items()},
        "rows": {
            name: {"of_100_wins": _ends(number.estimate()), "share_of_points": _ends(share.estimate())}
            for name, (number, share) in measures.rows.items()
        },
    }


def _ends(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}


def csv_text(found: Found) -> str:
    """Return one line for each number by each set of rules, with its difference to the rules as they are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["rules", "number", "mean", "low", "high", "difference", "difference_low", "difference_high"])
    for name, measures, differences in (
        ("as it is", found.base, {}),
        *((one.change.name, one.measures, one.differences) for one in found.comparisons),
    ):
        for number, value in measures.numbers.items():
            difference = _ends(differences[number]).values() if number in differences else ("", "", "")
            writer.writerow([name, number, *_ends(value.estimate()).values(), *difference])
        for row, (number_of, share) in measures.rows.items():
            writer.writerow([name, f"row of 100 wins: {row}", *_ends(number_of.estimate()).values(), "", "", ""])
            writer.writerow([name, f"row share of points: {row}", *_ends(share.estimate()).values(), "", "", ""])
    return text.getvalue()


def draw(found: Found) -> bytes:
    """Draw what the changes make of the dealer's points, of a win and of sigma, and what the rows bring: a PNG."""
    changes, rows = found.comparisons, sorted(found.base.rows.items(), key=lambda row: -row[1][1].value)
    figure = Figure(figsize=(12, 1.5 + 0.3 * max(len(changes), len(rows), 4)), layout="constrained")
    names = [name for name in found.shown if name not in ("drawn", "discards")] if changes else []
    panels = figure.subplots(1, max(1, len(names) + bool(rows)), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=False):
        estimates = [one.differences.get(name, Estimate(0.0, 0.0, 0.0)) for one in changes]
        _bars(panel, estimates, [one.change.name for one in changes] if panel is panels[0] else None)
        panel.set_title(f"{found.shown[name]}, change", fontsize=9)
    if rows:
        _bars(panels[-1], [share.estimate() for _, (_, share) in rows], [name for name, _ in rows])
        panels[-1].set_title("rows: share of all that wins pay, %", fontsize=9)
    figure.suptitle(f"{found.rules.title}: {found.size}, {', '.join(found.agents)}, 95 % intervals")
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=120)
    return data.getvalue()


def _bars(panel: Any, estimates: Sequence[Estimate], labels: list[str] | None) -> None:
    places = range(len(estimates))[::-1]
    panel.barh(places, [one.mean for one in estimates], xerr=sides(estimates), height=0.6, capsize=2)
    panel.axvline(0, color="black", linewidth=0.8)
    panel.grid(axis="x", alpha=0.3)
    if labels is None:
        panel.set_yticks([])
    else:
        panel.set_yticks(places, labels, parse_math=False, fontsize=8)
