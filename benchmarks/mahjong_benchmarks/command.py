"""``mahjong-env bench`` and ``bench-learning``: decisions per second, beside others in the same run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mahjong_env.basics.errors import MahjongError
from mahjong_env.cli.arguments import add_knobs, check_writable, whole_number, write_bytes, write_text
from mahjong_env.engine.arguments import check_room
from mahjong_env.environments.agents import agent_names, find_agent
from mahjong_env.ruleset.knobs import read_rules
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS
from mahjong_training.commands import Command
from mahjong_training.config import VariantConfig

if TYPE_CHECKING:
    from mahjong_benchmarks import Memory, Result, Shares, Start

_PLAYS = ["random", "greedy"]
_MOST_DAYS = 7
_SETTINGS = ("variant", "knob", "batches", "play", "observe", "runs", "seconds", "clock")


class Bench:
    """The command; see `mahjong_env.cli.Command`."""

    summary: Final = "decisions per second, beside other mahjong environments in the same run"

    def __call__(self, arguments: Sequence[str], prog: str) -> int:
        """Run it."""
        return run(_parser(prog).parse_args(arguments))


bench: Final = Bench()


@dataclass(frozen=True, kw_only=True)
class BenchLearningConfig(VariantConfig):
    """Measure how many decisions of a learner a second are played and learned from, beside one table at a time."""

    opponents: tuple[str, ...] = ("random", "greedy")
    """Who sits at all other seats; each of them is measured by itself."""
    tables: tuple[int, ...] = (512,)
    """Tables that are played at once, each number measured by itself."""
    threads: tuple[int, ...] = (1,)
    """Threads of torch, each number measured by itself."""
    self_play_tables: int = 1024
    """Tables of the fast path (`mahjong-env train`), which plays and learns in one process; 0: without it."""
    one_table: bool = True
    """Also measure a Gymnasium environment in Stable-Baselines3's DummyVecEnv, one table at a time."""
    runs: int = 3
    """How often everything is measured; medians count."""
    seconds: float = 3.0
    """How long each measurement takes at least, of the time that passes."""
    seed: int = 0
    """Of the deals, the weights and all choices."""
    width: int = 256
    """Units of each hidden layer."""
    layers: int = 2
    """Hidden layers."""
    json: Path | None = None
    """File for all that was measured."""
    n_steps: int = 16
    """Decisions of MaskablePPO at each table between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""


bench_learning: Final = Command(BenchLearningConfig, "mahjong_benchmarks.learning")


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    what = parser.add_argument_group("what is played")
    what.add_argument(
        "--variant", nargs="+", choices=sorted(VARIANTS), default=sorted(VARIANTS), help="variants (default: all)"
    )
    add_knobs(what, "house rules, for every variant named")
    what.add_argument(
        "--batches",
        nargs="+",
        type=whole_number,
        default=[1, 256, 4096],
        metavar="B",
        help="games at once (default: 1 256 4096)",
    )
    what.add_argument(
        "--play",
        nargs="+",
        default=_PLAYS,
        metavar="AGENT",
        help=f"who plays (default: {' '.join(_PLAYS)}; there are {', '.join(agent_names())}). The agent's time is not "
        "the environment's; env() and the other environments are played at random, if that is among them",
    )
    what.add_argument(
        "--observe",
        action=argparse.BooleanOptionalAction,
        help="with observations after each step, or without (default: both)",
    )
    what.add_argument("--no-peers", action="store_true", help="without other environments (they need the extra bench)")
    what.add_argument(
        "--no-footprint", action="store_true", help="without memory and time to start (they run processes of their own)"
    )
    _add_how(parser)
    out = parser.add_argument_group("what is told beside the tables")
    out.add_argument("--json", type=Path, metavar="FILE", help="write everything measured as JSON (-: print only that)")
    out.add_argument("--plot", type=Path, metavar="FILE", help="draw decisions/s against B (needs the extra bench)")
    out.add_argument("--against", type=Path, metavar="FILE", help="compare with what an earlier --json wrote")
    return parser


def _add_how(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("how it is measured")
    how.add_argument("--runs", type=whole_number, default=3, help="how often all of it is measured (default: 3)")
    how.add_argument("--seconds", type=float, default=0.5, help="timed seconds of each in each run (default: 0.5)")
    how.add_argument(
        "--clock", choices=("cpu", "wall"), default="cpu", help="cpu: the time of this process alone (default)"
    )
    how.add_argument(
        "--profile",
        action="store_true",
        help="instead of all this: where the time of a step with masks and observations goes, at the largest of the "
        "batches, in markdown",
    )


def run(chosen: argparse.Namespace) -> int:
    """Measure and print; whatever is wrong with the options is said before anything is measured."""
    import mahjong_benchmarks as bench

    played = _check(chosen)
    settings = {name: getattr(chosen, name) for name in _SETTINGS}
    earlier = bench.read_record(chosen.against, settings) if chosen.against else None
    results: list[Result] = []
    memory: list[Memory] = []
    start: list[Start] = []
    shares: list[Shares] = []
    told = []
    if chosen.profile:
        for rules_played in played:
            for play in chosen.play:
                _watch(f"{rules_played.name}: profile of {play} play")
                shares.append(bench.profile(rules_played, play, max(chosen.batches)))
        told.append(bench.shares_text(shares))
    else:
        results = _measure(chosen, played)
        told.append(bench.report_text(results))
        if not chosen.no_footprint:
            memory, start = bench.measure_footprint(played, max(chosen.batches), _watch)
            told += [bench.memory_text(memory), bench.start_text(start)]
        if earlier is not None:
            told.append(f"against {chosen.against}\n{bench.against_text(results, earlier)}")
    _watch("")
    report = json.dumps(bench.report_json(results, settings, memory, start, shares), indent=2) if chosen.json else ""
    print(report if str(chosen.json) == "-" else "\n\n".join(told))
    if chosen.json and str(chosen.json) != "-":
        write_text(chosen.json, report + "\n")
    if chosen.plot:
        write_bytes(chosen.plot, bench.draw(results, chosen.plot.suffix))
    return 0


def _check(chosen: argparse.Namespace) -> list[Rules]:
    """The rules to play; `MahjongError` for options that cannot be."""
    from mahjong_benchmarks import check_plot

    if min(chosen.batches) < 1 or chosen.runs < 1 or not 0 < chosen.seconds < inf:
        raise MahjongError("--batches and --runs are integers from 1, --seconds is a number above 0")
    _check_time(chosen)
    for name in ("variant", "batches", "play"):
        if len(set(getattr(chosen, name))) < len(getattr(chosen, name)):
            raise MahjongError(f"--{name} names one thing twice: {' '.join(map(str, getattr(chosen, name)))}")
    for play in chosen.play:
        find_agent(play)
    if chosen.profile and (chosen.plot or chosen.against):
        raise MahjongError("--profile measures no speeds that --plot could draw or --against compare")
    for path in filter(None, (chosen.json, chosen.plot)):
        if str(path) != "-":
            check_writable(path)
    if chosen.plot:
        check_plot(chosen.plot)
    played = [read_rules(variant, chosen.knob) for variant in chosen.variant]
    for rules in played:
        check_room(rules, max(chosen.batches))
    return played


def _check_time(chosen: argparse.Namespace) -> None:
    """Refuse what nobody would wait for."""
    days = chosen.runs * chosen.seconds * len(chosen.variant) * len(chosen.batches) * len(chosen.play) / 86_400
    if days > _MOST_DAYS:
        raise MahjongError(
            f"this would take more than {days:,.0f} days: --runs {chosen.runs} times --seconds {chosen.seconds:g} for "
            f"each of what is measured; {_MOST_DAYS} days are the limit"
        )


def _measure(chosen: argparse.Namespace, played: list[Rules]) -> list[Result]:
    from mahjong_benchmarks import TIMES, measure, own_contenders, peer_contenders, plain_contenders, plain_peer

    at_random = "random" in chosen.play
    peers = [] if chosen.no_peers or not at_random else [*peer_contenders(), plain_peer()]
    observes = (False, True) if chosen.observe is None else (chosen.observe,)
    groups = [
        [
            *peers,
            *own_contenders(one, chosen.batches, chosen.play, observes),
            *(plain_contenders(one) if at_random else ()),
        ]
        for one in played
    ]
    return measure(
        groups,
        chosen.seconds,
        chosen.runs,
        TIMES[chosen.clock],
        lambda number, total, what: _watch(f"[{number}/{total}] {what}"),
    )


def _watch(what: str) -> None:
    """Say what goes on, in one line that is written over; nothing where nobody looks."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{what[:100]:<100}\r", end="", file=sys.stderr, flush=True)
