"""What the benchmark says on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import mean, median
from typing import Any

from mahjong_benchmarks.footprint import Memory, Start
from mahjong_benchmarks.timing import Result


def report_text(results: Sequence[Result]) -> str:
    """One line for each contender: its speed, what was played, and how many times faster it is than its peers.

    The first rate is the environment's alone; the second counts the agent's views and choices too.
    """
    lines = [("", "decisions/s", "with choosing", "hands/1000", "dealing", "agent us", "")]
    for result in results:
        name, runs = result.contender.name, result.runs
        dealing = [reading.dealing for reading in runs if reading.dealing is not None]
        lines.append(
            (
                name,
                spread(result.rates, ",.0f"),
                spread([reading.with_choosing for reading in runs], ",.0f"),
                f"{median(reading.hands for reading in runs):.1f}",
                f"{median(dealing):.1%}" if dealing else "",
                f"{1e6 * median(reading.agent for reading in runs):.2f}",
                ", ".join(f"{spread(each, '.1f')} x {peer}" for peer, each in result.times.items()),
            )
        )
    return aligned(lines)


def spread(values: Sequence[float], form: str) -> str:
    """The median, and of several values the least and the greatest: ``4 [3, 5]``."""
    middle = format(median(values), form)
    if len(values) == 1:
        return middle
    return f"{middle} [{format(min(values), form)}, {format(max(values), form)}]"


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Columns: the first and the last begin at the left, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    told = []
    for first, *others, last in lines:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=False)]
        told.append("  ".join([*cells, last]).rstrip())
    return "\n".join(told)


def memory_text(memory: Sequence[Memory]) -> str:
    """One line for each variant, in millions of bytes."""
    lines: list[tuple[str, ...]] = [("MB", "arrays", "tables", "both", "process grew by", "at most", "")]
    for one in memory:
        grown = (one.process_bytes, one.process_peak_bytes)
        both = one.array_bytes + one.table_bytes
        cells = [
            f"{value / 1e6:.1f}" if value is not None else "?" for value in (one.array_bytes, one.table_bytes, both)
        ]
        cells += [f"{value / 1e6:.1f}" if value is not None else "?" for value in grown]
        lines.append((f"{one.variant}: engine, {one.batch} games", *cells, ""))
    return aligned(lines)


def start_text(start: Sequence[Start]) -> str:
    """One line for each variant, in seconds that pass."""
    lines = [("s", "import", "first env()", "both", "")]
    lines += [
        (
            f"{one.variant}: a new process",
            spread(one.import_seconds, ".3f"),
            spread(one.env_seconds, ".3f"),
            spread(one.both_seconds, ".3f"),
            "",
        )
        for one in start
    ]
    return aligned(lines)


def against_text(results: Sequence[Result], record: dict[str, Any]) -> str:
    """Every line that both measurements have: then, now, and how many times faster now.

    Where both have played other environments too, these say how the machines differ: the last column has divided by
    how many times faster the peers were (the geometric mean).

    Args:
        results: of now.
        record: of then, see `mahjong_benchmarks.records.read_record`.
    """
    then = {result["name"]: float(result["decisions_per_second"]) for result in record["results"]}
    both = [result for result in results if result.contender.name in then]
    changes = {result.contender.name: result.rate / then[result.contender.name] for result in both}
    peers = [log(changes[result.contender.name]) for result in both if "variant" not in result.contender.facts]
    machine = exp(mean(peers)) if peers else None
    lines = [("", "then", "now", "now/then", "beside the peers" if peers else "", "")]
    for result in both:
        name = result.contender.name
        beside = f"{changes[name] / machine:.2f}" if machine and "variant" in result.contender.facts else ""
        lines.append((name, f"{then[name]:,.0f}", f"{result.rate:,.0f}", f"{changes[name]:.2f}", beside, ""))
    told = [aligned(lines)]
    if machine:
        told.append(f"the peers were {machine:.2f} times as fast as then")
    elif any("variant" in result.contender.facts for result in both):
        told.append("no peer was measured both times: the machines may differ")
    if len(both) < max(len(then), len(results)):
        told.append(f"measured only then: {len(then) - len(both)} lines; only now: {len(results) - len(both)} lines")
    return "\n".join(told)
