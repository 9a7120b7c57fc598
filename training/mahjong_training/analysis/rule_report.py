"""``mahjong-env rule-values``: what a knob, a row, the dealer's seat or a house rule is worth, as tables and files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from mahjong_env import MissingExtraError
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.analysis.config import RuleValuesConfig
from mahjong_training.analysis.rule_values import (
    MEASURES,
    Comparison,
    Measures,
    PairedDeals,
    changes_of,
    every_knob,
)
from mahjong_training.analysis.study import Arrays, Study, csv_text, new_console, new_table
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, sides
from mahjong_training.runtime.limits import check_counts, check_seed

try:
    from matplotlib.figure import Figure  # not pyplot, so that no display is needed
    from rich.text import Text
except ImportError as error:
    raise MissingExtraError(f"a study needs {error.name}: pip install 'mahjong-env[evaluate]'") from error


def run(config: RuleValuesConfig) -> None:
    """Play, print, and write the files if a folder is given; see `Study.run`."""
    RuleStudy(config).run()


class RuleStudy(Study):
    """The same deals by some rules and by changes of them, a block of deals by one set of rules in each part."""

    kind: ClassVar[str] = "rules"

    def __init__(self, config: RuleValuesConfig) -> None:
        """Find the rules and their changes.

        Raises:
            MahjongError: settings that cannot be used.
        """
        check_counts(deals=config.deals, hands=config.hands)
        check_seed(config.seed)
        if config.deals < 2:
            raise TrainingError("--deals must be at least 2, for intervals")
        if not config.agents:
            raise TrainingError("--agents is empty: name at least one")
        super().__init__(config, read_rules(config.variant, config.house))
        if config.all_knobs and (config.knobs or config.together):
            raise TrainingError("--all-knobs turns each knob by itself: it goes without --knobs and --together")
        knobs, self._unknown = every_knob(self.rules, config.hands) if config.all_knobs else (list(config.knobs), [])
        rows = [row.name for row in self.rules.rows] if config.all_rows else list(config.rows)
        if config.together and not (knobs or rows):
            raise TrainingError("--together makes one change of --knobs and --rows: name some")
        changes = changes_of(self.rules, knobs, rows, together=config.together)
        sizes = {"deals": config.deals, "seed": config.seed, "hands": config.hands}
        self._paired = PairedDeals(self.rules, changes, self.agents, **sizes)
        self.tasks = self._paired.tasks
        self.files = self.in_folder("rules.json", "rules.csv", "rules.png")

    def play(self, task: tuple[int, int, int, int]) -> Arrays:
        """Play a block of deals by one set of rules."""
        return self._paired.play(task)

    def report(self, played: list[Arrays]) -> list[str | bytes]:
        """Print the rules as they are, what each change makes of them, and what the rows bring; return the files."""
        config, (base, found) = self.config, self._paired.compare(played)
        size = f"{config.deals:,} deals" + (f" of up to {config.hands} hands" if config.hands > 1 else "")
        headings = {name: one.heading for name, one in MEASURES.items() if one.heading and name in base.numbers}
        if config.hands > 1:  # what a hand is like says little of matches
            headings = {name: heading for name, heading in headings.items() if name not in ("drawn", "discards")}
        who = ", ".join(agent.name for agent in self.agents)
        console = new_console()
        console.print(f"{self.rules.title}: {size}, {who} at all seats; ± 95 %, changes paired deal by deal")
        table = new_table("", *headings.values())
        table.add_row("as it is", *(_cell(base.numbers[name].estimate()) for name in headings))
        for one in found:
            table.add_row(one.name, *(_difference(one.differences[name]) for name in headings))
        console.print(table)
        told = list(sentences(found))
        for sentence in told:
            console.print(sentence)
        if base.rows:
            rows = new_table("row", "of 100 wins", "share of all that wins pay, %")
            for name, (number, share) in _by_share(base):
                rows.add_row(name, _cell(number.estimate()), _cell(share.estimate()))
            if never := [row.name for row in self.rules.rows if row.name not in base.rows]:
                rows.caption = f"never scored: {', '.join(never)}"
            console.print(rows)
        if self._unknown:
            unknown = ", ".join(self._unknown)
            print(f"not turned, as no number is near at hand: {unknown}; name one with --knobs NAME=VALUE")
        if config.out is None:
            return []
        title = f"{self.rules.title}: {size}, {who}, 95 % intervals"
        return [
            self._as_json(base, found, told),
            csv_text(list(_lines(base, found))),
            draw(base, found, headings, title),
        ]

    def _as_json(self, base: Measures, found: Sequence[Comparison], told: list[str]) -> str:
        config = self.config
        return self.json_text(
            {
                "agents": [agent.name for agent in self.agents],
                "deals": config.deals,
                "hands": config.hands,
                "seed": config.seed,
                "measures": {name: measure.words for name, measure in MEASURES.items()},
                "as_it_is": _plain(base),
                "changes": [
                    {
                        "change": one.name,
                        "knobs": one.rules.knobs,
                        "deals_that_differ": one.deals_that_differ,
                        "differences": {name: asdict(estimate) for name, estimate in one.differences.items()},
                        **_plain(one.measures),
                    }
                    for one in found
                ],
                "in_words": told,
            }
        )


def sentences(found: Sequence[Comparison]) -> Iterator[str]:
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
            yield f"{one.name}: not one deal is paid differently."
        elif told:
            yield f"{one.name}: {'; '.join(told)}. {share[0].upper()}{share[1:]}."
        else:
            yield f"{one.name}: no difference is clear of zero, although {share}."


def _by_share(base: Measures) -> list[tuple[str, Any]]:
    """Return the rows that were scored, those that bring most first."""
    return sorted(base.rows.items(), key=lambda row: -row[1][1].value)


def _cell(estimate: Estimate, sign: str = "") -> str:
    return estimate.text(2 if estimate.half_width < 1 else 1, sign=sign).replace("± ", "±")


def _difference(estimate: Estimate) -> Text:
    if not estimate.half_width and not estimate.mean:
        return Text("=")
    return Text(_cell(estimate, "+"), "bold" if estimate.is_clear_of_zero else "")


def _plain(measures: Measures) -> dict[str, Any]:
    return {
        "numbers": {name: asdict(value.estimate()) for name, value in measures.numbers.items()},
        "rows": {
            name: {"of_100_wins": asdict(number.estimate()), "share_of_points": asdict(share.estimate())}
            for name, (number, share) in measures.rows.items()
        },
    }


def _lines(base: Measures, found: Sequence[Comparison]) -> Iterator[dict[str, Any]]:
    """Yield a line for each number by each set of rules, with its difference to the rules as they are."""
    every = [("as it is", base, {}), *((one.name, one.measures, one.differences) for one in found)]
    for rules, measures, differences in every:
        numbers = dict(measures.numbers)
        for row, (number, share) in measures.rows.items():
            numbers |= {f"row of 100 wins: {row}": number, f"row share of points: {row}": share}
        for name, value in numbers.items():
            difference = (
                asdict(differences[name]) if name in differences else dict.fromkeys(("mean", "low", "high"), "")
            )
            yield {
                "rules": rules,
                "number": name,
                **asdict(value.estimate()),
                "difference": difference["mean"],
                "difference_low": difference["low"],
                "difference_high": difference["high"],
            }


def draw(base: Measures, found: Sequence[Comparison], headings: Mapping[str, str], title: str) -> bytes:
    """Draw what the changes make of the dealer's points, of a win and of sigma, and what the rows bring: a PNG."""
    rows = _by_share(base)
    figure = Figure(figsize=(12, 1.5 + 0.3 * max(len(found), len(rows), 4)), layout="constrained")
    names = [name for name in headings if name not in ("drawn", "discards")] if found else []
    panels = figure.subplots(1, max(1, len(names) + bool(rows)), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=False):
        estimates = [one.differences[name] for one in found]
        _bars(panel, estimates, [one.name for one in found] if panel is panels[0] else [""] * len(found))
        panel.set_title(f"{headings[name]}, change", fontsize=9)
    if rows:
        _bars(panels[-1], [share.estimate() for _, (_, share) in rows], [name for name, _ in rows])
        panels[-1].set_title("rows: share of all that wins pay, %", fontsize=9)
    figure.suptitle(title)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=120)
    return data.getvalue()


def _bars(panel: Any, estimates: Sequence[Estimate], labels: Sequence[str]) -> None:
    places = range(len(estimates))[::-1]
    panel.barh(places, [one.mean for one in estimates], xerr=sides(estimates), height=0.6, capsize=2)
    panel.axvline(0, color="black", linewidth=0.8)
    panel.grid(axis="x", alpha=0.3)
    panel.set_yticks(places, labels, parse_math=False, fontsize=8)
