"""``mahjong-env rule-values``: report what a knob, a row, the dealer's seat or a house rule is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.analysis.rule_values import MEASURES, Comparison, Measures, PairedDeals, changes_of, every_knob
from mahjong_training.analysis.study import Arrays, Study, Text, csv_text, new_console, new_table
from mahjong_training.config import RuleValuesConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.runtime.limits import check_settings


def run(config: RuleValuesConfig) -> None:
    """Play, print the report, and write its files if a folder is given; see `Study.run`."""
    RuleStudy(config).run()


class RuleStudy(Study):
    """A study of the same deals under some rules and changes of them; a part is a block of deals under one of these."""

    kind = "rules"

    def __init__(self, config: RuleValuesConfig) -> None:
        """Find the rules and their changes; a `MahjongError` if the settings cannot be used."""
        check_settings(config)
        super().__init__(config, read_rules(config.variant, config.house))
        if config.all_knobs and (config.knobs or config.together):
            raise TrainingError("--all-knobs turns each knob by itself: leave out --knobs and --together")
        if config.all_rows and config.rows:
            raise TrainingError("--all-rows strikes out every row: leave out --rows")
        knobs, self._unknown = every_knob(self.rules, config.hands) if config.all_knobs else (list(config.knobs), [])
        rows = [row.name for row in self.rules.rows] if config.all_rows else list(config.rows)
        if config.together and not (knobs or rows):
            raise TrainingError("--together makes one change of --knobs and --rows: name some")
        changes = changes_of(self.rules, knobs, rows, together=config.together)
        self._paired = PairedDeals(self.rules, changes, self.agents, config.deals, config.seed, config.hands)
        self.tasks = self._paired.tasks
        self.files = self.in_folder("rules.json", "rules.csv")

    def play(self, task: tuple[int, int, int, int]) -> Arrays:
        """Play a block of deals under one set of rules."""
        return self._paired.play(task)

    def report(self, played: list[Arrays]) -> list[str]:
        """Print the unchanged rules, each change's effect and the value of the rows; return the files' contents."""
        config, (base, found) = self.config, self._paired.compare(played)
        headings = {name: one.heading for name, one in MEASURES.items() if one.heading and name in base.numbers}
        size = f"{config.deals:,} deals"
        if config.hands > 1:  # measures of single hands say little about matches
            headings = {name: heading for name, heading in headings.items() if name not in ("drawn", "discards")}
            size += f" of up to {config.hands} hands"
        names, told, console = [agent.name for agent in self.agents], list(sentences(found)), new_console()
        console.print(
            f"{self.rules.title}: {size}, {', '.join(names)} at all seats; ± 95 %, changes paired deal by deal"
        )
        table = new_table("", *headings.values())
        table.add_row("as it is", *(_cell(base.numbers[name].estimate()) for name in headings))
        for one in found:
            table.add_row(one.name, *(_difference(one.differences[name]) for name in headings))
        console.print(table)
        for sentence in told:
            console.print(sentence)
        if base.rows:
            rows = new_table("row", "of 100 wins", "share of all that wins pay, %")
            for name, (number, share) in sorted(base.rows.items(), key=lambda row: -row[1][1].value):
                rows.add_row(name, _cell(number.estimate()), _cell(share.estimate()))
            if never := [row.name for row in self.rules.rows if row.name not in base.rows]:
                rows.caption = f"never scored: {', '.join(never)}"
            console.print(rows)
        if self._unknown:
            unknown = ", ".join(self._unknown)
            print(f"not turned, because there is no obvious other value: {unknown}; name one with --knobs NAME=VALUE")
        changes = [
            {
                "change": one.name,
                "knobs": one.rules.knobs,
                "deals_that_differ": one.deals_that_differ,
                "differences": {name: asdict(estimate) for name, estimate in one.differences.items()},
                **_plain(one.measures),
            }
            for one in found
        ]
        sizes = {"deals": config.deals, "hands": config.hands, "seed": config.seed}
        words = {name: measure.words for name, measure in MEASURES.items()}
        text = self.json_text(
            {"agents": names, **sizes, "measures": words}
            | {"as_it_is": _plain(base), "changes": changes, "in_words": told}
        )
        return [text, csv_text(list(_lines(base, found)))] if self.files else []


def sentences(found: Sequence[Comparison]) -> Iterator[str]:
    """Yield a sentence on the effect of each change; only differences that are clear of zero are named."""
    for one in found:
        told = []
        for name, measure in MEASURES.items():
            if name in one.differences and (difference := one.differences[name]).is_clear_of_zero:
                size = f"{difference.mean:+.2f} [{difference.low:+.2f}, {difference.high:+.2f}]{measure.unit}"
                level = f"(to {one.measures.numbers[name].value:.2f}{measure.unit})"
                told.append(f"{measure.words} {size} {level}")
        share = f"{100 * one.deals_that_differ:.1f} % of the deals are paid differently"
        if not one.deals_that_differ:
            yield f"{one.name}: not one deal is paid differently."
        elif told:
            yield f"{one.name}: {'; '.join(told)}. {share[0].upper()}{share[1:]}."
        else:
            yield f"{one.name}: no difference is clear of zero, although {share}."


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
    """Yield a line for each number under each set of rules, with its difference to the unchanged rules."""
    every = [("as it is", base, {}), *((one.name, one.measures, one.differences) for one in found)]
    for rules, measures, differences in every:
        numbers = dict(measures.numbers)
        for row, (number, share) in measures.rows.items():
            numbers |= {f"row of 100 wins: {row}": number, f"row share of points: {row}": share}
        for name, value in numbers.items():
            line = {"rules": rules, "number": name, **asdict(value.estimate())}
            ends = asdict(differences[name]).values() if name in differences else ("", "", "")
            yield line | dict(zip(("difference", "difference_low", "difference_high"), ends, strict=True))
